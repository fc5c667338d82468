"""The lines of a page become its text: paragraphs, with what was broken at the ends of lines joined again, and where each character comes from. Pure."""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median

from citations.readers.pdf.glyph_repair import repair_glyphs
from citations.readers.pdf.layout import Glyphs, TextLine

HYPHEN = "\ufffe"  # what PDFium gives for a hyphen at the end of a line
HYPHENS = "-\u00ad\u2010\ufffe\u0002"
LONGEST_HEADING, LONGEST_BOLD = (
    160,
    100,
)  # characters of a heading: of one in larger letters, and of one that is only bold
COMPOUNDING = frozenset(
    (
        "self",
        "well",
        "right",
        "left",
        "high",
        "low",
        "half",
        "cross",
        "one",
        "two",
        "three",
        "four",
        "long",
        "short",
    )
)
BULLET = re.compile(r"(?:[•◦▪‣●○■–—*]|\(?[0-9]{1,3}[.)]|\(?[a-zA-Z][.)])\s")
SENTENCE_END = re.compile(r"[.!?:;]['\")\]”’]*$")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProsePiece:
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
    pieces: list[ProsePiece] = field(default_factory=list)
    words: int = 0
    mended: int = 0
    garbled: int = 0


def compose(
    glyphs: Glyphs, lines: Sequence[TextLine], *, without: frozenset[int] = frozenset()
) -> Prose:
    """Write the page's text, without the lines of those indexes."""
    kept = [
        _Written(index, line, _plain(glyphs, line))
        for index, line in enumerate(lines)
        if index not in without and line.glyphs
    ]
    page = _Page(
        glyphs,
        frozenset(
            word.strip(",.;:()")
            for one in kept
            if "-" in one.text
            for word in one.text.split()
            if "-" in word
        ),
    )
    for paragraph in _paragraphs(kept):
        page.add(paragraph)
    return page.mended()


def line_text(glyphs: Glyphs, line: TextLine) -> str:
    """Return a line's text by itself, mended."""
    return repair_glyphs(_plain(glyphs, line)).text.strip()


def _plain(glyphs: Glyphs, line: TextLine) -> str:
    codes = glyphs.codes
    return "".join([" " if index < 0 else letter_of(codes[index]) for index in line.glyphs])


def letter_of(code: int) -> str:
    """Return the character of a code point; nothing for what is no character and must never reach a database."""
    if code < 32 or 0xD800 <= code < 0xE000 or code > 0x10FFFF or code in (0xFFFF, 0xFFFE):
        return HYPHEN if code in (2, 0xFFFE) else ""
    return chr(code)


# Paragraphs


@dataclass(frozen=True, slots=True)
class _Written:
    """A line, its index on the page, and what it says."""

    index: int
    line: TextLine
    text: str


@dataclass(frozen=True, slots=True)
class _Style:
    """What is usual on the page, in points: the size of the text, the way from line to line, and where the lines of each column end."""

    size: float
    pitch: float
    rights: dict[int, float]


def _paragraphs(kept: Sequence[_Written]) -> list[tuple[list[_Written], bool]]:
    """Return the lines of each paragraph, and whether it is a heading."""
    style = _style(kept)
    paragraphs: list[list[_Written]] = []
    for before, now, after in zip((None, *kept), kept, (*kept[1:], None), strict=False):
        if before is None or _begins(now, before, after, style):
            paragraphs.append([])
        paragraphs[-1].append(now)
    return [(paragraph, _is_heading(paragraph, style)) for paragraph in paragraphs]


def _style(kept: Sequence[_Written]) -> _Style:
    weights: Counter[float] = Counter()
    rights: dict[int, list[float]] = {}
    for one in kept:
        weights[round(one.line.main.size * 2) / 2] += len(one.text)
        rights.setdefault(one.line.column, []).append(one.line.right)
    size = max(weights, key=lambda key: weights[key], default=10.0)
    ends = {column: sorted(those)[-1 - (len(those) - 1) // 10] for column, those in rights.items()}
    full = [
        (a.line, b.line)
        for a, b in pairwise(kept)
        if a.line.column == b.line.column and a.line.right > ends[a.line.column] - 3 * size
    ]
    steps = [
        b.base - a.base
        for a, b in full
        if abs(a.main.size - size) < 0.6 and 0.9 * size < b.base - a.base < 2.2 * size
    ]
    return _Style(size, median(steps) if steps else 1.2 * size, ends)


def _begins(now: _Written, before: _Written, after: _Written | None, style: _Style) -> bool:
    """Say whether a paragraph begins with the line."""
    line, last = now.line, before.line
    ends = bool(SENTENCE_END.search(before.text))
    missing = (
        style.rights[last.column] - last.right
    )  # points that the line before is shorter than others
    if (
        line.column != last.column
        or _is_other(now, before, style)
        or _is_apart(line, last, style, ends=ends, is_short=missing > 2 * style.size)
    ):
        return True
    if BULLET.match(now.text) and (ends or missing > 2 * style.size):
        return True
    if after is not None and _is_indented(line, last, after.line, 0.8 * style.size):
        return ends or missing > 4 * style.size
    return ends and missing > 6 * style.size and line.base - last.base > 1.08 * style.pitch


def _is_other(now: _Written, before: _Written, style: _Style) -> bool:
    """Say whether a line looks other than the one before it. Of a few characters, as in formulas, the size tells nothing."""
    away = abs(now.line.main.size - before.line.main.size)
    return (
        away >= 0.12 * style.size and min(len(now.text), len(before.text)) >= 4
    ) or now.line.is_bold != before.line.is_bold


def _is_apart(
    line: TextLine, before: TextLine, style: _Style, *, ends: bool, is_short: bool
) -> bool:
    """Say whether there is more room between two lines than within a paragraph, where formulas may drive lines apart."""
    usual = max(style.pitch * before.main.size / style.size, before.main.size)
    return line.base - before.base > (1.2 if ends else 1.3 if is_short else 1.45) * usual


def _is_indented(line: TextLine, before: TextLine, after: TextLine, least: float) -> bool:
    return (
        after.column == line.column
        and line.left - before.left > least
        and line.left - after.left > least
    )


def _is_heading(paragraph: list[_Written], style: _Style) -> bool:
    text = " ".join(one.text for one in paragraph)
    if len(paragraph) > 3 or len(text) > LONGEST_HEADING:
        return False
    larger = min(one.line.main.size for one in paragraph) > 1.12 * style.size
    if not larger and (
        len(text) > LONGEST_BOLD
        or text.endswith((".", ",", ";"))
        or not all(one.line.is_bold for one in paragraph)
    ):
        return False
    letters = sum(letter.isalpha() for letter in repair_glyphs(text).text)
    return letters >= max(3.0, 0.4 * len(text))


# Text


class _Page:
    """A page's text before it is mended, with the glyph and the line of each character."""

    def __init__(self, glyphs: Glyphs, words: frozenset[str]) -> None:
        self._glyphs, self._words = glyphs, words
        self._letters: list[str] = []
        self._origin: list[int] = []
        self._lines: list[int] = []
        self._pieces: list[tuple[int, int, bool]] = []

    def add(self, paragraph: tuple[list[_Written], bool]) -> None:
        """Write a paragraph, an empty line before it."""
        lines, is_heading = paragraph
        start = len(self._letters)
        for one in lines:
            self._join(start, one.text)
            for place, glyph in enumerate(one.line.glyphs, 1):
                self._write(glyph, one.index, is_last=place == len(one.line.glyphs))
        while len(self._letters) > start and self._letters[-1].isspace():
            self._drop()
        if len(self._letters) > start and self._letters[-1] == HYPHEN:
            self._letters[-1] = "-"
        if len(self._letters) > start:
            self._pieces.append((start, len(self._letters), is_heading))
            self._gap("\n", "\n")

    def mended(self) -> Prose:
        """Return the page's text, put right."""
        mended = repair_glyphs("".join(self._letters).rstrip())
        pieces = [
            ProsePiece(
                first=bisect_left(mended.origin, first),
                last=bisect_left(mended.origin, last),
                is_heading=is_heading,
            )
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
        if (
            not letter
            or (letter == "\u00ad" and not is_last)
            or (letter.isspace() and self._letters and self._letters[-1].isspace())
        ):
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

    def _join(self, start: int, following: str) -> None:
        """Go on with the next line: a word that was broken is made whole, else a blank stands between."""
        while len(self._letters) > start and self._letters[-1].isspace():
            self._drop()
        if len(self._letters) == start:
            return
        if self._letters[-1] not in HYPHENS:
            self._gap(" ")
        elif self._is_broken(following):
            self._drop()
        elif self._letters[-1] == HYPHEN:
            self._letters[-1] = "-"

    def _is_broken(self, following: str) -> bool:
        """Say whether the hyphen was set because the line ended: not in “x-axis”, “state-of-the-art”, “Anglo-Saxon”, “1990-1995”."""
        before = re.search(r"\S*$", "".join(self._letters[-60:-1]))
        after = re.match(r"\w*", repair_glyphs(following).text)
        left, right = before[0] if before else "", after[0] if after else ""
        if len(left) < 2 or not left[-1].isalpha() or not right[:1].islower():
            return self._letters[-1] == "\u00ad"
        return (
            "-" not in left
            and left.casefold() not in COMPOUNDING
            and f"{left}-{right}" not in self._words
        )
