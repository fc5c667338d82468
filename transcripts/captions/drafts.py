"""Cues as a file gives them, before they are put in order: their times, and what they repeat."""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from transcripts.text.cues import Word

UNTIMED: Final = -1  # the start of a draft whose time cannot be read

# Times as captions write them: 1:02:03.5, 10:02:05 AM, 1h2m3s, 3,5
CLOCK: Final = r"(?:[0-9]{1,6}:)?[0-9]{1,3}:[0-9]{1,2}(?:[.,][0-9]{1,9})?"
ARROW: Final = r"[ \t\f]*(?:-{1,3}>|[–—=]>|→)[ \t\f]*"
SECONDS: Final = r"[0-9]{1,9}(?:[.,][0-9]{1,9})?"
UNITS: Final = (
    r"(?:[0-9]{1,4}[ \t]?h[ \t]?(?:[0-9]{1,5}[ \t]?m(?:in)?[ \t]?)?"
    rf"(?:{SECONDS}[ \t]?s(?:ec)?)?|(?:[0-9]{{1,5}}[ \t]?m(?:in)?[ \t]?)?{SECONDS}[ \t]?s(?:ec)?)"
    r"(?![^\W\d_])"
)
_CLOCK: Final = re.compile(
    r"(?:(?:([0-9]{1,6}):)?([0-9]{1,5}):)?([0-9]{1,9})(?:[.,]([0-9]{1,9}))?"
    r"(?:\s?([ap])\.?m\.?)?",
    re.IGNORECASE,
)
_UNITS: Final = re.compile(
    r"(?:([0-9]{1,4})\s?h)?\s?(?:([0-9]{1,5})\s?m(?:in)?)?\s?"
    r"(?:([0-9]{1,9})(?:[.,]([0-9]{1,9}))?\s?s(?:ec)?)?()",
    re.IGNORECASE,
)

FRAMES_A_SECOND: Final = 25  # where a file does not say
_FRAMES: Final = re.compile(r"([0-9]{1,3}:[0-5][0-9]:[0-5][0-9])[:;]([0-9]{2})")  # 01:02:03:24
_FLUSH: Final = 50  # ms; too short to read, such a cue only moves the line up
_WINDOW: Final = 3  # lines that a player's caption window keeps
_PAUSE: Final = 1_000  # ms; a later cue does not go on with the one before
_REPEATING: Final = 4  # one cue in so many repeats what was shown, where captions build up
_TELLING: Final = 3  # cues that do so by more than one word, lest it be chance
_MOST: Final = 40  # words that a cue repeats of the end of the one before
_WORDS: Final = re.compile("[\u3040-\u30ff\u3400-\u9fff]|[^\\s\u3040-\u30ff\u3400-\u9fff]+")


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


def milliseconds(written: str) -> int | None:
    """Return a time in ms, or None for what is none; any number of digits makes a fraction, two
    behind a colon are frames.
    """
    written = written.strip()
    if frames := _FRAMES.fullmatch(written):
        return (milliseconds(frames[1]) or 0) + int(frames[2]) * 1000 // FRAMES_A_SECOND
    match = _CLOCK.fullmatch(written) or (_UNITS.fullmatch(written) if written else None)
    if match is None:
        return None
    hours, minutes, seconds, fraction, half = match.groups(default="0")
    hour = int(hours) % 12 + 12 * (half in "pP") if half in {"a", "A", "p", "P"} else int(hours)
    return (hour * 3600 + int(minutes) * 60 + int(seconds)) * 1000 + int(fraction[:3].ljust(3, "0"))


def counts_frames(text: str) -> bool:
    """Return whether times end in frames, as video editors write them."""
    return _FRAMES.search(text) is not None


class Screen(NamedTuple):
    """What one cue shows: its duration (ms) and its lines as plain text, "" for a blank line."""

    duration: int
    lines: tuple[str, ...]

    @property
    def is_flush(self) -> bool:
        return self.duration <= _FLUSH


def carried_lines(screens: Sequence[Screen]) -> list[int]:
    """Return how many lines at the top of each screen are repeated; all 0 without rolling.

    New speech is on the last line: only a flush may repeat that one. Manual captions repeat fewer
    lines than a file that rolls, and never flash them.
    """
    counts = [0] * len(screens)
    if all(len(screen.lines) < 2 for screen in screens):
        return counts
    before: tuple[str, ...] = ()
    for position, (duration, lines) in enumerate(screens):
        most = min(len(lines) - (duration > _FLUSH), len(before))
        repeats = (n for n in range(most, 0, -1) if lines[:n] == before[-n:])
        counts[position] = next(repeats, 0)
        before = tuple(line for line in lines[-_WINDOW:] if line)
    repeating = [screen for screen, count in zip(screens, counts, strict=True) if count]
    flushed = sum(screen.is_flush for screen in repeating)
    rolled = sum(len(set(screen.lines)) > 1 for screen in repeating)
    rolls = (rolled > 0 and flushed * 5 >= len(screens)) or (
        rolled >= _WINDOW and rolled * 5 >= (len(screens) - 1) * 4
    )
    return counts if rolls else [0] * len(counts)


class _Shown(NamedTuple):
    """The words that a cue shows, to be compared, and where each ends in its text."""

    words: list[str]
    ends: list[int]

    @classmethod
    def of(cls, text: str) -> "_Shown":
        matches = list(_WORDS.finditer(text))
        words = [match[0].strip(".,;:!?…\"'“”").casefold() for match in matches]
        return cls(words, [match.end() for match in matches])


def each_word_once(drafts: Sequence[CueDraft]) -> list[CueDraft]:
    """Join cues that build up, and cut what a cue repeats of the one before, in files that do so.

    The drafts are in order. What is added to a cue later has that time.
    """
    shown = [_Shown.of(draft.text) for draft in drafts]
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


def _repeated(before: Sequence[str], words: Sequence[str]) -> int:
    """Count the words that go on from the cue before: all that it shows, or its last."""
    if words[: len(before)] == before:
        return len(before)
    most = min(len(before), len(words), _MOST)
    return next((n for n in range(most, 0, -1) if before[-n:] == words[:n]), 0)
