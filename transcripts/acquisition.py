"""The write side: an address or a file becomes a Transcript. An ingest reads top to bottom: take the turn, fetch, store, done."""

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db import IntegrityError, InterfaceError, OperationalError, transaction
from django.utils import timezone

from transcripts import conf, files, storage, youtube
from transcripts.errors import (
    CaptionError,
    Conflict,
    GateClosed,
    InvalidInput,
    KnowledgeBaseError,
    NetworkProblem,
    NoCaptions,
    Premiere,
    Retry,
    YouTubeError,
)
from transcripts.models import (
    Collection,
    Feed,
    Job,
    JobFile,
    Thumbnail,
    Video,
    YouTubeGate,
    enqueue,
)
from transcripts.sanitize import clean
from transcripts.timecodes import Target, parse_target
from transcripts.work import retry as retry_table

logger = logging.getLogger(__name__)

LARGE_FILE = 500_000  # bytes
LONGEST_NAME = 290  # characters of an uploaded file's name; some are left for the folder that tells two of one name apart


# Asking for work


def request(
    collection: Collection,
    address: str,
    *,
    language: str = "",
    tags: Sequence[str] = (),
    newest: int | None = None,
    every_hours: int | None = None,
    by: Any = None,
) -> Job:
    """Queue a video, playlist or channel of YouTube; an unfinished job for the same is returned as it is. Raises ``InvalidUrl``."""
    target = parse_target(address)
    if target.kind == "video":
        return _request_video(collection, target.id, language=language, tags=tags, by=by)
    return request_feed(
        _feed(collection, target, newest=newest, every_hours=every_hours), by=by, tags=tags
    )


def request_feed(feed: Feed, *, by: Any = None, tags: Sequence[str] = ()) -> Job:
    """Queue a look at a playlist or channel; only what is new will be fetched."""
    job = Job(
        collection=feed.collection,
        kind=Job.Kind.FEED,
        target=feed.youtube_id,
        feed=feed,
        priority=5,
        created_by=by,
        tags=storage.clean_tags(tags),
    )
    return enqueue(job)[0]


def request_files(
    collection: Collection,
    uploads: Iterable[tuple[str, bytes]],
    *,
    language: str = "",
    tags: Sequence[str] = (),
    by: Any = None,
) -> Job:
    """Queue the import of uploaded files (name, bytes). Raises ``InvalidInput`` when none is a transcript by its name, ``CaptionsTooLarge``."""
    kept = _apart(
        (_safe_name(name), data) for name, data in uploads if files.is_candidate(_safe_name(name))
    )
    if not files.select(name for name, _ in kept):
        known = " ".join(files.FORMATS)
        raise InvalidInput(
            "None of these files is a transcript, by its name.", hint=f"Known kinds: {known}"
        )
    for name, data in kept:
        storage.check_size(name, data)
    with transaction.atomic():
        target = kept[0][0] if len(kept) == 1 else f"{len(kept)} files"
        job = Job(
            collection=collection,
            kind=Job.Kind.FILES,
            target=target[:200],
            language=clean(language, 35),
            priority=10,
            created_by=by,
        )
        job.tags = storage.clean_tags(tags)
        enqueue(job)
        rows = [JobFile(job=job, name=name, data=data) for name, data in kept]
        JobFile.objects.bulk_create(
            (row for row in rows if len(row.data) <= LARGE_FILE), batch_size=50
        )
        for row in rows:
            if len(row.data) > LARGE_FILE:
                row.save()  # alone: a statement is many times as long as what it stores
    return job


def refetch(video: Video, *, language: str = "", by: Any = None) -> Job:
    """Queue a video of YouTube anew, in another language if one is named. Raises ``InvalidInput`` for a file."""
    if not video.youtube_id:
        raise InvalidInput(
            f"“{video}” came from a file, not from YouTube.",
            hint="Add the file again to update it.",
        )
    return _request_video(video.collection, video.youtube_id, language=language, tags=(), by=by)


def retry(job: Job) -> Job:
    """Queue a finished job again; where an unfinished one does the same, that one is returned. Raises ``Conflict``."""
    with transaction.atomic():
        found = Job.objects.select_for_update().filter(pk=job.pk).first()
        if found is None or not found.is_finished:
            raise Conflict(
                f"Job {job.pk} has not ended yet.",
                hint="It is tried again by itself where that makes sense.",
            )
        if found.kind == Job.Kind.FILES and not found.files.exists():
            raise Conflict(
                "The files of this job are gone.", hint="Add the ones that failed again."
            )
        if _revived(found):
            return found
        return Job.objects.unfinished().same_as(found).first() or found


def _revived(job: Job) -> bool:
    """Queue a finished job again; says no where an unfinished one does the same."""
    try:
        with transaction.atomic():
            job.retry()
    except IntegrityError:
        job.refresh_from_db()
        return False
    return True


# Doing it


def perform(pk: int) -> Job | None:
    """Do a queued job, unless another process holds it, it is finished, or its time has not come. Safe to call any number of times."""
    job = Job.objects.filter(pk=pk, state=Job.State.QUEUED).first()
    if job is None:
        return None
    with job.hold() as held:
        if held and (current := Job.objects.ready().filter(pk=pk).first()):
            _work(current)
            return current
    return job


def recover_abandoned() -> int:
    """Queue again what killed workers left behind, and give up on what kills its worker time and again; returns how many."""
    return sum(_recover(job) for job in Job.objects.abandoned())


# The kinds of work


def _work(job: Job) -> None:
    job.start()
    try:
        _RUNNERS[job.kind](job)
    except KnowledgeBaseError as error:
        _settle(job, error)
    except Exception:
        logger.exception("job %s failed unexpectedly", job.pk)
        job.fail(_unexpected())


def _unexpected() -> KnowledgeBaseError:
    return KnowledgeBaseError(
        "Something unexpected went wrong.",
        hint="The server's log has the details; please report it.",
    )


def _recover(job: Job) -> bool:
    with job.hold() as held:
        # Asked again under the lock: it may have ended between the look at the row and the look at the lock.
        if not held or not Job.objects.filter(pk=job.pk, state=Job.State.RUNNING).exists():
            return False
        if job.attempts >= Job.MAX_CRASHES:
            message = f"The worker died {job.attempts} times while doing this."
            job.fail(
                KnowledgeBaseError(
                    message, hint="The server's log may say why; retry it when that is mended."
                )
            )
        else:
            job.put_back()
        return True


def _run_video(job: Job) -> None:
    YouTubeGate.pass_through(pace=conf.pacing_seconds())
    job.report(step="asking YouTube", done=0, total=2)
    client = youtube.YouTube(conf.youtube_options())
    fetched = client.fetch(job.target, language=job.language or None)
    YouTubeGate.succeeded(pace=conf.pacing_seconds())
    if not fetched.cues:
        raise NoCaptions("The captions of this video are empty.")
    job.report(step="storing", done=1, total=2)
    stored = storage.store_fetched(job.collection, fetched, tags=job.tags)
    _keep_thumbnail(client, stored.video)
    with transaction.atomic():
        job.finish(video=stored.video)
        if fetched.partial:
            _fetch_again_later(job)


def _run_feed(job: Job) -> None:
    YouTubeGate.pass_through(pace=conf.pacing_seconds())
    feed = job.feed
    if feed is None:
        raise Conflict("The playlist or channel was deleted.", hint="Add it again.")
    job.report(step="reading the list")
    listing = youtube.YouTube(conf.youtube_options()).list_videos(feed.target, newest=feed.newest)
    YouTubeGate.succeeded(pace=conf.pacing_seconds())
    wanted = _unseen(feed, listing.video_ids)
    with transaction.atomic():
        current = (
            Feed.objects.select_for_update().filter(pk=feed.pk).first()
        )  # reading the list takes a while: it may be scheduled anew, or gone
        if current is None:
            return
        current.synced(title=listing.title)
        _queue_videos(feed, wanted, job)
        job.report(step="", done=len(wanted), total=len(wanted))
        job.finish()


def _run_files(job: Job) -> None:
    names = list(job.files.values_list("name", flat=True))
    chosen = files.select(names)
    if job.total == 0:
        job.report(step="importing", done=0, total=len(chosen))
    written: set[int] = set()
    for selected in chosen:
        video = _import(job, selected, written)
        job.report(step=selected.name[:60], done=min(job.done + 1, job.total))
    job.files.all().delete()
    if job.problems and len(job.problems) >= job.total:
        raise _only_problem(job)
    job.finish(video=video if chosen and len(chosen) == 1 else None)


_RUNNERS: dict[str, Callable[[Job], None]] = {
    Job.Kind.VIDEO: _run_video,
    Job.Kind.FEED: _run_feed,
    Job.Kind.FILES: _run_files,
}


def _import(job: Job, selected: files.SelectedFile, written: set[int]) -> Video | None:
    """Store one uploaded file and take it off the job in one transaction, so that a killed worker repeats none.

    ``written`` collects the primary keys of the transcripts; of several files of one recording the first counts.
    """
    upload = job.files.filter(name=selected.name).first()
    if upload is None:
        return None
    with transaction.atomic():
        stored = _store_or_tell(job, upload, selected, written)
        job.files.filter(
            name__in=(selected.name, *selected.instead)
        ).delete()  # all of them, or the next worker would take a lesser format
    return stored.video if stored else None


def _store_or_tell(
    job: Job, upload: JobFile, selected: files.SelectedFile, written: set[int]
) -> storage.StoredTranscript | None:
    """Store a file; what keeps it out is noted with the job, so that it does not keep the others out. Only a database that is away is raised."""
    try:
        stored = _store_upload(job, upload, selected, written)
    except KnowledgeBaseError as error:
        job.add_problem(name=upload.name, error=error)
    except (OperationalError, InterfaceError):
        raise
    except Exception:
        logger.exception("a file of job %s failed unexpectedly", job.pk)
        job.add_problem(name=upload.name, error=_unexpected())
    else:
        written.add(stored.transcript.pk)
        return stored
    return None


def _store_upload(
    job: Job, upload: JobFile, selected: files.SelectedFile, written: set[int]
) -> storage.StoredTranscript:
    """Store a file; where it cannot be read, the same recording in another format. Raises what kept the first one out."""
    info = job.files.filter(name=selected.info_name).first() if selected.info_name else None
    metadata = bytes(info.data) if info else None
    try:
        return _store_file(job, upload, metadata, written)
    except CaptionError:
        for name in selected.instead:
            with suppress(CaptionError):
                return _store_file(job, job.files.get(name=name), metadata, written)
        raise


def _store_file(
    job: Job, file: JobFile, info: bytes | None, written: set[int]
) -> storage.StoredTranscript:
    data = bytes(file.data)
    return storage.add_captions(
        job.collection,
        data,
        name=file.name,
        info=info,
        language=job.language,
        tags=job.tags,
        settled=written,
    )


def _only_problem(job: Job) -> KnowledgeBaseError:
    if len(job.problems) == 1:
        problem = job.problems[0]
        return InvalidInput(f"{problem['name']}: {problem['message']}", hint=problem["hint"])
    return InvalidInput(
        f"None of the {len(job.problems)} files could be read.",
        hint="The problems are listed with the job.",
    )


def _settle(job: Job, error: KnowledgeBaseError) -> None:
    """Decide what becomes of a job that ran into an expected error."""
    if isinstance(error, GateClosed):
        job.put_back(until=_moment(error.retry_at), error=error, counts=False)
        return
    if error.retry is Retry.COOL_DOWN:
        job.put_back(until=YouTubeGate.refused(error), error=error, counts=False)
        return
    if (
        error.retry is Retry.NETWORK
        and (outage := YouTubeGate.unreachable(error))
        and retry_table.next_try(error, job.attempts)
    ):
        job.put_back(
            until=outage, error=error, counts=False
        )  # the network is to blame, not the video
        return
    if isinstance(error, YouTubeError) and not isinstance(error, NetworkProblem):
        YouTubeGate.succeeded(
            pace=conf.pacing_seconds()
        )  # a "no" is an answer too: YouTube talks to us
    until = _next_try(job, error)
    if until is None:
        job.fail(error)
    else:
        job.put_back(until=until, error=error, counts=not isinstance(error, Premiere))


def _next_try(job: Job, error: KnowledgeBaseError) -> datetime | None:
    if isinstance(error, Premiere) and error.retry_at:
        now, start = timezone.now(), _moment(error.retry_at)
        return max(start, now) + max(
            timedelta(minutes=5), (now - start) / 4
        )  # one that is late may never come: it is asked for ever more rarely
    return retry_table.next_try(error, job.attempts)


def _moment(seconds: int) -> datetime:
    return datetime.fromtimestamp(seconds, tz=UTC)


# Playlists and channels


def _request_video(
    collection: Collection, video_id: str, *, language: str, tags: Sequence[str], by: Any
) -> Job:
    language = clean(language, 35)
    asked = Job(
        collection=collection,
        kind=Job.Kind.VIDEO,
        target=video_id,
        language=language,
        priority=10,
        created_by=by,
        tags=storage.clean_tags(tags),
    )
    job, is_new = enqueue(asked)
    if not is_new:  # it may wait behind the ten thousand videos of a channel
        job.hasten(priority=asked.priority, tags=asked.tags)
    return job


def _feed(
    collection: Collection, target: Target, *, newest: int | None, every_hours: int | None
) -> Feed:
    wishes = {
        name: value
        for name, value in (("newest", newest), ("every_hours", every_hours))
        if value is not None
    }
    feed, _ = Feed.objects.update_or_create(
        collection=collection,
        youtube_id=target.id,
        defaults=wishes,
        create_defaults={"kind": target.kind, **wishes},
    )
    if every_hours is not None:
        feed.plan()  # now, not only after the first look, which may fail
    return feed


def _unseen(feed: Feed, video_ids: Sequence[str]) -> list[str]:
    # A job of this feed counts as seen too: a video that has no captions, or was deleted here by hand, is not asked for again.
    seen = set(
        Video.objects.filter(collection=feed.collection, youtube_id__in=video_ids).values_list(
            "youtube_id", flat=True
        )
    )
    seen |= set(
        Job.objects.filter(feed=feed, kind=Job.Kind.VIDEO, target__in=video_ids).values_list(
            "target", flat=True
        )
    )
    return [video_id for video_id in dict.fromkeys(video_ids) if video_id not in seen]


def _queue_videos(feed: Feed, video_ids: Sequence[str], job: Job) -> None:
    rows = (
        Job(
            collection=feed.collection,
            kind=Job.Kind.VIDEO,
            target=video_id,
            feed=feed,
            tags=job.tags,
            created_by=job.created_by,
        )
        for video_id in video_ids
    )
    Job.objects.bulk_create(rows, batch_size=500, ignore_conflicts=True)


def _fetch_again_later(job: Job) -> None:
    later = Job(
        collection=job.collection,
        kind=job.kind,
        target=job.target,
        language=job.language,
        tags=job.tags,
        created_by=job.created_by,
    )
    later.run_after = timezone.now() + timedelta(hours=1)
    enqueue(later)


def _keep_thumbnail(client: "youtube.YouTube", video: Video) -> None:
    if Thumbnail.objects.filter(video=video).exists():
        return
    try:
        data = client.thumbnail(video.youtube_id)
    except YouTubeError as error:
        logger.info(
            "no thumbnail for %s: %s", video.youtube_id, error.code
        )  # a picture is not worth a failed job
        return
    Thumbnail.objects.get_or_create(
        video=video, defaults={"data": data, "content_type": "image/jpeg"}
    )


def _safe_name(name: str) -> str:
    return "".join(
        character for character in name.replace("\\", "/") if character.isprintable()
    ).strip("/")[:LONGEST_NAME]


def _apart(uploads: Iterable[tuple[str, bytes]]) -> list[tuple[str, bytes]]:
    """Put a second file of one name into a folder that sorts behind: browsers leave the folders out, and neither may get lost."""
    count: Counter[str] = Counter()
    kept = []
    for name, data in uploads:
        count[name] += 1
        kept.append((f"~{count[name]}/{name}" if count[name] > 1 else name, data))
    return kept
