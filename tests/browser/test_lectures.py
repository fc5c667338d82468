"""A lecture in a real browser: the sample talk is replayed, and citations appear beside it."""

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.browser.accessibility import check_accessibility
from tests.browser.conftest import Visits
from tests.browser.site import Site

pytestmark = pytest.mark.browser

WAITING = """
from citations.lectures import sessions as lectures
from citations.models import Window
from uuid import uuid4
from kbsite.callers import everything
from transcripts.models import Collection
session = lectures.start(everything(), None, title="Slow", collection=Collection.objects.default())
Window.objects.create(session=session, index=0, text="Nobody looks it up.", holder=uuid4())
print(json.dumps(str(session.uuid)))
"""

CITED = """
from citations.lectures import sessions as lectures
from citations.lectures.events import CITATIONS, publish
from citations.models import Citation, LectureSession, Segment, Source, Window
from citations.schemas.lectures import CitationsEventOut, CitedEventOut
from uuid import uuid4
from kbsite.callers import everything

def cite(session, index):
    source = Source.objects.filter(collection=session.collection).order_by("pk")[index]
    window = Window.objects.get(session=session, index=index)
    citation = Citation.objects.create(
        session=session, window=window, window_index=index, rank=1, relevance_score=0.9,
        source=source, span_start=0, span_end=5, start=0, end=5000, quote="Words",
        digest=str(index), snippet="Words",
    )
    window.outcome = "cited"
    window.save()
    event = CitationsEventOut(
        window_index=index, outcome="cited", note="", milliseconds=1.0,
        citations=[CitedEventOut.model_validate(citation)],
    )
    publish(session, [(CITATIONS, event)])
"""
LATE = """
collection = Source.objects.order_by("pk")[0].collection
session = lectures.start(everything(), None, title="Late", collection=collection)
for index in range(3):
    Segment.objects.create(session=session, number=index, text=f"Sentence {index}.")
    Window.objects.create(
        session=session, index=index, first=index, last=index, text=f"Sentence {index}.",
        holder=uuid4(),  # nobody else looks it up
    )
cite(session, 0)
cite(session, 2)
print(json.dumps(str(session.uuid)))
"""

TIP_WAITED = """() => {
  const tip = document.querySelector("[data-tip-box]")
  let moved = NaN
  addEventListener("pointermove", () => { moved ||= performance.now() })
  new MutationObserver(() => {
    if (!tip.hidden) window.tipWaited ??= performance.now() - moved
  }).observe(tip, { attributes: true })
}"""  # milliseconds from the pointer to its card, measured by the page, since machines are noisy
PLAYER = """<!doctype html><script>
parent.postMessage(JSON.stringify({info: {playerState: 1, currentTime: 31}}), '*')
</script>"""
EAR = """window.SpeechRecognition = class extends EventTarget {
    start() {
        const said = Object.assign([{transcript: 'The service says no.'}], {isFinal: true})
        const event = Object.assign(new Event('result'), {resultIndex: 0, results: [said]})
        setTimeout(() => this.dispatchEvent(event), 50)
    }
    stop() { window.stopped = true }
}"""


def clock(text: str) -> int:
    """Read a time such as 1:05 as seconds."""
    seconds = 0
    for part in text.split(":"):
        seconds = 60 * seconds + int(part)
    return seconds


def test_the_sample_lecture_is_replayed_and_its_citations_lead_to_the_page(
    visit: Visits, sample: dict[str, str]
) -> None:
    ada, vera = visit("ada"), visit("vera")
    page, other = ada.go("/lectures/"), vera.go(f"/lectures/{sample['lecture']}/")
    check_accessibility(page)
    page.get_by_role("link", name="Sample lecture").first.click()
    expect(page.get_by_text("Press Replay")).to_be_visible()
    page.get_by_label("Speed").select_option("10")
    page.get_by_role("button", name="Replay", exact=True).click()

    # Citations land in step, for everybody who watches.
    expect(page.locator(".cite").first).to_be_visible(timeout=60_000)
    expect(page.locator("[data-heard]")).to_contain_text(re.compile(r"\d new citations?: "))
    page.get_by_role("button", name="Pause").click()
    at = clock(page.locator("[data-clock]").inner_text().split(" / ")[0])
    assert all(clock(time) <= at for time in page.locator(".said-time").all_inner_texts())
    expect(page.locator(".refs")).to_have_count(count_at_rest(page))
    count = page.locator("[data-cite]").count()
    expect(page.locator("[data-count]")).to_have_text(str(count))
    expect(page.locator(".ref")).to_have_count(count)
    expect(other.locator("[data-cite]")).to_have_count(count)
    expect(page.locator("[data-cite] mark")).to_have_count(count)
    shown = cards(page)
    assert shown == cards(other)
    page.reload()  # what came live is what is drawn anew
    assert cards(page) == shown
    expect(other.get_by_role("button", name="Replay")).to_have_count(0)

    check_tooltip(page, sample["textbook"])
    check_filter(page)

    # A click shows the card; its link shows the page.
    ref = page.locator(".ref").first
    ref.click()
    card = page.locator(str(ref.get_attribute("href")))
    expect(card).to_be_focused()
    expect(card).to_be_in_viewport()
    assert (
        card.evaluate("one => getComputedStyle(one).animationName") == "none"
    )  # less motion is wanted: it is lit up, and does not pulse
    assert "pulse" in str(card.get_attribute("class"))
    check_accessibility(page)
    card.get_by_role("link", name="View page").click()
    expect(page.locator("#page-dialog .sheet-quote").first).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#page-dialog")).to_be_hidden()

    # What is skipped is said at once; the lecture ends with its talk.
    page.get_by_label("Position in the talk").focus()
    page.keyboard.press("End")
    expect(page.locator("[data-state]")).to_have_text("Ended", timeout=60_000)
    expect(page.get_by_role("button", name="Replay it again")).to_be_visible()
    expect(other.locator("[data-state]")).to_have_text("Ended")
    assert (
        page.request.get(f"{ada.site.url}/lectures/{sample['lecture']}/notes.md")
        .text()
        .startswith("# Sample lecture")
    )
    assert (ada.console, ada.foreign, vera.console) == ([], [], [])


def count_at_rest(page: Page) -> int:
    """Count the groups of cards once none has come or grown for two seconds: a pause does not stop
    the search.
    """
    before, now = [("", "", "")], cards(page)
    while now != before:
        page.wait_for_timeout(2_000)
        before, now = now, cards(page)
    return len(now)


def cards(page: Page) -> list[tuple[str, str, str]]:
    """Return the time, the windows and the passages of each group of cards."""
    return [
        (
            card.locator("[data-range]").inner_text(),
            str(card.get_attribute("data-windows")).strip(),
            " ".join(card.locator("blockquote").all_text_contents()),
        )
        for card in page.locator("[data-cited]").all()
    ]


def check_tooltip(page: Page, title: str) -> None:
    """Check the card of a number: beside the pointer after a moment, with focus, until Escape."""
    tip, ref = page.locator("[data-tip-box]"), page.locator(".ref").first
    ref.scroll_into_view_if_needed()
    box: Any = ref.bounding_box()
    page.evaluate(TIP_WAITED)
    page.mouse.move(box["x"] + 4, box["y"] + 4)
    expect(tip).to_have_text(re.compile(rf"^{title}, pages? \d+"))
    expect(tip).to_be_visible()
    assert page.evaluate("window.tipWaited") > 150
    left = tip.evaluate("one => one.getBoundingClientRect().left")
    page.mouse.move(box["x"] + 9, box["y"] + 6)
    assert tip.evaluate("one => one.getBoundingClientRect().left") == pytest.approx(left + 5)
    page.mouse.move(2, 2)
    expect(tip).to_be_hidden()
    page.locator("#spoken").focus()
    page.keyboard.press("Tab")
    expect(page.locator(".ref").first).to_be_focused()
    expect(tip).to_be_visible()
    page.keyboard.press("Escape")
    expect(tip).to_be_hidden()


def check_filter(page: Page) -> None:
    """Try the filter of the cards."""
    box = page.get_by_label("Filter the citations")
    box.fill("zebra in pyjamas")
    expect(page.locator(".cite:visible")).to_have_count(0)
    expect(page.get_by_text("No citation fits the filter.")).to_be_visible()
    box.fill("page")
    expect(page.locator(".cite:visible").first).to_be_visible()
    box.fill("")


def test_a_lecture_of_ones_own_is_begun_from_pasted_text_on_a_narrow_screen(
    visit: Visits, sample: dict[str, str]
) -> None:
    ada = visit(viewport={"width": 360, "height": 740})
    page = ada.go("/lectures/new/")
    page.get_by_label("Title").fill("What I said")
    page.get_by_label("Filter the sources").fill(sample["textbook"])
    page.locator(".source-choice li:visible").get_by_role("checkbox").check()
    check_accessibility(page)
    page.get_by_role("button", name="Begin").click()
    expect(page.get_by_role("heading", name="What I said")).to_be_visible()
    page.get_by_label("What was said").fill(
        " ".join(
            "A service that has too much to do says no, "
            f"and tells how many seconds to wait, number {n}."
            for n in range(9)
        )
    )
    page.get_by_role("button", name="Add it").click()
    expect(page.locator(".said")).to_have_count(9)
    expect(page.locator(".ref").first).to_be_attached(timeout=60_000)
    assert count_at_rest(page) < 3  # what comes in pushes cards down, or extends one
    assert any(" " in windows for _, windows, _ in cards(page))
    page.locator(".ref").first.click()
    expect(page.locator(".cite.pulse")).to_be_in_viewport()
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    check_accessibility(page)
    page.get_by_role("button", name="End the lecture").click()
    expect(page.locator("[data-state]")).to_have_text("Ended")
    assert (ada.console, ada.foreign) == ([], [])


def test_text_is_pasted_again_and_again_and_the_end_adds_what_is_left(visit: Visits) -> None:
    ada, other = visit(), visit()
    page = ada.go("/lectures/new/")
    page.get_by_role("button", name="Begin").click()
    field = page.get_by_label("What was said")
    field.fill("The first sentence.")
    page.wait_for_load_state()  # its scripts run: without them, adding leads to the page again
    page.evaluate("window.isSamePage = true")
    page.get_by_role("button", name="Add it").click()
    expect(page.locator(".said")).to_have_count(1)
    expect(page.locator("[data-state]")).to_have_text("In progress")
    expect(field).to_be_focused()
    expect(field).to_have_value("")
    page.keyboard.type("The second sentence.")
    page.keyboard.press("Control+Enter")
    expect(page.locator(".said")).to_have_count(2)
    expect(field).to_have_value("")
    page.keyboard.type("  ")
    page.get_by_role("button", name="Add it").click()
    expect(field).to_be_focused()
    assert field.evaluate("one => one.validity.valueMissing")
    assert page.evaluate("window.isSamePage")

    # Somebody else has written something, too.
    watching = other.go(page.url.removeprefix(ada.site.url))
    watching.get_by_text("Paste text").click()
    watching.get_by_label("What was said").fill("Written elsewhere.")

    page.get_by_text("Paste text").click()  # folded, the box does not stop the end
    page.get_by_role("button", name="End the lecture").click()
    expect(page.locator("[data-state]")).to_have_text("Ended")
    expect(page.locator("#paste")).to_have_count(0)
    expect(watching.locator("[data-state]")).to_have_text("Ended")
    expect(watching.get_by_text("The lecture ended before this was added.")).to_be_visible()
    expect(watching.get_by_label("What was said")).to_have_value("Written elsewhere.")
    expect(watching.get_by_label("What was said")).not_to_be_editable()
    expect(watching.get_by_role("button", name="Add it")).to_have_count(0)
    check_accessibility(watching)
    assert (ada.console, ada.foreign, other.console) == ([], [], [])


def test_what_is_written_and_not_added_goes_with_the_end(visit: Visits) -> None:
    page = visit().go("/lectures/new/")
    page.get_by_role("button", name="Begin").click()
    page.get_by_label("What was said").fill("Written, and not added.")
    page.get_by_role("button", name="End the lecture").click()
    expect(page.locator("[data-state]")).to_have_text("Ended")
    expect(page.locator(".said")).to_have_text("Written, and not added.")


def test_that_something_is_looked_for_is_said_only_when_it_takes_long(
    visit: Visits, site: Site
) -> None:
    lecture = site.json(WAITING)
    ada = visit()
    ada.page.clock.install(time=0)
    ada.page.clock.pause_at(1_000)
    page = ada.go(f"/lectures/{lecture}/")
    page.clock.run_for(1_900)
    expect(page.get_by_text("Finding citations…")).to_be_hidden()
    page.clock.run_for(200)
    expect(page.get_by_text("Finding citations…")).to_be_visible()


def test_a_card_that_comes_late_stands_where_its_speech_does(visit: Visits, site: Site) -> None:
    lecture = site.json(CITED + LATE)
    page = visit().go(f"/lectures/{lecture}/")
    expect(page.locator("[data-cited]")).to_have_count(2)
    site.python(f"{CITED}\ncite(LectureSession.objects.get(uuid={lecture!r}), 1)")
    expect(page.locator("#segment-1 .ref")).to_have_text("1")
    expect(page.locator("[data-cited]")).to_have_count(3)
    assert [windows for _, windows, _ in cards(page)] == ["2", "1", "0"]
    expect(page.locator("[data-count]")).to_have_text("3")
    shown = cards(page)
    page.reload()
    assert cards(page) == shown


def test_a_replay_follows_the_player_and_speech_is_taken_from_the_browser(
    visit: Visits, site: Site
) -> None:
    page = visit().page
    page.route(
        "https://www.youtube-nocookie.com/**",
        lambda route: route.fulfill(body=PLAYER, content_type="text/html"),
    )
    page.add_init_script(EAR)
    page.goto(f"{site.url}/videos/{site.seeded['long']}/")
    page.get_by_text("More", exact=True).click()
    page.get_by_role("link", name="Replay as a lecture").click()
    page.get_by_role("button", name="Begin").click()
    expect(
        page.get_by_role("button", name="Replay", exact=True)
    ).to_be_enabled()  # before that the link leads to YouTube
    page.get_by_role("link", name="With the picture").click()
    expect(page.locator(".said")).to_have_count(6)
    expect(page.get_by_role("button", name="Pause")).to_be_visible()
    page.goto(f"{site.url}/lectures/new/")
    page.get_by_role("button", name="Begin").click()
    page.get_by_role("button", name="Listen").click()
    expect(page.locator(".said")).to_have_text("The service says no.")
    page.get_by_role("button", name="Stop listening").click()
    assert page.evaluate("window.stopped") is True
