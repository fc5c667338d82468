"""The lines of a page become its text: paragraphs, with what was broken at the ends of lines joined again, and where each character comes from. Pure."""

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median

from citations.readers.layout import Glyphs, Line
from citations.readers.mending import mend

HYPHEN = "\ufffe"  # what PDFium gives for a hyphen at the end of a line
HYPHENS = "-\u00ad\u2010\ufffe\u0002"
LONGEST_HEADING = 160  # characters
BULLET = re.compile(r"(?:[•◦▪‣●○■–—*]|\(?[0-9]{1,3}[.)]|\(?[a-zA-Z][.)])\s")
SENTENCE_END = re.compile(r"[.!?:;]['\")\]”’]*$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A paragraph of a page: its characters in the page's text, and whether it looks like a heading (by size or weight)."""

    first: int
    last: int
    is_heading: bool


@dataclass(slots=True)
class Prose:
    """A page's text. ``origin`` says which glyph each character is, -1 for those that no glyph is; ``lines`` which line it stands on."""

    text: str = ""
    origin: list[int] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    pieces: list[Piece] = field(default_factory=list)
    words: int = 0
    mended: int = 0
    garbled: int = 0


def compose(glyphs: Glyphs, lines: Sequence[Line], *, without: frozenset[int] = frozenset()) -> Prose:
    """Write the page's text, without the lines of those indexes."""
    kept = [(index, line) for index, line in enumerate(lines) if index not in without and line.glyphs]
    raw = _Raw(glyphs)
    for paragraph in _paragraphs(glyphs, kept):
        raw.add(paragraph)
    return raw.mended()


def line_text(glyphs: Glyphs, line: Line) -> str:
    """Return a line's text by itself, mended."""
    return mend("".join(" " if index < 0 else letter_of(glyphs.codes[index]) for index in line.glyphs)).text


def letter_of(code: int) -> str:
    """Return the character of a code point; nothing for what is no character and must never reach a database."""
    if code < 32 or 0xD800 <= code < 0xE000 or code > 0x10FFFF or code in (0xFFFF, 0xFFFE):
        return HYPHEN if code in (2, 0xFFFE) else ""
    return chr(code)


# Paragraphs

Numbered = tuple[int, Line]


@dataclass(frozen=True, slots=True)
class _Style:
    """What is usual on the page: the size of the text and the way from line to line, in points."""

    size: float
    pitch: float


def _paragraphs(glyphs: Glyphs, kept: Sequence[Numbered]) -> list[tuple[list[Numbered], bool]]:
    """Return the lines of each paragraph, and whether it is a heading."""
    style = _style(kept)
    paragraphs: list[list[Numbered]] = []
    rights = _rights(kept)
    for place, (index, line) in enumerate(kept):
        before = kept[place - 1][1] if place else None
        after = kept[place + 1][1] if place + 1 < len(kept) else None
        if before is None or _begins(glyphs, line, before, after, style, rights[line.column]):
            paragraphs.append([])
        paragraphs[-1].append((index, line))
    return [(paragraph, _is_heading(glyphs, paragraph, style)) for paragraph in paragraphs]


def _style(kept: Sequence[Numbered]) -> _Style:
    weights: dict[float, int] = {}
    for _, line in kept:
        size = round(line.main.size * 2) / 2
        weights[size] = weights.get(size, 0) + len(line.glyphs)
    size = max(weights, key=lambda key: weights[key], default=10.0)
    steps = [b.main.base - a.main.base for (_, a), (_, b) in pairwise(kept) if a.column == b.column and abs(a.main.size - size) < 0.6]
    usual = [step for step in steps if 0.9 * size < step < 2.2 * size]
    return _Style(size, median(usual) if usual else 1.2 * size)


def _rights(kept: Sequence[Numbered]) -> dict[int, float]:
    """Return where most lines of each column end at most."""
    rights: dict[int, list[float]] = {}
    for _, line in kept:
        rights.setdefault(line.column, []).append(line.right)
    return {column: sorted(all_)[int(0.9 * (len(all_) - 1))] for column, all_ in rights.items()}


def _begins(glyphs: Glyphs, line: Line, before: Line, after: Line | None, style: _Style, right: float) -> bool:
    """Say whether a paragraph begins with the line."""
    if line.column != before.column:
        return True
    step = line.main.base - before.main.base
    alike = abs(line.main.size - before.main.size) < 0.12 * style.size or len(line.glyphs) < 4 or len(before.glyphs) < 4
    if not alike or step > 1.45 * max(style.pitch * before.main.size / style.size, before.main.size) or _is_bold(line) != _is_bold(before):
        return True
    text = line_text(glyphs, line)
    ends = bool(SENTENCE_END.search(line_text(glyphs, before)))
    if BULLET.match(text) and (ends or before.right < right - 2 * style.size):
        return True
    indent = line.left - before.left
    if after is not None and after.column == line.column and indent > 0.8 * style.size and after.left < line.left - 0.8 * style.size:
        return ends or before.right < right - 4 * style.size
    return ends and before.right < right - 6 * style.size and step > 1.08 * style.pitch


def _is_bold(line: Line) -> bool:
    count = sum(len(run.glyphs) for run in line.runs)
    return sum(run.bold for run in line.runs) > 1.5 * count  # a bold character counts 2


def _is_heading(glyphs: Glyphs, paragraph: list[Numbered], style: _Style) -> bool:
    lines = [line for _, line in paragraph]
    length = sum(len(line.glyphs) for line in lines)
    if len(lines) > 3 or not 2 < length <= LONGEST_HEADING:
        return False
    text = " ".join(line_text(glyphs, line) for line in lines)
    letters = sum(letter.isalpha() for letter in text)
    if letters < 3 or letters < 0.4 * len(text):
        return False
    larger = min(line.main.size for line in lines) > 1.12 * style.size
    return larger or (all(_is_bold(line) for line in lines) and not text.endswith((".", ",", ";")) and length < 100)


# Text


class _Raw:
    """A page's text before it is mended, with the glyph and the line of each character."""

    def __init__(self, glyphs: Glyphs) -> None:
        self._glyphs = glyphs
        self._letters: list[str] = []
        self._origin: list[int] = []
        self._lines: list[int] = []
        self._pieces: list[tuple[int, int, bool]] = []

    def add(self, paragraph: tuple[list[Numbered], bool]) -> None:
        """Write a paragraph, an empty line before it."""
        lines, is_heading = paragraph
        start = len(self._letters)
        for index, line in lines:
            self._join(start, line)
            for place, glyph in enumerate(line.glyphs, 1):
                self._write(glyph, index, is_last=place == len(line.glyphs))
        while len(self._letters) > start and self._letters[-1].isspace():
            self._drop()
        if len(self._letters) > start and self._letters[-1] == HYPHEN:
            self._letters[-1] = "-"
        if len(self._letters) > start:
            self._pieces.append((start, len(self._letters), is_heading))
            self._gap("\n", "\n")

    def mended(self) -> Prose:
        """Return the page's text, put right."""
        mended = mend("".join(self._letters).rstrip())
        pieces = [
            Piece(first=bisect_left(mended.origin, first), last=bisect_left(mended.origin, last), is_heading=is_heading)
            for first, last, is_heading in self._pieces
        ]
        return Prose(
            text=mended.text,
            origin=[self._origin[index] for index in mended.origin],
            lines=[self._lines[index] for index in mended.origin],
            pieces=pieces,
            words=mended.words,
            mended=mended.mended,
            garbled=mended.garbled,
        )

    def _write(self, glyph: int, line: int, *, is_last: bool) -> None:
        letter = " " if glyph < 0 else letter_of(self._glyphs.codes[glyph])
        if not letter or (letter == "\u00ad" and not is_last) or (letter.isspace() and self._letters and self._letters[-1].isspace()):
            return  # a soft hyphen within a line is not to be seen
        self._put(letter, glyph, line)

    def _put(self, letter: str, glyph: int, line: int) -> None:
        self._letters.append(letter)
        self._origin.append(glyph)
        self._lines.append(line)

    def _gap(self, *letters: str) -> None:
        for letter in letters:
            self._put(letter, -1, -1)

    def _drop(self) -> None:
        self._letters.pop()
        self._origin.pop()
        self._lines.pop()

    def _join(self, start: int, line: Line) -> None:
        """Go on with the next line: a word that was broken is made whole, else a blank stands between."""
        while len(self._letters) > start and self._letters[-1].isspace():
            self._drop()
        if len(self._letters) == start:
            return
        if self._letters[-1] not in HYPHENS:
            self._gap(" ")
        elif self._is_broken(line):
            self._drop()
        elif self._letters[-1] == HYPHEN:
            self._letters[-1] = "-"

    def _is_broken(self, line: Line) -> bool:
        """Say whether the hyphen was set because the line ended: not in “x-axis”, “state-of-the-art”, “Anglo-Saxon”, “1990-1995”."""
        before = re.search(r"\S*$", "".join(self._letters[-60:-1]))
        after = re.match(r"\w*", line_text(self._glyphs, line))
        left, right = before[0] if before else "", after[0] if after else ""
        if len(left) < 2 or not left[-1].isalpha() or not right[:1].islower() or "-" in left:
            return self._letters[-1] == "\u00ad"
        return True
