"""Fetching: at once, after a wait with progress, or as a job that goes on."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from citations.models import Source
from kbsite.mcp import jobs
from tests.kbsite.mcp.conftest import Shelf
from tests.kbsite.mcp.endpoint import Endpoint, reply
from tests.makers import make_cues, make_source, make_video
from tests.youtube_standin import MANUAL, YouTubeStandIn
from transcripts.adding import acquisition
from transcripts.core.errors import NoCaptions, RateLimited
from transcripts.models import Job, Role

VIDEO = "dQw4w9WgXcQ"


@pytest.fixture(autouse=True)
def _hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "PATIENCE", 5.0)
    monkeypatch.setattr(jobs, "POLL", 0.05)


def test_what_the_library_has_is_given_at_once(shelf: Shelf) -> None:
    make_video(shelf.collection)
    text = shelf.read("fetch_transcript", videoId="lecture-1")
    assert "Whole transcript" in text
    assert not Job.objects.exists()


def test_the_wait_reports_progress_and_ends_with_the_transcript(
    endpoint: Endpoint, shelf: Shelf
) -> None:
    def work(job: Job) -> None:
        job.start()
        job.report(step="asking YouTube", done=0, total=2)
        time.sleep(0.4)
        job.finish(video=make_video(shelf.collection, key=VIDEO, cues=make_cues(6)))

    seen: list[tuple[float, float | None, str | None]] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        seen.append((progress, total, message))

    arguments = {"videoId": f"https://youtu.be/{VIDEO}"}
    with _worker(work):
        result = endpoint.talk(
            shelf.token,
            lambda client: client.call_tool("fetch_transcript", arguments, progress_callback=note),
        )
    assert f"· {VIDEO} ·" in reply(result)
    assert "Whole transcript" in reply(result)
    assert "asking YouTube" in [message for _, _, message in seen]
    assert [progress for progress, _, _ in seen] == sorted({progress for progress, _, _ in seen})


@pytest.mark.youtube
def test_a_video_is_fetched_from_youtube_and_read_in_one_call(
    shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(jobs, "PATIENCE", 30.0)
    with YouTubeStandIn() as youtube, _worker(lambda job: acquisition.perform(job.pk)):
        for name, value in youtube.environment().items():
            monkeypatch.setenv(name, value)
        result = shelf.write(
            "fetch_transcript", videoId=f"https://www.youtube.com/watch?v={MANUAL}"
        )
    assert "This is the stand-in." in result


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """No call waits long enough for a job."""
    monkeypatch.setattr(jobs, "PATIENCE", 0.1)


@pytest.mark.usefixtures("impatient")
def test_a_job_that_takes_longer_is_answered_with_its_id_and_made_once(shelf: Shelf) -> None:
    first, again = (shelf.write("fetch_transcript", videoId=VIDEO) for _ in range(2))
    job = Job.objects.get()
    assert f"Job {job.pk} (fetch a video {VIDEO}) is queued" in first
    assert f"get_job with jobId={job.pk}" in first
    assert f"get_job with jobId={job.pk}" in again
    assert job.created_by == shelf.owner
    assert job.sent_at is not None


@pytest.mark.usefixtures("impatient")
def test_a_job_that_waits_says_how_many_are_before_it(shelf: Shelf) -> None:
    about = {"kind": Job.Kind.VIDEO, "target": "first-video", "priority": 20}
    Job.objects.create(collection=shelf.collection, **about)
    assert "queued, 1 before this" in shelf.write("fetch_transcript", videoId=VIDEO)
    job = Job.objects.get(target=VIDEO)
    assert "queued, 1 before this" in shelf.write("get_job", jobId=job.pk)


@pytest.mark.usefixtures("impatient")
def test_another_language_of_a_video_that_is_there_is_fetched_to_its_collection(
    shelf: Shelf,
) -> None:
    video = make_video(shelf.collection, key=VIDEO)
    video.youtube_id = VIDEO
    video.save()
    shelf.write("fetch_transcript", videoId=VIDEO, language="de")
    job = Job.objects.get()
    assert (job.collection, job.target, job.language) == (shelf.collection, VIDEO, "de")


def test_a_job_says_whether_what_it_brought_is_found_yet(shelf: Shelf) -> None:
    video = make_video(shelf.collection)
    about = {"kind": "video", "target": "x", "state": "done", "video": video}
    job = Job.objects.create(collection=shelf.collection, **about)
    assert "finds it" not in shelf.read("get_job", jobId=job.pk)
    source = make_source(video, state="words", texts=["One."])
    sentence = f"finds it (en, sourceId={source.uuid})"
    assert f"{sentence} by words, not yet by" in shelf.read("get_job", jobId=job.pk)
    Source.objects.update(state="ready")
    assert f"{sentence} by words and meaning." in shelf.read("get_job", jobId=job.pk)


def test_a_job_that_was_put_off_is_not_waited_for(shelf: Shelf) -> None:
    later = timezone.now() + timedelta(hours=1)
    started = time.monotonic()
    with _worker(
        lambda job: job.postpone(until=later, error=RateLimited("YouTube wants fewer calls."))
    ):
        result = shelf.write("fetch_transcript", videoId=VIDEO)
    assert time.monotonic() - started < jobs.PATIENCE
    assert f"queued until {later:%Y-%m-%d %H:%M:%S} UTC: YouTube wants fewer calls." in result
    assert f"after {later:%H:%M} UTC." in result
    assert ".." not in result


def test_a_failure_says_why_and_what_next(shelf: Shelf) -> None:
    with _worker(lambda job: job.fail(NoCaptions("The video has no captions."))):
        result = shelf.write.refused("fetch_transcript", videoId=VIDEO)
    assert "no captions" in result
    assert "Upload a caption file" in result
    assert "Next: list_transcripts" in result


def test_a_viewer_may_not_fetch(shelf: Shelf) -> None:
    shelf.collection.memberships.update(role=Role.VIEWER)
    result = shelf.write.refused("fetch_transcript", videoId=VIDEO)
    assert "no collection that you may add to" in result
    result = shelf.write.refused("add_source", url=VIDEO, collection="lectures")
    assert "not change it" in result
    assert not Job.objects.exists()


def test_a_playlist_is_added_with_its_wishes(shelf: Shelf) -> None:
    result = shelf.write(
        "add_source",
        url="https://www.youtube.com/playlist?list=PLabcdefghijklmnop",
        newest=5,
        tags=["ml"],
    )
    job = Job.objects.get()
    assert (job.kind, job.tags, job.feed and job.feed.newest) == ("feed", ["ml"], 5)
    assert result.startswith(f"Job {job.pk} ")


@contextmanager
def _worker(work: Callable[[Job], Any]) -> Iterator[None]:
    """Do the first job that appears, in a thread of its own."""

    def run() -> None:
        try:
            for _ in range(400):
                if job := Job.objects.filter(state=Job.State.QUEUED).first():
                    work(job)
                    return
                time.sleep(0.01)
        finally:
            connection.close()

    thread = threading.Thread(target=run)
    thread.start()
    yield
    thread.join(timeout=30)
