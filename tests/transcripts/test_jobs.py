"""Jobs under concurrency and failure."""

import threading
from datetime import timedelta
from typing import Any

import pytest
from django.db import IntegrityError, InterfaceError, OperationalError, connection, transaction
from django.db.models.signals import pre_delete
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from tests.makers import caption_json, done, make_cues, make_video
from tests.youtube_standin import YouTubeStandIn
from transcripts import youtube as youtube_door
from transcripts.adding import acquisition, storage
from transcripts.core.errors import Premiere, TranscriptNotFound
from transcripts.library import activity, collections
from transcripts.library import reading as library
from transcripts.models import Collection, Feed, Job, Transcript, Video, YouTubeGate, enqueue
from transcripts.models.jobs import JobQuerySet
from transcripts.youtube import Listing, YouTube

pytestmark = [pytest.mark.django_db, pytest.mark.youtube]
VTT = b"WEBVTT\n\n00:01.000 --> 00:02.000\nhello there world\n"
SRT = b"1\n00:00:01,000 --> 00:00:02,000\nhello there, other world\n"
LIST = "https://www.youtube.com/playlist?list=PLnewnewnewnew"


def meanwhile(work: Any, *, wait: float = 1.0) -> threading.Thread:
    """Do something over a connection of its own, and wait for it a little: it may have to wait
    itself.
    """

    def run() -> None:
        try:
            work()
        except IntegrityError:
            pass  # what it belongs to was deleted
        finally:
            connection.close()

    thread = threading.Thread(target=run)
    thread.start()
    thread.join(wait)
    return thread


# Asking


def test_a_request_succeeds_while_the_same_job_ends(
    collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    acquisition.request(collection, "first-video")
    look = JobQuerySet.unfinished

    def too_late(self: JobQuerySet) -> JobQuerySet:
        Job.objects.update(state=Job.State.DONE)
        return look(self)

    monkeypatch.setattr(JobQuerySet, "unfinished", too_late)
    assert acquisition.request(collection, "first-video").state == Job.State.QUEUED
    assert Job.objects.count() == 2


@pytest.mark.django_db(transaction=True)
def test_a_retry_returns_the_same_job_that_was_just_requested(
    collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    failed = acquisition.request(collection, "first-video")
    Job.objects.update(state=Job.State.FAILED)
    again = Job.retry

    def too_late(self: Job) -> None:
        meanwhile(lambda: acquisition.request(collection, "first-video"), wait=5)
        again(self)

    monkeypatch.setattr(Job, "retry", too_late)
    assert acquisition.retry(failed) == Job.objects.unfinished().get()


def test_a_requested_video_goes_before_those_of_a_channel(collection: Collection) -> None:
    enqueue(Job(collection=collection, kind=Job.Kind.VIDEO, target="other-video"))
    waiting, _ = enqueue(
        Job(collection=collection, kind=Job.Kind.VIDEO, target="first-video", tags=["course"])
    )
    job = acquisition.request(collection, "first-video", tags=["mine"])
    assert (job.pk, job.tags) == (waiting.pk, ["course", "mine"])
    assert list(Job.objects.ready().values_list("target", flat=True)) == [
        "first-video",
        "other-video",
    ]


# Premieres


def test_the_pauses_of_a_late_premiere_grow(collection: Collection) -> None:
    job = acquisition.request(collection, "first-video")
    pauses = []
    for hours_late in (0, 4, 400):
        job.start()
        start = timezone.now() - timedelta(hours=hours_late)
        acquisition._settle(job, Premiere("not yet", retry_at=int(start.timestamp())))
        assert job.run_after is not None
        pauses.append(round((job.run_after - timezone.now()).total_seconds() / 60))
    assert pauses[0] == 5
    assert pauses[1] >= 30
    assert pauses[2] >= 60 * 24


def test_waiting_for_a_premiere_does_not_count_as_a_crash(collection: Collection) -> None:
    job = acquisition.request(collection, "first-video")
    for _ in range(Job.MAX_CRASHES + 1):
        job.start()
        acquisition._settle(job, Premiere("not yet", retry_at=int(timezone.now().timestamp()) + 60))
    job.start()
    acquisition.recover_abandoned()
    job.refresh_from_db()
    assert job.state == Job.State.QUEUED


def test_what_begins_at_an_unknown_time_is_tried_again_for_a_day(collection: Collection) -> None:
    job = acquisition.request(collection, "first-video")
    pauses = []
    while job.state == Job.State.QUEUED:
        job.start()
        acquisition._settle(job, Premiere("not yet"))
        if job.run_after:
            pauses.append(round((job.run_after - timezone.now()).total_seconds() / 3600))
    assert pauses == [1, 6, 24]
    assert job.state == Job.State.FAILED


# Videos that YouTube does not play


def test_one_video_with_an_unknown_state_is_tried_again_and_holds_no_other_back(
    collection: Collection, youtube: YouTubeStandIn
) -> None:
    error = "An error occurred. Please try again later."
    youtube.add_video("first-video", status="ERROR", reason=error, tracks=())
    job = acquisition.request(collection, "first-video")
    acquisition.perform(job.pk)
    job.refresh_from_db()
    assert (job.state, job.error_code) == (Job.State.QUEUED, "unplayable")
    assert "An error occurred" in job.error
    assert job.run_after is not None
    assert timedelta(minutes=59) < job.run_after - timezone.now() < timedelta(minutes=61)
    assert YouTubeGate.current().state == "open"


# Playlists and channels


def test_a_schedule_holds_even_if_the_first_check_fails(
    collection: Collection, youtube: YouTubeStandIn
) -> None:
    youtube.stop()
    acquisition.request(collection, LIST, every_hours=6)
    planned = Feed.objects.get().next_sync_at
    assert planned is not None
    assert timedelta(hours=5.9) < planned - timezone.now() < timedelta(hours=6.1)


def during_the_listing(monkeypatch: pytest.MonkeyPatch, work: Any) -> None:
    """Let something happen while YouTube is asked for a list."""

    class Interrupted(YouTube):
        def list_videos(self, *args: Any, **kwargs: Any) -> Listing:
            work()
            return super().list_videos(*args, **kwargs)

    monkeypatch.setattr(youtube_door, "YouTube", Interrupted)


def test_a_schedule_changed_while_the_list_is_read_stays_changed(
    collection: Collection, youtube: YouTubeStandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    youtube.add_playlist("PLnewnewnewnew", [], title="A course")
    job = acquisition.request(collection, LIST)
    during_the_listing(
        monkeypatch, lambda: activity.schedule(Feed.objects.get(), newest=None, every_hours=6)
    )
    assert done(job).state == Job.State.DONE
    feed = Feed.objects.get()
    assert (feed.title, feed.every_hours, feed.next_sync_at is not None) == ("A course", 6, True)


def test_a_feed_removed_while_its_list_is_read_queues_nothing(
    collection: Collection,
    youtube: YouTubeStandIn,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    youtube.add_video("first-video")
    youtube.add_playlist("PLnewnewnewnew", ["first-video"], title="A course")
    job = acquisition.request(collection, LIST)
    during_the_listing(monkeypatch, lambda: Feed.objects.get().delete())
    acquisition.perform(job.pk)
    assert not Job.objects.exists()
    assert "unexpectedly" not in caplog.text


# Videos


def test_after_a_kill_the_end_of_a_live_video_is_still_fetched_later(
    collection: Collection, youtube: YouTubeStandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    youtube.add_video("first-video", live="now")
    job = acquisition.request(collection, "first-video")

    def killed(_: Job) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(acquisition, "enqueue", killed)
        with pytest.raises(KeyboardInterrupt):
            acquisition.perform(job.pk)
    acquisition.recover_abandoned()
    assert done(job).state == Job.State.DONE
    assert Job.objects.unfinished().get().run_after is not None


def test_a_transcript_deleted_while_it_is_read_is_not_found(collection: Collection) -> None:
    video = make_video(collection)
    transcript = library.find_transcript(video)
    Transcript.objects.all().delete()
    with pytest.raises(TranscriptNotFound):
        library.cues_of(transcript)


@pytest.mark.django_db(transaction=True)
def test_concurrent_changes_of_a_video_survive_storing_it_again(collection: Collection) -> None:
    make_video(collection)
    changed = threading.Event()

    def change() -> None:
        with transaction.atomic():
            Video.objects.update(channel="Changed")
            changed.set()
            connection.cursor().execute("SELECT pg_sleep(0.5)")

    other = meanwhile(change, wait=0)
    changed.wait(5)
    storage.add_captions(
        collection,
        caption_json(make_cues(61), id="lecture-1", title="Lecture one", lang="en"),
        name="lecture-1.json",
    )
    other.join()
    assert Video.objects.values_list("title", "channel").get() == ("Lecture one", "Changed")


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("added", ["video", "transcript"])
def test_a_collection_can_be_deleted_while_transcripts_are_added_to_it(
    collection: Collection, added: str
) -> None:
    make_video(collection)
    threads: list[threading.Thread] = []

    def add() -> None:
        shelf = Collection.objects.get()
        if added == "video":
            make_video(shelf, key="lecture-2")
        else:
            storage.add_captions(
                shelf,
                caption_json(make_cues(5), id="lecture-1", title="x", lang="de"),
                name="lecture-1.json",
            )

    def add_now(**_: Any) -> None:
        threads.append(meanwhile(add))

    pre_delete.connect(add_now, sender=Collection)
    try:
        collections.delete(collection)
    finally:
        pre_delete.disconnect(add_now, sender=Collection)
        for thread in threads:
            thread.join()
    assert not Video.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_a_video_can_be_deleted_while_a_transcript_is_added_to_it(collection: Collection) -> None:
    video = make_video(collection)
    threads: list[threading.Thread] = []

    def add() -> None:
        storage.add_captions(
            collection,
            caption_json(make_cues(5), id="lecture-1", title="x", lang="de"),
            name="lecture-1.json",
        )

    def add_now(**_: Any) -> None:
        threads.append(meanwhile(add))

    pre_delete.connect(add_now, sender=Video)
    try:
        collections.delete_video(video)
    finally:
        pre_delete.disconnect(add_now, sender=Video)
        for thread in threads:
            thread.join()
    assert set(Transcript.objects.values_list("language", flat=True)) <= {"de"}


# Files


def test_after_a_kill_an_import_does_not_store_a_lesser_format(
    collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = acquisition.request_files(collection, [("a.vtt", VTT), ("a.srt", SRT), ("b.vtt", VTT)])
    with monkeypatch.context() as patch:
        store_all_but(patch, "b.vtt", KeyboardInterrupt())
        with pytest.raises(KeyboardInterrupt):
            acquisition.perform(job.pk)
    acquisition.recover_abandoned()
    assert done(job).state == Job.State.DONE
    assert set(Transcript.objects.values_list("video__key", "raw__name")) == {
        ("a", "a.vtt"),
        ("b", "b.vtt"),
    }


def test_a_file_that_fails_unexpectedly_does_not_stop_the_others(
    collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    uploads = [(f"{name}.vtt", VTT + name.encode()) for name in "abc"]
    job = acquisition.request_files(collection, uploads)
    store_all_but(monkeypatch, "b.vtt", ValueError("a mistake of ours"))
    assert done(job).state == Job.State.DONE
    assert [(problem["name"], "mistake of ours" in str(problem)) for problem in job.problems] == [
        ("b.vtt", False)
    ]
    assert set(Video.objects.values_list("key", flat=True)) == {"a", "c"}


@pytest.mark.parametrize("lost", [OperationalError, InterfaceError])
def test_an_import_goes_on_when_the_database_is_back(
    collection: Collection, monkeypatch: pytest.MonkeyPatch, lost: type[Exception]
) -> None:
    job = acquisition.request_files(collection, [("a.vtt", VTT), ("b.vtt", VTT), ("c.vtt", VTT)])
    with monkeypatch.context() as patch:
        store_all_but(patch, "b.vtt", lost("the connection is closed"))
        assert done(job).state == Job.State.QUEUED
    assert (job.error_code, job.problems) == ("database_lost", [])
    assert job.run_after is not None
    assert job.run_after <= timezone.now() + timedelta(seconds=2)
    Job.objects.update(run_after=None)
    assert done(job).state == Job.State.DONE
    assert set(Video.objects.values_list("key", flat=True)) == {"a", "b", "c"}


@pytest.mark.django_db(transaction=True)
def test_an_import_survives_the_end_of_its_session(
    collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = acquisition.request_files(collection, [("a.vtt", VTT), ("b.vtt", VTT)])

    def end_session(*_: Any, **__: Any) -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_terminate_backend(pg_backend_pid())")

    with monkeypatch.context() as patch:
        patch.setattr(storage, "add_captions", end_session)
        acquisition.perform(job.pk)
    assert Job.objects.get().state == Job.State.QUEUED
    Job.objects.update(run_after=None)
    assert done(job).state == Job.State.DONE
    assert Video.objects.count() == 2


def store_all_but(patch: pytest.MonkeyPatch, name: str, error: BaseException) -> None:
    """Let storing one of the files fail in a way of its own."""
    store = storage.add_captions

    def unless_it_is_that(
        collection: Collection, data: bytes, **about: Any
    ) -> storage.StoredTranscript:
        if about["name"] == name:
            raise error
        return store(collection, data, **about)

    patch.setattr(storage, "add_captions", unless_it_is_that)


def test_each_large_file_is_queued_with_its_own_statement(collection: Collection) -> None:
    large = VTT + b"\n" * acquisition.LARGE_FILE
    with CaptureQueriesContext(connection) as queries:
        job = acquisition.request_files(
            collection, [("a.vtt", large), ("b.vtt", large), ("c.vtt", VTT), ("d.vtt", VTT)]
        )
    assert sum('INSERT INTO "transcripts_jobfile"' in query["sql"] for query in queries) == 3
    assert set(job.files.values_list("name", flat=True)) == {"a.vtt", "b.vtt", "c.vtt", "d.vtt"}
