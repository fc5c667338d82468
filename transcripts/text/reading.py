"""How much of a transcript to return: a range, a time chunk, all of it, or a preview with hints.

Pure. Times are seconds; cues have milliseconds.
"""

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import accumulate
from typing import Any

from transcripts.core.errors import ChunkNotFound, InvalidTime
from transcripts.text.cues import Cue, CueGroup, group_by_time
from transcripts.text.timecodes import clock

MIN_CHUNK_SECONDS, MAX_CHUNK_SECONDS = 10, 86_400
HINTS = (
    "Search within the transcript to find the relevant parts.",
    "Read it by time chunks: give the index of one, starting at 0.",
    "Read a part: give a start and an end time.",
)


@dataclass(frozen=True, slots=True)
class ReadingLimits:
    """The plugin's settings: chunks and segments in seconds, previews and texts in characters."""

    chunk_size_seconds: int = 300
    preview_length: int = 500
    max_full_transcript_length: int = 50_000
    search_segment_seconds: int = 30


class ReadingMode(StrEnum):
    """How a reading was selected."""

    RANGE = "range"
    CHUNK = "chunk"
    FULL = "full"
    PREVIEW = "preview"


@dataclass(frozen=True, slots=True)
class TimeChunk:
    """One time chunk and its neighbours' indexes."""

    index: int
    count: int
    start: float
    end: float
    text: str
    cues: tuple[Cue, ...]
    previous: int | None
    next: int | None


@dataclass(frozen=True, slots=True)
class Reading:
    """A part of a transcript: ``chunk`` in chunk mode, ``hints`` in previews, ``warning`` on large
    texts.
    """

    mode: ReadingMode
    text: str
    start: float
    end: float
    cues: tuple[Cue, ...]
    total_characters: int
    total_chunks: int
    chunk_size: int
    chunk: TimeChunk | None = None
    hints: tuple[str, ...] = ()
    warning: str = ""


def read(
    cues: Sequence[Cue],
    *,
    limits: ReadingLimits,
    start: float | None = None,
    end: float | None = None,
    chunk_index: int | None = None,
    chunk_size: int | None = None,
    include_full: bool = False,
) -> Reading:
    """Read cues (in time order) by the plugin's decision tree: range, chunk, full, else preview.

    A range returns the cues that overlap [start, end). Full if short or requested. Raises
    ``InvalidTime`` and ``ChunkNotFound``.
    """
    size = limits.chunk_size_seconds if chunk_size is None else chunk_size
    _check_chunk_size(size)
    if start is not None or end is not None:
        return _range(cues, start=start, end=end, size=size)
    if chunk_index is not None:
        groups = group_by_time(cues, size)
        if not 0 <= chunk_index < len(groups):
            valid = f"valid are 0 to {len(groups) - 1}" if groups else "the transcript is empty"
            raise ChunkNotFound(
                f"There is no time chunk {chunk_index}: {valid}.",
                hint=f"Time chunks have {size} seconds; count from 0.",
            )
        chunk = _as_chunk(cues, groups[chunk_index], chunk_index, len(groups))
        about: dict[str, Any] = {"text": chunk.text, "size": size, "chunk": chunk}
        return _reading(cues, ReadingMode.CHUNK, chunk.cues, **about)
    text = full_text(cues)
    if len(text) <= limits.max_full_transcript_length:
        return _reading(cues, ReadingMode.FULL, cues, text=text, size=size)
    if include_full:
        warning = (
            f"This is the whole transcript, {len(text):,} characters; it may exceed a language"
            " model's context. Chunks or a search are smaller."
        )
        return _reading(cues, ReadingMode.FULL, cues, text=text, size=size, warning=warning)
    preview = cut_at_word(text, limits.preview_length)
    starts = accumulate((len(cue.text) + 1 for cue in cues), initial=0)
    visible = [cue for cue, start in zip(cues, starts, strict=False) if start < len(preview)]
    cut = f"{preview}…" if len(preview) < len(text) else text
    return _reading(cues, ReadingMode.PREVIEW, visible, text=cut, size=size, hints=HINTS)


def chunks(cues: Sequence[Cue], *, seconds: int) -> list[TimeChunk]:
    """Split cues into time chunks. Raises ``InvalidTime`` for a size out of bounds."""
    _check_chunk_size(seconds)
    groups = group_by_time(cues, seconds)
    return [_as_chunk(cues, group, index, len(groups)) for index, group in enumerate(groups)]


def full_text(cues: Sequence[Cue]) -> str:
    """Return the whole text, cues joined by blanks."""
    return " ".join(cue.text for cue in cues)


def page_text(text: str, offset: int, max_chars: int) -> tuple[str, int | None]:
    """Return the part of ``text`` at ``offset``, and the offset of the next part (None: the last).

    A part has 1 to ``max_chars`` characters (none beyond the end of the text). It ends after a
    line if one ends in its second half, otherwise after a word, and within a word only if no word
    ends. The concatenated parts are the text.
    """
    start = max(0, offset)
    stop = start + max(1, max_chars)
    if stop >= len(text):
        return text[start:], None
    line = text.rfind("\n", (start + stop) // 2, stop) + 1
    border = line or max(text.rfind(blank, start, stop) for blank in " \n\t") + 1
    return text[start : border or stop], border or stop


def _range(cues: Sequence[Cue], *, start: float | None, end: float | None, size: int) -> Reading:
    first = 0.0 if start is None else _checked(start)
    last = math.inf if end is None else _checked(end)
    if last <= first:
        raise InvalidTime(
            "The end must come after the start.", hint="Give start and end in seconds, start first."
        )
    duration = max((cue.end for cue in cues), default=0)
    if first and first * 1000 >= duration:
        limit = f"Give a start below {duration / 1000:g} seconds."
        raise InvalidTime(
            f"The start is beyond the end of the transcript, which is {clock(duration)} long.",
            hint=limit if duration else "The transcript is empty.",
        )
    visible = tuple(
        cue
        for cue in cues
        if cue.start < last * 1000 and (cue.end > first * 1000 or cue.start >= first * 1000)
    )
    return _reading(cues, ReadingMode.RANGE, visible, text=full_text(visible), size=size)


def _reading(
    cues: Sequence[Cue], mode: ReadingMode, visible: Sequence[Cue], *, size: int, **values: Any
) -> Reading:
    return Reading(
        mode=mode,
        start=visible[0].start / 1000 if visible else 0.0,
        end=visible[-1].end / 1000 if visible else 0.0,
        cues=tuple(visible),
        total_characters=sum(len(cue.text) + 1 for cue in cues) - 1 if cues else 0,
        total_chunks=len(group_by_time(cues, size)),
        chunk_size=size,
        **values,
    )


def _as_chunk(cues: Sequence[Cue], group: CueGroup, index: int, count: int) -> TimeChunk:
    return TimeChunk(
        index=index,
        count=count,
        start=group.start / 1000,
        end=group.end / 1000,
        text=group.text,
        cues=tuple(cues[group.first : group.first + group.count]),
        previous=index - 1 if index else None,
        next=index + 1 if index + 1 < count else None,
    )


def cut_at_word(text: str, length: int) -> str:
    """Cut after a word, unless a word (as in scripts without blanks) takes half of the text."""
    if len(text) <= length:
        return text
    blank = text.rfind(" ", length // 2, length + 1)
    return text[: length if blank < 0 else blank]


def _checked(seconds: float) -> float:
    """Return the time. JSON allows whole numbers that are too large for a float."""
    if not 0 <= seconds <= sys.float_info.max:
        raise InvalidTime(
            "A time must be a number of seconds, 0 or more.", hint="For example start=90, end=150."
        )
    return seconds


def _check_chunk_size(seconds: int) -> None:
    if not MIN_CHUNK_SECONDS <= seconds <= MAX_CHUNK_SECONDS:
        raise InvalidTime(
            f"A chunk may last {MIN_CHUNK_SECONDS} to {MAX_CHUNK_SECONDS} seconds, not {seconds}.",
            hint="300 is usual.",
        )
