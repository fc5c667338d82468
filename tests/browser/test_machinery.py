"""REST's pages and the admin: in the site's clothes, accessible, calm, under its policy."""

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.contrib import admin
from playwright.sync_api import Page, expect

from kbsite.api_description import TAGS
from tests.browser.accessibility import check_accessibility
from tests.browser.conftest import LAPTOP, PHONE, Visits
from tests.browser.site import Site

pytestmark = pytest.mark.browser

REST = {
    "operations": "/api/v1/docs",
    **{f"operations of {group}": f"/api/v1/docs/{group}" for group in TAGS},
    "content": "/api/content/",
    "list of content": "/api/content/videos/?limit=3",
    "one resource": "/api/content/videos/{long}/",
    "nothing there": "/api/content/videos/999999/",
    "wrong parameter": "/api/content/videos/?nothing=1",
}
REFUSED = ("nothing there", "wrong parameter")
admin.autodiscover()
TABLES = sorted(
    f"{model._meta.app_label}/{model._meta.model_name}" for model in admin.site._registry
)
ROWS = """
from django.apps import apps
from django.contrib.auth.models import Group, User
from citations.models import Answer, Conversation, Highlight, Mark, Note, Source
from kbsite.models import ApiToken, SignInLink
from transcripts.models import Collection
ada, library = User.objects.get(username="ada"), Collection.objects.default()
conversation = Conversation.objects.create(collection=library, owner=ada, title="A question")
Answer.objects.create(conversation=conversation, ordinal=0, question="A question?")
Note.objects.create(collection=library, author=ada, title="A note", text="Text.")
source = Source.objects.earliest("pk")
Mark.objects.create(user=ada, query="a", source=source, span_start=0, span_end=1, right=True)
quoted = dict(span_start=0, span_end=1, digest="d", quote="a")
Highlight.objects.create(source=source, author=ada, **quoted)
Group.objects.create(name="Evening school")
ApiToken.issue(ada, name="a token")
SignInLink.issue(ada)
def first(name):
    model = apps.get_model(name.replace("/", "."))
    return model._default_manager.order_by("pk").values_list("pk", flat=True).first()
print(json.dumps({{name: str(pk) for name in {names} if (pk := first(name)) is not None}}))
"""
REMOVE_ROWS = """
from django.contrib.auth.models import Group
from citations.models import Conversation, Highlight, Mark, Note
from kbsite.models import ApiToken, SignInLink
for model in (Conversation, Note, Mark, Highlight, Group, ApiToken, SignInLink):
    model.objects.all().delete()
"""
SHIFT = """() => new Promise(resolve => {
    let sum = 0
    const add = list => {
        for (const entry of list.getEntries()) if (!entry.hadRecentInput) sum += entry.value
    }
    new PerformanceObserver(add).observe({type: 'layout-shift', buffered: true})
    setTimeout(() => resolve(sum), 500)
})"""


@pytest.fixture(scope="module")
def first_rows(site: Site, sample: dict[str, str]) -> Iterator[dict[str, str]]:
    """The key of a row of each table that has rows; other files count what they find."""
    yield site.json(ROWS.format(names=TABLES))
    site.python(REMOVE_ROWS)


def unfold(page: Page) -> None:
    """Open what is folded."""
    page.evaluate("for (const fold of document.querySelectorAll('main details')) fold.open = true")


# REST


@pytest.mark.parametrize("name", REST)
def test_a_page_of_rest_breaks_no_rule_fits_a_phone_and_is_accessible(
    tour: Visits, name: str
) -> None:
    reader = tour(viewport=PHONE)
    page = reader.go(REST[name])
    unfold(page)
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    page.set_viewport_size(LAPTOP)
    check_accessibility(page)
    assert reader.foreign == []
    refusals = [text for text in reader.console if "Failed to load resource" in text]
    assert reader.console == refusals
    assert len(refusals) == (name in REFUSED)


@pytest.mark.parametrize("path", ["/api/v1/docs", "/api/v1/docs/content", "/api/content/videos/"])
def test_nothing_moves_while_the_pages_of_rest_load(visit: Visits, path: str) -> None:
    assert visit().go(path).evaluate(SHIFT) < 0.01


def test_an_operation_is_tried_on_its_page(visit: Callable[..., Any]) -> None:
    reader = visit("ada")
    page = reader.go("/api/v1/docs/search#search")
    operation = page.locator("#search")
    operation.get_by_text("Try it").click()
    operation.get_by_label("q", exact=True).fill("network")
    operation.get_by_label("limit").fill("2")
    operation.get_by_role("button", name="Send").click()
    expect(operation.get_by_role("status")).to_have_text("200 OK")
    expect(operation.get_by_label("Answer", exact=True)).to_contain_text('"passages"')
    assert reader.foreign == []
    assert reader.console == []


def test_a_tried_operation_sends_the_csrf_token_along(visit: Callable[..., Any]) -> None:
    page = visit("ada").go("/api/v1/docs/sources#retry_job")
    operation = page.locator("#retry_job")
    operation.get_by_text("Try it").click()
    operation.get_by_label("job_id").fill("999999")
    operation.get_by_role("button", name="Send").click()
    expect(operation.get_by_role("status")).to_contain_text("404")


def test_a_resource_is_changed_on_its_page(visit: Callable[..., Any]) -> None:
    reader = visit("ada")
    address = f"{reader.site.url}/api/content/videos/?id=talk-3&format=json"
    pk = reader.page.request.get(address).json()["videos"][0]["pk"]
    page = reader.go(f"/api/content/videos/{pk}/")
    form = page.locator("form[data-method=PATCH]")
    form.get_by_label("JSON").fill('{"tags": ["evening", "patience"]}')
    form.get_by_role("button", name="PATCH").click()
    expect(form.get_by_role("status")).to_have_text("200 OK")
    assert "patience" in reader.go(f"/api/content/videos/{pk}/").locator(".api-json").inner_text()
    assert reader.console == []


def test_a_list_leads_to_its_next_page_and_back(visit: Callable[..., Any]) -> None:
    page = visit("vera").go("/api/content/videos/?limit=2&sort=title")
    expect(page.locator("form[data-method]")).to_have_count(0)  # a viewer sends nothing
    page.get_by_role("link", name="Next page").click()
    expect(page).to_have_url(re.compile(r"sort=title&offset=2$"))
    page.get_by_role("link", name="Previous page").click()
    expect(page.get_by_role("link", name="Previous page")).to_have_count(0)


def test_a_page_of_rest_is_english_within_a_german_site(visit: Visits) -> None:
    reader = visit(locale="de-DE", viewport=PHONE)
    page = reader.go("/api/v1/docs/search")
    unfold(page)
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    page.keyboard.press("Control+k")
    page.keyboard.type("try it")
    expect(page.get_by_text("Nach „try it“ suchen")).to_be_visible()
    action = page.get_by_role("group", name="Auf dieser Seite").get_by_text("Try it", exact=True)
    expect(action).to_have_attribute("lang", "en")
    page.keyboard.press("Escape")
    check_accessibility(page)
    assert reader.console == []


# The admin


@pytest.mark.parametrize("table", ["", *TABLES])
def test_axe_finds_nothing_in_the_admin(
    tour: Visits, first_rows: dict[str, str], table: str
) -> None:
    paths = [f"/admin/{table}/" if table else "/admin/"]
    if table in first_rows:
        paths.append(f"/admin/{table}/{first_rows[table]}/change/")
    for path in paths:
        reader = tour()
        page = reader.go(path)
        page.wait_for_timeout(100)
        assert reader.console == []  # axe itself breaks the policy where a style sheet imports one
        check_accessibility(page)
        assert reader.foreign == []


def test_most_tables_of_the_admin_have_a_row_to_look_at(first_rows: dict[str, str]) -> None:
    assert len(first_rows) > len(TABLES) * 0.7


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
        "/admin/citations/source/",
        "/admin/transcripts/collection/{library}/delete/",
    ],
)
def test_the_admin_is_usable_on_a_small_screen_and_nothing_moves(
    visit: Callable[..., Any], path: str
) -> None:
    reader = visit("ada", viewport={"width": 360, "height": 740})
    page = reader.go(path)
    unfold(page)
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    assert page.evaluate(SHIFT) < 0.01
    assert reader.foreign == []
    assert reader.console == []


def test_the_admin_follows_the_theme_that_was_chosen_on_the_site(visit: Visits) -> None:
    page = (reader := visit(color_scheme="light")).go("/library/")
    page.get_by_role("button", name="Switch to dark mode").click()
    background = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(background)
    assert reader.go("/admin/").evaluate(background) == dark
    page.get_by_role("button", name="Switch to light mode").click()
    assert page.evaluate(background) != dark


FOREIGN_ICONS = """() => {
    const isDjango = element => [null, '::before', '::after'].some(part =>
            getComputedStyle(element, part).backgroundImage.includes('admin/img'))
        || element.matches('img[src*="admin/img"]')
            && !getComputedStyle(element).maskImage.includes('cuebase/icons')
    return [...document.querySelectorAll('body *')]
        .filter(element => element.checkVisibility() && isDjango(element))
        .map(element => element.outerHTML.slice(0, 120))
}"""


@pytest.mark.parametrize(
    "path",
    [
        "/admin/",
        "/admin/auth/user/?o=1.2&_facets=True",
        "/admin/auth/user/{user}/change/",
        "/admin/transcripts/video/{long}/change/",
        "/admin/transcripts/video/{long}/delete/",
        "/admin/transcripts/video/{long}/history/",
        "/admin/transcripts/collection/{library}/change/",
        "/admin/kbsite/apitoken/add/",
    ],
)
def test_the_admin_has_the_icons_of_the_pages(
    tour: Visits, first_rows: dict[str, str], path: str
) -> None:
    reader = tour()
    page = reader.go(path.format(**reader.site.seeded, user=first_rows["auth/user"]))
    page.wait_for_timeout(100)
    assert page.evaluate(FOREIGN_ICONS) == []
    assert reader.console == []


def test_the_palette_opens_in_the_admin_too(visit: Visits) -> None:
    reader = visit("ada", locale="de-DE")
    page = reader.go("/admin/transcripts/video/")
    page.keyboard.press("Control+k")
    palette = page.get_by_role("dialog", name="Öffnen, suchen oder fragen")
    page.keyboard.type("glossar")
    expect(palette.locator(".place-chosen")).to_have_text("Glossar")
    expect(page.locator("#announcer")).to_have_text(re.compile(r"\d Ziele?"))
    check_accessibility(page)
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("Glossar")
    assert reader.console == []
    page = reader.go("/admin/")
    page.set_viewport_size(PHONE)
    page.get_by_role("link", name="Öffnen …").click()
    expect(palette).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") == 360


def test_the_audit_trail_fits_a_laptop(visit: Callable[..., Any]) -> None:
    page = visit("ada", viewport={"width": 1280, "height": 800}).go(
        "/admin/transcripts/auditentry/"
    )
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
