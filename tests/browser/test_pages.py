"""Every page, light and dark and on a narrow screen: accessible, calm, with no foreign request."""

from typing import Any

import pytest
from playwright.sync_api import Page, ViewportSize, expect

from tests.browser.accessibility import check_accessibility
from tests.browser.conftest import LAPTOP, PHONE, Visit, Visits
from tests.browser.site import Site

pytestmark = pytest.mark.browser

CONSENT = (
    "/oauth/authorize/?response_type=code&client_id=study-helper&redirect_uri=http://127.0.0.1:9/"
)
SHIFT = """() => new Promise(resolve => {
    let sum = 0
    const add = list => {
        for (const entry of list.getEntries()) if (!entry.hadRecentInput) sum += entry.value
    }
    new PerformanceObserver(add).observe({type: 'layout-shift', buffered: true})
    setTimeout(() => resolve(sum), 700)
})"""
LONG_NAME = "margarethe.hohenstein-lindenberg@sternwarte.example.org"
PAGES = {
    "library": "/library/",
    "empty collection": "/library/?collection=empty-shelf",
    "nothing fits": "/library/?q=zebra",
    "add": "/add/?title=A+talk&url=https://www.youtube.com/watch?v=abcdefghijk",
    "video": "/videos/{long}/",
    "video at a moment": "/videos/{long}/?t=905s",
    "video with hits": "/videos/{long}/?q=gradient+error",
    "video in paragraphs": "/videos/{long}/?view=paragraphs&t=905s&q=gradient",
    "video without transcript": "/videos/{bare}/",
    "search": "/search/",
    "search with hits": "/search/?q=network+error",
    "search with filters": "/search/?q=backwards&mode=words&kind=pdf&kind=video&tag=book"
    "&language=en&since=2001-01-01&end=9:00:00",
    "search in vain": "/search/?q=zebra&mode=words",
    "search refused": "/search/?q=network&since=soon",
    "highlights": "/highlights/",
    "library table": "/library/?view=table&group=collection&sort=title&kind=video",
    "import of highlights": "/highlights/import/",
    "archive": "/export/",
    "how a source is indexed": "/sources/{lecture}/passages/",
    "page of a document": "/sources/{book}/pages/2/?from=66&to=99&q=gradient",
    "go to": "/go/?q=lecture",
    "activity": "/activity/",
    "job": "/jobs/{failed}/",
    "playlist": "/feeds/{feed}/",
    "library by playlist": "/library/?group=playlist",
    "remove feed": "/feeds/{feed}/remove/",
    "collections": "/collections/",
    "collection": "/collections/{library}/",
    "collection without sources": "/collections/{shelf}/",
    "collection settings": "/collections/{library}/settings/",
    "delete collection": "/collections/{library}/delete/",
    "settings": "/settings/",
    "tokens": "/tokens/",
    "webhooks": "/webhooks/",
    "webhook": "/webhooks/{hook}/",
    "second factor": "/second-factor/",
    "password again": "/second-factor/confirm/?next=/second-factor/add/",
    "glossary": "/glossary/",
    "password": "/account/password/",
    "shared links": "/shared-links/",
    "consent": f"{CONSENT}&code_challenge={'x' * 43}&code_challenge_method=S256&scope=read+write",
    "consent refused": f"{CONSENT}0",
    "notes": "/notes/",
    "lectures": "/lectures/",
    "not found": "/nowhere/",
}
OPEN_PAGES = {
    "sign in": "/sign-in/",
    "used link": "/sign-in/used/",
    "shared clip": "/shared/{clip}/",
    "shared page": "/shared/{shared_page}/",
    "expired shared link": "/shared/{expired}/",
}
# Answered with 400, 404, 410 or 422.
REFUSED = ("not found", "used link", "search refused", "consent refused", "expired shared link")
OUTLINED = """() => {
    const focused = document.activeElement
    const marked = focused.closest(".card, .file-choice") ?? focused
    const around = [focused, marked, marked.querySelector('.file-label')].filter(Boolean)
    return around.some(element => getComputedStyle(element).outlineStyle !== 'none')
}"""
ALL = {**PAGES, **OPEN_PAGES}
UNFOLD = "for (const details of document.querySelectorAll('{}')) details.open = true"
CUT_OFF = """() => {
    const controls = 'main :is(a, button, input, select, textarea)'
    const isCutOff = control => {
        const box = control.getBoundingClientRect()
        return box.width > 1 && (box.right > 360.5 || box.left < -0.5)
    }
    return [...document.querySelectorAll(controls)]
        .filter(control => control.checkVisibility() && !control.closest('.visually-hidden'))
        .filter(isCutOff)
        .map(control => control.outerHTML.slice(0, 120))
}"""


def go(visit: Visits, name: str, **options: Any) -> Visit:
    """Open one of the pages, as a stranger where it is made for strangers."""
    visitor = visit("" if name in OPEN_PAGES else "ada", **options)
    visitor.go(ALL[name])
    return visitor


EDGE = """main => {
    const style = getComputedStyle(main)
    return main.getBoundingClientRect().left + parseFloat(style.paddingLeft)
}"""


@pytest.mark.parametrize("width", [1280, 1920])
def test_all_pages_begin_at_one_left_edge(visit: Visits, width: int) -> None:
    ada = visit(viewport={"width": width, "height": 900})
    names = ("library", "search", "highlights", "video", "tokens", "collections", "activity")
    edges = {name: ada.go(PAGES[name]).locator("main").evaluate(EDGE) for name in names}
    header = ada.page.locator(".brand").bounding_box()
    assert header is not None
    assert edges == dict.fromkeys(names, header["x"])


@pytest.mark.parametrize("name", ALL)
def test_a_page_breaks_no_rule_fits_a_phone_and_is_accessible(tour: Visits, name: str) -> None:
    visitor = go(tour, name, viewport=PHONE)
    check_calm(visitor, is_refused=name in REFUSED)
    check_narrow(visitor.page)
    visitor.page.set_viewport_size(LAPTOP)
    visitor.page.evaluate(UNFOLD.format("main details"))
    check_accessibility(visitor.page)


def check_calm(visit: Visit, *, is_refused: bool) -> None:
    """Check that a page breaks no rule and asks nobody else."""
    visit.page.wait_for_timeout(150)
    visit.until(lambda: visit.console or not is_refused)
    expected = [
        text for text in visit.console if "Failed to load resource" in text
    ]  # the page's own 404, 410 or 422
    assert visit.console == expected
    assert len(expected) == is_refused
    assert visit.foreign == []


def check_narrow(page: Page) -> None:
    """Check that a page is as wide as a phone, and that no control is cut off."""
    page.evaluate(UNFOLD.format("main details:not(.menu)"))
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    assert page.evaluate(CUT_OFF) == []


def test_a_page_that_breaks_says_so_in_german_on_a_phone_and_in_the_dark(
    visit: Visits, site: Site
) -> None:
    assert "Traceback" not in site.log()
    broken = visit(viewport=PHONE, locale="de-DE")
    rename = "from django.db import connection; connection.cursor().execute('{}')"
    site.python(rename.format("ALTER TABLE kbsite_webhook RENAME TO kbsite_webhook_away"))
    try:
        page = broken.go("/webhooks/")
    finally:
        site.python(rename.format("ALTER TABLE kbsite_webhook_away RENAME TO kbsite_webhook"))
    expect(page.get_by_role("heading")).to_have_text("Etwas Unerwartetes ging schief.")
    check_calm(broken, is_refused=True)
    check_narrow(page)
    check_accessibility(page)
    assert "kbsite_webhook" not in page.content()
    assert "kbsite_webhook" in site.log()  # which has the details
    site.dismiss_log()


@pytest.mark.parametrize("language", ["en-GB", "de-DE"])
def test_nothing_of_the_head_of_a_page_is_out_of_reach_at_any_width(
    visit: Visits, language: str
) -> None:
    page = go(visit, "library", locale=language).page
    for width in (600, 720, 800, 960, 992, 993, 1024, 1280):
        page.set_viewport_size({"width": width, "height": 700})
        assert (width, page.evaluate("document.documentElement.scrollWidth")) == (width, width)


@pytest.mark.parametrize(
    "size", [{"width": 1280, "height": 800}, PHONE, {"width": 740, "height": 360}]
)
def test_all_of_a_menu_is_within_reach_wherever_it_opens(visit: Visits, size: ViewportSize) -> None:
    page = go(visit, "video", viewport=size).page
    page.locator(".more > summary").click()
    menu = page.locator(".more > .menu-body")
    header = page.locator("header.top")
    for fold in ("Share a clip", "Fetch", "Download"):
        menu.locator("summary", has_text=fold).click()
        box, above = menu.bounding_box(), header.bounding_box()
        assert box is not None
        assert above is not None
        assert max(0, above["y"] + above["height"]) <= box["y"]
        assert box["y"] + box["height"] <= size["height"]
    button = menu.get_by_role("button", name="Share", exact=True)
    button.scroll_into_view_if_needed()
    expect(button).to_be_in_viewport(ratio=1)
    expect(page.locator(".more > summary")).to_be_in_viewport()


@pytest.mark.parametrize("name", ["library", "video at a moment", "activity", "collection"])
def test_nothing_moves_while_a_page_loads(visit: Visits, name: str) -> None:
    page = go(visit, name).page
    assert page.evaluate(SHIFT) < 0.02


@pytest.mark.parametrize("path", ["/videos/{long}/", "/videos/{long}/?view=paragraphs", "/ask/"])
def test_nothing_moves_while_a_slow_phone_loads_a_page(visit: Visits, path: str) -> None:
    ada = visit("ada", viewport=PHONE)
    page = ada.go(path)
    page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": 6})
    page.reload()
    assert page.evaluate(SHIFT) < 0.02


def test_the_keyboard_sees_where_it_is(visit: Visits) -> None:
    page = go(visit, "library").page
    seen = []
    for _ in range(12):
        page.keyboard.press("Tab")
        seen.append(page.evaluate(OUTLINED))
    assert all(seen)


def test_the_theme_is_switched_and_remembered(visit: Visits) -> None:
    page = go(visit, "library", color_scheme="light").page
    background = "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(background)
    page.get_by_role("button", name="Switch to dark mode").click()
    dark = page.evaluate(background)
    assert dark != light
    page.reload()
    assert page.evaluate(background) == dark
    assert page.get_by_role("button", name="Switch to light mode").is_visible()


def test_nothing_turns_or_glides_where_less_motion_is_wanted(visit: Visits) -> None:
    page = go(visit, "library").page
    assert (
        page.evaluate("getComputedStyle(document.querySelector('.thumb img')).transitionDuration")
        == "0s"
    )


def test_the_header_of_the_admin_holds_its_tools_on_a_phone(visit: Visits) -> None:
    page = visit(viewport={"width": 360, "height": 740}).go("/admin/")
    bottoms = "all => all.map(each => each.getBoundingClientRect().bottom)"
    (border,) = page.locator("#header").evaluate_all(bottoms)
    tools = page.locator("#user-tools a, #user-tools button").evaluate_all(bottoms)
    assert len(tools) >= 3
    assert max(tools) <= border


def test_the_links_of_a_table_of_the_admin_stand_beside_its_name_on_a_phone(visit: Visits) -> None:
    page = visit(viewport=PHONE, locale="de-DE").go("/admin/")
    rows = page.locator("#content-main tbody tr")
    middles = """all => all.map(row => [...row.querySelectorAll("td:not(:empty)")].map(cell => {
        const box = cell.getBoundingClientRect()
        return Math.round((box.top + box.bottom) / 2)
    }))"""
    heights = rows.evaluate_all(middles)
    assert max(map(len, heights)) == 2
    assert all(len(set(height)) <= 1 for height in heights)
    assert page.evaluate("document.documentElement.scrollWidth") == 360


def test_the_pencil_of_a_card_covers_none_of_its_words_on_a_phone(visit: Visits) -> None:
    page = visit(viewport=PHONE).go("/library/?view=cards")
    covered = page.locator(".card:has(.item-edit)").evaluate_all("""all => all.flatMap(card => {
        const pencil = card.querySelector(".item-edit").getBoundingClientRect()
        return [...card.querySelectorAll("h3, .muted, .badge")].filter(words => {
            const box = words.getBoundingClientRect()
            return box.right > pencil.left && box.bottom > pencil.top && box.top < pencil.bottom
        }).map(words => words.textContent.trim())
    })""")
    assert page.locator(".card .item-edit").count()
    assert covered == []


@pytest.mark.parametrize("view", ["cards", "table"])
def test_a_finger_hits_the_checkbox_of_an_item(visit: Visits, view: str) -> None:
    page = visit(viewport=PHONE, has_touch=True, is_mobile=True).go(f"/library/?view={view}")
    hits = page.locator("[data-choice]").evaluate_all("""all => all.map(choice => {
        choice.scrollIntoView({block: "center"})
        const {left, right, top, bottom} = choice.getBoundingClientRect()
        const middle = (top + bottom) / 2
        const isHit = x => document.elementFromPoint(x, middle) === choice
        return [right - left >= 24, bottom - top >= 24, isHit(left - 7), isHit(right + 7)]
    })""")
    assert hits
    assert all(all(hit) for hit in hits)
    expect(page.locator("#filter kbd")).to_be_hidden()


def test_the_pencil_of_a_row_stands_beside_the_last_word(visit: Visits) -> None:
    page = visit().go("/library/?view=table")
    for width in range(320, 1300, 20):
        page.set_viewport_size({"width": width, "height": 800})
        rows = page.locator(".item-title:has(.item-edit)").evaluate_all("""all => all.map(row => {
            const words = [...row.querySelector("[data-item-link]").getClientRects()].at(-1)
            const pencil = row.querySelector(".item-edit").getBoundingClientRect()
            return pencil.top < words.bottom && pencil.bottom > words.top
        })""")
        assert rows
        assert all(rows), width


def test_a_long_name_to_invite_fits_a_phone(visit: Visits) -> None:
    page = visit(viewport=PHONE).go("/collections/{library}/settings/")
    page.locator("[name=username]:visible").fill(LONG_NAME)
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name=LONG_NAME)).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") == 360


def test_the_server_wrote_no_error(visit: Visits, site: Site) -> None:
    for name in ("library", "video", "activity", "collection", "tokens"):
        go(visit, name)
    assert "Traceback" not in site.log()
