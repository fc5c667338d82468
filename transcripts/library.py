"""The read side: list, find, read and search, always within a Scope."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from django.conf import settings
from django.db.models import Count, Prefetch

from transcripts import bm25, captions, conf, reading
from transcripts.cues import Cue, Group, group_by_time
from transcripts.errors import EmptyQuery, InvalidUrl, TranscriptNotFound, VideoNotFound
from transcripts.models import Collection, Transcript, TranscriptIndex, Video
from transcripts.scope import Scope
from transcripts.timecodes import parse_target, watch_url

MAX_QUERY = 1_000  # characters
MAX_HITS = 50


@dataclass(frozen=True, slots=True)
class Filter:
    """Which videos of a listing are wanted; empty parts want all."""

    words: str = ""
    collection: str = ""
    channel: str = ""
    tag: str = ""
    language: str = ""


@dataclass(frozen=True, slots=True)
class Page:
    """Some videos, newest first; ``next`` goes on after the last one, None at the end."""

    videos: tuple[Video, ...]
    total: int
    next: int | None


@dataclass(frozen=True, slots=True)
class VideoReading:
    """A video, the transcript that was chosen, and what was read of it."""

    video: Video
    transcript: Transcript
    reading: reading.Reading


@dataclass(frozen=True, slots=True)
class Hit:
    """A segment that answers a query: times in seconds, where the words are in ``text``, and a link that opens at its start."""

    text: str
    start: float
    end: float
    score: float
    spans: tuple[tuple[int, int], ...]
    timestamp_link: str


@dataclass(frozen=True, slots=True)
class VideoSearch:
    """The best segments of one video for a query, best first."""

    video: Video
    transcript: Transcript
    query: str
    hits: tuple[Hit, ...]


def collections(scope: Scope) -> list[Collection]:
    """Return the visible collections with ``video_count``."""
    return list(Collection.objects.visible(scope).annotate(video_count=Count("videos")))


def find_collection(scope: Scope, name: str) -> Collection:
    """Return a visible collection by slug or name. Raises ``CollectionNotFound``."""
    return Collection.objects.visible(scope).named(name)


def list_videos(scope: Scope, wanted: Filter = Filter(), *, offset: int = 0, limit: int = 24) -> Page:  # noqa: B008  frozen
    """Return a page of videos, newest first."""
    found = Video.objects.visible(scope)
    if wanted.collection:
        found = found.filter(collection=find_collection(scope, wanted.collection))
    if wanted.channel:
        found = found.filter(channel__iexact=wanted.channel)
    if wanted.tag:
        found = found.filter(tags__contains=[wanted.tag])
    if wanted.language:
        found = found.filter(transcripts__language__istartswith=wanted.language).distinct()
    found = found.matching(wanted.words[:MAX_QUERY])
    rows = found.select_related("collection").defer("description").prefetch_related(Prefetch("transcripts", queryset=Transcript.objects.light()))[offset : offset + limit + 1]
    videos = tuple(rows)
    return Page(videos=videos[:limit], total=found.count(), next=offset + limit if len(videos) > limit else None)


def find_video(scope: Scope, reference: str, *, collection: str = "") -> Video:
    """Return a video by its id, its YouTube id or any YouTube address of it. Raises ``VideoNotFound``.

    Where several collections hold it, the one that was made first counts, unless ``collection`` names another.
    """
    found = Video.objects.visible(scope).select_related("collection")
    if collection:
        found = found.filter(collection=find_collection(scope, collection))
    for condition in _conditions(reference.strip()):
        if video := found.filter(**condition).order_by("collection_id").first():
            return video
    raise VideoNotFound(f"There is no video “{reference[:100]}” in the collections you can see.", hint="List what is there, or add it first.")


def find_transcript(video: Video, *, language: str = "") -> Transcript:
    """Return the video's transcript in a language, or the best one. Raises ``TranscriptNotFound``, naming what there is."""
    transcripts = video.transcripts.light().best_first([language] if language else settings.TRANSCRIPT_LANGUAGES)
    if not transcripts:
        raise TranscriptNotFound(f"“{video}” has no transcript yet.", hint="Its job may still run, or have failed: see Activity or `kb jobs`.")
    best = transcripts[0]
    if language and not matches_language(best.language, language):
        available = ", ".join(sorted({one.language or "unknown" for one in transcripts}))
        raise TranscriptNotFound(f"“{video}” has no transcript in “{language}”.", hint=f"Available: {available}.")
    return best


def matches_language(has: str, wanted: str) -> bool:
    """Say whether a language code is the wanted one or a regional kind of it."""
    return has.casefold() == wanted.casefold() or has.casefold().startswith(f"{wanted.casefold()}-")


def read(
    video: Video,
    *,
    language: str = "",
    start: float | None = None,
    end: float | None = None,
    chunk_index: int | None = None,
    chunk_size: int | None = None,
    include_full: bool = False,
) -> VideoReading:
    """Read a video's transcript: a time range (seconds), a time chunk, all of it, or a preview. Raises what ``reading.read`` raises."""
    transcript = find_transcript(video, language=language)
    found = reading.read(
        cues_of(transcript), limits=conf.limits(), start=start, end=end, chunk_index=chunk_index, chunk_size=chunk_size, include_full=include_full
    )
    return VideoReading(video=video, transcript=transcript, reading=found)


def search(video: Video, query: str, *, language: str = "", limit: int = 5) -> VideoSearch:
    """Rank the segments of one video by BM25. Raises ``EmptyQuery``, ``TranscriptNotFound``."""
    if not query.strip():
        raise EmptyQuery("There is nothing to search for.", hint="Give one or more words.")
    transcript = find_transcript(video, language=language)
    seconds = conf.limits().search_segment_seconds
    segments = _segments(transcript.pk, transcript.digest, seconds)
    hits = _index(transcript.pk, transcript.digest, seconds).rank(query[:MAX_QUERY], limit=max(1, min(limit, MAX_HITS)))
    return VideoSearch(
        video=video,
        transcript=transcript,
        query=query,
        hits=tuple(_hit(video, segments[hit.position], hit.score, query) for hit in hits),
    )


def cues_of(transcript: Transcript) -> tuple[Cue, ...]:
    """Return the transcript's cues, without word times; the last ones read are kept in memory."""
    return _cues(transcript.pk, transcript.digest)


def link_at(video: Video, ms: int) -> str:
    """Return the address that opens the video at a moment: on YouTube, or here for a recording that came as a file."""
    if video.youtube_id:
        return watch_url(video.youtube_id, at_ms=ms)
    return f"{conf.public_url()}/videos/{video.pk}/?t={ms // 1000}s"


def _hit(video: Video, segment: Group, score: float, query: str) -> Hit:
    spans = tuple(bm25.matched_spans(segment.text, query[:MAX_QUERY]))
    link = link_at(video, segment.start)
    return Hit(text=segment.text, start=segment.start / 1000, end=segment.end / 1000, score=score, spans=spans, timestamp_link=link)


def _conditions(reference: str) -> Sequence[dict[str, str]]:
    conditions = [{"key": reference}, {"youtube_id": reference}, {"key": reference.replace("/", "-")}]
    try:
        target = parse_target(reference)
    except InvalidUrl:
        return conditions
    return [*conditions, {"youtube_id": target.id}, {"key": target.id}] if target.kind == "video" else conditions


# What is derived from a transcript is kept by its digest, so that a changed transcript is never answered from memory.


@lru_cache(maxsize=128)
def _cues(pk: int, digest: str) -> tuple[Cue, ...]:
    return tuple(captions.from_json(Transcript.objects.values_list("cues", flat=True).get(pk=pk, digest=digest)))


@lru_cache(maxsize=128)
def _segments(pk: int, digest: str, seconds: int) -> list[Group]:
    return group_by_time(_cues(pk, digest), seconds)


@lru_cache(maxsize=256)
def _index(pk: int, digest: str, seconds: int) -> bm25.Index:
    stored = TranscriptIndex.objects.filter(transcript=pk, digest=digest, segment_seconds=seconds, tokenizer_version=bm25.TOKENIZER_VERSION).first()
    if stored is not None:
        return bm25.Index.from_bytes(bytes(stored.data))
    return bm25.Index.build([segment.text for segment in _segments(pk, digest, seconds)])
