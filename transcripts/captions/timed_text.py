"""Formats with a line of times above lines of text: WebVTT, SubRip (SRT) and YouTube's SBV."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, takewhile
from typing import Final

from transcripts.captions.builder import Captions, settle
from transcripts.captions.drafts import (
    ARROW,
    CLOCK,
    UNTIMED,
    CueDraft,
    Screen,
    carried_lines,
    milliseconds,
    words_at,
)
from transcripts.captions.speech import (
    Voices,
    are_names,
    is_name,
    label,
    language_tag,
    name_of,
    plain,
)
from transcripts.captions.speech import lines as split_lines
from transcripts.text.cues import Word

ARROW_LINE: Final = re.compile(  # settings, or what was NUL, may stand directly behind the times
    rf"^[ \t\f]*({CLOCK}){ARROW}({CLOCK})(?=[ \t\f\r]|$|[a-z]+:|(?<=\.[0-9]{{3}})\ufffd)"
    r"[ \t\f]*(.*)$",
    re.MULTILINE,
)
COMMA_LINE: Final = re.compile(rf"^[ \t]*({CLOCK})[ \t]*,[ \t]*({CLOCK})[ \t]*()\r?$", re.MULTILINE)
_NEARLY_TIME: Final = re.compile(r"[\d.,]*:[\d:.,]*")
_LONE_TIME: Final = re.compile(r"[ \t]*([0-9]{1,6}:[0-9]{1,2}:[0-9]{1,2}[.,][0-9]{1,9})[ \t]*$")
_SETTINGS: Final = re.compile(r"(?:[^\s:]*:\S*\s*)*")
_SECOND: Final = 1_000  # ms
_WORD_TIME: Final = re.compile(rf"<({CLOCK})>")
_COMMENT: Final = re.compile(r"NOTE(?:[ \t]|$)|(?:STYLE|REGION)[ \t]*$")
_HEADER_TITLE: Final = re.compile(r"Title:(.*)")
_HEADER_LANGUAGE: Final = re.compile(r"Language:[ \t]*([A-Za-z0-9-]+)")


@dataclass(slots=True)
class _Block:
    """A cue as written in the file: times in ms, lines with their markup."""

    start: int  # or ``UNTIMED``
    end: int | None
    lines: list[str]
    beside: str = ""  # text, or settings that no player knows

    @property
    def duration(self) -> int:
        """Its length (ms), a second where only the start is known."""
        return _SECOND if self.end is None else self.end - self.start


def read_vtt(text: str) -> Captions:
    """Read WebVTT, also without header and in SRT's syntax. Drop tags and rolling lines.

    The names of voices (``<v Ada>``) stand before what these say. NUL becomes U+FFFD, as in HTML.
    """
    lines = split_lines(text.lstrip().replace("\0", "\ufffd"))
    header = list(takewhile(bool, lines)) if lines[0].startswith("WEBVTT") else []
    title, language = (
        next((match[1] for line in header if (match := pattern.match(line))), "")
        for pattern in (_HEADER_TITLE, _HEADER_LANGUAGE)
    )
    drafts = _drafts(_blocks(lines, ARROW_LINE, is_vtt=True, header=len(header)))
    return settle(drafts, format="vtt", title=label(title), language=language_tag(language))


def read_srt(text: str) -> Captions:
    """Read SubRip, also without blank lines between the cues."""
    return settle(_drafts(_blocks(split_lines(text), ARROW_LINE)), format="srt")


def read_sbv(text: str) -> Captions:
    """Read YouTube's SubViewer: a line ``h:mm:ss.mmm,h:mm:ss.mmm`` above each text."""
    return settle(_drafts(_blocks(split_lines(text), COMMA_LINE)), format="sbv")


def _blocks(
    lines: Sequence[str], timing: re.Pattern[str], *, is_vtt: bool = False, header: int = 0
) -> list[_Block]:
    """Split into cues at empty lines. A blank line belongs to its cue.

    An empty line directly below the times was a blank line that an editor stripped. Words without
    times are untimed in WebVTT, as its standard has it, and belong to the cue above elsewhere;
    above all times they are untimed, too, but for the first lines, of the header.
    """
    gaps = [True, *(not line for line in lines)]  # whether a line follows one
    begun = [
        _begun(line, timing, is_apart=is_apart) if ":" in line else None
        for line, is_apart in zip(lines, gaps, strict=False)
    ]
    labels = _label_positions(lines, begun, gaps)
    blocks: list[_Block] = []
    is_open = in_comment = False
    for position, (line, is_apart) in enumerate(zip(lines, gaps, strict=False)):
        if (block := begun[position]) is not None:
            blocks.append(block)
            is_open, in_comment = True, False
        elif in_comment or not line:
            in_comment = in_comment and bool(line)
            is_open = is_open and not (blocks[-1].lines and is_vtt)
        elif is_vtt and is_apart and _COMMENT.match(line):
            is_open, in_comment = False, True
        elif position in labels:
            is_open = is_open and not is_apart
        elif blocks or position >= header:
            is_lone = is_apart and _is_number(line)
            if is_open and not (is_lone or _is_broken(line) or (is_vtt and "-->" in line)):
                blocks[-1].lines.append(line)
            else:
                blocks.append(_Block(UNTIMED, None, [] if _is_broken(line) else [line]))
            is_open = True
    return blocks


def _begun(line: str, timing: re.Pattern[str], *, is_apart: bool) -> _Block | None:
    """Return the cue that a line of times begins, without text."""
    match = timing.match(line)
    if match is None:
        lone = _LONE_TIME.match(line) if is_apart else None
        return lone and _Block(milliseconds(lone[1]) or 0, None, [])
    start, end, rest = match.groups()
    beside = "" if _SETTINGS.fullmatch(rest) else rest
    return _Block(milliseconds(start) or 0, milliseconds(end), [], beside)


def _is_broken(line: str) -> bool:
    """Return whether this was to be a line of times."""
    before, arrow, after = line.partition("-->")
    sides = (*before.split()[-1:], *after.split()[:1]) if arrow else ()
    return any(map(_NEARLY_TIME.fullmatch, sides))


def _label_positions(
    lines: Sequence[str], times: Sequence[_Block | None], gaps: Sequence[bool]
) -> set[int]:
    """Return the positions of cue numbers and names: directly above times, and either after an
    empty line or, where cues are numbered, a number, or with an arrow, which no text has. A number
    that stands alone may have empty lines below it, and broken times.
    """
    timed = [position for position, block in enumerate(times) if block is not None]
    above = [position - 1 for position in timed if position > 0 and times[position - 1] is None]
    is_numbered = bool(above) and above[0] < timed[0] and _is_number(lines[above[0]])
    labels = {
        position
        for position in above
        if gaps[position]
        or (is_numbered and _is_number(lines[position]))
        or "-->" in lines[position]
    }
    broken = (
        position - 1
        for position, line in enumerate(lines)
        if position and "-->" in line and _is_broken(line)
    )
    for position in (*above, *broken):
        while position > 0 and not lines[position]:
            position -= 1
        if gaps[position] and _is_number(lines[position]):
            labels.add(position)
    return labels


def _is_number(line: str) -> bool:
    return line.strip().isdecimal()


def _drafts(blocks: Sequence[_Block]) -> list[CueDraft]:
    untimed = [CueDraft(UNTIMED, None, "\n".join(b.lines)) for b in blocks if b.start == UNTIMED]
    blocks = [block for block in blocks if block.start != UNTIMED]
    for block in blocks:
        if block.beside and not any(map(str.strip, block.lines)):
            block.lines = [block.beside]
    names = _names(blocks)
    screens = [
        Screen(block.duration, tuple(plain(line) for line in block.lines)) for block in blocks
    ]
    voices = Voices()
    drafts: list[CueDraft] = []
    carried_counts = carried_lines(screens)
    for block, screen, carried, name in zip(blocks, screens, carried_counts, names, strict=True):
        lines = block.lines[carried:]
        if turns := voices.turns(lines):
            drafts += _draft_turns(block, turns)
        else:
            text = voices.labelled(name, " ".join(screen.lines[carried:]))
            drafts.append(CueDraft(block.start, block.end, text, word_times(lines, block.start)))
    if any(draft.words for draft in drafts):  # in files that time words, a lone one has its cue's
        drafts = [
            draft._replace(words=tuple(words_at(draft.start, draft.text)))
            if not draft.words and len(draft.text.split()) == 1
            else draft
            for draft in drafts
        ]
    return drafts + untimed


def _names(blocks: Sequence[_Block]) -> list[str]:
    """Take who speaks from the first lines of cues, if these are names; else return ""."""
    heads = [plain(block.lines[0]) if len(block.lines) > 1 else "" for block in blocks]
    if not are_names(heads, of=len(blocks)):
        return [""] * len(blocks)
    for block, head in zip(blocks, heads, strict=True):
        if is_name(head):
            del block.lines[0]
    return [name_of(head) if is_name(head) else "" for head in heads]


def _draft_turns(block: _Block, turns: Sequence[Sequence[str]]) -> Iterator[CueDraft]:
    """Make each turn of a cue a cue; the time is divided by the length of the texts."""
    texts = [" ".join(map(plain, turn)) for turn in turns]
    lengths = [len(text) for text in texts]
    total, time = sum(lengths) or 1, max(0, block.duration)
    for turn, text, length, past in zip(turns, texts, lengths, accumulate(lengths), strict=True):
        start = block.start + time * (past - length) // total
        end = block.start + time * past // total
        yield CueDraft(start, end, text, word_times(turn, start))


def word_times(lines: Sequence[str], start: int) -> tuple[Word, ...]:
    """Read the times inside the text. Words before the first one start with the cue."""
    if not any(map(_WORD_TIME.search, lines)):
        return ()
    words: list[Word] = []
    moment = start
    for line in lines:
        first, *rest = _WORD_TIME.split(line)
        words += words_at(moment, plain(first))
        for time, said in zip(rest[::2], rest[1::2], strict=True):
            moment = milliseconds(time) or 0
            words += words_at(moment, plain(said))
    return tuple(words)
