"""Which messages are sent and when, and what happens without a broker."""

import shutil
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.utils import timezone

from kbsite.celery import app, make_queue_folders
from transcripts import tasks
from transcripts.adding import acquisition
from transcripts.core.errors import NoCaptions
from transcripts.core.work.models import LOST_AFTER
from transcripts.models import Collection, Feed, Job, WorkerPulse, YouTubeGate

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _empty_queue() -> Iterator[None]:
    make_queue_folders()
    app.control.purge()
    yield
    app.control.purge()


def queued(collection: Collection, *targets: str) -> list[Job]:
    """Queue videos without telling anyone."""
    return [acquisition.request(collection, target) for target in targets]


def sent() -> set[str]:
    """Return the targets of the jobs for which a message went out."""
    return set(Job.objects.exclude(sent_at=None).values_list("target", flat=True))


def test_one_video_is_sent_at_a_time_and_all_files_at_once(collection: Collection) -> None:
    queued(collection, "first-video", "other-video")
    for name in ("a.vtt", "b.vtt"):
        acquisition.request_files(collection, [(name, b"WEBVTT")])
    tasks.dispatch()
    assert sent() == {"first-video", "a.vtt", "b.vtt"}


def test_nothing_is_sent_to_youtube_while_the_gate_is_closed(collection: Collection) -> None:
    queued(collection, "first-video")
    YouTubeGate.refused(NoCaptions("no"))
    tasks.dispatch()
    assert sent() == set()
    YouTubeGate.reopen()
    tasks.dispatch()
    assert sent() == {"first-video"}


def test_a_lost_message_is_sent_again_after_a_while(collection: Collection) -> None:
    (job,) = queued(collection, "first-video")
    job.mark_sent()
    before = job.sent_at
    tasks.dispatch()
    job.refresh_from_db()
    assert job.sent_at == before
    Job.objects.update(sent_at=timezone.now() - LOST_AFTER - timedelta(seconds=1))
    tasks.sweep()
    job.refresh_from_db()
    assert before is not None
    assert job.sent_at is not None
    assert job.sent_at > before
    assert WorkerPulse.is_alive()


def test_a_worker_that_starts_sends_again_what_a_killed_one_had_received(
    collection: Collection,
) -> None:
    (job,) = queued(collection, "first-video")
    job.mark_sent()
    before = job.sent_at
    tasks.wake()
    job.refresh_from_db()
    assert before is not None
    assert job.sent_at is not None
    assert job.sent_at > before


def test_a_due_feed_is_queued_and_scheduled_again(collection: Collection) -> None:
    now = timezone.now()
    due = Feed.objects.create(
        collection=collection,
        kind="playlist",
        youtube_id="PLduedue",
        every_hours=6,
        next_sync_at=now - timedelta(minutes=1),
    )
    Feed.objects.create(
        collection=collection,
        kind="playlist",
        youtube_id="PLlaterlater",
        every_hours=6,
        next_sync_at=now + timedelta(hours=1),
    )
    Feed.objects.create(collection=collection, kind="playlist", youtube_id="PLneverever")
    tasks.sync_due_feeds()
    tasks.sync_due_feeds()
    assert list(Job.objects.values_list("target", flat=True)) == ["PLduedue"]
    due.refresh_from_db()
    assert due.next_sync_at is not None
    assert timedelta(hours=5.9) < due.next_sync_at - now < timedelta(hours=6.1)


def test_an_unwritable_queue_refuses_no_request_and_is_retried(
    collection: Collection, django_capture_on_commit_callbacks: Any
) -> None:
    folder = Path(settings.CELERY_BROKER_TRANSPORT_OPTIONS["data_folder_out"])
    shutil.rmtree(folder)
    folder.write_text("no folder")  # as a full disk, or one that is away
    (job,) = queued(collection, "first-video")
    try:
        with django_capture_on_commit_callbacks(execute=True):
            tasks.send(job)
    finally:
        folder.unlink()
        make_queue_folders()
    assert sent() == set()
