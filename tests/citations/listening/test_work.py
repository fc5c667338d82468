"""Recordings as they are listened to with the real engine: an upload becomes captions that are
found, and long work gives way.
"""

from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from django.db import connection

from citations import tasks
from citations.errors import SpeechMissing
from citations.listening import recognition
from citations.models import Source
from tests.makers import done
from tests.speech.speaker import TEXT, encode, require_whisper, speak
from tests.youtube_standin import YouTubeStandIn
from transcripts.adding import acquisition, listening
from transcripts.core import locks
from transcripts.core.locks import Lock
from transcripts.models import Collection, Job, Transcript

pytestmark = pytest.mark.django_db(transaction=True)
AFTER = "The last chapter explains how the bridges of the city were built."


@pytest.fixture
def model(tmp_path: Path, settings: Any) -> Path:
    settings.SPEECH_MODEL = str(require_whisper(tmp_path / "base"))
    settings.SPEECH_PROVIDER = "local"
    return Path(settings.SPEECH_MODEL)


@pytest.mark.usefixtures("model")
def test_a_recording_of_several_parts_is_heard_and_found_by_its_words(
    collection: Collection, tmp_path: Path
) -> None:
    first, last = speak(TEXT, tmp_path / "a.wav"), speak(AFTER, tmp_path / "b.wav")
    file = BytesIO(encode(first, silence=160, after=last))
    job = done(listening.request(collection, file, name="talk.mp3"))
    assert job.state == Job.State.DONE, job.error
    transcript = Transcript.objects.get(video=job.video)
    assert (transcript.language, transcript.made_by) == ("en", "base")
    text = " ".join(cue[2] for cue in transcript.cues).lower()
    assert "second shelf" in text
    assert "bridges" in text
    assert "you" not in text.split()  # what Whisper hears in silence
    later = next(cue for cue in transcript.cues if "chapter" in cue[2].lower())
    assert later[0] > 160_000
    tasks.sweep()
    assert Source.objects.get(transcript=transcript).chunk_count


@pytest.mark.usefixtures("model")
@pytest.mark.youtube
def test_a_video_without_captions_is_heard_from_its_sound(
    collection: Collection, tmp_path: Path, youtube: YouTubeStandIn
) -> None:
    sound = encode(speak(TEXT, tmp_path / "a.wav"), form="mp4")
    youtube.add_video("silent-vide", title="A talk", tracks=(), sound=sound, seconds=12)
    job = acquisition.request(collection, "silent-vide")
    assert "takes about 1 min" in done(job).hint
    acquisition.retry(job, listens=True)
    for _step in ("captions", "sound", "speech"):
        done(job)
    assert (job.state, str(job.video)) == (Job.State.DONE, "A talk"), job.error
    text = " ".join(cue[2] for cue in Transcript.objects.get(video=job.video).cues).lower()
    assert "second shelf" in text


@pytest.mark.usefixtures("model")
def test_only_one_recording_is_listened_to_at_a_time(collection: Collection) -> None:
    job = listening.request(collection, BytesIO(b"ID3" + bytes(200)), name="talk.mp3")
    begun, ended = Event(), Event()

    def listen_elsewhere() -> None:
        with locks.hold(Lock.LISTENING):
            begun.set()
            ended.wait(60)
        connection.close()

    with ThreadPoolExecutor() as other_worker:
        other_worker.submit(listen_elsewhere)
        assert begun.wait(60)
        waiting = done(job)
        ended.set()
    assert (waiting.state, waiting.attempts) == (Job.State.QUEUED, 0)
    assert waiting.waits_until


def test_without_an_engine_or_its_model_the_job_says_how_to_get_them(
    collection: Collection, settings: Any, tmp_path: Path
) -> None:
    settings.SPEECH_PROVIDER, settings.SPEECH_MODEL = "local", str(tmp_path / "nothing")
    with pytest.raises(SpeechMissing):
        recognition.recognizer()
    job = done(listening.request(collection, BytesIO(b"ID3" + bytes(200)), name="talk.mp3"))
    assert (job.state, job.error_code) == (Job.State.FAILED, "speech_missing")
    settings.SPEECH_PROVIDER = "none"
    assert not recognition.is_available()
