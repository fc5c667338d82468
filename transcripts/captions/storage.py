"""Cues as plain JSON values to keep in a database: small, and with the word times apart, as few readers want them."""

from collections.abc import Sequence
from itertools import repeat

from transcripts.cues import Cue, Word

Row = list[int | str]


def to_json(cues: Sequence[Cue]) -> list[Row]:
    """Give ``[start, end, text]`` (ms) for each cue; words are left out."""
    return [[cue.start, cue.end, cue.text] for cue in cues]


def from_json(
    rows: Sequence[Sequence[int | str]],
    *,
    word_times: Sequence[Sequence[Sequence[int | str]] | None] | None = None,
) -> tuple[Cue, ...]:
    """Make cues of what ``to_json`` gave, with the words that ``word_times_to_json`` gave, if any. The rows are trusted."""
    words = repeat((), len(rows)) if word_times is None else word_times_from_json(word_times)
    return tuple(
        Cue(int(start), int(end), str(text), found)
        for (start, end, text), found in zip(rows, words, strict=True)
    )


def word_times_to_json(cues: Sequence[Cue]) -> list[list[Row] | None]:
    """Give for each cue its words as ``[start, text]`` (ms), or None where they are not timed; [] when no cue has any."""
    if not any(cue.words for cue in cues):
        return []
    return [[[word.start, word.text] for word in cue.words] or None for cue in cues]


def word_times_from_json(
    rows: Sequence[Sequence[Sequence[int | str]] | None],
) -> list[tuple[Word, ...]]:
    """Make the words of each cue out of what ``word_times_to_json`` gave."""
    return [tuple(Word(int(start), str(text)) for start, text in words or ()) for words in rows]
