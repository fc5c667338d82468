"""Pasted text: YouTube's transcript panel (times, each followed by its text), or plain words."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from transcripts.captions.builder import (
    LAST_MOMENT,
    MAX_CUES,
    MAX_TEXT,
    Captions,
    CueDraft,
    settle,
    speaking_time,
)
from transcripts.captions.speech import clean, lines, pieces
from transcripts.core.errors import CaptionsTooLarge

_ROW: Final = re.compile(
    r"[\[(]?(?:([0-9]{1,3}):)?([0-9]{1,3}):([0-5][0-9])(?:[.,][0-9]{1,3})?[\])]?"
    r"(?:\s+(?:[-\u2013\u2014]\s+)?(\S.*))?",
    re.DOTALL,
)
_ROW_START: Final = frozenset("[(0123456789")
_READ_OUT: Final = re.compile(r"[0-9]{1,3} [^\W\d]+(?:,? (?:[^\W\d]+ )?[0-9]{1,2} [^\W\d]+){0,2}")
_HEAD: Final = 65_536  # characters
_MAX_READ_OUT: Final = 80  # characters


@dataclass(slots=True)
class _Row:
    """A time as hours, minutes and seconds, and the lines down to the next time."""

    time: tuple[int, int, int]
    lines: list[str]
    is_inline: bool

    @property
    def start(self) -> int:
        hours, minutes, seconds = self.time
        return (hours * 3600 + minutes * 60 + seconds) * 1000


def is_panel(text: str) -> bool:
    """Return whether lines begin with ascending times: two near the start, or the first line."""
    before, rows = _rows(text[:_HEAD])
    starts = [row.start for row in rows]
    return (len(rows) > 1 or (bool(rows) and not before)) and starts == sorted(starts)


def read_panel(text: str) -> Captions:
    """Read a pasted panel. Chapter headings, times for screen readers and buttons are skipped.

    A line ends when the next one starts, or some time after it was spoken.
    """
    before, rows = _rows(text)
    for row in rows:
        _drop_read_out_time(row)
    if _has_one_line_a_row(rows):
        for row in rows:
            del row.lines[1:]
    drafts = [CueDraft(row.start, None, " ".join(row.lines)) for row in rows]
    if before and rows[0].is_inline and rows[0].start > 0:
        drafts.insert(0, CueDraft(0, None, " ".join(before)))
    return settle(drafts, format="panel")


def _rows(text: str) -> tuple[list[str], list[_Row]]:
    before: list[str] = []
    rows: list[_Row] = []
    for line in map(clean, lines(text)):
        if line[:1] in _ROW_START and (match := _ROW.fullmatch(line)):
            *time, spoken = match.groups()
            hours, minutes, seconds = (int(part or 0) for part in time)
            lines_ = [spoken] if spoken else []
            rows.append(_Row((hours, minutes, seconds), lines_, is_inline=bool(spoken)))
            if len(rows) > MAX_CUES:
                raise CaptionsTooLarge(
                    f"It has more than {MAX_CUES:,} times.", hint="Split the text."
                )
        elif line:
            (rows[-1].lines if rows else before).append(line)
    return before, rows


def _drop_read_out_time(row: _Row) -> None:
    """Drop "1 minute, 5 seconds" below 1:05, in any language, by its numbers."""
    if (
        len(row.lines) < 2
        or len(row.lines[0]) > _MAX_READ_OUT
        or not _READ_OUT.fullmatch(row.lines[0])
    ):
        return
    numbers = [int(number) for number in re.findall(r"[0-9]+", row.lines[0])]
    if [number for number in numbers if number] == [part for part in row.time if part]:
        del row.lines[0]


def _has_one_line_a_row(rows: Sequence[_Row]) -> bool:
    """Return whether rows have one line each: further lines are headings or buttons."""
    if any(row.is_inline for row in rows):
        return False
    single = sum(1 for row in rows if len(row.lines) == 1)
    return len(rows) > 1 and single * 3 >= len(rows) * 2


_SENTENCE_END: Final = re.compile(r"(?<=[.!?\u2026])\s+|(?<=[\u3002\uff01\uff1f])")
# Characters; an automatic transcript without punctuation has no other boundaries.
_MAX_PIECE: Final = 240


def read_plain(text: str) -> Captions:
    """Make each sentence or line a cue, as if spoken from 0 at about 150 words a minute.

    The times only order the text. Speak faster if it would last beyond 72 h.
    """
    sentences = (piece for line in lines(text) for piece in _sentences(clean(line)))
    first = list(islice(sentences, MAX_CUES + 1))
    lengths = [speaking_time(piece) for piece in first]
    total = sum(lengths)
    longest = min(total, LAST_MOMENT)
    drafts, position = [], 0
    for piece, length in zip(first, lengths, strict=True):
        start, position = position, position + length
        drafts.append(CueDraft(start * longest // total, position * longest // total, piece))
    return settle(drafts, format="txt")


def _sentences(line: str) -> Iterator[str]:
    """Split a line part by part: it may be the whole file."""
    for part in pieces(line, MAX_TEXT):
        for sentence in _SENTENCE_END.split(part):
            yield from pieces(sentence, _MAX_PIECE)
