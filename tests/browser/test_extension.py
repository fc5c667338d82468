"""The browser extension in Chromium, beside a stand-in for the site of the videos."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Playwright, expect

from tests.browser.accessibility import check_accessibility
from tests.browser.extension import CHROMIUM, Reader, launched
from tests.browser.site import Site
from tests.browser.watch_standin import TITLE, WatchStandIn
from tests.programs import require

pytestmark = pytest.mark.browser
VIDEO = "lecture0001"
SILENT = "silent00001"
STORED = """
from transcripts.models import Transcript
rows = Transcript.objects.filter(video__youtube_id="lecture0001")
print(json.dumps(list(rows.values_list("language", "origin"))))
"""
REMOVE = """
from citations.ingest import pipeline
from transcripts.library import collections
from transcripts.models import Video
for video in Video.objects.filter(youtube_id="lecture0001"):
    collections.delete_video(video)
"""


@pytest.fixture(scope="module")
def watch() -> Iterator[WatchStandIn]:
    with WatchStandIn() as standin:
        yield standin


@pytest.fixture
def reader(
    playwright_driver: Playwright, site: Site, watch: WatchStandIn, tmp_path: Path
) -> Iterator[Reader]:
    require("" if CHROMIUM else "Chromium itself is not here, and its shell knows no extensions")
    with launched(playwright_driver, tmp_path, site.url, watch) as context:
        context.set_default_timeout(30_000)
        context.pages[0].goto(site.sign_in_link("ada"))
        yield Reader(context, watch)


@pytest.fixture(autouse=True)
def _removed(site: Site) -> Iterator[None]:
    yield
    site.python(REMOVE)


def test_a_video_is_added_by_the_captions_of_its_player_then_searched_and_compared(
    reader: Reader, site: Site
) -> None:
    panel = reader.open(VIDEO)
    expect(panel.get_by_role("heading", name=TITLE)).to_be_visible()
    expect(panel.get_by_text("switch subtitles on")).to_be_visible()
    reader.page.get_by_role("button", name="Subtitles").click()
    expect(panel.get_by_text("4 captions are loaded.")).to_be_visible()

    find = panel.get_by_role("searchbox", name="Find in this video")
    find.fill("BACKWARDS network")  # without the library
    expect(panel.locator("#matches mark").first).to_have_text("backwards")
    panel.locator("#matches").get_by_role("button").click()
    assert reader.page.evaluate("document.querySelector('video').currentTime") == 10

    reader.connect(panel, choice="add, change")
    assert reader.kept(panel)["account"]["scope"] == "read write"
    panel.get_by_label("Captions").select_option("German")
    expect(panel.get_by_text("2 captions are loaded.")).to_be_visible()
    find.fill("RUCKWARTS")
    expect(panel.locator("#matches mark")).to_have_text("rückwärts")
    panel.get_by_label("Captions").select_option("English (automatic)")
    expect(panel.get_by_text("4 captions are loaded.")).to_be_visible()
    panel.get_by_role("button", name="Add to the library").click()
    expect(panel.get_by_text("Added to the library.")).to_be_visible()
    expect(panel.get_by_role("heading", name="The library’s search")).to_be_visible(timeout=60_000)
    assert site.json(STORED) == [["en", "auto"]]
    find.fill("gradient")
    panel.locator("#passages").get_by_role("button").first.click()
    expect(panel.locator("#passages").get_by_role("button").first).to_contain_text("gradient")
    assert reader.page.evaluate("document.querySelector('video').currentTime") == 0

    panel.get_by_role("button", name="About what is said now").click()
    related = panel.locator("#related").get_by_role("link").first
    expect(related).to_be_visible()
    assert str(related.get_attribute("href")).startswith(site.url)
    assert VIDEO not in panel.locator("#related").inner_html()
    assert panel.locator("img").count() == 0  # what the page said is text
    assert panel.title() == "Cuebase"
    check_accessibility(panel)

    panel.reload()
    expect(panel.get_by_role("link", name="Open in the library")).to_be_visible()
    assert panel.get_by_role("button", name="Add to the library").is_hidden()
    panel.get_by_role("button", name="Sign out").click()
    expect(panel.get_by_text("the library has ended the connection")).to_be_visible()
    assert "account" not in reader.kept(panel)
    tokens = reader.context.new_page()
    tokens.goto(f"{site.url}/tokens/")
    expect(tokens.get_by_role("heading", name="Connected applications")).to_be_visible()
    expect(tokens.get_by_text("Cuebase in the browser")).to_have_count(0)


def test_what_goes_wrong_is_said_in_words(reader: Reader, site: Site) -> None:
    panel = reader.open(SILENT)
    expect(panel.get_by_text("This video has no captions")).to_be_visible()
    reader.connect(panel, choice="read, search and ask")
    assert panel.get_by_role("button", name="Add to the library").is_hidden()
    panel.close()

    panel = reader.open(VIDEO)
    reader.page.get_by_role("button", name="Subtitles").click()
    panel.get_by_role("button", name="Add to the library").click()
    expect(panel.get_by_role("alert")).to_contain_text("may only read")

    refuse: Callable[[Any], None] = lambda route: route.abort()  # noqa: E731
    reader.context.route(f"{site.url}/**", refuse)
    panel.reload()
    expect(panel.get_by_role("alert")).to_contain_text("does not answer. Is it running?")
    reader.context.unroute_all()
    site.python("from kbsite.models import ApiToken\n[t.revoke() for t in ApiToken.objects.all()]")
    panel.reload()
    expect(panel.get_by_role("alert")).to_contain_text("The connection has ended. Connect again.")
    expect(panel.get_by_role("button", name="Connect")).to_be_visible()
    reader.page.goto(f"{reader.watch.url}/elsewhere")
    expect(panel.get_by_text("Open a video.")).to_be_visible()
