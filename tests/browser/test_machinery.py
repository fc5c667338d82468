"""Swagger UI, the browsable API and the admin work under this site's policy."""

from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.browser


def test_the_description_of_the_operations_is_drawn_and_can_be_tried(
    visit: Callable[..., Any],
) -> None:
    reader = visit("ada")
    page = reader.go("/api/v1/docs")
    page.get_by_text("/api/v1/youtube").click()
    page.get_by_role("button", name="Try it out").click()
    page.get_by_role("button", name="Execute").click()
    page.locator(".live-responses-table .response-col_status", has_text="200").wait_for()
    assert reader.foreign == []
    assert reader.console == []


def test_swagger_sends_the_csrf_token_along(visit: Callable[..., Any]) -> None:
    page = visit("ada").go("/api/v1/docs")
    page.get_by_text("/api/v1/jobs/{job_id}/retry").click()
    page.get_by_role("button", name="Try it out").click()
    page.get_by_placeholder("job_id").fill("1")
    page.get_by_role("button", name="Execute").click()
    status = page.locator(".live-responses-table .response-col_status").last
    status.wait_for()
    assert "403" not in status.inner_text()


@pytest.mark.parametrize(
    "path", ["/api/content/", "/api/content/videos/", "/api/content/memberships/"]
)
def test_the_browsable_pages_break_no_rule_of_the_policy(
    visit: Callable[..., Any], path: str
) -> None:
    reader = visit("ada")
    page = reader.go(path)
    page.locator(".response-info").wait_for()
    assert reader.foreign == []
    assert reader.console == []


def test_a_browsable_page_changes_a_video(visit: Callable[..., Any]) -> None:
    reader = visit("ada")
    reader.go("/api/content/videos/?id=talk-3")
    pk = reader.page.request.get(
        f"{reader.site.url}/api/content/videos/?id=talk-3&format=json"
    ).json()["videos"][0]["pk"]
    page = reader.go(f"/api/content/videos/{pk}/")
    page.get_by_role("button", name="OPTIONS").click()
    page.get_by_text("HTTP 200 OK").wait_for()
    assert reader.console == []


@pytest.mark.parametrize(
    "path",
    [
        "/admin/",
        "/admin/transcripts/video/",
        "/admin/transcripts/job/",
        "/admin/transcripts/job/add/",
        "/admin/transcripts/collection/add/",
        "/admin/transcripts/membership/add/",
        "/admin/kbsite/apitoken/add/",
    ],
)
def test_the_admin_breaks_no_rule_of_the_policy(visit: Callable[..., Any], path: str) -> None:
    reader = visit("ada")
    reader.go(path).locator("#content").wait_for()
    assert reader.foreign == []
    assert reader.console == []


def test_the_audit_trail_fits_a_laptop(visit: Callable[..., Any]) -> None:
    reader = visit("ada", viewport={"width": 1280, "height": 800})
    page = reader.go("/admin/transcripts/auditentry/")
    assert "audit entries" in page.locator(".paginator").inner_text()
    table = page.locator("#result_list")
    table.get_by_text("2001:db8:").wait_for()
    box = table.bounding_box()
    seen = page.locator("#changelist-form .results").bounding_box()
    assert box["x"] + box["width"] <= min(1280, seen["x"] + seen["width"])


def test_a_collection_is_picked_by_typing(visit: Callable[..., Any]) -> None:
    reader = visit("ada")
    page = reader.go("/admin/transcripts/job/add/")
    page.locator(".select2-selection").click()
    page.locator(".select2-search__field").fill("empty")
    page.get_by_role("option", name="Empty shelf").click()
    page.locator("textarea[name=addresses]").fill("not an address")
    page.get_by_role("button", name="Queue").click()
    page.locator(".errorlist", has_text="not an address").wait_for()
    assert "not an address" in page.locator("textarea[name=addresses]").input_value()
    assert reader.console == []
