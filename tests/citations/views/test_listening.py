"""The pages of recordings that are listened to: offered, asked for, stopped, and told as heard."""

from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from citations.readers.speech import whisper
from tests.html import assert_shows, text_of
from tests.makers import caption_json, make_cues, make_video
from tests.programs import require
from tests.tones import make_recording
from transcripts.adding import listening, storage
from transcripts.adding.listening import Heard
from transcripts.core.errors import NoCaptions
from transcripts.media import files as media
from transcripts.models import Collection, Job
from transcripts.text.cues import Cue, Word

HTMX = {"HTTP_HX_REQUEST": "true"}

pytestmark = pytest.mark.usefixtures("fake_models", "model")


@pytest.fixture
def model(tmp_path: Path, settings: Any) -> None:
    """Have a model on this machine, of which no test here needs the weights."""
    require("" if whisper.is_installed() else "Whisper is not installed")
    for name in ("config.json", "model.bin"):
        (tmp_path / name).write_text("{}")
    settings.SPEECH_PROVIDER, settings.SPEECH_MODEL = "local", str(tmp_path)


def upload(client: Client, **more: str) -> Any:
    file = SimpleUploadedFile("song.mp3", make_recording("mp3"))
    return client.post("/add/", {"files": [file], "collection": "lectures", **more}, **HTMX)


def heard(job: Job, *, is_last: bool) -> None:
    job.start()
    words = (Word(0, "Hello"), Word(400, "there.", is_unsure=True))
    cues = [Cue(0, 900, "Hello there.", words)]
    about: dict[str, Any] = {"language": "en", "made_by": "Whisper base", "seconds": 9.0}
    listening.store(job, Heard(end=90_000, total=180_000, is_last=is_last, cues=cues, **about))


def test_a_file_without_captions_is_offered_to_be_listened_to(
    page: Client, collection: Collection
) -> None:
    html = text_of(upload(page))
    job = Job.objects.get()
    assert_shows(html, "“song.mp3” has no captions.", "about 1 min on this machine", "Listen to it")
    assert_shows(html, "not added", without=("failed</span>",))
    page.post(f"/jobs/{job.pk}/retry/")
    job.refresh_from_db()
    assert (job.kind, job.state) == ("listen", "queued")


def test_listening_that_is_asked_for_shows_how_far_it_is_and_can_be_stopped(
    page: Client, collection: Collection
) -> None:
    assert_shows(page.get("/add/"), "Listen to recordings without captions")
    assert_shows(upload(page, listen="on"), "song.mp3", "Stop listening")
    job = Job.objects.get()
    heard(job, is_last=False)
    assert_shows(
        page.get(f"/jobs/{job.pk}/"), "Heard 1:30 of 3:00", "less than a minute left", "Stop"
    )
    assert_shows(page.get(f"/videos/{job.video_id}/"), "the end is missing", "Whisper base")
    page.post(f"/jobs/{job.pk}/stop/")
    html = page.get(f"/jobs/{job.pk}/")
    assert_shows(html, "what was heard is kept", "Go on listening", without=("Stop listening",))


def test_a_recording_says_who_heard_it_and_can_be_heard_again(
    page: Client, collection: Collection
) -> None:
    job = listening.request(collection, BytesIO(make_recording("mp3")), name="song.mp3")
    heard(job, is_last=True)
    address = f"/videos/{job.video_id}/"
    html = page.get(address)
    assert_shows(html, "As heard by Whisper base", "nobody has checked", "Listen again")
    assert 'Hello <mark class="unsure">there.</mark>' in text_of(html)
    data = caption_json(make_cues(1, sentences=("Hello here.",)), id="song", lang="en")
    storage.add_captions(collection, data, name="song.json")
    assert_shows(page.get(f"{address}?lang=en.heard"), "of the words differ from those of “upload”")
    assert_shows(page.post(f"{address}listen/", {"language": "de"}, **HTMX), "Stop listening")
    again = Job.objects.latest("pk")
    assert (again.kind, again.language, again.video_id) == ("listen", "de", job.video_id)


def test_a_recording_is_listened_to_only_with_a_file_and_a_recogniser(
    page: Client, collection: Collection, settings: Any
) -> None:
    video = make_video(collection, key="talk")
    assert_shows(page.get(f"/videos/{video.pk}/"), without=("Listen again",))
    assert page.post(f"/videos/{video.pk}/listen/").status_code == 404
    media.replace(video, BytesIO(make_recording("mp3")), name="talk.mp3")
    settings.SPEECH_PROVIDER = "none"
    assert_shows(page.get(f"/videos/{video.pk}/"), without=("Listen again",))
    assert_shows(page.get("/add/"), without=("Listen to recordings",))
    assert_shows(upload(page), "“song.mp3” has no captions.", without=("Listen to it",))
    assert_shows(upload(page, listen="on"), "no speech recognition is installed")


def test_a_video_without_captions_is_offered_to_be_listened_to_where_that_is_allowed(
    page: Client, collection: Collection
) -> None:
    job = Job.objects.create(collection=collection, kind="video", target="silent-vide")
    job.fail(NoCaptions("This video has no captions.", hint="Listening to it takes a while."))
    address = f"/jobs/{job.pk}/"
    assert_shows(page.get(address), "This video has no captions.", "Listen to it", "Try again")
    page.post(f"/collections/{collection.pk}/rename/", {"name": "Lectures", "listening": "never"})
    assert_shows(page.get(address), "Try again", without=("Listen to it",))
    assert page.post(f"{address}retry/", {"listen": ""}).status_code == 403
    page.post(f"/collections/{collection.pk}/rename/", {"name": "Lectures", "listening": ""})
    page.post(f"{address}retry/", {"listen": ""})
    job.refresh_from_db()
    assert (job.state, job.listens) == ("queued", Job.Listens.MISSING)
