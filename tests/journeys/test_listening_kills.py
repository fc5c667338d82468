"""Workers that are killed while they listen: no part of the recording is lost or heard twice."""

import hashlib
import os
import random
import time
from pathlib import Path
from typing import Any

import av
import numpy
import pytest

from citations.readers.speech import decoder
from tests.instance import Instance, kill, wait_until
from tests.speech.server_standin import SpeechStandIn

KILLS = int(os.environ.get("LISTENING_KILLS", "4"))  # 100 take a quarter of an hour
MINUTES = 6 + 2 * KILLS
REQUEST = """
from transcripts.models import Collection
from transcripts.adding import listening
from kbsite import celery
with open({path!r}, "rb") as file:
    celery.send(listening.request(Collection.objects.default(), file, name="long.mp3"))
"""


class Digests(list[Any]):
    """Replies that name the samples of the request: each part has its own."""

    def __init__(self, standin: SpeechStandIn) -> None:
        super().__init__()
        self.standin = standin

    def pop(self, _: Any = -1) -> dict[str, Any]:
        time.sleep(0.2)
        return {"text": word_of(self.standin.requests[-1]["file"][0][44:]), "language": "en"}


def word_of(samples: bytes) -> str:
    return f"w{hashlib.sha256(samples).hexdigest()[:12]}"


def write_noise(path: Path) -> Path:
    chance = numpy.random.default_rng(7)
    with av.open(str(path), "w", format="mp3") as target:
        stream = target.add_stream("libmp3lame", rate=16_000, layout="mono")
        stream.bit_rate = 16_000
        for _ in range(60 * MINUTES):
            block = chance.normal(0, 3_000, (1, 16_000)).astype(numpy.int16)
            frame = av.AudioFrame.from_ndarray(block, format="s16", layout="mono")
            frame.sample_rate = 16_000
            target.mux(stream.encode(frame))
        target.mux(stream.encode(None))
    return path


@pytest.mark.timeout(600 + 30 * KILLS)
def test_a_kill_at_any_moment_loses_no_part_and_repeats_none(tmp_path: Path) -> None:
    path, expected, at, is_last = write_noise(tmp_path / "long.mp3"), list[str](), 0, False
    while not is_last:
        part = decoder.part_at(path, at)
        expected.append(word_of(part.samples))
        at, is_last = part.end, part.is_last
    assert len(expected) > 5
    with SpeechStandIn() as standin:
        standin.replies = Digests(standin)
        about = {"SPEECH_PROVIDER": "openai", "SPEECH_BASE_URL": standin.url}
        with Instance(tmp_path / "home", **about) as instance:
            instance.python(REQUEST.format(path=str(path)))

            def heard() -> int:
                return int(instance.rows("SELECT max(done) FROM transcripts_job")[0][0] or 0)

            for _ in range(KILLS):
                before = heard()
                with instance.worker() as worker:
                    wait_until(lambda: heard() > before, what="another part")  # noqa: B023
                    time.sleep(random.uniform(0, 0.6))
                    kill(worker)
            with instance.worker():
                query = "SELECT 1 FROM transcripts_job WHERE state = 'done'"
                wait_until(lambda: bool(instance.rows(query)), what="the end")
            cues = instance.rows("SELECT cues FROM transcripts_transcript")
    assert [[cue[2] for cue in transcript] for (transcript,) in cues] == [expected]
