"""Jobs that turn an address or a file into a transcript: request them, run them, retry them."""

from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import IO, Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.utils.module_loading import import_string

from transcripts import conf, youtube
from transcripts.adding import feed_entries, file_import, files, listening, storage, video_sound
from transcripts.core import audit, clock, errors
from transcripts.core.audit import Action
from transcripts.core.sanitize import clean
from transcripts.core.work.models import next_try
from transcripts.media import files as media
from transcripts.media import thumbnails
from transcripts.models import Collection, Feed, Job, JobFile, Video, YouTubeGate, enqueue
from transcripts.text.timecodes import parse_target, parse_web_page

PROBE_TURN = timedelta(minutes=1)  # a refused job waits longer: the probe is another one
LARGE_FILE = 500_000  # bytes
FILES_NOTE = "{0} files"  # what a job is about; its page translates that
TRANSCRIPTS_NOTE = "{0} transcripts"
# Of jobs that wait for the gate.
GATE_ERRORS = (errors.Blocked, errors.RateLimited, errors.Refused, errors.NetworkProblem)
GATE_CODES = [error.code for error in (*GATE_ERRORS, errors.GateClosed)]


def request(
    collection: Collection,
    address: str,
    *,
    language: str = "",
    translated: bool = False,
    tags: Sequence[str] = (),
    newest: int | None = None,
    every_hours: int | None = None,
    listens: bool = False,
    by: User | None = None,
) -> Job:
    """Queue a video, playlist, channel or web page; return an unfinished job that does the same
    instead. Pages are for ``WEB_PAGE_RUNNER``; without it, only YouTube's addresses are accepted.
    Videos without captions are listened to if it ``listens``, or if their collection always does.

    Raises ``InvalidUrl``, ``ListeningForbidden``, and ``InvalidInput`` for a translation of unknown
    language or of a list.
    """
    if listens:
        listening.require_permission(collection)
    try:
        target = parse_target(address)
    except errors.NotYouTube:
        if not settings.WEB_PAGE_RUNNER or "://" not in address:
            raise
        page = parse_web_page(address)
        return _request_page(collection, page, language, tags, by, listens=listens)
    if translated and not (language and target.kind == "video"):
        raise errors.InvalidInput(
            "Machine-translated captions can be fetched for a video, in a language that is named.",
            hint="Give the address of one video, and a language such as en.",
        )
    if target.kind == "video":
        kind: Any = {"language": language, "translated": translated}
        return _request_video(collection, target.id, **kind, listens=listens, tags=tags, by=by)
    options = {"newest": newest, "every_hours": every_hours}
    values = {name: value for name, value in options.items() if value is not None}
    feed, _ = Feed.objects.update_or_create(
        collection=collection,
        youtube_id=target.id,
        defaults=values,
        create_defaults={"kind": target.kind, **values},
    )
    if every_hours is not None:
        feed.plan()  # now, because the first job may fail
    with transaction.atomic():
        audit.record(Action.ADD, "feed", target.id, collection=collection)
        return request_feed(feed, by=by, tags=tags, listens=listens)


def _request_page(
    collection: Collection,
    address: str,
    language: str,
    tags: Sequence[str],
    by: User | None,
    *,
    listens: bool,
) -> Job:
    job = Job(
        collection=collection,
        kind=Job.Kind.PAGE,
        target=address,
        listens=Job.Listens.MISSING if listens else "",
        language=clean(language, 35),
        priority=10,
        created_by=by,
        tags=storage.clean_tags(tags),
    )
    with transaction.atomic():
        queued, _ = enqueue(job)
        audit.record(Action.ADD, "page", f"job {queued.pk}", collection=collection)
        return queued


def request_feed(
    feed: Feed, *, by: User | None = None, tags: Sequence[str] = (), listens: bool = False
) -> Job:
    """Queue a playlist or channel. Its job queues the videos that are new."""
    job = Job(
        collection=feed.collection,
        kind=Job.Kind.FEED,
        target=feed.youtube_id,
        feed=feed,
        listens=Job.Listens.MISSING if listens else "",
        priority=5,
        created_by=by,
        tags=storage.clean_tags(tags),
    )
    return enqueue(job)[0]


def request_files(
    collection: Collection,
    uploads: Iterable[tuple[str, bytes]],
    *,
    beside: Iterable[IO[bytes]] = (),
    refused: Sequence[tuple[str, errors.KnowledgeBaseError]] = (),
    read: Sequence[dict[str, Any]] = (),
    language: str = "",
    tags: Sequence[str] = (),
    by: User | None = None,
) -> Job:
    """Queue the import of captions (name, bytes); ``beside`` them lie files that are to play.

    The job also tells of other files of the same upload: those that were ``refused``, and those
    that were ``read`` already (rows of ``jobs.read_row``). Without captions it has ended.

    Raises ``InvalidInput`` if no name is that of a transcript and nothing was read,
    ``CaptionsTooLarge``, and ``MediaTooLarge``.
    """
    accepted = files.candidates(uploads)
    selected = files.select(name for name, _ in accepted)
    if not (selected or read):
        raise files.no_transcript()
    for name, data in accepted:
        storage.check_size(name, data)
    count = len(selected) + len(refused) + len(read)
    if count > len(selected):
        about = FILES_NOTE.format(count)
    else:
        about = selected[0].name[:200] if count == 1 else TRANSCRIPTS_NOTE.format(count)
    with transaction.atomic():
        job = Job(
            collection=collection,
            kind=Job.Kind.FILES,
            target=about,
            language=clean(language, 35),
            tags=storage.clean_tags(tags),
            priority=10,
            created_by=by,
        )
        file_import.tell_of_others(job, refused, read, selected=len(selected))
        enqueue(job)
        audit.record(Action.ADD, "files", f"job {job.pk}", collection=collection)
        rows = [JobFile(job=job, name=name, data=data) for name, data in accepted]
        JobFile.objects.bulk_create(
            (row for row in rows if len(row.data) <= LARGE_FILE), batch_size=50
        )
        for row in rows:
            if len(row.data) > LARGE_FILE:
                row.save()  # alone: a statement takes many times the memory of its data
        for file in beside:
            media.keep_for(job, file, name=str(file.name))
        if not selected:
            job.start()
            job.finish()
    return job


def refetch(
    video: Video, *, language: str = "", translated: bool = False, by: User | None = None
) -> Job:
    """Fetch a YouTube video again, or in another language. Raises ``InvalidInput`` for a file."""
    if not video.youtube_id:
        raise errors.InvalidInput(
            f"“{video}” came from a file, not from YouTube.",
            hint="Add the file again to update it.",
        )
    kind: Any = {"language": language, "translated": translated and bool(language)}
    return _request_video(video.collection, video.youtube_id, **kind, by=by)


def retry(job: Job, *, listens: bool = False) -> Job:
    """Queue a finished job again, or return an unfinished one that does the same. A video without
    captions is listened to if it ``listens``.

    Raises ``Conflict`` and ``ListeningForbidden``.
    """
    if listens:
        listening.require_permission(job.collection)
    with transaction.atomic():
        locked = Job.objects.select_for_update().filter(pk=job.pk).first()
        if locked is None or not locked.is_finished:
            raise errors.Conflict(
                f"Job {job.pk} has not ended yet.",
                hint="It is retried automatically where that makes sense.",
            )
        if locked.kind == Job.Kind.FILES and not locked.files.exists():
            raise errors.Conflict(
                "The files of this job are gone.", hint="Add the ones that failed again."
            )
        try:
            with transaction.atomic():
                locked.retry(**({"listens": Job.Listens.MISSING} if listens else {}))
        except IntegrityError:  # an unfinished job does the same
            return Job.objects.unfinished().same_as(locked).first() or locked
        return locked


def reopen_gate() -> int:
    """Ask YouTube again at once, and wake the jobs that wait for it; return how many.

    The caller sends them to the workers.
    """
    with transaction.atomic():
        YouTubeGate.reopen()
        waiting = Job.objects.filter(state=Job.State.QUEUED, error_code__in=GATE_CODES)
        return waiting.update(run_after=None, sent_at=None)


def perform(pk: int) -> Job | None:
    """Run a job if it is queued and due and no other process holds it.

    It is safe to call this any number of times.
    """
    job = Job.objects.filter(pk=pk, state=Job.State.QUEUED).first()
    if job is None:
        return None
    with job.attempt(Job.objects.due().filter(state=Job.State.QUEUED)) as is_begun:
        if is_begun:
            try:
                _RUNNERS[job.kind](job)
            except errors.KnowledgeBaseError as error:
                _settle(job, error)
    return job


def recover_abandoned() -> int:
    """Queue the jobs of killed workers again; return how many."""
    recovered = 0
    for job in Job.objects.abandoned():
        with job.hold() as is_held:
            # Read again under the lock: the job may have ended since it was selected.
            if is_held and Job.objects.filter(pk=job.pk, state=Job.State.RUNNING).exists():
                job.postpone()
                recovered += 1
    return recovered


def _run_video(job: Job) -> None:
    YouTubeGate.pass_through(pace=conf.pacing_seconds())
    job.report(step="asking YouTube", done=0, total=2)
    client = youtube.YouTube(conf.youtube_options(allow_translated=job.translated))
    if job.listens == Job.Listens.NOW:
        video_sound.fetch(job, client)
        return
    try:
        fetched = client.fetch(job.target, language=job.language or None)
    except errors.NoCaptions as error:
        video_sound.consider(job, error)
        YouTubeGate.succeeded(pace=conf.pacing_seconds())
        return
    YouTubeGate.succeeded(pace=conf.pacing_seconds())
    if not fetched.cues:
        raise errors.NoCaptions("The captions of this video are empty.")
    job.report(step="storing", done=1, total=2)
    stored = storage.store_fetched(job.collection, fetched, tags=job.tags, by=job.created_by)
    thumbnails.fetch(client, stored.video)
    with transaction.atomic():
        for warning in fetched.warnings:
            job.add_problems({job.target: warning})
        job.finish(video=stored.video)
        if fetched.partial:  # a stream: fetch it again when it has gone on
            same = ("collection", "kind", "target", "language", "translated", "tags", "created_by")
            later = clock.now() + timedelta(hours=1)
            enqueue(Job(run_after=later, **{name: getattr(job, name) for name in same}))


def _run_feed(job: Job) -> None:
    YouTubeGate.pass_through(pace=conf.pacing_seconds())
    feed = job.feed
    if feed is None:
        raise errors.Conflict("The playlist or channel was deleted.", hint="Add it again.")
    job.report(step="reading the list")
    listing = youtube.YouTube(conf.youtube_options()).list_videos(feed.target, newest=feed.newest)
    YouTubeGate.succeeded(pace=conf.pacing_seconds())
    new_ids = feed_entries.unseen(feed, listing.video_ids)
    with transaction.atomic():
        # Reading the list takes a while; the feed may have changed, or be gone.
        current = Feed.objects.select_for_update().filter(pk=feed.pk).first()
        if current is None:
            return
        feed_entries.store(current, listing)
        current.synced(title=listing.title, new_count=len(new_ids))
        rows = [
            Job(
                collection=feed.collection,
                kind=Job.Kind.VIDEO,
                target=video_id,
                feed=feed,
                listens=job.listens,
                tags=job.tags,
                created_by=job.created_by,
            )
            for video_id in new_ids
        ]
        Job.objects.bulk_create(rows, batch_size=500, ignore_conflicts=True)
        job.add_problems(listing.skipped)
        job.report(step="", done=len(new_ids), total=len(new_ids))
        job.finish()


_RUNNERS: dict[str, Callable[[Job], None]] = {
    Job.Kind.VIDEO: _run_video,
    Job.Kind.FEED: _run_feed,
    Job.Kind.FILES: file_import.run,
    Job.Kind.PAGE: lambda job: import_string(settings.WEB_PAGE_RUNNER)(job),
    Job.Kind.LISTEN: lambda job: import_string(settings.SPEECH_RUNNER)(job),
}


def _settle(job: Job, error: errors.KnowledgeBaseError) -> None:
    """Queue a job again after an expected error, or end it."""
    if job.needs_youtube and (gate_opens_at := _close_gate(job, error)):
        job.postpone(until=gate_opens_at, error=error, counts=False)
        return
    if isinstance(error, errors.YouTubeError) and not isinstance(error, GATE_ERRORS):
        YouTubeGate.succeeded(pace=conf.pacing_seconds())  # a "no" is an answer, too
    if isinstance(error, errors.Premiere) and error.retry_at:
        now, start = clock.now(), datetime.fromtimestamp(error.retry_at, tz=UTC)
        # A late premiere may never come, so the pauses grow with the delay.
        begins = max(start, now) + max(timedelta(minutes=5), (now - start) / 4)
        job.postpone(until=begins, error=error, counts=False)
    elif until := next_try(error, job.attempts):
        job.postpone(until=until, error=error)
    else:
        job.fail(error)


def _close_gate(job: Job, error: errors.KnowledgeBaseError) -> datetime | None:
    """Record that YouTube refuses or cannot be reached, and return when its gate opens; None if the
    video alone stops the job.
    """
    if isinstance(error, errors.GateClosed):
        return datetime.fromtimestamp(error.retry_at, tz=UTC)
    if error.retry is errors.Retry.COOL_DOWN:
        if YouTubeGate.answered_since(job.refused_at):
            return None  # YouTube refuses this video alone
        job.change(refused_at=clock.now())
        return YouTubeGate.refused(error) + PROBE_TURN
    if error.retry is errors.Retry.NETWORK:
        outage_ends_at = YouTubeGate.unreachable(error)
        return outage_ends_at if next_try(error, job.attempts) else None
    return None


def _request_video(
    collection: Collection,
    video_id: str,
    *,
    language: str,
    translated: bool,
    listens: bool = False,
    tags: Sequence[str] = (),
    by: User | None,
) -> Job:
    new = Job(
        collection=collection,
        kind=Job.Kind.VIDEO,
        target=video_id,
        language=clean(language, 35),
        translated=translated,
        listens=Job.Listens.MISSING if listens else "",
        priority=10,
        created_by=by,
        tags=storage.clean_tags(tags),
    )
    with transaction.atomic():
        job, is_new = enqueue(new)
        audit.record(Action.ADD, "video", video_id, collection=collection)
        if not is_new:  # it may wait behind the ten thousand videos of a channel
            job.hasten(priority=new.priority, tags=new.tags)
            if listens and not job.listens:
                job.change(listens=new.listens)
    return job
