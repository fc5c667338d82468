"""Cues as a file gives them, before they are put in order."""

from typing import Final, NamedTuple

from transcripts.text.cues import Word

UNTIMED: Final = -1  # the start of a draft whose time cannot be read


class CueDraft(NamedTuple):
    """A cue as read: ``end`` is None where the format gives only starts; times may be anything.

    A tuple, because a long file makes hundreds of thousands of them.
    """

    start: int  # ms, or ``UNTIMED``
    end: int | None
    text: str
    words: tuple[Word, ...] = ()


def words_at(moment: int, text: str) -> list[Word]:
    """Give the words of a clean text, all at this moment (ms)."""
    return [Word(moment, word) for word in text.split()]
