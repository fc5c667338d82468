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

from kbsite.mcp import transcript_request
from tests.kbsite.mcp.conftest import Shelf
from tests.kbsite.mcp.endpoint import Endpoint, cursor, material, reply, text
from tests.makers import make_cues, make_video
from tests.youtube_standin import MANUAL, YouTubeStandIn
from transcripts.adding import acquisition
from transcripts.core.errors import NoCaptions, RateLimited
from transcripts.models import Job, Role

VIDEO = "dQw4w9WgXcQ"


@pytest.fixture(autouse=True)
def _hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transcript_request, "PATIENCE", 5.0)
    monkeypatch.setattr(transcript_request, "POLL", 0.05)
    monkeypatch.setattr(transcript_request, "REPORT", 0.1)


def test_what_the_library_has_is_given_at_once(endpoint: Endpoint, shelf: Shelf) -> None:
    make_video(shelf.collection)
    text = reply(endpoint.call(shelf.reading, "fetch_transcript", videoId="lecture-1"))
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
    endpoint: Endpoint, shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transcript_request, "PATIENCE", 30.0)
    with YouTubeStandIn() as youtube, _worker(lambda job: acquisition.perform(job.pk)):
        for name, value in youtube.environment().items():
            monkeypatch.setenv(name, value)
        result = endpoint.call(
            shelf.token, "fetch_transcript", videoId=f"https://www.youtube.com/watch?v={MANUAL}"
        )
    assert "This is the stand-in." in reply(result)


def test_a_job_that_takes_longer_is_answered_with_its_id(
    endpoint: Endpoint, shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transcript_request, "PATIENCE", 0.2)
    result = endpoint.call(shelf.token, "fetch_transcript", videoId=VIDEO)
    job = Job.objects.get()
    assert f"Job {job.pk} (fetch a video {VIDEO}) is queued" in reply(result)
    assert f"get_job with jobId={job.pk}" in text(result)
    assert job.created_by == shelf.owner
    assert job.sent_at is not None


def test_a_job_that_waits_says_how_many_are_before_it(
    endpoint: Endpoint, shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transcript_request, "PATIENCE", 0.2)
    Job.objects.create(
        collection=shelf.collection, kind=Job.Kind.VIDEO, target="first-video", priority=20
    )
    result = endpoint.call(shelf.token, "fetch_transcript", videoId=VIDEO)
    job = Job.objects.get(target=VIDEO)
    assert "queued, 1 before this" in reply(result)
    assert "queued, 1 before this" in text(endpoint.call(shelf.token, "get_job", jobId=job.pk))


def test_a_job_that_was_put_off_is_not_waited_for(endpoint: Endpoint, shelf: Shelf) -> None:
    later = timezone.now() + timedelta(hours=1)
    started = time.monotonic()
    with _worker(
        lambda job: job.postpone(until=later, error=RateLimited("YouTube wants fewer calls."))
    ):
        result = endpoint.call(shelf.token, "fetch_transcript", videoId=VIDEO)
    assert time.monotonic() - started < transcript_request.PATIENCE
    assert f"queued until {later:%Y-%m-%d %H:%M:%S} UTC: YouTube wants fewer calls." in text(result)
    assert f"after {later:%H:%M} UTC." in text(result)
    assert ".." not in text(result)


def test_asking_twice_makes_one_job(
    endpoint: Endpoint, shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transcript_request, "PATIENCE", 0.1)
    for _ in range(2):
        reply(endpoint.call(shelf.token, "fetch_transcript", videoId=VIDEO))
    assert Job.objects.count() == 1


def test_a_failure_says_why_and_what_next(endpoint: Endpoint, shelf: Shelf) -> None:
    with _worker(lambda job: job.fail(NoCaptions("The video has no captions."))):
        result = endpoint.call(shelf.token, "fetch_transcript", videoId=VIDEO)
    assert result.is_error
    assert "no captions" in text(result)
    assert "Upload a caption file" in text(result)
    assert "Next: list_transcripts" in text(result)


def test_another_language_of_a_video_that_is_there_is_fetched_to_its_collection(
    endpoint: Endpoint, shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transcript_request, "PATIENCE", 0.1)
    video = make_video(shelf.collection, key=VIDEO)
    video.youtube_id = VIDEO
    video.save()
    endpoint.call(shelf.token, "fetch_transcript", videoId=VIDEO, language="de")
    assert Job.objects.values_list("collection", "target", "language").get() == (
        shelf.collection.pk,
        VIDEO,
        "de",
    )


def test_a_viewer_may_not_fetch(endpoint: Endpoint, shelf: Shelf) -> None:
    shelf.collection.memberships.update(role=Role.VIEWER)
    result = endpoint.call(shelf.token, "fetch_transcript", videoId=VIDEO)
    assert result.is_error
    assert "no collection that you may add to" in text(result)
    result = endpoint.call(shelf.token, "add_source", url=VIDEO, collection="lectures")
    assert result.is_error
    assert "not change it" in text(result)
    assert not Job.objects.exists()


def test_a_playlist_is_added_with_its_wishes(endpoint: Endpoint, shelf: Shelf) -> None:
    result = endpoint.call(
        shelf.token,
        "add_source",
        url="https://www.youtube.com/playlist?list=PLabcdefghijklmnop",
        newest=5,
        tags=["ml"],
    )
    job = Job.objects.get()
    assert (job.kind, job.tags, job.feed and job.feed.newest) == ("feed", ["ml"], 5)
    assert reply(result).startswith(f"Job {job.pk} ")


def test_a_job_tells_its_problems_page_by_page(endpoint: Endpoint, shelf: Shelf) -> None:
    problems = [
        {
            "name": f"file-{number}.vtt",
            "code": "empty",
            "message": "Nothing is said in it.",
            "hint": "",
        }
        for number in range(60)
    ]
    job = Job.objects.create(
        collection=shelf.collection,
        kind="files",
        target="60 files",
        state="done",
        problems=problems,
    )
    first = reply(endpoint.call(shelf.token, "get_job", jobId=job.pk, maxTokens=500))
    rest = reply(endpoint.call(shelf.token, "get_job", jobId=job.pk, cursor=cursor(first)))
    lines = [*material(first).splitlines(), *material(rest).splitlines()]
    assert lines == [f"- {problem['name']}: {problem['message']}" for problem in problems]
    assert "60 problems" in first


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
