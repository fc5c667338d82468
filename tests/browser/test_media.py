"""A recording's own sound plays in place: times, clips and the line that is said."""

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visit
from tests.browser.site import Site

pytestmark = pytest.mark.browser

ADD = """
from io import BytesIO
from tests.makers import make_cues, make_video, make_wav
from transcripts import media
from transcripts.models import Collection
texts = [f"Sentence {number}." for number in range(10)]
video = make_video(Collection.objects.default(), key="sound", cues=make_cues(10, sentences=texts))
media.replace(video, BytesIO(make_wav(60)), name="sound.wav")
print(json.dumps(video.pk))
"""
REMOVE = "from transcripts.models import Video; Video.objects.filter(key='sound').delete()"
STATE = "player => [player.paused, player.currentTime, player.playbackRate]"


@pytest.fixture(scope="module")
def address(site: Site) -> Iterator[str]:
    yield f"/videos/{site.json(ADD)}/"
    site.python(REMOVE)


def test_a_time_plays_the_file_and_the_line_that_is_said_is_followed(
    visit: Callable[..., Visit], address: str
) -> None:
    visited = visit()
    page = visited.go(f"{address}?t=5s")
    player = page.locator("audio#player")
    visited.until(lambda: player.evaluate(STATE)[1] == 5)
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


def test_a_clip_ends_where_it_says_until_another_time_is_chosen(
    visit: Callable[..., Visit], address: str
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
