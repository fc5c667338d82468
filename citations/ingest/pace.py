"""How fast sources were indexed, and how long the others take at that pace. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

MIN_CHARACTERS: Final = 50_000  # characters to tell a pace by: half an hour of speech
SPLITTING: Final = 0.75  # of the work on a source that is split where its subject changes

_UNITS: Final = (("day", 86_400), ("hour", 3_600), ("minute", 60))  # the largest first
_FROM: Final = 5 / 6  # of a unit, from which on a time is told in it


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexedText:
    """A text that was indexed between two times (seconds)."""

    characters: int
    began: float
    ended: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TextInWork:
    """A text that is being indexed, and how far the ``step`` is that its source reports."""

    characters: int
    step: str
    done: int
    total: int
    is_split_by_meaning: bool = True

    @property
    def left(self) -> float:
        """The characters that are left to do."""
        part = min(1.0, self.done / self.total) if self.total else 0.0
        if self.step == "embedding":
            share = (1 - SPLITTING if self.is_split_by_meaning else 1.0) * (1 - part)
        elif self.step == "finding where the subject changes":
            share = 1 - SPLITTING * part
        else:
            share = 1.0
        return share * self.characters


def characters_per_second(texts: Iterable[IndexedText]) -> float | None:
    """Return the pace of the times in which one of these texts was worked on, several perhaps at
    once; None if they are too few to tell.
    """
    characters, seconds, until = 0, 0.0, float("-inf")
    for text in sorted(texts, key=lambda text: text.began):
        characters += text.characters
        seconds += max(0.0, text.ended - max(text.began, until))
        until = max(until, text.ended)
    return characters / seconds if characters >= MIN_CHARACTERS and seconds else None


def rounded(seconds: float) -> tuple[str, int]:
    """Return a time as people tell it, such as ``("minute", 4)``; 0 minutes are less than one.

    From ten on they are told in steps of five.
    """
    for unit, length in _UNITS:
        if seconds >= _FROM * length:
            count = max(1, round(seconds / length))
            return unit, count if count < 10 else 5 * round(count / 5)
    return "minute", 0
