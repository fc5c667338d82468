"""A recording's own sound plays in place: times, clips and the line that is said."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Route, expect

from tests.browser.accessibility import check_accessibility
from tests.browser.conftest import Visits
from tests.browser.site import Site
from tests.makers import make_film, make_wav
from tests.programs import require_program

pytestmark = pytest.mark.browser

ADD = """
from io import BytesIO
from tests.makers import make_cues, make_video, make_wav
from transcripts.media import files as media
from transcripts.models import Collection
texts = [f"Sentence {number}." for number in range(10)]
video = make_video(Collection.objects.default(), key="sound", cues=make_cues(10, sentences=texts))
media.replace(video, BytesIO(make_wav(60)), name="sound.wav")
print(json.dumps(video.pk))
"""
REMOVE = """
from transcripts.library import collections
from transcripts.models import Video
collections.delete_video(Video.objects.get(key="{}"))
"""
CAPTIONS = "WEBVTT\n\n" + "\n".join(
    f"00:{second:02}.000 --> 00:{second + 5:02}.000\nSentence {second // 5}.\n"
    for second in range(0, 55, 5)
)
NOTE_PLAY = """() => {
  HTMLMediaElement.prototype.play = async () => { window.hasPlayed = true; };
}"""
STATE = "player => [player.paused, player.currentTime, player.playbackRate]"


@pytest.fixture(scope="module")
def address(site: Site) -> Iterator[str]:
    yield f"/videos/{site.json(ADD)}/"
    site.python(REMOVE.format("sound"))


def test_a_time_plays_the_file_and_the_line_that_is_said_is_followed(
    visit: Visits, address: str
) -> None:
    visited = visit()
    page = visited.go(f"{address}?t=5s")
    player = page.locator("audio#player")
    visited.until(lambda: player.evaluate(STATE)[1] == 5)
    expect(page.locator("[data-other-length]")).to_be_hidden()
    page.get_by_label("Speed").select_option("2")
    line = page.locator(".cue").nth(4)
    line.locator(".time").click()
    visited.until(lambda: not player.evaluate(STATE)[0])
    assert player.evaluate(STATE)[1] >= 20
    assert player.evaluate(STATE)[2] == 2
    expect(page.locator(".cue").nth(5)).to_have_class("cue at")
    page.get_by_role("button", name="Back 10 seconds").click()
    visited.until(lambda: player.evaluate(STATE)[1] < 18)
    assert not visited.console
    assert not visited.foreign


def test_a_file_that_is_shorter_than_its_transcript_is_warned_of_and_plays(
    visit: Visits, site: Site
) -> None:
    short = ADD.replace("make_wav(60)", "make_wav(20)").replace("sound", "cut")
    visited = visit()
    page = visited.go(f"/videos/{site.json(short)}/")
    warning = page.locator("[data-other-length]")
    expect(warning).to_contain_text("This file is 0:20 long, the transcript 0:50")
    expect(warning).to_contain_text("Choose the right file")
    page.locator(".cue").nth(1).locator(".time").click()
    visited.until(lambda: page.locator("audio#player").evaluate(STATE)[1] > 5)
    assert not visited.console
    site.python(REMOVE.format("cut"))


HIGHLIGHT = """
from django.contrib.auth.models import User
from citations.notebook import highlights
from citations.ingest import discovery
from citations.models import Source
from citations.notebook.highlights import SelectedText
from transcripts.core.scope import Scope
collections = frozenset((video.collection_id,))
scope, ada = Scope(readable=collections, writable=collections), User.objects.get(username="ada")
selected = SelectedText(exact="Sentence 6. Point 6.")
discovery.adopt()
highlights.keep(scope, ada, str(Source.objects.get(video=video).uuid), selected)
print(json.dumps(video.pk))
"""


def test_a_clip_after_the_end_of_its_file_says_so(visit: Visits, site: Site) -> None:
    short = ADD.replace("make_wav(60)", "make_wav(20)").replace("sound", "ended")
    pk = site.json(short.rpartition("print")[0] + HIGHLIGHT)
    visited = visit()
    page = visited.go("/highlights/")
    page.locator(f"[data-clip^='/videos/{pk}/']").click()
    expect(page.locator(".notice-warning")).to_contain_text("The file ends at 0:20, before 0:30")
    check_accessibility(page)
    assert not visited.console
    site.python(REMOVE.format("ended"))


def test_a_clip_that_was_closed_before_it_came_does_not_play(visit: Visits, site: Site) -> None:
    pk = site.json(ADD.rpartition("print")[0].replace("sound", "closed") + HIGHLIGHT)
    visited = visit()
    page = visited.go("/highlights/")
    page.evaluate(NOTE_PLAY)
    waiting: list[Route] = []
    address = f"/videos/{pk}/clip/"
    page.route(re.compile(address), lambda route: waiting.append(route))
    clip = page.locator(f"[data-clip^='{address}']")
    with page.expect_request(re.compile(address)):
        clip.click()
    clip.click()
    with page.expect_response(re.compile(address)):
        waiting[0].continue_()
    page.wait_for_timeout(500)
    assert page.evaluate("window.hasPlayed") is None
    page.unroute(re.compile(address))
    clip.click()
    visited.until(lambda: page.evaluate("window.hasPlayed"))
    assert not visited.console
    site.python(REMOVE.format("closed"))


SHARE = """
from io import BytesIO
from citations.notebook import shared_links
from citations.notebook.shared_links import ShareTarget
from django.contrib.auth.models import User
from django.db import transaction
from tests.makers import make_cues, make_source, make_video
from tests.tones import make_recording
from transcripts.media import files as media
from transcripts.models import Collection
from transcripts.core.scope import Scope
ending, ada = "{}", User.objects.get(username="ada")
library = Collection.objects.default()
Collection.objects.filter(pk=library.pk).update(allows_links=True)
with transaction.atomic():  # else a worker may make its source
    cues = make_cues(8, seconds=1.0)
    source = make_source(make_video(library, key=f"shared-{{ending}}", title="Tones", cues=cues))
file = BytesIO(make_recording(ending, key_frames=4))
media.replace(source.video, file, name=f"shared.{{ending}}")
target = ShareTarget(source=source.uuid, start=2_000, end=4_000)
scope = Scope(readable=frozenset((library.pk,)), writable=frozenset((library.pk,)))
link = shared_links.share(scope, ada, target, plays_file=True)
print(json.dumps(link.path))
"""
PLAYS = "(player, codecs) => player.canPlayType(codecs)"
BEGINNING = """async player => {
  player.muted = true;
  const first = player.currentTime;
  if (player.readyState < 2) await new Promise(done => player.onloadeddata = done);
  if (!player.videoWidth) return [first, -1];
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [player.videoWidth, player.videoHeight];
  const context = canvas.getContext("2d");
  context.drawImage(player, 0, 0);
  return [first, context.getImageData(8, 8, 1, 1).data[0]];
}"""


@pytest.mark.parametrize("ending", ["flac", "m4a", "mp3", "mp4", "opus", "wav", "weba", "webm"])
def test_a_shared_clip_plays_from_its_beginning_to_its_end(
    visit: Visits, site: Site, ending: str
) -> None:
    visited = visit(viewport={"width": 360, "height": 740})
    page = visited.go(site.json(SHARE.format(ending)))
    player = page.locator("audio, video")
    if ending in ("m4a", "mp4") and not player.evaluate(PLAYS, "audio/mp4; codecs=mp4a.40.2"):
        site.python(REMOVE.format(f"shared-{ending}"))
        pytest.skip("this Chromium does not play AAC")
    first, grey = player.evaluate(BEGINNING)
    lead = first if ending == "webm" else 0
    assert abs(lead - (2 if ending == "webm" else 0)) < 0.1
    if ending in ("mp4", "webm"):  # the picture of second 2, not that of the key frame, 0
        assert 48 < grey < 64
    assert abs(player.evaluate("player => player.duration") - lead - 2) < 0.1
    player.evaluate("player => player.play()")
    visited.until(lambda: player.evaluate("player => player.ended"))
    expect(page.get_by_text("nothing else of the recording")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    check_accessibility(page)
    assert not visited.console
    assert not visited.foreign
    site.python(REMOVE.format(f"shared-{ending}"))


def test_a_point_plays_and_pauses_and_k_opens_the_match_before(visit: Visits, address: str) -> None:
    visited = visit()
    page = visited.go(f"{address}?q=sentence&n=5")
    player = page.locator("audio#player")
    page.keyboard.press(".")
    visited.until(lambda: not player.evaluate(STATE)[0])
    page.keyboard.press(".")
    visited.until(lambda: player.evaluate(STATE)[0])
    page.keyboard.press("k")
    expect(page.locator("#found .count")).to_contain_text("4 of 10")
    framed = page.locator("#matches a:focus")
    expect(framed).to_have_attribute("aria-current", "true")
    expect(framed).to_contain_text("Sentence 3.")
    page.keyboard.press("j")
    expect(page.locator("#found .count")).to_contain_text("5 of 10")
    assert not visited.console


def test_a_file_is_added_in_the_place_of_the_player(visit: Visits, site: Site) -> None:
    silent = "\n".join(line for line in ADD.splitlines() if not line.startswith("media"))
    visited = visit(viewport={"width": 360, "height": 740})
    page = visited.go(f"/videos/{site.json(silent.replace('sound', 'silent'))}/")
    page.get_by_text("Add its audio or video").click()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    check_accessibility(page)
    sound = {"name": "talk.wav", "mimeType": "audio/wav", "buffer": make_wav(60)}
    page.get_by_label("A file that plays on this page").set_input_files([sound])
    page.get_by_role("button", name="Use this file").click()
    expect(page.locator("audio#player")).to_be_visible()
    expect(page.get_by_text("Add its audio or video")).to_have_count(0)
    assert not visited.console
    site.python(REMOVE.format("silent"))


def test_a_clip_ends_where_it_says_until_another_time_is_chosen(
    visit: Visits, address: str
) -> None:
    visited = visit()
    page = visited.go(f"{address}?t=2s&until=2.5s")
    player = page.locator("audio#player")
    player.evaluate("player => player.play()")
    visited.until(lambda: player.evaluate(STATE)[0] and player.evaluate(STATE)[1] >= 2.4)
    assert player.evaluate(STATE)[1] < 4
    page.locator(".cue").nth(4).locator(".time").click()
    visited.until(lambda: not player.evaluate(STATE)[0] and player.evaluate(STATE)[1] >= 20)
    assert not visited.console


@pytest.fixture(scope="module")
def ffmpeg() -> str:
    """Return the program that makes films."""
    return require_program("ffmpeg")


@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize(
    ("name", "codecs"),
    [("film.mp4", "video/mp4; codecs=avc1.42E01E"), ("film.webm", "video/webm; codecs=vp8")],
)
def test_a_film_that_is_dropped_with_its_captions_plays_beside_them(
    visit: Visits, site: Site, ffmpeg: str, name: str, codecs: str, width: int
) -> None:
    visited = visit(viewport={"width": width, "height": 740})
    page = visited.go("/add/")
    if not page.evaluate("codecs => document.createElement('video').canPlayType(codecs)", codecs):
        pytest.skip(f"this Chromium does not play {codecs}")
    film = {"name": name, "mimeType": "", "buffer": make_film(ffmpeg, name)}
    captions = {"name": "film.en.vtt", "mimeType": "", "buffer": CAPTIONS.encode()}
    page.locator("#files").set_input_files([film, captions])  # adding begins at once
    page.locator("#added").get_by_role("link", name="film", exact=True).click()
    player = page.locator("video#player")
    visited.until(lambda: player.evaluate("player => player.readyState") >= 1)
    assert player.evaluate("player => Math.round(player.duration)") == 60
    page.wait_for_load_state()  # before its scripts run, a time is a link
    page.locator(".cue").nth(9).locator(".time").click()
    visited.until(lambda: player.evaluate(STATE)[1] > 45)
    assert not player.evaluate(STATE)[0]
    expect(page.locator(".cue").nth(10)).to_have_class("cue at")
    expect(player).to_be_in_viewport()  # however far the words are scrolled
    assert not visited.console
    assert not visited.foreign
    site.python(REMOVE.format("film"))
