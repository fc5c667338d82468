"""Words are selected and highlighted, by mouse, by keyboard and without scripts."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.accessibility import check_accessibility
from tests.browser.conftest import Visits
from tests.browser.site import Site
from tests.model_standin import ModelStandIn

pytestmark = pytest.mark.browser

TABLE = """
import time
from io import BytesIO
from citations.documents import storage as documents
from citations.models import Document
from transcripts.models import Collection
text = b"# Ports\\n\\n1. Malo\\n   - deep\\n2. Brest\\n\\n## Depths\\n\\n"
text += b"| Port | Range |\\n|---|---|\\n| Malo | 12 m |\\n| Brest | 7 m |\\n\\nBoth are Breton.\\n"
source = documents.add(Collection.objects.default(), BytesIO(text), name="ports.md").source
while not Document.objects.get(source=source).read_by:  # the worker of the site reads it
    time.sleep(0.05)
print(json.dumps(str(source.uuid)))
"""
REMOVE = """
from citations.ingest import pipeline
from citations.models import Source
pipeline.remove(Source.objects.get(uuid="{}"))
"""
SELECT = "element => getSelection().selectAllChildren(element)"
SPAN = """([first, last]) => {
    getSelection().setBaseAndExtent(first, 0, last, last.childNodes.length)
    document.body.dispatchEvent(new PointerEvent("pointerup", {bubbles: true}))
}"""
WORDS = """(element, words) => {
    const range = document.createRange()
    const places = []
    const nodes = document.createTreeWalker(element, NodeFilter.SHOW_TEXT)
    for (let node = nodes.nextNode(); node; node = nodes.nextNode())
        for (let at = 0; at < node.data.length; at += 1) places.push([node, at])
    const text = places.map(([node, at]) => node.data[at]).join("")
    const first = text.indexOf(words)
    range.setStart(...places[first])
    const [node, at] = places[first + words.length - 1]
    range.setEnd(node, at + 1)
    getSelection().removeAllRanges()
    getSelection().addRange(range)
    element.dispatchEvent(new PointerEvent("pointerup", {bubbles: true}))
}"""
KEEP = """
from django.contrib.auth.models import User
from citations.models import Source
from citations.notebook import highlights
from citations.notebook.highlights import HighlightNotes, SelectedText
from transcripts.models import Collection
from transcripts.core.scope import Scope
every = frozenset(Collection.objects.values_list("pk", flat=True))
scope, user = Scope(readable=every, writable=every), User.objects.get(username="ada")
source = Source.objects.get(uuid="{book}")
for quote, color in (("weight", "blue"), ("gradient", "pink")):
    text = SelectedText(exact=quote)
    highlights.keep(scope, user, source, text, HighlightNotes(color=color), page=2)
"""
FORGET = "from citations.models import Highlight; Highlight.objects.all().delete()"


@pytest.fixture(autouse=True)
def nothing_is_highlighted(site: Site) -> Iterator[None]:
    yield
    site.python(FORGET)


@pytest.fixture
def highlighted(site: Site) -> None:
    site.python(KEEP.format(**site.seeded))


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


def select_words(element: Locator, words: str) -> None:
    """Select words of an element, which may stand in several nodes."""
    element.scroll_into_view_if_needed()
    element.page.wait_for_timeout(100)  # what has scrolled closes the toolbar
    element.evaluate(WORDS, words)


def middle(page: Page, selector: str) -> tuple[float, float]:
    """Bring an element into view; return the middle of its first line."""
    element = page.locator(selector).first
    element.evaluate("each => each.scrollIntoView({block: 'center', behavior: 'instant'})")
    page.wait_for_timeout(100)  # what has scrolled closes the toolbar
    line = element.evaluate("each => each.getClientRects()[0].toJSON()")
    return line["x"] + line["width"] / 2, line["y"] + line["height"] / 2


def press(page: Page, selector: str) -> None:
    """Click on an element's first line."""
    page.mouse.click(*middle(page, selector))


def open_side(page: Page) -> None:
    """Unfold the list of highlights beside a text."""
    page.locator("#beside-highlights > summary").click()


def test_words_of_a_recording_are_highlighted_by_mouse(visit: Visits) -> None:
    visited = visit()
    page = visited.go("/videos/{long}/?t=40s")
    select_by_mouse(page, "#t40000 > span")
    tools = page.get_by_role("toolbar", name="Selected words")
    tools.get_by_role("button", name="Highlight in green").click()
    mark = page.locator("#t40000 mark.highlight-green")
    expect(mark).to_contain_text("Backpropagation carries the error")
    expect(tools).to_have_count(0)
    select_by_mouse(page, "#t40000 > span")
    tools.get_by_role("button", name="Card").click()
    expect(page.locator("#t40000 mark.highlight-yellow")).to_have_count(0)  # it stays green
    made = page.locator("#notices")
    expect(made).to_contain_text("A card was made. It hides “")
    expect(made.get_by_role("link", name="choose other words")).to_be_visible()
    made.get_by_role("button", name="Dismiss").click()
    expect(made).to_be_empty()
    expect(page.locator("#highlights-beside")).to_contain_text("card")
    open_side(page)
    expect(page.locator("#highlights-beside")).to_contain_text("0:40")
    page.reload()
    expect(mark).to_have_text(
        "Highlighted in green: "
        "Backpropagation carries the error from the end to the start. Point 8."
    )
    assert not visited.console


def test_a_highlight_is_there_for_who_comes_back_to_the_page(visit: Visits) -> None:
    visited = visit()
    page = visited.go("/videos/{long}/?t=45s")
    select_by_mouse(page, "#t45000 > span")
    page.get_by_role("button", name="Highlight in blue").click()
    mark = page.locator("#t45000 mark.highlight-blue")
    expect(mark).to_be_visible()
    page.get_by_role("link", name="Highlights").first.click()
    expect(page.locator("h1")).to_have_text("Highlights")
    page.go_back()
    expect(mark).to_be_visible()
    assert not visited.console


def test_a_line_is_highlighted_with_a_note_by_keyboard(visit: Visits) -> None:
    visited = visit()
    page = visited.go("/videos/{long}/?t=40s&view=paragraphs")
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


def test_h_takes_the_whole_of_what_is_marked_over_several_lines(visit: Visits) -> None:
    words = "the start. Point 8. Each weight moves"
    page = visit().go("/videos/{long}/?t=40s&passage=" + words.replace(" ", "+"))
    expect(page.locator("#t40000 mark.quoted")).to_be_visible()
    page.keyboard.press("h")
    expect(page.get_by_role("toolbar", name="Selected words")).to_be_visible()
    selected = page.evaluate("getSelection().toString()")
    assert selected.startswith("the start. Point 8.")
    assert selected.endswith("Each weight moves")


def test_a_note_that_was_not_saved_comes_back_and_is_saved_by_key(visit: Visits) -> None:
    visited = visit()
    address = "/videos/{long}/?t=40s"
    page = visited.go(address)
    tools = page.get_by_role("toolbar", name="Selected words")
    field = tools.get_by_label("Note", exact=True)
    select_by_mouse(page, "#t40000 > span")
    tools.get_by_role("button", name="Note").click()
    page.keyboard.type("Ask Grace why.")
    page.mouse.click(2, 400)  # beside it
    expect(tools).to_have_count(0)
    page = visited.go("/library/")
    page = visited.go(address)
    select_by_mouse(page, "#t40000 > span")
    expect(field).to_have_value("Ask Grace why.")
    field.press("Control+Enter")
    expect(tools).to_have_count(0)
    expect(page.locator("#notices")).to_contain_text("The note was saved")
    open_side(page)
    expect(page.locator("#highlights-beside")).to_contain_text("Ask Grace why.")
    expect(page.locator("#t40000 mark.highlight-yellow")).to_be_visible()
    drafts = [name for name in page.evaluate("Object.keys(sessionStorage)") if "note" in name]
    assert not drafts
    assert not visited.console


def test_the_selection_grows_by_words_with_shift_and_arrows(visit: Visits) -> None:
    page = visit().go("/videos/{long}/?t=40s")
    expect(page.locator(".cue.at")).to_be_visible()
    page.keyboard.press("h")
    before = page.evaluate("getSelection().toString().length")
    page.keyboard.press("Shift+ArrowLeft")
    page.keyboard.press("Shift+ArrowLeft")
    assert page.evaluate("getSelection().toString().length") < before
    expect(page.get_by_role("toolbar", name="Selected words")).to_be_visible()


def test_words_on_the_image_of_a_page_are_highlighted(visit: Visits) -> None:
    visited = visit()
    page = visited.go("/sources/{book}/pages/2/?q=gradient")
    expect(page.locator(".sheet-quote")).to_have_count(1)
    page.locator(".sheet img").scroll_into_view_if_needed()
    select_by_mouse(page, ".sheet-lines text")
    page.get_by_role("button", name="Highlight in blue").click()
    expect(page.locator(".sheet-highlight.sheet-blue").first).to_be_attached()
    expect(page.locator(".sheet-quote")).to_have_count(1)  # what was searched stays marked
    open_side(page)
    expect(page.locator("#highlights-beside")).to_contain_text("Each weight follows its gradient.")
    assert not visited.console


def test_a_quote_is_copied_with_its_link_and_asked_about(visit: Visits) -> None:
    visited = visit(permissions=["clipboard-read", "clipboard-write"])
    page = visited.go("/videos/{long}/?t=40s")
    select_by_mouse(page, "#t40000 > span")
    tools = page.get_by_role("toolbar", name="Selected words")
    tools.get_by_role("button", name="Copy").click()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith("> Backpropagation carries the error")
    address = copied.split("](")[1].removesuffix(")")
    assert f"/videos/{visited.site.seeded['long']}/?lang=en&t=40s&passage=" in address
    tools.get_by_role("link", name="Ask").click()
    expect(page.locator("[data-question]")).to_have_value(
        "What is meant by “Backpropagation carries the error from the end to the start. Point 8.”?"
    )


def test_words_of_a_hit_are_highlighted_and_copied_with_a_link_that_marks_them(
    visit: Visits,
) -> None:
    visited = visit(permissions=["clipboard-read", "clipboard-write"])
    page = visited.go("/search/?q=backpropagation+error&kind=video&mode=words")
    expect(page.locator("[data-refining]")).to_have_count(0)
    select_words(page.locator(".passage-text").first, "carries the error from the end")
    tools = page.get_by_role("toolbar", name="Selected words")
    tools.get_by_role("button", name="Copy").click()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith("> carries the error from the end\n")
    tools.get_by_role("button", name="Highlight in blue").click()
    expect(page.locator(".passage-text mark.highlight-blue").first).to_be_visible()
    expect(tools).to_have_count(0)
    address = copied.split("](")[1].removesuffix(")")
    page.goto(address)
    expect(page.locator("#transcript mark.quoted").first).to_contain_text("carries the error")
    expect(page.locator("#transcript mark.highlight-blue.quoted").first).to_be_in_viewport()
    assert not visited.console


def test_what_is_not_one_passage_has_no_toolbar(visit: Visits) -> None:
    page = visit().go("/search/?q=backpropagation+error&mode=words")
    expect(page.locator("[data-refining]")).to_have_count(0)
    passages = page.locator(".passage-text")
    tools = page.get_by_role("toolbar", name="Selected words")
    for first, last in ((0, 1), (0, 2)):
        spanned = [passages.nth(first).element_handle(), passages.nth(last).element_handle()]
        page.evaluate(SPAN, spanned)
        page.wait_for_timeout(100)
        expect(tools).to_have_count(0)
    page.locator(".group-text h3").first.evaluate(SELECT)
    page.dispatch_event("body", "pointerup")
    page.wait_for_timeout(100)
    expect(tools).to_have_count(0)


def test_a_hit_with_the_focus_is_highlighted_by_key(visit: Visits) -> None:
    page = visit().go("/search/?q=weight+gradient&mode=words&kind=pdf")
    expect(page.locator("[data-refining]")).to_have_count(0)
    page.locator(".passage-open").first.focus()
    page.keyboard.press("h")
    tools = page.get_by_role("toolbar", name="Selected words")
    expect(tools.get_by_role("button", name="Highlight in yellow")).to_be_focused()
    page.keyboard.press("Enter")
    mark = page.locator(".passage-text mark.highlight-yellow")
    expect(mark.first).to_be_visible()
    check_accessibility(page)
    page.locator(".passage-open").first.focus()
    page.keyboard.press("Enter")
    expect(page.locator(".page-dialog .sheet-highlight").first).to_be_visible()


def test_words_of_a_quotation_of_an_answer_are_highlighted(
    visit: Visits, sample: dict[str, str], language_model: ModelStandIn
) -> None:
    quote = "BM25 rests on three observations."
    before = language_model.answer
    language_model.answer = lambda _: f'CLAIM: {quote}\nQUOTE [1]: "{quote}"\n'
    visited = visit()
    page = visited.go("/ask/")
    page.get_by_label("Your question").fill("What does BM25 rest on?")
    page.keyboard.press("Enter")
    expect(page.locator(".answer-foot")).to_have_count(1, timeout=60_000)
    language_model.answer = before
    said = page.locator(".quotation-text [data-passage]").first
    expect(said).to_have_text(quote)
    said.evaluate(SELECT)
    page.dispatch_event("body", "pointerup")
    tools = page.get_by_role("toolbar", name="Selected words")
    tools.get_by_role("button", name="Note").click()
    page.keyboard.type("Which ones?")
    tools.get_by_role("button", name="Save").click()
    expect(page.locator(".quotation-text mark.highlight-yellow")).to_contain_text("three")
    page.goto(f"{visited.site.url}/highlights/")
    expect(page.locator(".highlight-quote")).to_contain_text(quote)
    expect(page.get_by_text("Which ones?")).to_be_visible()
    expect(page.locator("main")).to_contain_text(sample["textbook"])
    assert not visited.console


def test_words_are_selected_by_finger_and_the_note_fits_the_window(visit: Visits) -> None:
    visited = visit(has_touch=True, is_mobile=True, viewport={"width": 360, "height": 640})
    page = visited.go("/videos/{long}/?t=40s")
    line = page.locator("#t40000 > span")
    line.tap()
    # A long press and the handles end without an event of a pointer.
    line.evaluate("""line => {
        line.scrollIntoView({block: "end", behavior: "instant"});
        getSelection().selectAllChildren(line);
    }""")
    tools = page.get_by_role("toolbar", name="Selected words")
    tools.get_by_role("button", name="Note").tap()
    save = tools.get_by_role("button", name="Save")
    expect(save).to_be_in_viewport(ratio=1)
    tools.get_by_label("Note", exact=True).fill("By finger.")
    save.tap()
    expect(page.locator("#highlights-beside")).to_contain_text("By finger.")
    assert not visited.console


@pytest.mark.parametrize("view", ["captions", "paragraphs"])
def test_a_highlight_in_a_transcript_opens_its_toolbar(visit: Visits, view: str) -> None:
    visited = visit()
    page = visited.go("/videos/{long}/?t=40s&view={view}".format(view=view, **visited.site.seeded))
    page.keyboard.press("h")
    tools = page.get_by_role("toolbar", name="Selected words")
    tools.get_by_role("button", name="Note").click()
    tools.get_by_label("Note", exact=True).fill("Ask **Grace** why.")
    tools.get_by_role("button", name="Save").click()
    mark = page.locator("mark.highlight").first
    press(page, "mark.highlight")  # as it was just made
    opened = page.get_by_role("toolbar", name="Highlight")
    expect(opened).to_contain_text("Ask Grace why.")
    opened.get_by_role("button", name="Highlight in green").click()
    expect(page.locator("mark.highlight-green")).to_be_visible()
    expect(page.locator("mark mark")).to_have_count(0)
    page.reload()
    page.get_by_role("button", name="Highlighted in green").press("Enter")
    expect(opened.get_by_role("button", name="Highlight in yellow")).to_be_focused()
    expect(opened.get_by_role("button", name="in green")).to_have_attribute("aria-pressed", "true")
    check_toolbar(page)
    check_accessibility(page)
    page.keyboard.press("Escape")
    expect(opened).to_have_count(0)
    expect(page.get_by_role("button", name="Highlighted in green")).to_be_focused()
    press(page, "mark.highlight")
    opened.get_by_role("link", name="Change").click()
    expect(page.get_by_label("Note")).to_have_value("Ask **Grace** why.")
    page.get_by_role("button", name="Save").click()
    press(page, "mark.highlight")
    opened.get_by_role("link", name="Delete").click()
    page.get_by_role("button", name="Delete").click()
    expect(page.locator(".cue").first).to_be_visible()
    expect(mark).to_have_count(0)
    assert not visited.console


def test_a_highlight_on_the_image_of_a_page_opens_its_toolbar_by_finger(visit: Visits) -> None:
    visited = visit(has_touch=True, is_mobile=True, viewport={"width": 360, "height": 640})
    page = visited.go("/sources/{book}/pages/2/")
    page.locator(".sheet-lines text").first.evaluate(
        "line => getSelection().selectAllChildren(line)"
    )
    page.keyboard.press("h")
    tools = page.get_by_role("toolbar", name="Selected words")
    tools.get_by_role("button", name="Highlight in blue").click()
    box = page.locator(".sheet-highlight.sheet-blue").first
    expect(box).to_be_attached()
    page.touchscreen.tap(*middle(page, ".sheet-highlight"))
    opened = page.get_by_role("toolbar", name="Highlight")
    check_toolbar(page)
    opened.get_by_role("button", name="Highlight in pink").tap()
    expect(page.locator(".sheet-highlight.sheet-pink").first).to_be_attached()
    expect(page.locator(".sheet-highlight.sheet-blue")).to_have_count(0)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert not visited.console


def test_the_cells_of_a_table_and_its_last_paragraph_are_highlighted(visit: Visits) -> None:
    visited = visit()
    source = visited.site.json(TABLE)
    page = visited.go(f"/sources/{source}/")
    page.locator("tr").last.evaluate("row => getSelection().selectAllChildren(row)")
    page.keyboard.press("h")
    tools = page.get_by_role("toolbar", name="Selected words")
    tools.get_by_role("button", name="Highlight in pink").click()
    expect(page.locator("td mark.highlight-pink")).to_have_text([re.compile("Brest$"), "7 m"])
    # Three presses on the last paragraph select until the next thing after the text.
    page.locator(".prose p").last.click(click_count=3)
    tools.get_by_role("button", name="Highlight in blue").click()
    expect(page.locator(".prose p mark.highlight-blue")).to_contain_text("Both are Breton.")
    open_side(page)
    beside = page.locator("#highlights-beside")
    expect(beside).to_contain_text("Brest | 7 m")
    expect(beside).to_contain_text("Both are Breton.")
    check_accessibility(page)
    expect(page.locator("h1")).to_have_count(1)
    assert not visited.console
    visited.site.python(REMOVE.format(source))


def test_a_german_reader_asks_in_german_and_has_each_tab_in_one_line(visit: Visits) -> None:
    visited = visit(locale="de-DE", viewport={"width": 360, "height": 740})
    page = visited.go("/videos/{long}/?t=40s")
    select_by_mouse(page, "#t40000 > span")
    ask = page.locator('.selection-tools [data-act="ask"]')
    expect(ask).to_have_attribute("href", re.compile("q=Was\\+ist\\+mit"))
    page = visited.go("/highlights/")
    lines = page.locator(".notebook-tabs .view").evaluate_all(
        "tabs => tabs.map((tab) => tab.getClientRects().length + tab.offsetHeight)"
    )
    assert len(set(lines)) == 1
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert not visited.console


def test_a_highlight_is_made_changed_and_deleted_without_scripts(visit: Visits) -> None:
    visited = visit(java_script_enabled=False, viewport={"width": 360, "height": 740})
    page = visited.go("/videos/{long}/?t=40s&until=45s")
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
def test_pages_with_highlights_are_accessible(visit: Visits, width: int) -> None:
    visited = visit(viewport={"width": width, "height": 800})
    page = visited.go("/videos/{long}/?t=40s")
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


@pytest.mark.usefixtures("highlighted")
def test_the_list_follows_its_filters_at_once(visit: Visits) -> None:
    visited = visit()
    page = visited.go("/highlights/")
    quotes = page.locator(".highlight-quote")
    expect(quotes).to_have_count(2)
    page.locator(".filter-menu > summary").click()
    page.get_by_label("Colour").select_option("blue")
    expect(quotes).to_have_count(1)
    expect(quotes).to_contain_text("weight")
    expect(page).to_have_url(f"{visited.site.url}/highlights/?color=blue")
    expect(page.locator("#highlights-export > details > summary")).to_contain_text("Export 1")
    check_accessibility(page)
    page.get_by_label("From").fill("2999-01-01")
    expect(page.get_by_role("heading", name="No highlight matches")).to_be_visible()
    page.keyboard.press("Escape")  # the menu is wide
    page.get_by_role("link", name="All highlights").click()
    expect(quotes).to_have_count(2)
    assert not visited.console


@pytest.mark.usefixtures("highlighted")
@pytest.mark.parametrize("size", [(1280, 800), (360, 740)])
def test_all_filters_are_in_sight_at_once(visit: Visits, size: tuple[int, int]) -> None:
    page = visit(viewport={"width": size[0], "height": size[1]}).go("/highlights/")
    page.locator(".filter-menu > summary").click()
    panel = page.locator(".filter-menu > .menu-body")
    assert panel.evaluate("panel => panel.scrollHeight <= panel.clientHeight")
    for field in panel.locator("select, input").all():
        expect(field).to_be_in_viewport(ratio=1)
