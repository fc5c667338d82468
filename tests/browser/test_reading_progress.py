"""A recording is scrolled through, left, and goes on there."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visits

pytestmark = pytest.mark.browser
FORGET = "from citations.models import ReadingProgress; ReadingProgress.objects.all().delete()"


def test_a_recording_goes_on_at_the_line_that_was_scrolled_to(visit: Visits) -> None:
    visited = visit()
    address = "/videos/{long}/".format(**visited.site.seeded)
    visited.site.python(FORGET)
    page = visited.go(address)
    link = page.get_by_role("link", name="Continue at")
    expect(link).to_have_count(0)
    page.mouse.move(700, 500)
    with page.expect_response(lambda response: response.url.endswith("/progress/")) as kept:
        page.mouse.wheel(0, 2500)
    assert kept.value.status == 204
    page.goto(f"{visited.site.url}/library/")
    bar = page.locator(".card progress")
    expect(bar).to_have_count(1)
    page.goto(f"{visited.site.url}{address}")
    expect(link).to_be_visible()
    link.click()
    line = page.locator(".cue.at")
    expect(line).to_be_in_viewport()
    assert "t=" in page.url
    assert not visited.console
    visited.site.python(FORGET)


def test_who_jumps_to_the_end_and_scrolls_there_has_not_read_it(visit: Visits) -> None:
    visited = visit()
    address = "/videos/{long}/".format(**visited.site.seeded)
    visited.site.python(FORGET)
    page = visited.go(f"{address}?t=49m&q=gradient&n=298")
    line = page.locator("mark.quoted").first
    expect(line).to_be_in_viewport()
    for _ in range(2):
        page.mouse.move(700, 400)
        with page.expect_response(lambda response: response.url.endswith("/progress/")) as kept:
            page.mouse.wheel(0, -150)
        assert kept.value.status == 204
    page.goto(f"{visited.site.url}/library/")
    expect(page.locator(".card progress")).to_have_count(1)
    visited.site.python(FORGET)


def test_who_only_looks_at_the_first_lines_or_finds_a_word_can_still_go_on_where_they_were(
    visit: Visits,
) -> None:
    visited = visit()
    address = "/videos/{long}/".format(**visited.site.seeded)
    visited.site.python(FORGET)
    page = visited.go(f"{address}?t=30m")
    page.goto(f"{visited.site.url}{address}")
    expect(page.get_by_role("link", name="Continue at 30:00")).to_be_visible()
    page.mouse.move(700, 500)
    page.mouse.wheel(0, 200)
    page.get_by_label("Find in this transcript").fill("point 400")
    expect(page.locator("mark.quoted").first).to_be_in_viewport()
    page.goto(f"{visited.site.url}/library/")
    page.goto(f"{visited.site.url}{address}")
    expect(page.get_by_role("link", name="Continue at 30:00")).to_be_visible()
    visited.site.python(FORGET)
