"""Cues as JSON values for the database, with word times apart, because few readers need them."""

from collections.abc import Sequence
from itertools import repeat

from transcripts.cues import Cue, Word

Row = list[int | str]


def to_json(cues: Sequence[Cue]) -> list[Row]:
    """Return ``[start, end, text]`` (ms) for each cue, without words."""
    return [[cue.start, cue.end, cue.text] for cue in cues]


def from_json(
    rows: Sequence[Sequence[int | str]],
    *,
    word_times: Sequence[Sequence[Sequence[int | str]] | None] | None = None,
) -> tuple[Cue, ...]:
    """Return the cues of ``to_json``, with the words of ``word_times_to_json`` if given.

    The rows are trusted.
    """
    words = repeat((), len(rows)) if word_times is None else word_times_from_json(word_times)
    return tuple(
        Cue(int(start), int(end), str(text), found)
        for (start, end, text), found in zip(rows, words, strict=True)
    )


def word_times_to_json(cues: Sequence[Cue]) -> list[list[Row] | None]:
    """Return each cue's words as ``[start, text]`` (ms) or None; [] if no cue has word times."""
    if not any(cue.words for cue in cues):
        return []
    return [[[word.start, word.text] for word in cue.words] or None for cue in cues]


def word_times_from_json(
    rows: Sequence[Sequence[Sequence[int | str]] | None],
) -> list[tuple[Word, ...]]:
    """Return the words of each cue from the result of ``word_times_to_json``."""
    return [tuple(Word(int(start), str(text)) for start, text in words or ()) for words in rows]
