"""The read side: list, find, read and search, always within a Scope."""

import json
from bisect import bisect_right
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from django.conf import settings
from django.db.models import Count, Func, Prefetch, TextField

from transcripts import bm25, captions, conf, reading
from transcripts.cues import Cue, CueGroup, group_by_time
from transcripts.errors import (
    EmptyQuery,
    Forbidden,
    InvalidInput,
    InvalidUrl,
    TranscriptNotFound,
    VideoNotFound,
)
from transcripts.models import Collection, Transcript, TranscriptIndex, Video
from transcripts.sanitize import clean
from transcripts.scope import Scope
from transcripts.timecodes import clock, parse_target, watch_url
from transcripts.tokenizer import MAX_QUERY_CHARACTERS

MAX_REFERENCE = 500  # an address with all its parameters
MAX_HITS = 50
MAX_TRACK = 50  # a language code, a dot and an origin


@dataclass(frozen=True, slots=True)
class VideoFilter:
    """Which videos of a listing are wanted; empty parts want all."""

    words: str = ""
    collection: str = ""
    channel: str = ""
    tag: str = ""
    language: str = ""


@dataclass(frozen=True, slots=True)
class VideoPage:
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
class SegmentHit:
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
    hits: tuple[SegmentHit, ...]


class TranscriptFormat(StrEnum):
    """The kinds of file that a transcript is given out as."""

    VTT = "vtt"
    SRT = "srt"
    TXT = "txt"
    MD = "md"
    JSON = "json"


@dataclass(frozen=True, slots=True)
class Export:
    """A transcript as a file: its name, its media type and its text."""

    name: str
    media_type: str
    text: str


def collections(scope: Scope) -> list[Collection]:
    """Return the visible collections with ``video_count``."""
    return list(Collection.objects.visible(scope).annotate(video_count=Count("videos")))


def find_collection(scope: Scope, name: str) -> Collection:
    """Return a visible collection by slug or name. Raises ``CollectionNotFound``."""
    return Collection.objects.visible(scope).named(name)


def shelf(scope: Scope, name: str = "") -> Collection:
    """Return the collection that new things go to: the one named, else “library”, else the only one that may be changed.

    Raises ``CollectionNotFound``, ``Forbidden``, and ``InvalidInput`` when it has to be named.
    """
    if name:
        found = find_collection(scope, name)
        scope.require_write(found.pk)
        return found
    mine = list(Collection.objects.filter(pk__in=scope.writable).order_by("slug"))
    usual = [one for one in mine if one.slug == "library"] or mine
    if len(usual) == 1:
        return usual[0]
    if not usual:
        raise Forbidden(
            "There is no collection that you may add to.",
            hint="Ask an owner of a collection to make you an editor.",
        )
    raise InvalidInput(
        "Which collection is it for?",
        hint=f"Collections you can add to: {', '.join(one.slug for one in usual[:20])}.",
    )


def tags(scope: Scope, *, limit: int = 50) -> list[str]:
    """Return the tags that visible videos have, in alphabetical order, at most ``limit``."""
    each = Func(
        "tags", function="jsonb_array_elements_text", output_field=TextField(), set_returning=True
    )
    return list(
        Video.objects.visible(scope)
        .order_by()
        .annotate(one=each)
        .values_list("one", flat=True)
        .distinct()
        .order_by("one")[:limit]
    )


def list_videos(
    scope: Scope, filter: VideoFilter = VideoFilter(), *, offset: int = 0, limit: int = 24
) -> VideoPage:
    """Return a page of videos, newest first."""
    found = Video.objects.visible(scope)
    if filter.collection:
        found = found.filter(collection=find_collection(scope, filter.collection))
    if channel := clean(filter.channel, 200):
        found = found.filter(channel__iexact=channel)
    if tag := clean(filter.tag, 100):
        found = found.filter(tags__contains=[tag])
    if language := clean(filter.language, 35):
        found = found.filter(transcripts__language__istartswith=language).distinct()
    found = found.matching(clean(filter.words, MAX_QUERY_CHARACTERS))
    rows = (
        found.select_related("collection")
        .defer("description")
        .prefetch_related(Prefetch("transcripts", queryset=Transcript.objects.light()))[
            offset : offset + limit + 1
        ]
    )
    videos = tuple(rows)
    return VideoPage(
        videos=videos[:limit],
        total=found.count(),
        next=offset + limit if len(videos) > limit else None,
    )


def find_video(scope: Scope, reference: str, *, collection: str = "") -> Video:
    """Return a video by its id, its YouTube id or any YouTube address of it. Raises ``VideoNotFound``.

    Where several collections hold it, the one that was made first counts, unless ``collection`` names another.
    """
    found = Video.objects.visible(scope).select_related("collection")
    if collection:
        found = found.filter(collection=find_collection(scope, collection))
    reference = clean(reference, MAX_REFERENCE)
    for condition in (
        _conditions(reference) if reference else ()
    ):  # "" would be the YouTube id of every file
        if video := found.filter(**condition).order_by("collection_id").first():
            return video
    raise VideoNotFound(
        f"There is no video “{reference[:100]}” in the collections you can see.",
        hint="List what is there, or add it first.",
    )


def find_transcript(video: Video, *, language: str = "") -> Transcript:
    """Return the video's transcript in a language, or the best one. Raises ``TranscriptNotFound``, naming what there is.

    Of several in one language a person's comes first: YouTube's manual track, an uploaded file, speech recognition, a translating machine.
    ``en.auto`` asks for one of them: the language, a dot and the origin.
    """
    wanted = clean(language, MAX_TRACK)
    transcripts = video.transcripts.light().best_first(settings.TRANSCRIPT_LANGUAGES)
    if not transcripts:
        raise TranscriptNotFound(
            f"“{video}” has no transcript yet.",
            hint="Its job may still run, or have failed: see Activity or `kb jobs`.",
        )
    if found := _choose(transcripts, wanted):
        return found
    raise TranscriptNotFound(
        f"“{video}” has no transcript in “{wanted}”.",
        hint=f"Available: {', '.join(_names(transcripts))}.",
    )


def tracks(video: Video) -> list[str]:
    """Return what to ask for to get each of the video's transcripts: its language, or ``en.auto`` where that alone gives another one."""
    return [name for name in _names(list(video.transcripts.all())) if name != "unknown"]


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
        cues_of(transcript),
        limits=conf.limits(),
        start=start,
        end=end,
        chunk_index=chunk_index,
        chunk_size=chunk_size,
        include_full=include_full,
    )
    return VideoReading(video=video, transcript=transcript, reading=found)


def chunk_index_at(transcript: Transcript, seconds: float) -> int:
    """Return the index of the time chunk in which a moment lies; before the first it is 0, after the last the last."""
    groups = group_by_time(cues_of(transcript), conf.limits().chunk_size_seconds)
    return max(0, bisect_right([group.start for group in groups], seconds * 1000) - 1)


def search(video: Video, query: str, *, language: str = "", limit: int = 5) -> VideoSearch:
    """Rank the segments of one video by BM25. Raises ``EmptyQuery``, ``TranscriptNotFound``."""
    query = clean(query, MAX_QUERY_CHARACTERS)
    if not query:
        raise EmptyQuery("There is nothing to search for.", hint="Give one or more words.")
    transcript = find_transcript(video, language=language)
    seconds = conf.limits().search_segment_seconds
    segments = _segments(transcript.pk, transcript.digest, seconds)
    hits = _index(transcript.pk, transcript.digest, seconds).rank(
        query, limit=max(1, min(limit, MAX_HITS))
    )
    return VideoSearch(
        video=video,
        transcript=transcript,
        query=query,
        hits=tuple(_hit(video, segments[hit.position], hit.score, query) for hit in hits),
    )


def export(video: Video, *, form: TranscriptFormat, language: str = "") -> Export:
    """Write a video's transcript as a file. Raises ``TranscriptNotFound``."""
    transcript = find_transcript(video, language=language)
    media_type, write = _WRITERS[form]
    suffix = f".{transcript.language}" if transcript.language else ""
    return Export(
        name=f"{video.key}{suffix}.{form}",
        media_type=f"{media_type}; charset=utf-8",
        text=write(video, transcript),
    )


def cues_of(transcript: Transcript) -> tuple[Cue, ...]:
    """Return the transcript's cues, without word times; the last ones read are kept in memory."""
    return _cues(transcript.pk, transcript.digest)


def link_at(video: Video, ms: int) -> str:
    """Return the address that opens the video at a moment: on YouTube, or here for a recording that came as a file."""
    if video.youtube_id:
        return watch_url(video.youtube_id, at_ms=ms)
    return f"{conf.public_url()}/videos/{video.pk}/?t={ms // 1000}s"


def _hit(video: Video, segment: CueGroup, score: float, query: str) -> SegmentHit:
    spans = tuple(bm25.matched_spans(segment.text, query))
    link = link_at(video, segment.start)
    return SegmentHit(
        text=segment.text,
        start=segment.start / 1000,
        end=segment.end / 1000,
        score=score,
        spans=spans,
        timestamp_link=link,
    )


def _conditions(reference: str) -> Sequence[dict[str, str]]:
    conditions = [
        {"key": reference},
        {"youtube_id": reference},
        {"key": " ".join(reference.replace("/", "-").replace("\\", "-").split())},
    ]
    try:
        target = parse_target(reference)
    except InvalidUrl:
        return conditions
    return (
        [*conditions, {"youtube_id": target.id}, {"key": target.id}]
        if target.kind == "video"
        else conditions
    )


def _choose(transcripts: Sequence[Transcript], wanted: str) -> Transcript | None:
    """Return the one called so, else the best one in a language; ``transcripts`` come best first."""
    if not wanted:
        return transcripts[0]
    called = [one for one in transcripts if one.track.casefold() == wanted.casefold()]
    ranked = sorted(transcripts, key=lambda one: one.preference([wanted.casefold()]))
    return next(
        iter(called + [one for one in ranked if matches_language(one.language, wanted)]), None
    )


def _names(transcripts: Sequence[Transcript]) -> list[str]:
    named = [one for one in transcripts if one.language]
    names = [one.language if _choose(named, one.language) == one else one.track for one in named]
    return sorted(names) + ["unknown"] * (len(named) < len(transcripts))


# Transcripts as files


def _markdown(video: Video, transcript: Transcript) -> str:
    cues = cues_of(transcript)
    about = " · ".join(
        part
        for part in (
            video.channel,
            clock(video.duration),
            transcript.language,
            transcript.get_origin_display(),
        )
        if part
    )
    parts = [f"# {video}", about]
    for start, title, inside in _sections(video, cues):
        head = f"[{clock(start)}]({link_at(video, start)})"
        parts += [f"## {head} {title}".rstrip(), " ".join(cue.text for cue in inside)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _sections(video: Video, cues: Sequence[Cue]) -> list[tuple[int, str, Sequence[Cue]]]:
    """Cut at the chapters, or into time chunks where there are none."""
    if not video.chapters:
        groups = group_by_time(cues, conf.limits().chunk_size_seconds)
        return [
            (group.start, "", cues[group.first : group.first + group.count]) for group in groups
        ]
    starts = sorted((int(start), str(title)) for start, title in video.chapters)
    if cues and cues[0].start < starts[0][0]:
        starts.insert(0, (cues[0].start, ""))
    ends = [start for start, _ in starts[1:]] + [cues[-1].end + 1 if cues else 0]
    cut = [
        (start, title, [cue for cue in cues if start <= cue.start < end])
        for (start, title), end in zip(starts, ends, strict=True)
    ]
    return [section for section in cut if section[2]]


def _json(video: Video, transcript: Transcript) -> str:
    rows = [
        {"text": cue.text, "start": cue.start / 1000, "duration": (cue.end - cue.start) / 1000}
        for cue in cues_of(transcript)
    ]
    return json.dumps(
        {"id": video.key, "title": video.title, "lang": transcript.language, "cues": rows},
        ensure_ascii=False,
    )


_WRITERS: dict[TranscriptFormat, tuple[str, Callable[[Video, Transcript], str]]] = {
    TranscriptFormat.VTT: ("text/vtt", lambda _, transcript: captions.to_vtt(cues_of(transcript))),
    TranscriptFormat.SRT: (
        "application/x-subrip",
        lambda _, transcript: captions.to_srt(cues_of(transcript)),
    ),
    TranscriptFormat.TXT: (
        "text/plain",
        lambda _, transcript: captions.to_txt(cues_of(transcript)),
    ),
    TranscriptFormat.MD: ("text/markdown", _markdown),
    TranscriptFormat.JSON: ("application/json", _json),
}


# What is derived from a transcript is kept by its digest, so that a changed transcript is never answered from memory.


@lru_cache(maxsize=32)
def _cues(pk: int, digest: str) -> tuple[Cue, ...]:
    rows = Transcript.objects.filter(pk=pk, digest=digest).values_list("cues", flat=True).first()
    if rows is None:
        raise TranscriptNotFound("This transcript has changed just now.", hint="Ask again.")
    return tuple(captions.from_json(rows))


@lru_cache(maxsize=64)
def _segments(pk: int, digest: str, seconds: int) -> list[CueGroup]:
    return group_by_time(_cues(pk, digest), seconds)


@lru_cache(maxsize=128)
def _index(pk: int, digest: str, seconds: int) -> bm25.Index:
    stored = TranscriptIndex.objects.filter(
        transcript=pk,
        digest=digest,
        segment_seconds=seconds,
        tokenizer_version=bm25.TOKENIZER_VERSION,
    ).first()
    if stored is not None:
        with suppress(ValueError):  # damaged, or of another version: built anew below
            return bm25.Index.from_bytes(bytes(stored.data))
    return bm25.Index.build([segment.text for segment in _segments(pk, digest, seconds)])
