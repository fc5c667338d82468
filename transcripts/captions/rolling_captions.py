"""Undo the rolling of automatic captions, where each line is shown again above the next one.

YouTube writes every spoken line up to three times: while it is spoken (below the line before), alone for 10 ms, and above the next line. What is
new is told by where a line stands, not by what it says, so that a word said twice stays twice.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

_FLUSH: Final = 50  # ms; nobody can read a cue as short as this, it only moves the line up
_WINDOW: Final = 3  # lines that a player's caption window keeps


class Screen(NamedTuple):
    """What one cue shows: its duration (ms) and its lines as plain text, "" for a line that is there but blank."""

    duration: int
    lines: tuple[str, ...]

    @property
    def is_flush(self) -> bool:
        return self.duration <= _FLUSH


def carried_lines(screens: Sequence[Screen]) -> list[int]:
    """Say how many lines at the top of each screen were there before; all 0 unless the whole file rolls."""
    if all(len(screen.lines) < 2 for screen in screens):
        return [0] * len(screens)
    counts = []
    shown: tuple[str, ...] = ()
    for screen in screens:
        counts.append(_carried(shown, screen))
        shown = tuple(line for line in screen.lines[-_WINDOW:] if line)
    return counts if _rolls(screens, counts) else [0] * len(counts)


def _carried(shown: tuple[str, ...], screen: Screen) -> int:
    """The last line of a screen, blank or not, is where new speech goes: only a flush may carry that one, too."""
    most = len(screen.lines) - (not screen.is_flush)
    for count in range(min(most, len(shown)), 0, -1):
        if screen.lines[:count] == shown[-count:]:
            return count
    return 0


def _rolls(screens: Sequence[Screen], counts: Sequence[int]) -> bool:
    """Manual captions now and then repeat a line; they neither flash it for 10 ms at every fifth cue, nor roll at four of five."""
    flushed = sum(
        1 for screen, count in zip(screens, counts, strict=True) if count and screen.is_flush
    )
    rolled = sum(
        1
        for screen, count in zip(screens, counts, strict=True)
        if count and len(set(screen.lines)) > 1
    )
    return (rolled > 0 and flushed * 5 >= len(screens)) or (
        rolled >= _WINDOW and rolled * 5 >= (len(screens) - 1) * 4
    )
