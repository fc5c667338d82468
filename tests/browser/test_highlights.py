"""Words are selected and highlighted, by mouse, by keyboard and without scripts."""

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser.accessibility import check_accessibility
from tests.browser.conftest import Visit
from tests.browser.site import Site

pytestmark = pytest.mark.browser

FORGET = "from citations.models import Highlight; Highlight.objects.all().delete()"


@pytest.fixture(autouse=True)
def nothing_is_highlighted(site: Site) -> Iterator[None]:
    yield
    site.python(FORGET)


def select_by_mouse(page: Page, selector: str) -> None:
    """Drag over the text of an element, from its first line to its last."""
    element = page.locator(selector).first
    element.evaluate("each => each.scrollIntoView({block: 'center', behavior: 'instant'})")
    page.wait_for_timeout(100)  # what has scrolled closes the toolbar
    box = element.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 1, box["y"] + 9)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] - 3, box["y"] + box["height"] - 9, steps=5)
    page.mouse.up()


def open_side(page: Page) -> None:
    """Unfold the list of highlights beside a text."""
    page.locator("#beside-highlights > summary").click()


def test_words_of_a_recording_are_highlighted_by_mouse(visit: Callable[..., Visit]) -> None:
    visited = visit()
    page = visited.go("/videos/{long}/?t=40s".format(**visited.site.seeded))
    select_by_mouse(page, "#t40000 > span")
    tools = page.get_by_role("toolbar", name="Selected words")
    tools.get_by_role("button", name="Highlight in green").click()
    mark = page.locator("#t40000 mark.highlight-green")
    expect(mark).to_contain_text("Backpropagation carries the error")
    expect(tools).to_have_count(0)
    open_side(page)
    expect(page.locator("#highlights-beside")).to_contain_text("0:40")
    page.reload()
    expect(mark).to_have_text(
        "Highlighted in green: "
        "Backpropagation carries the error from the end to the start. Point 8."
    )
    assert not visited.console


def test_a_line_is_highlighted_with_a_note_by_keyboard(visit: Callable[..., Visit]) -> None:
    visited = visit()
    page = visited.go("/videos/{long}/?t=40s&view=paragraphs".format(**visited.site.seeded))
    expect(page.locator(".cue.at")).to_be_visible()
    page.keyboard.press("h")
    tools = page.get_by_role("toolbar", name="Selected words")
    expect(tools.get_by_role("button", name="Highlight in yellow")).to_be_focused()
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    expect(tools.get_by_role("button", name="Note")).to_be_focused()
    page.keyboard.press("Enter")
    expect(tools.get_by_label("Note", exact=True)).to_be_focused()
    assert page.evaluate("[...CSS.highlights.keys()]") == ["kept-selection"]  # stays marked
    page.keyboard.type("Ask Grace why.")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator(".cue.at mark.highlight-yellow")).to_be_visible()
    open_side(page)
    expect(page.locator("#highlights-beside")).to_contain_text("Ask Grace why.")
    page.keyboard.press("h")
    page.keyboard.press("Escape")
    expect(tools).to_have_count(0)
    assert page.evaluate("CSS.highlights.size") == 0
    assert not visited.console


def test_the_selection_grows_by_words_with_shift_and_arrows(visit: Callable[..., Visit]) -> None:
    visited = visit()
    page = visited.go("/videos/{long}/?t=40s".format(**visited.site.seeded))
    expect(page.locator(".cue.at")).to_be_visible()
    page.keyboard.press("h")
    before = page.evaluate("getSelection().toString().length")
    page.keyboard.press("Shift+ArrowLeft")
    page.keyboard.press("Shift+ArrowLeft")
    assert page.evaluate("getSelection().toString().length") < before
    expect(page.get_by_role("toolbar", name="Selected words")).to_be_visible()


def test_words_on_the_image_of_a_page_are_highlighted(visit: Callable[..., Visit]) -> None:
    visited = visit()
    page = visited.go("/sources/{book}/pages/2/".format(**visited.site.seeded))
    page.locator(".sheet img").scroll_into_view_if_needed()
    select_by_mouse(page, ".sheet-lines text")
    page.get_by_role("button", name="Highlight in blue").click()
    expect(page.locator(".sheet-highlight.sheet-blue").first).to_be_attached()
    open_side(page)
    expect(page.locator("#highlights-beside")).to_contain_text("Each weight follows its gradient.")
    assert not visited.console


def test_a_quote_is_copied_with_its_link_and_asked_about(visit: Callable[..., Visit]) -> None:
    visited = visit(permissions=["clipboard-read", "clipboard-write"])
    page = visited.go("/videos/{long}/?t=40s".format(**visited.site.seeded))
    select_by_mouse(page, "#t40000 > span")
    tools = page.get_by_role("toolbar", name="Selected words")
    tools.get_by_role("button", name="Copy").click()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith("> Backpropagation carries the error")
    assert copied.endswith(f"/videos/{visited.site.seeded['long']}/?lang=en&t=40s)")
    tools.get_by_role("link", name="Ask").click()
    expect(page.locator("[data-question]")).to_have_value(
        "What is meant by “Backpropagation carries the error from the end to the start. Point 8.”?"
    )


def test_a_highlight_is_made_changed_and_deleted_without_scripts(
    visit: Callable[..., Visit],
) -> None:
    visited = visit(java_script_enabled=False, viewport={"width": 360, "height": 740})
    page = visited.go("/videos/{long}/?t=40s&until=45s".format(**visited.site.seeded))
    open_side(page)
    page.locator("#highlight-new > summary").click()
    page.locator("#highlight-new").get_by_label("Pink").check()
    page.locator("#highlight-new").get_by_role("button", name="Highlight").click()
    expect(page.locator("#t40000 mark.highlight-pink")).to_be_visible()
    visited.go("/highlights/")
    page.get_by_role("link", name="Change: Backpropagation").click()
    page.get_by_label("Tags").fill("exam")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("link", name="#exam")).to_be_visible()
    page.get_by_role("link", name="Delete: Backpropagation").click()
    page.get_by_role("button", name="Delete").click()
    visited.go("/highlights/")
    expect(page.get_by_role("heading", name="No highlight yet")).to_be_visible()


@pytest.mark.parametrize("width", [360, 1280])
def test_pages_with_highlights_are_accessible(visit: Callable[..., Visit], width: int) -> None:
    visited = visit(viewport={"width": width, "height": 800})
    page = visited.go("/videos/{long}/?t=40s".format(**visited.site.seeded))
    for number, color in enumerate(("yellow", "green", "blue", "pink")):
        start = 40_000 + 5_000 * number
        select_by_mouse(page, f"#t{start} > span")
        check_toolbar(page)
        page.get_by_role("button", name=f"Highlight in {color}").click()
        expect(page.locator(f"#t{start} mark")).to_be_attached()
    open_side(page)
    assert page.evaluate("document.documentElement.scrollWidth") == width
    check_accessibility(page)
    visited.go("/highlights/")
    assert page.evaluate("document.documentElement.scrollWidth") == width
    check_accessibility(page)
    page.get_by_role("link", name="Change: ").first.click()
    check_accessibility(page)
    page.get_by_role("link", name="Delete …").click()
    check_accessibility(page)


def check_toolbar(page: Page) -> None:
    """Check that the toolbar is in view."""
    box = page.locator(".selection-tools").bounding_box()
    size = page.viewport_size
    assert box is not None
    assert size is not None
    assert box["x"] >= 0
    assert box["y"] >= 0
    assert box["x"] + box["width"] <= size["width"]
    assert box["y"] + box["height"] <= size["height"]
