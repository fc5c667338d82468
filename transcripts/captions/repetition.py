"""What captions show again: lines that roll up, and cues that build up word by word."""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from transcripts.captions.drafts import CueDraft, words_at

_FLUSH: Final = 50  # ms; too short to read, such a cue only moves the line up
_WINDOW: Final = 3  # lines that a player's caption window keeps
_PAUSE: Final = 1_000  # ms; a later cue does not go on with the one before
_REPEATING: Final = 4  # one cue in so many repeats what was shown, where captions build up
_TELLING: Final = 3  # cues that do so by more than one word, lest it be chance
_MOST: Final = 40  # words that a cue repeats of the end of the one before
_UNITS: Final = re.compile("[\u3040-\u30ff\u3400-\u9fff]|[^\\s\u3040-\u30ff\u3400-\u9fff]+")


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
    previous: tuple[str, ...] = ()
    for screen in screens:
        counts.append(_carried(previous, screen))
        previous = tuple(line for line in screen.lines[-_WINDOW:] if line)
    return counts if _rolls(screens, counts) else [0] * len(counts)


def _carried(previous: tuple[str, ...], screen: Screen) -> int:
    """Count repeated lines. New speech is on the last line: only a flush may repeat that one."""
    most = len(screen.lines) - (not screen.is_flush)
    for count in range(min(most, len(previous)), 0, -1):
        if screen.lines[:count] == previous[-count:]:
            return count
    return 0


def _rolls(screens: Sequence[Screen], counts: Sequence[int]) -> bool:
    """Return whether a file rolls. Manual captions repeat fewer lines, and never flash them."""
    repeating = [screen for screen, count in zip(screens, counts, strict=True) if count]
    flushed = sum(screen.is_flush for screen in repeating)
    rolled = sum(len(set(screen.lines)) > 1 for screen in repeating)
    return (rolled > 0 and flushed * 5 >= len(screens)) or (
        rolled >= _WINDOW and rolled * 5 >= (len(screens) - 1) * 4
    )


class _Shown(NamedTuple):
    """The words that a cue shows, to be compared, and where each ends in its text."""

    words: list[str]
    ends: list[int]


def each_word_once(drafts: Sequence[CueDraft]) -> list[CueDraft]:
    """Join cues that build up, and cut what a cue repeats of the one before, in files that do so.

    The drafts are in order. What is added to a cue later has that time.
    """
    shown = [_shown(draft.text) for draft in drafts]
    counts = [0]
    for (before, draft), (old, new) in zip(pairwise(drafts), pairwise(shown), strict=True):
        is_next = before.end is not None and draft.start <= before.end + _PAUSE
        counts.append(_repeated(old.words, new.words) if is_next else 0)
    telling = sum(
        len({*new.words[:count]}) > 1 and len(new.words) > count
        for count, new in zip(counts, shown, strict=False)
    )
    if telling < _TELLING or telling * _REPEATING < len(drafts):
        return list(drafts)
    said: list[CueDraft] = []
    shown_before = 0  # words of the cue before
    for draft, new, count in zip(drafts, shown, counts, strict=True):
        added = draft.text[new.ends[count - 1] :] if count else draft.text
        words = draft.words[count:] if len(draft.words) == len(new.words) else ()
        if count and count == shown_before:
            last = said[-1]
            later = words or words_at(draft.start, added)
            timed = (*(last.words or words_at(last.start, last.text)), *later)
            said[-1] = CueDraft(last.start, draft.end, last.text + added, timed)
        elif len({*new.words[:count]}) > 1:
            said.append(CueDraft(draft.start, draft.end, added.strip(), words))
        else:
            said.append(draft)
        shown_before = len(new.words)
    return said


def _shown(text: str) -> _Shown:
    units = list(_UNITS.finditer(text))
    words = [unit[0].strip(".,;:!?…\"'“”").casefold() for unit in units]
    return _Shown(words, [unit.end() for unit in units])


def _repeated(before: Sequence[str], words: Sequence[str]) -> int:
    """Count the words that go on from the cue before: all that it shows, or its last."""
    if words[: len(before)] == before:
        return len(before)
    most = min(len(before), len(words), _MOST)
    return next((n for n in range(most, 0, -1) if before[-n:] == words[:n]), 0)
