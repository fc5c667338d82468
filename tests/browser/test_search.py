"""Search in a real browser: by keyboard, without scripts, with filters, marks and hits."""

import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.browser.accessibility import check_accessibility
from tests.browser.conftest import PHONE, Visit, Visits
from tests.browser.site import Site
from tests.model_standin import ModelStandIn

pytestmark = pytest.mark.browser

SEARCH = "/search/?q=backpropagation+error"
WAITING = """
from datetime import timedelta
from django.utils import timezone
from citations.models import Source
later = timezone.now() + timedelta(days=1)
Source.objects.filter(title="Notes that wait").update(
    state="pending", step="waiting for its turn", done=0, total=0, run_after=later
)
"""
PROGRESS = """
from citations.models import Source
Source.objects.get(title="Notes that wait").report(step="embedding", done=30, total=40)
"""


@pytest.fixture
def slow_answer(language_model: ModelStandIn) -> Iterator[threading.Event]:
    """Delay the model's answers until the event is set; they are the words of one passage."""
    may_answer, usual = threading.Event(), language_model.answer

    def answer(_: str) -> str:
        may_answer.wait(20)
        return "Convolution and pooling. Now let us look at convolution and pooling."

    language_model.answer = answer
    yield may_answer
    may_answer.set()
    language_model.answer = usual


def ask(page: Page, question: str) -> None:
    """Type a question and press Enter."""
    page.get_by_label("Search the library").fill(question)
    page.keyboard.press("Enter")


def begins(hit: Locator) -> str:
    """Return the time at which a hit begins, as it is written on its link."""
    return str(re.findall(r"\d+:[\d:]+", hit.inner_text())[0])


def final(page: Page) -> None:
    """Wait until the results are the final ones."""
    expect(page.locator(".passage").first).to_be_visible()
    expect(page.locator("[data-refining]")).to_have_count(0)


def test_a_hit_on_a_page_is_in_view_though_its_words_stand_before_it(visit: Visits) -> None:
    visited = visit(viewport={"width": 360, "height": 800})
    at = "/sources/{book}/pages/1/?from=55&to=63&q=error&zoom=300"
    page = visited.go(at)
    expect(page.locator(".sheet-quote").first).to_be_in_viewport()
    expect(page.locator(".sheet-word").first).not_to_be_in_viewport()
    page.get_by_text("1 place on 1 page").click()
    page.get_by_role("link", name="Page 1").click()
    expect(page.locator(".sheet-quote")).to_be_in_viewport()


def test_a_question_is_answered_without_loading_the_page_anew(visit: Visits) -> None:
    page = visit().go("/search/")
    page.evaluate("window.here = true")
    expect(page.get_by_label("Search the library")).to_be_focused()
    ask(page, "backpropagation error")
    expect(page.locator(".passage mark").first).to_be_visible()
    expect(page).to_have_url(re.compile(r"/search/\?q=backpropagation\+error$"))
    final(page)
    expect(page.locator("#announcer")).to_have_text(
        re.compile(r"In their final order: \d+ passages in \d+ source")
    )
    assert page.evaluate("window.here") is True


def test_going_back_brings_the_question_before(visit: Visits) -> None:
    page = visit().go(SEARCH)
    final(page)
    ask(page, "convolution")
    expect(page).to_have_url(re.compile(r"q=convolution"))
    page.go_back()
    expect(page.get_by_label("Search the library")).to_have_value("backpropagation error")
    expect(page.locator(".passage mark", has_text="Backpropagation").first).to_be_visible()


def test_typing_alone_asks_nothing(visit: Visits) -> None:
    page = visit().go("/search/")
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.get_by_label("Search the library").press_sequentially("error", delay=20)
    page.wait_for_timeout(500)
    assert [url for url in requests if "/static/" not in url] == []


def test_mode_and_filters_apply_at_once_and_are_chips_in_the_address(visit: Visits) -> None:
    page = visit().go("/search/?q=error")
    final(page)
    page.get_by_label("Words: exactly these words").check()
    expect(page).to_have_url(re.compile(r"mode=words"))
    page.locator("#filters summary").click()
    page.get_by_label("Kind").select_option("pdf")
    expect(page.locator(".chip-on")).to_have_text("Kind PDF")
    expect(page.locator(".passage")).to_have_count(1)
    expect(page.locator("#filters")).to_have_attribute("open", "")
    page.get_by_label("Tag").select_option("book")
    expect(page.locator(".chip-on")).to_have_count(2)
    expect(page).to_have_url(re.compile(r"\?q=error&mode=words&kind=pdf&tag=book$"))
    page.get_by_label("Remove the filter Kind: PDF").click()
    expect(page).to_have_url(re.compile(r"\?q=error&mode=words&tag=book$"))
    expect(page.locator(".chip-on")).to_have_count(1)


def test_a_filter_that_cannot_be_understood_leaves_the_results_and_says_why(visit: Visits) -> None:
    page = visit().go(SEARCH)
    final(page)
    count = page.locator(".passage").count()
    page.locator("#filters summary").click()
    page.get_by_label("Up to").fill("late")
    page.keyboard.press("Tab")
    expect(page.locator("#notices [role=alert]")).to_contain_text("“late” is not a time")
    expect(page.locator(".passage")).to_have_count(count)


@pytest.mark.parametrize("number", [6, 8], ids=["joined to a neighbour", "a hit as before"])
def test_first_results_come_at_once_and_the_final_ones_keep_what_is_being_read(
    visit: Visits, slow_answer: threading.Event, number: int
) -> None:
    page = visit(viewport={"width": 1000, "height": 600}).go(
        "/search/?q=captions+times&source=why-captions-have-times&limit=30&mode=meaning"
    )
    expect(page.locator("[data-refining]")).to_contain_text("First results")
    for _ in range(number):
        page.keyboard.press("j")
    page.keyboard.press("e")
    reading = page.evaluate("document.activeElement.id")
    assert reading.startswith("hit-")
    top = page.evaluate("document.activeElement.getBoundingClientRect().top")
    before = page.locator(".passage-open").evaluate_all("all => all.map(one => one.id)")
    slow_answer.set()
    final(page)
    expect(page.locator("#announcer")).to_have_text(re.compile("In their final order"))
    after = page.locator(".passage-open").evaluate_all("all => all.map(one => one.id)")
    assert after != before
    assert (reading in after) == (number == 8)
    holding = page.locator(".passage").filter(has=page.locator(f"#{reading}"))
    expect(holding.locator(".passage-open")).to_be_focused()
    assert page.evaluate("document.activeElement.getBoundingClientRect().top") == pytest.approx(
        top, abs=2
    )
    if reading in after:
        why = f"#why-{reading.removeprefix('hit-')}"
        expect(page.locator(why)).to_have_attribute("open", "")
    page.locator("#stages summary").click()
    expect(page.locator("#stages")).to_contain_text("Convolution and pooling.")


def test_where_the_closer_look_fails_the_first_results_stay(visit: Visits) -> None:
    visitor = visit()
    visitor.context.route(re.compile("full=1"), lambda route: route.abort())
    page = visitor.go(SEARCH)
    expect(page.locator("[data-refining]")).to_contain_text("Re-ranking was not possible")
    expect(page.locator(".passage").first).to_be_visible()


def test_a_search_by_keyboard_alone(visit: Visits) -> None:
    page = visit().go("/search/")
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    page.locator("body").evaluate("() => document.activeElement.blur()")
    page.keyboard.press("/")
    page.keyboard.type("gradient")
    page.keyboard.press("Enter")
    final(page)
    page.keyboard.press("ArrowDown")
    first, second = page.locator(".passage-open").nth(0), page.locator(".passage-open").nth(1)
    expect(first).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(second).to_be_focused()
    page.keyboard.press("k")
    expect(first).to_be_focused()
    page.keyboard.press("e")
    expect(page.locator(".passage").first.locator(".why")).to_be_visible()
    page.keyboard.press("e")
    expect(page.locator(".passage").first.locator(".why")).to_be_hidden()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_contain_text("Say why it is a hit")
    page.keyboard.press("Escape")
    expect(first).to_be_focused()
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/videos/\d+/\?t=\d+s|/sources/"))


def judging(visitor: Visit) -> Visit:
    """Have hits offer to be marked as right or wrong."""
    page = visitor.go("/settings/")
    page.get_by_label("Offer to mark each hit").check()
    page.locator("main").get_by_role("button", name="Save").click()
    expect(page.get_by_label("Offer to mark each hit")).to_be_checked()
    return visitor


def test_a_hit_is_marked_and_unmarked_by_key_and_by_mouse(visit: Visits) -> None:
    page = judging(visit()).go("/search/?q=pooling")
    final(page)
    # Else this announcement may come after that of the mark.
    expect(page.locator("#announcer")).to_have_text(re.compile("In their final order"))
    page.keyboard.press("j")
    hit = page.locator(".passage").first
    right, wrong = hit.locator(".mark-right"), hit.locator(".mark-wrong")
    page.keyboard.press("r")
    expect(right).to_have_attribute("aria-pressed", "true")
    expect(page.locator("#announcer")).to_have_text("Marked as right")
    wrong.click()
    expect(wrong).to_have_attribute("aria-pressed", "true")
    expect(right).to_have_attribute("aria-pressed", "false")
    expect(wrong).to_be_focused()
    page.reload()
    final(page)
    expect(wrong).to_have_attribute("aria-pressed", "true")
    wrong.click()
    expect(wrong).to_have_attribute("aria-pressed", "false")
    expect(page.locator("#announcer")).to_have_text("The mark is taken back")
    page.reload()
    final(page)
    expect(wrong).to_have_attribute("aria-pressed", "false")


def test_the_marks_of_a_hit_say_in_words_what_they_mean_on_a_phone_too(visit: Visits) -> None:
    page = judging(visit(viewport=PHONE)).go(f"{SEARCH}&mode=words")
    marks = page.locator(".marks").first
    for word in ("Right", "Wrong"):
        button = marks.get_by_role("button", name=word)
        shape, sign = button.bounding_box(), button.locator(".icon").bounding_box()
        assert shape is not None
        assert sign is not None
        assert shape["width"] > sign["width"] + 40
        assert shape["x"] + shape["width"] <= PHONE["width"]
        assert button.inner_text().strip() == word
    check_accessibility(page)


def test_a_hit_opens_the_recording_at_its_sentence_with_the_words_marked(
    visit: Visits, site: Site
) -> None:
    page = visit().go("/search/?q=%22point+400%22&mode=words")
    page.locator(".passage-open").first.click()
    expect(page).to_have_url(re.compile(rf"/videos/{site.seeded['long']}/\?t=\d+s.*&q="))
    line = page.locator(".cue.at")
    expect(line.locator("mark.quoted.looked-for")).to_have_text("Point 400")
    expect(line).to_be_in_viewport()
    start = line.locator(".time").inner_text()
    expect(page.locator("[data-play-label]")).to_contain_text("Play from")
    expect(page.get_by_label("Find in this transcript")).to_have_value('"point 400"')
    expect(page.locator("#found .count")).to_contain_text("1 of 1")
    expect(page.locator(".hit [aria-current] .time")).to_contain_text(start[:3])


def test_a_hit_opens_a_document_at_its_page(visit: Visits) -> None:
    ada = visit()
    page = ada.go("/search/?q=weight+gradient&mode=words&kind=pdf")
    hit = page.locator(".passage-open").first
    hit.focus()
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name="A book on networks")
    expect(dialog.locator(".sheet-quote")).to_be_in_viewport()
    expect(dialog.get_by_role("region", name="Page 2 of 3")).to_be_focused()
    check_picture(dialog)
    check_accessibility(page)

    # By keyboard: to the next page, larger, and to the page that has a word.
    page.keyboard.press("ArrowRight")
    expect(dialog.get_by_role("region", name="Page 3 of 3")).to_be_focused()
    page.keyboard.press("+")
    expect(dialog.locator(".sheet")).to_have_class(re.compile("zoom-150"))
    expect(dialog.get_by_role("region", name="Page 3 of 3")).to_be_focused()
    page.keyboard.press("/")
    expect(dialog.locator("[data-page-search]")).to_be_focused()
    page.keyboard.type("backwards")
    page.keyboard.press("Enter")
    expect(dialog.get_by_role("region", name="Page 1 of 3")).to_be_visible()
    expect(dialog.locator(".sheet-quote")).to_be_in_viewport()

    # The page's own address works without scripts; the dialog leads back to the hit.
    own = str(dialog.get_by_role("link", name="Page’s own address").get_attribute("href"))
    page.keyboard.press("Escape")  # clears the search box
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    expect(hit).to_be_focused()
    assert (ada.console, ada.foreign) == ([], [])
    plain = visit(java_script_enabled=False).go(own)
    expect(plain.locator(".sheet-quote")).to_be_visible()
    plain.get_by_role("link", name="Next page").click()
    expect(plain.get_by_role("region", name="Page 2 of 3")).to_be_visible()
    expect(plain.locator(".sheet-quote")).to_have_count(0)  # left for another word
    plain.get_by_role("link", name="Larger").click()
    expect(plain.locator(".sheet")).to_have_class(re.compile("zoom-150"))
    with plain.expect_download() as saved:
        plain.get_by_role("link", name="PDF file").click()
    assert saved.value.suggested_filename == "book.pdf"
    assert Path(saved.value.path()).read_bytes().startswith(b"%PDF-")


def test_a_late_page_does_not_open_the_closed_dialog_again(visit: Visits) -> None:
    ada = visit()
    page = ada.go("/search/?q=weight+gradient&mode=words&kind=pdf")
    hit = page.locator(".passage-open").first
    hit.click()
    dialog = page.get_by_role("dialog", name="A book on networks")
    expect(dialog.get_by_role("region", name="Page 2 of 3")).to_be_focused()
    waiting: list[Route] = []
    page.route(re.compile(r"/pages/3/"), lambda route: waiting.append(route))
    with page.expect_request(re.compile(r"/pages/3/")):
        page.keyboard.press("ArrowRight")
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    for route in waiting:
        route.continue_()
    page.wait_for_timeout(500)
    expect(dialog).to_be_hidden()
    expect(hit).to_be_focused()
    assert ada.console == []


def check_picture(dialog: Locator) -> None:
    """Check a page's image: as sharp as the screen, with a box on the cited line."""
    picture = dialog.locator(".sheet img")
    expect(picture).to_have_js_property("complete", True)
    assert picture.evaluate("one => one.naturalWidth") > 400
    line: Any = dialog.locator(".sheet-quote").bounding_box()
    sheet: Any = picture.bounding_box()
    assert (line["y"] - sheet["y"]) / sheet["height"] == pytest.approx(1 - 511 / 594, abs=0.02)
    assert (line["x"] - sheet["x"]) / sheet["width"] == pytest.approx(40 / 420, abs=0.01)


def test_more_passages_come_below_and_the_first_new_one_is_read_next(visit: Visits) -> None:
    page = visit().go("/search/?q=gradient&mode=words")
    expect(page.locator(".passage")).to_have_count(10)
    page.locator("#more").click()
    expect(page.locator(".passage")).to_have_count(30)
    expect(page.locator(".passage-open").nth(10)).to_be_focused()
    expect(page).to_have_url(re.compile("limit=30$"))


def test_everything_is_searched_without_scripts(visit: Visits) -> None:
    page = judging(visit(java_script_enabled=False)).go("/search/")
    page.get_by_label("Search the library").fill("pooling")
    page.get_by_role("button", name="Search").click()
    page.get_by_role("link", name="Take a closer look").click()
    expect(page.locator(".passage").first).to_be_visible()
    expect(page.get_by_role("link", name="Take a closer look")).to_have_count(0)
    page.locator("#filters summary").click()
    page.get_by_label("Language").select_option("en")
    page.get_by_role("button", name="Apply").click()
    expect(page.locator(".chip-on")).to_contain_text("Language English")
    page.locator(".mark-right").first.click()
    expect(page.locator(".mark-right[aria-pressed=true]")).to_have_count(1)
    expect(page.locator(".chip-on")).to_contain_text("Language English")
    page.locator(".mark-right[aria-pressed=true]").click()
    expect(page.locator(".mark-right[aria-pressed=true]")).to_have_count(0)


def test_a_video_is_searched_by_meaning_from_its_page(visit: Visits, site: Site) -> None:
    page = visit().go(f"/videos/{site.seeded['long']}/?q=error")
    page.get_by_role("link", name="Search this recording by meaning").click()
    expect(page.locator(".chip-on")).to_contain_text("A long lecture on neural networks")
    ask(page, "functions")
    final(page)
    expect(page.locator(".group")).to_have_count(1)
    expect(page.locator(".chip-on")).to_have_count(1)


def test_sources_move_on_by_themselves(visit: Visits, site: Site) -> None:
    site.python(WAITING)  # a worker that began meanwhile has tried it
    page = visit().go("/activity/")
    site.python(PROGRESS)
    row = page.locator("#live .row", has_text="Notes that wait")
    expect(row.locator("progress")).to_have_attribute("value", "75")
    expect(row).to_contain_text("Embedding · 30 of 40")


def test_sources_are_walked_by_keyboard(visit: Visits) -> None:
    page = visit().go("/library/?q=book")
    page.keyboard.press("j")
    expect(page.get_by_role("link", name="A book on networks", exact=True)).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("A book on networks")
    page.wait_for_load_state()
    page.keyboard.press("/")
    page.keyboard.type("gradient")
    page.keyboard.press("Enter")
    expect(page.locator(".found .count")).to_contain_text("1 of 1")
    page.get_by_text("1 place on 1 page").click()
    expect(page.locator(".page-hits a")).to_contain_text("Page 2")
    expect(page.locator(".page-hits mark")).to_be_visible()


def test_a_reader_marks_hits_and_changes_no_source(visit: Visits, site: Site) -> None:
    page = judging(visit("vera")).go("/search/?q=pooling")
    final(page)
    page.locator(".mark-wrong").first.click()
    expect(page.locator(".mark-wrong").first).to_have_attribute("aria-pressed", "true")
    page.goto(f"{site.url}/sources/{site.seeded['broken']}/")
    expect(page.get_by_role("button", name="Index again")).to_have_count(0)


def test_searching_again_copies_no_style_that_an_extension_left_on_a_field(visit: Visits) -> None:
    """Password managers do, and screenshots: ``style=""`` on each field of text."""
    visited = visit()
    page = visited.go("/search/?q=gradient&mode=words")
    for question in ("network", "weight", "layer"):
        fields = page.locator("#search-body input[type=date]")
        fields.evaluate_all("(fields) => fields.forEach((field) => (field.style.top = '0'))")
        ask(page, question)
        expect(page.locator("#results mark").first).to_contain_text(question)
    assert not visited.console
