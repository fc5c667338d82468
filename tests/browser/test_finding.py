"""On a phone, the words that are looked for and the ways to the next of them stay in sight."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, ViewportSize, expect

from tests.browser.accessibility import check_accessibility
from tests.browser.conftest import PHONE, Visits
from tests.browser.site import Site
from tests.browser.test_pages import SHIFT

pytestmark = pytest.mark.browser

ADD = """
from io import BytesIO
from tests.makers import make_cues, make_video, make_wav
from transcripts.media import files as media
from transcripts.models import Collection
texts = [f"Sentence {number} of the sound." for number in range(60)]
video = make_video(Collection.objects.default(), key="heard", cues=make_cues(60, sentences=texts))
media.replace(video, BytesIO(make_wav(300)), name="heard.wav")
print(json.dumps(video.pk))
"""
REMOVE = """
from transcripts.library import collections
from transcripts.models import Video
collections.delete_video(Video.objects.get(key="heard"))
"""
LANDSCAPE: ViewportSize = {"width": 740, "height": 360}
EDGES = "element => [element.getBoundingClientRect().top, element.getBoundingClientRect().bottom]"


@pytest.fixture
def heard(site: Site) -> Iterator[str]:
    """A recording with its sound."""
    yield f"/videos/{site.json(ADD)}/"
    site.python(REMOVE)


def edges(element: Locator) -> tuple[float, float]:
    """Return where an element begins and ends in the window, in pixels."""
    top, bottom = element.evaluate(EDGES)
    return top, bottom


def check_row(page: Page, *, above: Locator) -> None:
    """Check that the row of the search is small, below what stays above it, and over no match."""
    row = page.locator("main .find-row")
    top, bottom = edges(row)
    assert bottom - top <= 56
    assert abs(top - edges(above)[1]) < 3
    match = edges(page.locator("mark.quoted, .sheet-quote").first)
    assert bottom <= match[0] < match[1] <= page.evaluate("innerHeight")


@pytest.mark.parametrize("size", [PHONE, LANDSCAPE])
def test_a_hit_in_a_recording_has_the_next_match_and_the_next_passage_at_hand(
    visit: Visits, size: ViewportSize
) -> None:
    page = visit(viewport=size).go("/search/?q=gradient+error&kind=video&mode=words")
    page.locator(".passage-open").first.click()
    page.wait_for_url("**/videos/**")
    page.mouse.move(200, 300)
    page.mouse.wheel(0, 400)  # reading on
    for name in ("Next match", "Previous match", "Next passage"):
        expect(page.locator(".find-row").get_by_role("link", name=name)).to_be_in_viewport()
    count = page.locator("#found .count")
    before = count.inner_text()
    page.locator(".find-row").get_by_role("link", name="Next match").click()
    expect(count).not_to_have_text(before)
    header = page.locator("header.top")
    if size == PHONE:
        check_row(page, above=header)
    else:
        expect(header).not_to_be_in_viewport()  # there is little height
        assert edges(page.locator(".find-row"))[0] == 0
    page.locator(".find-row").get_by_role("link", name="Next passage").click()
    page.wait_for_url(re.compile("hit=2"))


def test_without_words_to_look_for_nothing_stays_over_the_text(visit: Visits, site: Site) -> None:
    page = visit(viewport=PHONE).go(f"/videos/{site.seeded['long']}/?t=1190s")
    expect(page.locator(".cue.at")).to_be_in_viewport()
    expect(page.get_by_label("Find in this transcript")).not_to_be_in_viewport()


@pytest.mark.parametrize("size", [PHONE, LANDSCAPE])
def test_the_player_stays_above_the_row_once_it_plays(
    visit: Visits, heard: str, size: ViewportSize
) -> None:
    page = visit(viewport=size).go(f"{heard}?q=sound&t=100s")
    page.locator(".cue .time").nth(30).click()
    expect(page.locator("audio#player")).to_have_class(re.compile("played"))
    page.locator(".find-row").get_by_role("link", name="Next match").click()
    expect(page.locator("#announcer")).to_contain_text("of 60")
    check_row(page, above=page.locator("audio#player"))


def test_nothing_moves_while_a_slow_phone_opens_a_hit(visit: Visits, site: Site) -> None:
    page = visit(viewport=PHONE).go(f"/videos/{site.seeded['long']}/?t=1000s&q=gradient")
    page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": 6})
    page.reload()
    assert page.evaluate(SHIFT) < 0.02


def test_a_hit_on_a_page_opens_at_its_words_below_the_row(visit: Visits, site: Site) -> None:
    path = f"/sources/{site.seeded['book']}/pages/1/?from=0&to=31&q=network"
    page = visit(viewport=PHONE).go(f"{path}&hit=1&of=2&search=q%3Dnetwork")
    expect(page.locator(".sheet-quote").first).to_be_in_viewport()
    page.evaluate("scrollBy(0, 250)")
    row = page.locator(".find-row")
    expect(row.get_by_label("Search in this document")).to_have_value("network")
    expect(row.get_by_role("link", name="Next passage")).to_be_in_viewport()
    assert abs(edges(row)[0] - edges(page.locator("header.top"))[1]) < 3
    row.get_by_role("link", name="Next match").click()
    expect(page.locator(".found .count")).to_contain_text("1 of 2")
    expect(page.locator(".sheet-quote").first).to_be_in_viewport()
    check_accessibility(page)
