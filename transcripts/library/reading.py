"""Reading the library: list, find, read and search, within a scope."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from django.conf import settings
from django.db.models import Count, Func, Prefetch, TextField

from transcripts import captions, conf
from transcripts.core import errors
from transcripts.core.alphabet import alphabet_key
from transcripts.core.languages import code_of
from transcripts.core.lists import containing, page_of, tagged
from transcripts.core.sanitize import MAX_QUERY_CHARACTERS, clean
from transcripts.core.scope import Scope
from transcripts.models import Collection, Transcript, TranscriptIndex, Video
from transcripts.text import bm25, reading, terms, tokenizer
from transcripts.text.cues import Cue, CueGroup, group_by_time
from transcripts.text.language_tags import distance
from transcripts.text.queries import empty_query
from transcripts.text.timecodes import parse_target, watch_url

MAX_REFERENCE = 500  # characters of an id or address
MAX_HITS = 50
MAX_TRACK = 50  # characters of a track name: language, dot, origin


@dataclass(frozen=True, slots=True)
class VideoFilter:
    """Selects the videos of a listing; an empty part selects all."""

    words: str = ""
    collection: str = ""
    channel: str = ""
    tag: str = ""
    language: str = ""


@dataclass(frozen=True, slots=True)
class VideoPage:
    """Videos, newest first. ``next`` is the offset of the next page; None: this is the last."""

    videos: tuple[Video, ...]
    total: int
    next: int | None


@dataclass(frozen=True, slots=True)
class VideoReading:
    video: Video
    transcript: Transcript
    reading: reading.Reading


@dataclass(frozen=True, slots=True)
class SegmentHit:
    """A segment that matches a query. Times are seconds; ``spans`` are the words in ``text``."""

    text: str
    start: float
    end: float
    score: float
    spans: tuple[tuple[int, int], ...]
    timestamp_link: str


@dataclass(frozen=True, slots=True)
class VideoSearch:
    video: Video
    transcript: Transcript
    query: str
    hits: tuple[SegmentHit, ...]


def collections(scope: Scope) -> list[Collection]:
    """Return the visible collections with ``video_count``."""
    return list(Collection.objects.visible(scope).annotate(video_count=Count("videos")))


def find_collection(scope: Scope, name: str) -> Collection:
    """Return a visible collection by slug or name. Raises ``CollectionNotFound``."""
    return Collection.objects.visible(scope).named(name)


def target_collection(scope: Scope, name: str = "") -> Collection:
    """Return the collection to add to: the named, else “library”, else the only writable one.

    Raises ``CollectionNotFound``, ``Forbidden``, and ``InvalidInput`` if a name is needed.
    """
    if name:
        collection = find_collection(scope, name)
        scope.require_write(collection.pk)
        return collection
    writable = list(Collection.objects.filter(pk__in=scope.writable).order_by("slug"))
    choices = [collection for collection in writable if collection.slug == "library"] or writable
    if len(choices) == 1:
        return choices[0]
    if not choices:
        raise errors.Forbidden(
            "There is no collection that you may add to.",
            hint="Ask an owner of a collection to make you an editor.",
        )
    raise errors.InvalidInput(
        "Which collection is it for?",
        hint="Collections you can add to: "
        f"{', '.join(collection.slug for collection in choices[:20])}.",
    )


def tags(scope: Scope, *, limit: int = 50) -> list[str]:
    """Return the first ``limit`` tags of visible videos in alphabetical order."""
    elements = Func(
        "tags", function="jsonb_array_elements_text", output_field=TextField(), set_returning=True
    )
    videos = Video.objects.visible(scope).order_by().annotate(tag=elements)
    names = videos.values_list("tag", flat=True).distinct()
    return sorted(names, key=alphabet_key)[:limit]


def list_videos(
    scope: Scope, filter: VideoFilter = VideoFilter(), *, offset: int = 0, limit: int = 24
) -> VideoPage:
    """Return a page of videos, newest first."""
    matches = Video.objects.visible(scope)
    if filter.collection:
        matches = matches.filter(collection=find_collection(scope, filter.collection))
    if channel := clean(filter.channel, 200):
        matches = matches.filter(channel__iexact=channel)
    if filter.tag:
        matches = matches.filter(tagged(filter.tag))
    if language := code_of(clean(filter.language, 35)):
        matches = matches.filter(transcripts__language__istartswith=language).distinct()
    matches = containing(matches, filter.words, "title", "channel", "key")
    transcripts = Prefetch("transcripts", queryset=Transcript.objects.light())
    rows = matches.select_related("collection").defer("description").prefetch_related(transcripts)
    videos, following = page_of(rows, offset, limit)
    return VideoPage(videos=videos, total=matches.count(), next=following)


def find_video(scope: Scope, reference: str, *, collection: str = "") -> Video:
    """Return a video by its id, YouTube id or YouTube address. Raises ``VideoNotFound``.

    Without ``collection``, a video in the oldest collection is preferred.
    """
    videos = Video.objects.visible(scope).select_related("collection")
    if collection:
        videos = videos.filter(collection=find_collection(scope, collection))
    reference = clean(reference, MAX_REFERENCE)
    conditions = [
        {"key": reference},
        {"youtube_id": reference},
        {"key": " ".join(reference.replace("/", "-").replace("\\", "-").split())},
    ]
    with suppress(errors.InvalidUrl):
        target = parse_target(reference)
        if target.kind == "video":
            conditions += [{"youtube_id": target.id}, {"key": target.id}]
    # An empty reference would equal the YouTube id of every file.
    for condition in conditions if reference else ():
        if video := videos.filter(**condition).order_by("collection_id").first():
            return video
    raise errors.VideoNotFound(
        f"There is no recording “{reference[:100]}” in the collections you can see.",
        hint="List the recordings, or add this one first.",
    )


def find_transcript(video: Video, *, language: str = "") -> Transcript:
    """Return the transcript in a language, by its name or code, or the best one. Raises
    ``TranscriptNotFound``.

    Of several in one language it prefers YouTube's manual track, then an uploaded file, speech
    recognition, and machine translation. A track name such as ``en.auto`` selects one of them.
    """
    track = code_of(clean(language, MAX_TRACK))
    transcripts = video.transcripts.light().best_first(settings.TRANSCRIPT_LANGUAGES)
    if not transcripts:
        raise errors.TranscriptNotFound(
            f"“{video}” has no transcript yet.",
            hint="Its job may still run, or have failed: see Activity or `kb jobs`.",
        )
    if transcript := _choose(transcripts, track):
        return transcript
    raise errors.TranscriptNotFound(
        f"“{video}” has no transcript in “{track}”.",
        hint=f"Available: {', '.join(_names(transcripts))}.",
    )


def tracks(video: Video) -> list[str]:
    """Return a name for each transcript: its language, or its track name if that is shared."""
    return [name for name in _names(list(video.transcripts.all())) if name != "unknown"]


def read(video: Video, *, language: str = "", **selection: Any) -> VideoReading:
    """Read the part of a transcript that ``reading.read`` selects; raises what that raises, too.

    Raises ``TranscriptNotFound``.
    """
    transcript = find_transcript(video, language=language)
    result = reading.read(cues_of(transcript), limits=conf.limits(), **selection)
    return VideoReading(video=video, transcript=transcript, reading=result)


def search(video: Video, query: str, *, language: str = "", limit: int = 5) -> VideoSearch:
    """Rank the segments of one video by BM25. Raises ``EmptyQuery``, ``TranscriptNotFound``."""
    query = clean(query, MAX_QUERY_CHARACTERS)
    if not query:
        raise empty_query()
    transcript = find_transcript(video, language=language)
    seconds = conf.limits().search_segment_seconds
    segments = _segments(transcript.pk, transcript.digest, seconds)
    forms_of = transcript.language if conf.finds_word_forms() else None
    index = _index(transcript.pk, transcript.digest, seconds, forms_of, conf.bm25())
    hits = tuple(
        SegmentHit(
            text=segment.text,
            start=segment.start / 1000,
            end=segment.end / 1000,
            score=hit.score,
            spans=tuple(terms.matched_spans(segment.text, query, transcript.language)),
            timestamp_link=link_at(video, segment.start),
        )
        for hit in index.rank(terms.words_in(query, forms_of), limit=max(1, min(limit, MAX_HITS)))
        for segment in [segments[hit.position]]
    )
    return VideoSearch(video=video, transcript=transcript, query=query, hits=hits)


def cues_of(transcript: Transcript) -> tuple[Cue, ...]:
    """Return the cues without word times; recent ones come from memory."""
    return _cues(transcript.pk, transcript.digest)


def timed_cues(transcript: Transcript) -> tuple[Cue, ...]:
    """Return the cues with the times of their words, none where these are not known."""
    rows = Transcript.objects.filter(pk=transcript.pk, digest=transcript.digest)
    timed = rows.filter(word_times__isnull=False).values_list("cues", "word_times").first()
    return captions.from_json(timed[0], word_times=timed[1]) if timed else ()


def link_at(video: Video, ms: int) -> str:
    """Return the address that plays the video from a moment: on YouTube, or here for a file."""
    if video.youtube_id:
        return watch_url(video.youtube_id, at_ms=ms)
    return f"{conf.public_url()}{video.path}?t={ms // 1000}s"


def _choose(transcripts: Sequence[Transcript], track: str) -> Transcript | None:
    """Return the transcript of this track name, else the best one in this language.

    ``transcripts`` come best first.
    """
    if not track:
        return transcripts[0]
    exact = [row for row in transcripts if row.track.casefold() == track.casefold()]
    ranked = sorted(transcripts, key=lambda row: row.preference([track.casefold()]))
    matches = exact + [row for row in ranked if distance(track, row.language) is not None]
    return matches[0] if matches else None


def _names(transcripts: Sequence[Transcript]) -> list[str]:
    labelled = [row for row in transcripts if row.language]
    names = [
        row.language if _choose(labelled, row.language) == row else row.track for row in labelled
    ]
    return sorted(names) + ["unknown"] * (len(labelled) < len(transcripts))


# The digest is part of each key, so that a transcript that changed is read again.


@lru_cache(maxsize=32)
def _cues(pk: int, digest: str) -> tuple[Cue, ...]:
    rows = Transcript.objects.filter(pk=pk, digest=digest).values_list("cues", flat=True).first()
    if rows is None:
        raise errors.TranscriptNotFound("This transcript has just changed.", hint="Try again.")
    return tuple(captions.from_json(rows))


@lru_cache(maxsize=64)
def _segments(pk: int, digest: str, seconds: int) -> list[CueGroup]:
    return group_by_time(_cues(pk, digest), seconds)


@lru_cache(maxsize=128)
def _index(
    pk: int, digest: str, seconds: int, language: str | None, parameters: bm25.Parameters
) -> bm25.Index:
    version = tokenizer.TOKENIZER_VERSION
    rows = TranscriptIndex.objects.filter(transcript=pk, digest=digest, segment_seconds=seconds)
    stored = rows.filter(tokenizer_version=version).first()
    if stored is not None and language is not None:
        with suppress(ValueError):  # damaged
            return bm25.Index.from_bytes(bytes(stored.data), parameters)
    texts = [segment.text for segment in _segments(pk, digest, seconds)]
    return bm25.Index.build((terms.counted_in(text, language) for text in texts), parameters)
