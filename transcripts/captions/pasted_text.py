"""Text with times that no other format has, such as YouTube's panel, or plain words."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final

from transcripts.captions.builder import (
    LAST_MOMENT,
    MAX_CUES,
    MAX_TEXT,
    Captions,
    settle,
    speaking_time,
)
from transcripts.captions.caption_errors import CaptionsTooLarge, UnsureFrameRate
from transcripts.captions.drafts import (
    ARROW,
    FRAMES_A_SECOND,
    SECONDS,
    UNITS,
    UNTIMED,
    CueDraft,
    counts_frames,
    milliseconds,
)
from transcripts.captions.speech import (
    Voices,
    are_names,
    clean,
    is_name,
    label,
    lines,
    name_of,
    pieces,
    plain,
)
from transcripts.captions.timed_text import word_times

_TIME: Final = (  # two digits of seconds: "2:1" is a ratio
    r"(?:(?:[0-9]{1,3}:[0-5][0-9]:[0-5][0-9][:;][0-9]{2}"  # the last two are frames
    r"|(?:[0-9]{1,3}:)?[0-9]{1,3}:[0-5][0-9](?:[.,][0-9]{1,9})?)(?!:?[0-9])"
    rf"(?:[ \t]?[AaPp]\.?[Mm]\b\.?)?|{UNITS})"
)
_TO: Final = r"[ \t]*(?:-{1,3}>|[–—=]>|→|[-–—]|\bto\b|,)[ \t]*"
_MARK: Final = re.compile(  # seconds are times between brackets, with an arrow or with tabs only
    rf"(?P<before>(?:\[[^\[\]]{{1,60}}\]|[^\W\d_][^\[\](){{}}<>\n]{{0,60}}?)[ \t:,|·•–—-]{{1,4}})?"
    rf"(?:(?P<open>[\[(<{{])[ \t]*(?P<s1>{_TIME})(?:{_TO}(?P<e1>{_TIME}))?[ \t]*[\])>}}]"
    rf"|(?P<s2>{_TIME})(?:{_TO}(?P<e2>{_TIME}))?(?=[\s:]|$)"
    rf"|\[?(?P<s3>{SECONDS}){ARROW}(?P<e3>{SECONDS})(?:\]|(?=[\s:]|$))"
    rf"|(?P<s4>[0-9]+\.[0-9]+)\t(?P<e4>[0-9]+\.[0-9]+)(?=\t)"
    rf"|\[(?P<s5>[0-9]+\.[0-9]+)(?P<e5>)\])"
    r"(?P<colon>[ \t]*:(?=\s|$))?(?:\s*[-–—](?=\s))?\s*(?P<after>.*)",
    re.DOTALL,
)
_TENTHS: Final = re.compile(r"#((?:[0-9]{1,3}:)?[0-9]{1,3}:[0-5][0-9])(?:-([0-9]))?#")  # of f4
_AT_END: Final = re.compile(rf"(.*\S)[ \t]*[\[(<{{]({_TIME})[\])>}}]\.?")
_STAMP: Final = re.compile(rf"\[({_TIME})\][ \t]*")
_SPEAKER: Final = re.compile(r"\[([^\[\]]{1,60})\]:?[ \t]+|(SPEAKER_[0-9]+):[ \t]+")
_LYRICS: Final = re.compile(r"\[(#|[a-z]{2,8}):([^\]]*)\]")  # what LRC says of itself
_DIGIT: Final = re.compile("[0-9]")
_READ_OUT: Final = re.compile(r"[0-9]{1,3} [^\W\d]+(?:,? (?:[^\W\d]+ )?[0-9]{1,2} [^\W\d]+){0,2}")
_SECONDS_READ_OUT: Final = re.compile(  # as they are called in many languages
    r"(?:[0-9]{1,2} [^\W\d]+,? (?:[^\W\d]+ )?)?[0-9]{1,2} m[^\W\d]+,? (?:[^\W\d]+ )?"
    r"[0-9]{1,2} s[^\W\d]+",
    re.IGNORECASE,
)
_DIGITS: Final = re.compile(r"[0-9]+")
_HURRIED: Final = 2  # times as fast as people speak
_HEAD: Final = 65_536  # characters
_SENTENCE_END: Final = re.compile(r"(?<=[.!?\u2026])\s+|(?<=[\u3002\uff01\uff1f])")
# Characters; an automatic transcript without punctuation has no other boundaries.
_MAX_PIECE: Final = 240
_MAX_READ_OUT: Final = 80  # characters


@dataclass(slots=True)
class _Row:
    """A time, and the lines down to the next time."""

    start: int  # ms
    end: int | None
    name: str  # of who speaks, if it stands beside the time
    lines: list[str]
    is_inline: bool
    is_again: bool = False  # another time before the same text

    @property
    def text(self) -> str:
        return " ".join(_written(self.lines))


def is_panel(text: str) -> bool:
    """Return whether lines begin with ascending times: two near the start, or the first line.

    Names before times make no captions of an agenda, under whose times nobody says anything.
    """
    before, rows = _rows(text[:_HEAD])
    starts = [row.start for row in rows if not row.is_again]
    if any(row.name for row in rows) and sum(bool(row.text) for row in rows) * 2 < len(rows):
        return False
    return (len(rows) > 1 or (bool(rows) and not any(before))) and starts == sorted(starts)


def read_panel(text: str) -> Captions:
    """Read text under times, or beside them: a pasted panel, what recognisers print, exports with
    names, and LRC. Times for screen readers are skipped; chapter headings and buttons are left out.

    A line without an end ends when the next one starts, or some time after it was spoken.
    """
    before, rows = _rows(text)
    about = {tag[1]: tag[2] for line in before if (tag := _LYRICS.fullmatch(line))}
    before = [line for line in before if line and not _LYRICS.fullmatch(line)]
    for row in rows:
        _drop_read_out_time(row)
    further = _find_names(before, rows)
    if _has_one_line_a_row(rows):
        for row in rows:
            row.lines, rest = _written(row.lines)[:1], _written(row.lines)[1:]
            further += rest
    voices = Voices()
    earlier = int(offset) if re.fullmatch(r"[+-]?\d{1,6}", offset := about.get("offset", "")) else 0
    drafts = [
        CueDraft(
            max(0, row.start - earlier),
            row.end,
            voices.labelled(row.name, plain(row.text)),
            word_times(row.lines, row.start),
        )
        for row in rows
    ]
    if before and rows[0].is_inline and rows[0].start > 0 and not rows[0].name:
        drafts.insert(0, CueDraft(0, None, " ".join(before)))
    else:
        further = before + further
    drafts += (CueDraft(UNTIMED, None, line) for line in further)
    warnings = (UnsureFrameRate(FRAMES_A_SECOND),) if counts_frames(text) else ()
    return settle(drafts, format="panel", warnings=warnings, title=label(about.get("ti")))


def _rows(text: str) -> tuple[list[str], list[_Row]]:
    """Return what stands above the first time, and the rows; where no line begins with a time, what
    ends with one, or stands under one that is read out.
    """
    # Tabs stand between times and text.
    written = ["\t".join(map(clean, line.split("\t"))).strip() for line in lines(text)]
    written = [_TENTHS.sub(r"[\1.\g<2>0]", line) if "#" in line else line for line in written]
    before, rows = _under(written, _marked)
    return (before, rows) if rows else _ended(written) or _under(written, _read_out)


def _under(
    written: Sequence[str], mark: Callable[[str], Iterable[_Row]]
) -> tuple[list[str], list[_Row]]:
    before: list[str] = []
    rows: list[_Row] = []
    first = ""  # line with a time
    for line in written:
        marked = list(mark(line))
        if marked and len(rows) == 1 and not rows[0].text and rows[0].start > marked[0].start:
            before += [first, *rows.pop().lines]  # a time of the day
        first = first if rows else line
        rows += marked
        if len(rows) > MAX_CUES:
            raise CaptionsTooLarge(f"It has more than {MAX_CUES:,} times.", hint="Split the text.")
        if not marked:
            (rows[-1].lines if rows else before).append(line)
    return before, rows


def _ended(written: Iterable[str]) -> tuple[list[str], list[_Row]] | None:
    """Return rows if nearly all lines end with a time: that of their end, unless it begins at 0.

    What could not be said so fast has other numbers, such as verses.
    """
    rows: list[_Row] = []
    last, count, said = 0, 0, []
    for line in filter(None, written):
        match, count = _AT_END.fullmatch(line), count + 1
        said.append(match[1] if match else line)
        if match:
            moment = milliseconds(match[2]) or 0
            rows.append(_Row(last, moment, "", said, is_inline=True))
            last, said = moment, []
    spoken = sum(speaking_time(row.text) for row in rows[1:])
    if len(rows) < 2 or len(rows) * 5 < count * 4:
        return None
    if spoken > (last - (rows[0].end or 0)) * _HURRIED:
        return None
    if rows[0].end == 0:
        rows = [replace(row, start=row.end or 0, end=None) for row in rows]
    rows[-1].lines += said
    return [], rows


def _read_out(line: str) -> Iterator[_Row]:
    if _SECONDS_READ_OUT.fullmatch(line):
        numbers = map(int, reversed(_DIGITS.findall(line)))
        seconds = sum(number * 60**place for place, number in enumerate(numbers))
        yield _Row(seconds * 1000, None, "", [], is_inline=False)


def _marked(line: str) -> Iterator[_Row]:
    """Yield the rows that a line begins: LRC puts several times before what is sung again."""
    match = _MARK.fullmatch(line) if _DIGIT.search(line) else None
    if match is None:
        return
    start, end = _moment(match, "s"), _moment(match, "e")
    written, spoken = match["before"] or "", match["after"]
    name = written.strip(" \t:,|·•–—-").removeprefix("[").removesuffix("]")
    is_apart = match["open"] or written.startswith("[") or written.rstrip().endswith(":")
    if start is None or (name and (not is_name(name) or (spoken and not is_apart))):
        return
    if not name and (speaker := _SPEAKER.match(spoken)) and is_name(speaker[1] or speaker[2]):
        name, spoken = speaker[1] or speaker[2], spoken[speaker.end() :]
    again, position = [], 0
    while match["open"] == "[" and (stamp := _STAMP.match(spoken, position)):
        again.append(milliseconds(stamp[1]) or 0)
        position = stamp.end()
    spoken = spoken[position:]
    if end is None and (last := _AT_END.fullmatch(spoken)):
        end, spoken = milliseconds(last[2]), last[1]
    said = [spoken] if spoken else []
    yield _Row(start, end, name_of(name), said, is_inline=bool(said))
    for moment in again:
        yield _Row(moment, None, "", list(said), is_inline=bool(said), is_again=True)


def _moment(match: re.Match[str], side: str) -> int | None:
    written = next((match[f"{side}{way}"] for way in "12345" if match[f"{side}{way}"]), "")
    return milliseconds(written) if written else None


def _find_names(before: list[str], rows: Sequence[_Row]) -> list[str]:
    """Take the names that stand in a line of their own above the times, or below them. Return those
    above that come once each: they may as well be headings, and nobody says them.
    """
    if any(row.name for row in rows):
        return []
    is_inline = any(row.is_inline for row in rows)
    above = [before, *(row.lines for row in rows[:-1])]
    last = [said[-1] if said else "" for said in map(_written, above)]
    if (
        not is_inline
        and all(len(_written(row.lines)) > 1 for row in rows[:-1])
        and ((are_speakers := are_names(last, of=len(rows))) or all(map(is_name, last)))
    ):
        names = list(filter(is_name, last))
        for row, lines_, name in zip(rows, above, last, strict=True):
            if is_name(name):
                row.name = name_of(name) if are_speakers else ""
                del lines_[len(lines_) - 1 - lines_[::-1].index(name) :]
        return [] if are_speakers else names
    first = [said[0] if len(said) > 1 else "" for said in (_written(row.lines) for row in rows)]
    names = [line.removesuffix(":") for line in first]
    if are_names(names, of=len(rows)):
        for row, line, name in zip(rows, first, names, strict=True):
            if is_name(name):
                row.name = name_of(name)
                row.lines.remove(line)
    return []


def _written(lines_: Sequence[str]) -> list[str]:
    return [line for line in lines_ if line]


def _drop_read_out_time(row: _Row) -> None:
    """Drop "1 minute, 5 seconds" below 1:05, in any language, by its numbers."""
    said = _written(row.lines)
    if len(said) < 2 or len(said[0]) > _MAX_READ_OUT or not _READ_OUT.fullmatch(said[0]):
        return
    numbers = [int(number) for number in re.findall(r"[0-9]+", said[0])]
    seconds = row.start // 1000
    parts = (seconds // 3600, seconds // 60 % 60, seconds % 60)
    if [number for number in numbers if number] == [part for part in parts if part]:
        row.lines.remove(said[0])


def _has_one_line_a_row(rows: Sequence[_Row]) -> bool:
    """Return whether rows have one line each: further lines are headings or buttons."""
    if any(row.is_inline or row.name for row in rows):
        return False
    single = sum(1 for row in rows if sum(map(bool, row.lines)) == 1)
    return len(rows) > 1 and single * 3 >= len(rows) * 2


def read_plain(text: str) -> Captions:
    """Make each sentence or line a cue, as if spoken from 0 at about 150 words a minute.

    The times only order the text. Speak faster if it would last beyond 72 h.
    """
    sentences = (
        piece
        for line in lines(text)
        for part in pieces(clean(line), MAX_TEXT)  # part by part: it may be the whole file
        for sentence in _SENTENCE_END.split(part)
        for piece in pieces(sentence, _MAX_PIECE)
    )
    first = list(islice(sentences, MAX_CUES + 1))
    lengths = [speaking_time(piece) for piece in first]
    total = sum(lengths)
    longest = min(total, LAST_MOMENT)
    drafts, position = [], 0
    for piece, length in zip(first, lengths, strict=True):
        start, position = position, position + length
        drafts.append(CueDraft(start * longest // total, position * longest // total, piece))
    return settle(drafts, format="txt")
