"""The palette: what the page can do, and what Enter does, in a real browser."""

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.browser.accessibility import check_accessibility
from tests.browser.conftest import Visits
from tests.browser.site import Site

pytestmark = pytest.mark.browser


def actions_with(page: Page, words: str) -> Locator:
    """Type words into the palette; return the page's actions that have them, once all is found."""
    dialog = page.get_by_role("dialog", name="Go to, search or ask")
    if dialog.is_visible():
        page.get_by_label("Page to open, or words to search for").fill("")
    else:
        page.keyboard.press("Control+k")
    page.keyboard.type(words)
    expect(dialog.get_by_text(f"Search for “{words}”")).to_be_visible()
    return dialog.get_by_role("group", name="On this page").locator(".place-label")


def test_the_palette_goes_anywhere_by_keyboard(visit: Visits) -> None:
    page = visit().go("/activity/")
    page.keyboard.press("Control+k")
    dialog = page.get_by_role("dialog", name="Go to, search or ask")
    page.keyboard.type("neural")
    expect(dialog.locator(".place-chosen")).to_contain_text("Search for “neural”")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    expect(dialog.locator(".place-chosen")).to_contain_text("A long lecture on neural networks")
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("A long lecture on neural networks")
    page.wait_for_load_state()  # scripts come after the text
    page.get_by_label("Find in this transcript").fill("x")
    page.keyboard.press("Control+k")
    expect(dialog).to_be_visible()
    check_accessibility(page)
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()


def test_the_palette_does_what_the_page_can_do(visit: Visits) -> None:
    page = visit().go("/videos/{long}/")
    page.keyboard.press("Control+k")
    page.keyboard.type("audio or video")
    # Of all that was typed: the list of a part of it would be replaced under the arrow.
    expect(page.get_by_text("Search for “audio or video”")).to_be_visible()
    expect(page.locator(".place-chosen")).to_have_text("Audio or video")
    page.keyboard.press("Enter")
    expect(page.get_by_label("A file that plays on this page")).to_be_visible()
    page.keyboard.press("Control+k")
    page.keyboard.type("shortc")
    expect(page.locator(".place-chosen")).to_have_text("Search for “shortc”")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    expect(page.locator(".place-chosen")).to_have_text("Keyboard shortcuts")
    page.keyboard.press("Enter")
    shortcuts = page.get_by_role("dialog", name="Keyboard shortcuts")
    page.set_viewport_size({"width": 360, "height": 500})
    expect(shortcuts.get_by_role("button", name="Close")).to_be_in_viewport()
    shortcuts.get_by_text("Search in the document").scroll_into_view_if_needed()
    expect(shortcuts.get_by_role("button", name="Close")).to_be_in_viewport()
    shortcuts.get_by_role("button", name="Close").click()
    expect(shortcuts).to_be_hidden()


def test_what_the_page_can_do_is_done_by_its_name(visit: Visits) -> None:
    page = visit().go("/library/")
    page.keyboard.press("Control+k")
    page.keyboard.type("table")
    expect(page.locator(".place-chosen .place-label")).to_have_text("Table")
    page.keyboard.press("Enter")
    expect(page.get_by_role("table")).to_be_visible()
    page.keyboard.press("Control+k")
    page.keyboard.type("write a note")
    expect(page.locator(".place-chosen .place-label")).to_have_text("Write a note")
    page.keyboard.press("Enter")
    expect(page.get_by_label("Title", exact=True)).to_be_focused()


def test_all_that_a_recording_s_page_can_do_is_found(visit: Visits) -> None:
    page = visit().go("/videos/{long}/")
    title = "A long lecture on neural networks"
    for words, names in {
        "delete": [f"Delete: {title}"],
        "rename": [f"Edit {title}"],
        "tags": [f"Edit {title}"],
        "index": ["Index again", "How it is indexed"],
        "paragraphs": ["Paragraphs"],
        "captions": ["Captions"],
        "speed": ["Speed"],
    }.items():
        expect(actions_with(page, words)).to_have_text(names)


def test_an_action_with_something_to_fill_in_opens_it_and_has_the_keyboard_there(
    visit: Visits,
) -> None:
    page = visit().go("/videos/{long}/")
    actions_with(page, "share a clip").click()
    expect(page.get_by_label("From", exact=True)).to_be_focused()
    actions_with(page, "speed").click()
    expect(page.get_by_label("Speed")).to_be_focused()
    actions_with(page, "rename").click()
    expect(page.get_by_role("textbox", name="Title")).to_be_focused()
    actions_with(page, "paragraphs").click()
    expect(page.get_by_role("link", name="Paragraphs")).to_have_attribute("aria-current", "true")


def test_what_a_page_hides_is_no_action(visit: Visits) -> None:
    page = visit().go("/library/")
    expect(page.locator("#selection")).to_be_hidden()
    expect(actions_with(page, "move")).to_have_count(0)
    expect(actions_with(page, "index")).to_have_count(0)
    expect(actions_with(page, "table")).to_have_text(["Table"])
    page.get_by_label("Page to open, or words to search for").fill("")  # Escape clears it first
    page.keyboard.press("Escape")
    page.locator("[data-choice]").first.check()
    expect(actions_with(page, "index")).to_contain_text(["Index again"])


def test_what_is_selected_can_be_changed_from_the_palette(visit: Visits) -> None:
    page = visit().go("/library/?q=evening")
    for choice in page.locator("[data-choice]").all()[:2]:
        choice.check()
    for words, names in {
        "tags": ["Add tags", "Remove tags"],
        "selected move": ["Remove tags", "Move", "Make it and move"],
        "selected export": ["Export"],
        "selected delete": ["Delete"],
    }.items():
        actions = actions_with(page, words)
        expect(actions).to_have_text(names)
        expect(actions.first.locator("xpath=..")).to_contain_text("2 items selected")
    actions_with(page, "add tags").click()
    expect(page.get_by_label("Tags, with commas between them")).to_be_focused()


def test_a_download_says_what_it_is(visit: Visits) -> None:
    page = visit().go("/videos/{long}/")
    expect(actions_with(page, "download subrip")).to_have_text(["Download: SubRip"])


def test_the_exact_title_is_opened_and_typing_writes_no_errors(visit: Visits, site: Site) -> None:
    visitor = visit()
    page = visitor.go(f"/feeds/{site.seeded['feed']}/")
    page.keyboard.press("Control+k")
    page.get_by_label("Page to open, or words to search for").press_sequentially(
        "a long lecture on", delay=150
    )
    title = "A long lecture on neural networks"
    expect(page.locator(".place-chosen .place-label")).to_have_text(title)
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text(title)
    assert visitor.console == []


def test_enter_does_the_same_at_once_as_later(visit: Visits) -> None:
    page = visit().go("/activity/")

    def late(route: Route) -> None:
        page.wait_for_timeout(300)
        route.continue_()

    page.keyboard.press("Control+k")
    expect(page.locator(".place-chosen")).to_be_visible()  # places before anything is typed
    page.route("**/go/?q=neural*", late)
    page.keyboard.type("neural")
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{page.url.split('/activity')[0]}/search/?q=neural")
