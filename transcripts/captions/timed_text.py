"""Formats with a line of times above lines of text: WebVTT, SubRip (SRT) and YouTube's SBV."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, takewhile
from typing import Final, NamedTuple

from transcripts.captions.builder import Captions, CueDraft, settle, words_at
from transcripts.captions.speech import label, language_tag, plain
from transcripts.captions.speech import lines as split_lines
from transcripts.captions.voices import Voices
from transcripts.text.cues import Word

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


_TIME: Final = r"(?:([0-9]{1,6}):)?([0-9]{1,3}):([0-9]{1,2})(?:[.,]([0-9]{1,9}))?"
ARROW_LINE: Final = re.compile(rf"^[ \t]*{_TIME}[ \t]*-->[ \t]*{_TIME}(?=[ \t\r]|$)", re.MULTILINE)
COMMA_LINE: Final = re.compile(rf"^[ \t]*{_TIME}[ \t]*,[ \t]*{_TIME}[ \t]*\r?$", re.MULTILINE)
_WORD_TIME: Final = re.compile(r"<(?:([0-9]{1,4}):)?([0-9]{2}):([0-9]{2})\.([0-9]{3})>")
_COMMENT: Final = re.compile(r"NOTE(?:[ \t]|$)|(?:STYLE|REGION)[ \t]*$")
_HEADER_TITLE: Final = re.compile(r"Title:(.*)")
_HEADER_LANGUAGE: Final = re.compile(r"Language:[ \t]*([A-Za-z0-9-]+)")


@dataclass(slots=True)
class _Block:
    """A cue as written in the file: times in ms, lines with their markup."""

    start: int
    end: int
    lines: list[str]


def read_vtt(text: str) -> Captions:
    """Read WebVTT, also without header and in SRT's syntax. Drop tags and rolling lines.

    The names of voices (``<v Ada>``) stand before what these say.
    """
    lines = split_lines(text.lstrip())
    drafts = _drafts(_blocks(lines, ARROW_LINE))
    about = {
        "title": label(_header_value(lines, _HEADER_TITLE)),
        "language": language_tag(_header_value(lines, _HEADER_LANGUAGE)),
    }
    return settle(drafts, format="vtt", **about)


def read_srt(text: str) -> Captions:
    """Read SubRip, also without blank lines between the cues."""
    return settle(_drafts(_blocks(split_lines(text), ARROW_LINE)), format="srt")


def read_sbv(text: str) -> Captions:
    """Read YouTube's SubViewer: a line ``h:mm:ss.mmm,h:mm:ss.mmm`` above each text."""
    return settle(_drafts(_blocks(split_lines(text), COMMA_LINE)), format="sbv")


def _header_value(lines: Sequence[str], pattern: re.Pattern[str]) -> str:
    """Return what the header, down to the first empty line, says of itself; "" if nothing."""
    header = takewhile(bool, lines) if lines[0].startswith("WEBVTT") else ()
    return next((match[1] for line in header if (match := pattern.match(line))), "")


def _blocks(lines: Sequence[str], timing: re.Pattern[str]) -> list[_Block]:
    """Split into cues at empty lines. A blank line belongs to its cue.

    An empty line directly below the times was a blank line that an editor stripped.
    """
    times = [_times(line, timing) for line in lines]
    labels = _label_positions(lines, times)
    blocks: list[_Block] = []
    is_open = in_comment = False
    for position, line in enumerate(lines):
        if in_comment:
            in_comment = bool(line)
        elif (pair := times[position]) is not None:
            blocks.append(_Block(*pair, []))
            is_open = True
        elif not line:
            is_open = is_open and not blocks[-1].lines
        elif _COMMENT.match(line) and _follows_gap(lines, position):
            in_comment = True
        elif is_open and position not in labels:
            blocks[-1].lines.append(line)
    return blocks


def _times(line: str, timing: re.Pattern[str]) -> tuple[int, int] | None:
    match = timing.match(line)
    if match is None:
        return None
    parts = match.groups()
    return _milliseconds(*parts[:4]), _milliseconds(*parts[4:])


def _milliseconds(hours: str | None, minutes: str, seconds: str, fraction: str | None) -> int:
    """Return milliseconds. The fraction has any number of digits: ".5" is half a second."""
    whole = int(hours or 0) * 3600 + int(minutes) * 60 + int(seconds)
    return whole * 1000 + (int(fraction[:3].ljust(3, "0")) if fraction else 0)


def _label_positions(lines: Sequence[str], times: Sequence[tuple[int, int] | None]) -> set[int]:
    """Return the positions of cue numbers and names: directly above times, and either after an
    empty line or, where cues are numbered, a number.
    """
    timed = [position for position, pair in enumerate(times) if pair is not None]
    above = [position - 1 for position in timed if position > 0 and times[position - 1] is None]
    is_numbered = bool(above) and above[0] < timed[0] and _is_number(lines[above[0]])
    return {
        position
        for position in above
        if _follows_gap(lines, position) or (is_numbered and _is_number(lines[position]))
    }


def _is_number(line: str) -> bool:
    return line.strip().isdecimal()


def _follows_gap(lines: Sequence[str], position: int) -> bool:
    return position == 0 or not lines[position - 1]


def _drafts(blocks: Sequence[_Block]) -> list[CueDraft]:
    screens = [
        Screen(block.end - block.start, tuple(plain(line) for line in block.lines))
        for block in blocks
    ]
    voices = Voices()
    drafts: list[CueDraft] = []
    for block, screen, carried in zip(blocks, screens, carried_lines(screens), strict=True):
        lines = block.lines[carried:]
        if turns := voices.turns(lines):
            drafts += _draft_turns(block, turns)
        else:
            text, words = " ".join(screen.lines[carried:]), _words(lines, block.start)
            drafts.append(CueDraft(block.start, block.end, text, words))
    return [*map(_with_lone_word, drafts)] if any(draft.words for draft in drafts) else drafts


def _draft_turns(block: _Block, turns: Sequence[Sequence[str]]) -> Iterator[CueDraft]:
    """Make each turn of a cue a cue; the time is divided by the length of the texts."""
    texts = [" ".join(map(plain, turn)) for turn in turns]
    lengths = [len(text) for text in texts]
    total, time = sum(lengths) or 1, max(0, block.end - block.start)
    for turn, text, length, past in zip(turns, texts, lengths, accumulate(lengths), strict=True):
        start = block.start + time * (past - length) // total
        end = block.start + time * past // total
        yield CueDraft(start, end, text, _words(turn, start))


def _words(lines: Sequence[str], start: int) -> tuple[Word, ...]:
    """Read the times inside the text. Words before the first one start with the cue."""
    if not any(map(_WORD_TIME.search, lines)):
        return ()
    words: list[Word] = []
    moment = start
    for line in lines:
        first, *rest = _WORD_TIME.split(line)
        words += words_at(moment, plain(first))
        for at in range(0, len(rest), 5):
            moment = _milliseconds(*rest[at : at + 4])
            words += words_at(moment, plain(rest[at + 4]))
    return tuple(words)


def _with_lone_word(draft: CueDraft) -> CueDraft:
    """Give a line of one word the time of its cue, as in files that time words."""
    words = words_at(draft.start, draft.text)
    return draft._replace(words=tuple(words)) if len(words) == 1 and not draft.words else draft
