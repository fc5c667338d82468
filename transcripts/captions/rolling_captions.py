"""Undo the rolling of automatic captions, which repeat each line above the next one.

YouTube writes every spoken line up to three times: while it is spoken (below the previous line),
alone for 10 ms, and above the next line. The position of a line shows whether it is new, not its
text, so that a word spoken twice stays twice.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

_FLUSH: Final = 50  # ms; too short to read, such a cue only moves the line up
_WINDOW: Final = 3  # lines that a player's caption window keeps


class Screen(NamedTuple):
    """What one cue shows: its duration (ms) and its lines as plain text, "" for a blank line."""

    duration: int
    lines: tuple[str, ...]

    @property
    def is_flush(self) -> bool:
        return self.duration <= _FLUSH


def carried_lines(screens: Sequence[Screen]) -> list[int]:
    """Return how many lines at the top of each screen are repeated; all 0 without rolling."""
    if all(len(screen.lines) < 2 for screen in screens):
        return [0] * len(screens)
    counts = []
    shown: tuple[str, ...] = ()
    for screen in screens:
        counts.append(_carried(shown, screen))
        shown = tuple(line for line in screen.lines[-_WINDOW:] if line)
    return counts if _rolls(screens, counts) else [0] * len(counts)


def _carried(shown: tuple[str, ...], screen: Screen) -> int:
    """Count repeated lines. New speech is on the last line: only a flush may repeat that one."""
    most = len(screen.lines) - (not screen.is_flush)
    for count in range(min(most, len(shown)), 0, -1):
        if screen.lines[:count] == shown[-count:]:
            return count
    return 0


def _rolls(screens: Sequence[Screen], counts: Sequence[int]) -> bool:
    """Return whether a file rolls. Manual captions repeat fewer lines, and never flash them."""
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
