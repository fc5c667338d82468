"""The write side: an address or a file becomes a Transcript. An ingest reads top to bottom: take the turn, fetch, store, done."""

import hashlib
import json
import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from pathlib import PurePosixPath
from typing import Any

from django.db import transaction
from django.utils import timezone

from transcripts import bm25, captions, conf, files
from transcripts.cues import Cue, group_by_time
from transcripts.errors import (
    BadJson,
    CaptionsTooLarge,
    Conflict,
    EmptyCaptions,
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
    KEY_LENGTH,
    Collection,
    Feed,
    Job,
    JobFile,
    Origin,
    RawCaptions,
    Thumbnail,
    Transcript,
    TranscriptIndex,
    Video,
    YouTubeGate,
    enqueue,
)
from transcripts.timecodes import Target, parse_target
from transcripts.youtube import Fetched, VideoInfo, YouTube, info_from_json

logger = logging.getLogger(__name__)

MAX_ATTEMPTS = 3
MAX_CRASHES = 5
ALIKE = 0.5  # share of common words above which two texts are versions of one recording


class Change(StrEnum):
    """What storing did."""

    ADDED = "added"
    UPDATED = "updated"
    UNCHANGED = "unchanged"


@dataclass(frozen=True, slots=True)
class Stored:
    """A transcript in the library, and what storing it changed."""

    video: Video
    transcript: Transcript
    change: Change


@dataclass(frozen=True, slots=True)
class Metadata:
    """What is known of a recording beside its text; empty values change nothing that is stored already."""

    key: str
    title: str = ""
    info: VideoInfo | None = None
    youtube_id: str = ""
    tags: tuple[str, ...] = ()
    partial: bool = False


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
    return request_feed(_feed(collection, target, newest=newest, every_hours=every_hours), by=by, tags=tags)


def request_feed(feed: Feed, *, by: Any = None, tags: Sequence[str] = ()) -> Job:
    """Queue a look at a playlist or channel; only what is new will be fetched."""
    job = Job(collection=feed.collection, kind=Job.Kind.FEED, target=feed.youtube_id, feed=feed, priority=5, created_by=by, tags=list(tags))
    return enqueue(job)[0]


def request_files(collection: Collection, uploads: Iterable[tuple[str, bytes]], *, language: str = "", tags: Sequence[str] = (), by: Any = None) -> Job:
    """Queue the import of uploaded files (name, bytes). Raises ``InvalidInput`` when none is a transcript by its name, ``CaptionsTooLarge``."""
    kept = [(_safe_name(name), data) for name, data in uploads if files.is_candidate(_safe_name(name))]
    if not kept:
        known = " ".join(files.FORMATS)
        raise InvalidInput("None of these files is a transcript, by its name.", hint=f"Known kinds: {known}")
    for name, data in kept:
        _check_size(name, data)
    with transaction.atomic():
        target = kept[0][0] if len(kept) == 1 else f"{len(kept)} files"
        job, _ = enqueue(Job(collection=collection, kind=Job.Kind.FILES, target=target[:200], language=language, priority=10, created_by=by, tags=list(tags)))
        JobFile.objects.bulk_create((JobFile(job=job, name=name, data=data) for name, data in kept), batch_size=50)
    return job


def refetch(video: Video, *, language: str = "", by: Any = None) -> Job:
    """Queue a video of YouTube anew, in another language if one is named. Raises ``InvalidInput`` for a file."""
    if not video.youtube_id:
        raise InvalidInput(f"“{video}” came from a file, not from YouTube.", hint="Add the file again to update it.")
    return _request_video(video.collection, video.youtube_id, language=language, tags=(), by=by)


def retry(job: Job) -> Job:
    """Queue a finished job again; where an unfinished one does the same, that one is returned. Raises ``Conflict``."""
    with transaction.atomic():
        found = Job.objects.select_for_update().filter(pk=job.pk).first()
        if found is None or not found.is_finished:
            raise Conflict(f"Job {job.pk} has not ended yet.", hint="It is tried again by itself where that makes sense.")
        if found.kind == Job.Kind.FILES and not found.files.exists():
            raise Conflict("The files of this job are gone.", hint="Add the ones that failed again.")
        same = Job.objects.unfinished().filter(collection=found.collection_id, kind=found.kind, target=found.target, language=found.language)
        if found.kind != Job.Kind.FILES and (other := same.first()):
            return other
        found.retry()
    return found


# Doing it


def perform(pk: int) -> Job | None:
    """Do a queued job, unless another process holds it, it is finished, or its time has not come. Safe to call any number of times."""
    job = Job.objects.filter(pk=pk, state=Job.State.QUEUED).first()
    if job is None:
        return None
    with job.held() as held:
        if held and (current := Job.objects.ready().filter(pk=pk).first()):
            _work(current)
            return current
    return job


def recover_abandoned() -> int:
    """Queue again what killed workers left behind, and give up on what kills its worker time and again; returns how many."""
    return sum(_recover(job) for job in Job.objects.abandoned())


def add_captions(
    collection: Collection,
    data: bytes,
    *,
    name: str,
    info: bytes | None = None,
    language: str = "",
    tags: Sequence[str] = (),
    title: str = "",
    key: str = "",
) -> Stored:
    """Parse one caption file and store it; ``info`` is yt-dlp's metadata file. Raises ``CaptionError`` kinds, ``Conflict``."""
    _check_size(name, data)
    parsed = captions.parse(data, name=name)
    if not parsed.cues:
        raise EmptyCaptions(f"Nothing is said in “{name}”.", hint="Check that the file is the right one.")
    known = _info(info)
    stem, name_language = captions.split_name(PurePosixPath(name).name)
    found = Metadata(
        key=clean_key(key or parsed.id or (known.id if known else "") or stem),
        title=title or parsed.title or (known.title if known else ""),
        info=known,
        youtube_id=(known.id if known else "") or parsed.youtube_id,
        tags=tuple(tags),
    )
    origin = Origin.AUTO if files.is_auto(name) else Origin.UPLOAD
    return _store(collection, found, cues=parsed.cues, language=language or name_language or parsed.language, origin=origin, raw_name=name, raw=data)


def add_text(collection: Collection, text: str, *, title: str, language: str = "", tags: Sequence[str] = (), key: str = "") -> Stored:
    """Store a pasted transcript panel or plain text. Raises ``CaptionError`` kinds."""
    name = f"{clean_key(key or title or 'pasted')}.txt"
    return add_captions(collection, text.encode(errors="replace"), name=name, title=title, language=language, tags=tags, key=key)


def reparse(transcript: Transcript) -> Change:
    """Read the kept original again, with today's parser. Raises ``Conflict`` where none was kept."""
    raw = RawCaptions.objects.filter(transcript=transcript).first()
    if raw is None:
        raise Conflict(f"The original of “{transcript.video}” was not kept.", hint="Fetch or add it again.")
    parsed = captions.parse(bytes(raw.data), name=raw.name)
    with transaction.atomic():
        return _write(transcript.video, parsed.cues, language=transcript.language, origin=transcript.origin)[1]


def clean_key(text: str) -> str:
    """Return an id as it is stored and looked up: trimmed, of printable characters, slashes as hyphens, at most 200 long."""
    printable = "".join(character if character.isprintable() else " " for character in text)
    return " ".join(printable.replace("/", "-").replace("\\", "-").split())[:KEY_LENGTH] or "untitled"


# The kinds of work


def _work(job: Job) -> None:
    job.start()
    try:
        _RUNNERS[job.kind](job)
    except KnowledgeBaseError as error:
        _settle(job, error)
    except Exception:
        logger.exception("job %s failed unexpectedly", job.pk)
        job.fail(KnowledgeBaseError("Something unexpected went wrong.", hint="The server's log has the details; please report it."))


def _recover(job: Job) -> bool:
    with job.held() as held:
        # Asked again under the lock: it may have ended between the look at the row and the look at the lock.
        if not held or not Job.objects.filter(pk=job.pk, state=Job.State.RUNNING).exists():
            return False
        if job.attempts >= MAX_CRASHES:
            message = f"The worker died {job.attempts} times while doing this."
            job.fail(KnowledgeBaseError(message, hint="The server's log may say why; retry it when that is mended."))
        else:
            job.put_back()
        return True


def _run_video(job: Job) -> None:
    YouTubeGate.pass_through(pace=conf.pacing_seconds())
    job.report(step="asking YouTube", done=0, total=2)
    youtube = YouTube(conf.youtube_options())
    fetched = youtube.fetch(job.target, language=job.language or None)
    YouTubeGate.succeeded(pace=conf.pacing_seconds())
    if not fetched.cues:
        raise NoCaptions("The captions of this video are empty.")
    job.report(step="storing", done=1, total=2)
    stored = _store_fetched(job, fetched)
    _keep_thumbnail(youtube, stored.video)
    job.finish(video=stored.video)
    if fetched.partial:
        _fetch_again_later(job)


def _run_feed(job: Job) -> None:
    YouTubeGate.pass_through(pace=conf.pacing_seconds())
    feed = job.feed
    if feed is None:
        raise Conflict("The playlist or channel was deleted.", hint="Add it again.")
    job.report(step="reading the list")
    listing = YouTube(conf.youtube_options()).list_videos(feed.target, newest=feed.newest)
    YouTubeGate.succeeded(pace=conf.pacing_seconds())
    wanted = _unseen(feed, listing.video_ids)
    with transaction.atomic():
        feed.synced(title=listing.title)
        _queue_videos(feed, wanted, job)
        job.report(step="", done=len(wanted), total=len(wanted))
        job.finish()


def _run_files(job: Job) -> None:
    names = list(job.files.values_list("name", flat=True))
    chosen = files.select(names)
    if job.total == 0:
        job.report(step="importing", done=0, total=len(chosen))
    for selected in chosen:
        video = _import(job, selected)
        job.report(step=selected.name[:60], done=min(job.done + 1, job.total))
    job.files.all().delete()
    if job.problems and len(job.problems) >= job.total:
        raise _only_problem(job)
    job.finish(video=video if chosen and len(chosen) == 1 else None)


_RUNNERS: dict[str, Callable[[Job], None]] = {Job.Kind.VIDEO: _run_video, Job.Kind.FEED: _run_feed, Job.Kind.FILES: _run_files}


def _import(job: Job, selected: files.Selected) -> Video | None:
    """Store one uploaded file and take it off the job in one transaction, so that a killed worker repeats none."""
    upload = job.files.filter(name=selected.name).first()
    if upload is None:
        return None
    info = job.files.filter(name=selected.info_name).first() if selected.info_name else None
    with transaction.atomic():
        upload.delete()
        try:
            with transaction.atomic():
                stored = add_captions(
                    job.collection,
                    bytes(upload.data),
                    name=upload.name,
                    info=bytes(info.data) if info else None,
                    language=job.language,
                    tags=job.tags,
                )
        except KnowledgeBaseError as error:
            job.add_problem(name=upload.name, error=error)
            return None
    return stored.video


def _only_problem(job: Job) -> KnowledgeBaseError:
    if len(job.problems) == 1:
        problem = job.problems[0]
        return InvalidInput(f"{problem['name']}: {problem['message']}", hint=problem["hint"])
    return InvalidInput(f"None of the {len(job.problems)} files could be read.", hint="The problems are listed with the job.")


def _settle(job: Job, error: KnowledgeBaseError) -> None:
    """Decide what becomes of a job that ran into an expected error."""
    if isinstance(error, GateClosed):
        job.put_back(until=_moment(error.retry_at), error=error, counts=False)
        return
    retry = error.retry if isinstance(error, YouTubeError) else Retry.NEVER
    if retry is Retry.COOL_DOWN:
        job.put_back(until=YouTubeGate.refused(error), error=error, counts=False)
        return
    if isinstance(error, YouTubeError) and not isinstance(error, NetworkProblem):
        YouTubeGate.succeeded(pace=conf.pacing_seconds())  # a "no" is an answer too: YouTube talks to us
    until = _next_try(job, error, retry)
    if until is None:
        job.fail(error)
    else:
        job.put_back(until=until, error=error)


def _next_try(job: Job, error: KnowledgeBaseError, retry: Retry) -> datetime | None:
    if isinstance(error, Premiere) and error.retry_at:
        return max(_moment(error.retry_at), timezone.now()) + timedelta(minutes=5)
    if retry is Retry.NETWORK and job.attempts < MAX_ATTEMPTS:
        return timezone.now() + timedelta(seconds=15 * 4**job.attempts)
    if retry is Retry.ONCE and job.attempts < 2:
        return timezone.now() + timedelta(minutes=1)
    return None


def _moment(seconds: int) -> datetime:
    return datetime.fromtimestamp(seconds, tz=UTC)


# Playlists and channels


def _request_video(collection: Collection, video_id: str, *, language: str, tags: Sequence[str], by: Any) -> Job:
    job = Job(collection=collection, kind=Job.Kind.VIDEO, target=video_id, language=language, priority=10, created_by=by, tags=list(tags))
    return enqueue(job)[0]


def _feed(collection: Collection, target: Target, *, newest: int | None, every_hours: int | None) -> Feed:
    wishes = {name: value for name, value in (("newest", newest), ("every_hours", every_hours)) if value is not None}
    feed, _ = Feed.objects.update_or_create(collection=collection, youtube_id=target.id, defaults=wishes, create_defaults={"kind": target.kind, **wishes})
    return feed


def _unseen(feed: Feed, video_ids: Sequence[str]) -> list[str]:
    # A job of this feed counts as seen too: a video that has no captions, or was deleted here by hand, is not asked for again.
    seen = set(Video.objects.filter(collection=feed.collection, youtube_id__in=video_ids).values_list("youtube_id", flat=True))
    seen |= set(Job.objects.filter(feed=feed, kind=Job.Kind.VIDEO, target__in=video_ids).values_list("target", flat=True))
    return [video_id for video_id in dict.fromkeys(video_ids) if video_id not in seen]


def _queue_videos(feed: Feed, video_ids: Sequence[str], job: Job) -> None:
    rows = (
        Job(collection=feed.collection, kind=Job.Kind.VIDEO, target=video_id, feed=feed, tags=job.tags, created_by=job.created_by) for video_id in video_ids
    )
    Job.objects.bulk_create(rows, batch_size=500, ignore_conflicts=True)


def _fetch_again_later(job: Job) -> None:
    later = Job(collection=job.collection, kind=job.kind, target=job.target, language=job.language, tags=job.tags, created_by=job.created_by)
    later.run_after = timezone.now() + timedelta(hours=1)
    enqueue(later)


def _keep_thumbnail(youtube: YouTube, video: Video) -> None:
    if Thumbnail.objects.filter(video=video).exists():
        return
    try:
        data = youtube.thumbnail(video.youtube_id)
    except YouTubeError as error:
        logger.info("no thumbnail for %s: %s", video.youtube_id, error.code)  # a picture is not worth a failed job
        return
    Thumbnail.objects.get_or_create(video=video, defaults={"data": data, "content_type": "image/jpeg"})


# Storing


def _store_fetched(job: Job, fetched: Fetched) -> Stored:
    info = fetched.info
    found = Metadata(key=info.id, info=info, title=info.title, youtube_id=info.id, tags=tuple(job.tags), partial=fetched.partial)
    return _store(job.collection, found, cues=fetched.cues, language=fetched.language, origin=fetched.origin, raw_name=fetched.raw_name, raw=fetched.raw)


def _store(collection: Collection, found: Metadata, *, cues: Sequence[Cue], language: str, origin: str, raw_name: str, raw: bytes) -> Stored:
    with transaction.atomic():
        video = _store_video(collection, found, duration=cues[-1].end)
        _refuse_other_recording(video, cues, language=language, origin=origin, raw_name=raw_name)
        transcript, change = _write(video, cues, language=language, origin=origin)
        if raw:
            RawCaptions.objects.update_or_create(transcript=transcript, defaults={"name": raw_name[:300], "data": raw})
    return Stored(video=video, transcript=transcript, change=change)


def _store_video(collection: Collection, found: Metadata, *, duration: int) -> Video:
    values = _video_values(found)
    defaults = {**values, "title": values.get("title") or found.key, "duration": max(duration, values.get("duration", 0))}
    video, created = Video.objects.get_or_create(collection=collection, key=found.key, defaults=defaults)
    if not created:
        for name, value in values.items():
            setattr(video, name, value)
        video.duration = max(duration, video.duration)
        video.save()
    return video


def _video_values(found: Metadata) -> dict[str, Any]:
    values: dict[str, Any] = {"title": found.title[:300], "youtube_id": found.youtube_id, "tags": list(found.tags)}
    if info := found.info:
        values |= {
            "channel": info.channel[:200],
            "channel_id": info.channel_id[:64],
            "description": info.description,
            "duration": info.duration,
            "published_at": info.published_at,
            "chapters": [[chapter.start, chapter.title] for chapter in info.chapters],
            "languages": list(info.languages),
        }
    return {name: value for name, value in values.items() if value} | {"partial": found.partial}


def _refuse_other_recording(video: Video, cues: Sequence[Cue], *, language: str, origin: str, raw_name: str) -> None:
    """Keep a second file of the same name from overwriting another recording; a new version of the same one may."""
    old = Transcript.objects.filter(video=video, language=language, origin=origin).select_related("raw").first()
    if origin not in (Origin.UPLOAD, Origin.AUTO) or old is None or not hasattr(old, "raw") or old.raw.name == raw_name:
        return
    before, now = _vocabulary(captions.from_json(old.cues)), _vocabulary(cues)
    if len(before & now) < ALIKE * min(len(before), len(now)):
        raise Conflict(f"“{video.key}” already names another recording ({old.raw.name}).", hint="Rename the file, or add it to another collection.")


def _vocabulary(cues: Iterable[Cue]) -> set[str]:
    return {token for cue in cues for token in bm25.tokenize(cue.text)}


def _write(video: Video, cues: Sequence[Cue], *, language: str, origin: str) -> tuple[Transcript, Change]:
    rows = captions.to_json(cues)
    digest = hashlib.sha256(json.dumps(rows, ensure_ascii=False, separators=(",", ":")).encode()).hexdigest()
    old = Transcript.objects.light().filter(video=video, language=language, origin=origin).first()
    if old is not None and old.digest == digest:
        return old, Change.UNCHANGED
    values = {
        "cues": rows,
        "word_times": captions.word_times_to_json(cues),
        "digest": digest,
        "cue_count": len(rows),
        "characters": sum(len(cue.text) + 1 for cue in cues) - 1,
        "duration": cues[-1].end,
        "updated_at": timezone.now(),
    }
    transcript, created = Transcript.objects.update_or_create(video=video, language=language[:35], origin=origin, defaults=values)
    _index(transcript, cues)
    return transcript, Change.ADDED if created else Change.UPDATED


def _index(transcript: Transcript, cues: Sequence[Cue]) -> None:
    seconds = conf.limits().search_segment_seconds
    index = bm25.Index.build([group.text for group in group_by_time(cues, seconds)])
    values = {"segment_seconds": seconds, "tokenizer_version": bm25.TOKENIZER_VERSION, "digest": transcript.digest, "data": index.to_bytes()}
    TranscriptIndex.objects.update_or_create(transcript=transcript, defaults=values)


def _info(data: bytes | None) -> VideoInfo | None:
    if data is None:
        return None
    try:
        return info_from_json(json.loads(data))
    except (ValueError, RecursionError) as error:
        raise BadJson("The .info.json beside the captions cannot be read.", hint="Leave it out, or download it again.") from error


def _check_size(name: str, data: bytes) -> None:
    if len(data) > conf.max_upload_bytes():
        raise CaptionsTooLarge(f"“{name}” has {len(data):,} bytes; the limit is {conf.max_upload_bytes():,}.", hint="Captions are small: is it the right file?")


def _safe_name(name: str) -> str:
    return "".join(character for character in name.replace("\\", "/") if character.isprintable()).strip("/")[:300]
