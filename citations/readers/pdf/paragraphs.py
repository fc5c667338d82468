"""Composes a page's text from its lines: joins paragraphs, and undoes hyphenation. Pure."""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median

from citations.readers.pdf.glyph_repair import repair_glyphs
from citations.readers.pdf.layout import TextLine
from citations.readers.pdf.runs import Glyphs
from citations.readers.pdf.scripts import is_east_asian

HYPHEN = "\ufffe"  # PDFium's for a hyphen at the end of a line
HYPHENS = "-\u00ad\u2010\ufffe\u0002"
MAX_HEADING = 160  # characters of a heading in larger letters
MAX_BOLD = 100  # and of one that is only bold
# They keep the hyphen of words such as "self-adjoint" at the end of a line.
_COMPOUNDING = "self well right left high low half cross one two three four long short"
_COMPOUNDING_WORDS = frozenset(_COMPOUNDING.split())
BULLET = re.compile(r"(?:[•◦▪‣●○■–—*]|\(?[0-9]{1,3}[.)]|\(?[a-zA-Z][.)])\s")
SENTENCE_END = re.compile(r"[.!?:;]['\")\]”’]*$")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProsePiece:
    """Characters [first, last) of the page's text; a heading differs in size or weight."""

    first: int
    last: int
    is_heading: bool


@dataclass(slots=True)
class Prose:
    """A page's text. ``origin`` and ``lines`` hold the glyph (-1: none) and line of each character.

    Headers and footers follow the last piece. Word counts are those of ``RepairedText``.
    """

    text: str = ""
    origin: list[int] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    pieces: list[ProsePiece] = field(default_factory=list)
    words: int = 0
    repaired: int = 0
    garbled: int = 0


def compose(
    glyphs: Glyphs, lines: Sequence[TextLine], *, edges: frozenset[int] = frozenset()
) -> Prose:
    """Compose the page's text; the lines of these indexes are its headers and footers."""
    all_lines = [
        _TextOfLine(index, line, _plain(glyphs, line.glyphs))
        for index, line in enumerate(lines)
        if line.glyphs
    ]
    lines_left = [line for line in all_lines if line.index not in edges]
    words = (word for line in lines_left if "-" in line.text for word in line.text.split())
    page = _PageText(glyphs, frozenset(word.strip(",.;:()") for word in words if "-" in word))
    for paragraph in _paragraphs(lines_left, is_wide=glyphs.width > glyphs.height):
        page.add(*paragraph)
    for line in all_lines:
        if line.index in edges:
            page.add([line])
    return page.repaired()


def line_text(glyphs: Glyphs, line: TextLine) -> str:
    """Return the corrected text of one line."""
    return plain_text(glyphs, line.glyphs).strip()


def plain_text(glyphs: Glyphs, indexes: Sequence[int]) -> str:
    """Return the corrected text of characters, with spaces (-1)."""
    return repair_glyphs(_plain(glyphs, indexes)).text


def _plain(glyphs: Glyphs, indexes: Sequence[int]) -> str:
    codes = glyphs.codes
    return "".join([" " if index < 0 else _letter_of(codes[index]) for index in indexes])


def _letter_of(code: int) -> str:
    """Return the character of a code point, "" for one that must not reach a database."""
    if code < 32 or 0xD800 <= code < 0xE000 or code > 0x10FFFF or code in (0xFFFF, 0xFFFE):
        return HYPHEN if code in (2, 0xFFFE) else ""
    return chr(code)


@dataclass(frozen=True, slots=True)
class _TextOfLine:
    """A line, its index on the page, and its text."""

    index: int
    line: TextLine
    text: str


@dataclass(frozen=True, slots=True)
class _Style:
    """The page's usual values in points: text size, line pitch, and right edge of each column.

    ``heading`` is the least size of a heading.
    """

    size: float
    pitch: float
    rights: dict[int, float]
    heading: float


def _paragraphs(
    lines: Sequence[_TextOfLine], *, is_wide: bool
) -> list[tuple[list[_TextOfLine], bool]]:
    """Return the lines of each paragraph, and whether it is a heading."""
    style = _style(lines, is_wide=is_wide)
    paragraphs: list[list[_TextOfLine]] = []
    for before, line, after in zip((None, *lines), lines, (*lines[1:], None), strict=False):
        if before is None or _begins(line, before, after, style):
            paragraphs.append([])
        paragraphs[-1].append(line)
    return [(paragraph, _is_heading(paragraph, style)) for paragraph in paragraphs]


def _style(lines: Sequence[_TextOfLine], *, is_wide: bool) -> _Style:
    weights: Counter[float] = Counter()
    rights: dict[int, list[float]] = {}
    for line in lines:
        own = line.line.main.size
        weights[round(own * 2) / 2 or own] += len(line.text)  # never 0: others are divided by it
        rights.setdefault(line.line.column, []).append(line.line.right)
    size = max(weights, key=lambda key: weights[key], default=10.0)
    ends = {column: sorted(edges)[-1 - (len(edges) - 1) // 10] for column, edges in rights.items()}
    full = [
        (a.line, b.line)
        for a, b in pairwise(lines)
        if a.line.column == b.line.column and a.line.right > ends[a.line.column] - 3 * size
    ]
    steps = [
        b.base - a.base
        for a, b in full
        if abs(a.main.size - size) < 0.6 and 0.9 * size < b.base - a.base < 2.2 * size
    ]
    largest = max(weights, default=size)
    # A slide's title may have more letters than all its text, or be all of it.
    has_title = is_wide and (len(weights) > 1 or len(lines) == 1)
    heading = 0.95 * largest if has_title else 1.12 * size
    return _Style(size, median(steps) if steps else 1.2 * size, ends, heading)


def _begins(
    now: _TextOfLine, before: _TextOfLine, after: _TextOfLine | None, style: _Style
) -> bool:
    """Whether a paragraph begins with this line."""
    line, last = now.line, before.line
    ends = bool(SENTENCE_END.search(before.text))
    missing = style.rights[last.column] - last.right  # points to the column's right edge
    if (
        line.column != last.column
        or _has_other_style(now, before, style)
        or _is_apart(line, last, style, ends=ends, is_short=missing > 2 * style.size)
    ):
        return True
    if BULLET.match(now.text) and (ends or missing > 2 * style.size):
        return True
    if after is not None and _is_indented(line, last, after.line, 0.8 * style.size):
        return ends or missing > 4 * style.size
    return ends and missing > 6 * style.size and line.base - last.base > 1.08 * style.pitch


def _has_other_style(now: _TextOfLine, before: _TextOfLine, style: _Style) -> bool:
    """Whether a line's style differs from the line before; the size of short formulas varies."""
    difference = abs(now.line.main.size - before.line.main.size)
    return (
        difference >= 0.12 * style.size and min(len(now.text), len(before.text)) >= 4
    ) or now.line.is_bold != before.line.is_bold


def _is_apart(
    line: TextLine, before: TextLine, style: _Style, *, ends: bool, is_short: bool
) -> bool:
    """Whether the gap before a line is larger than formulas make it within a paragraph."""
    usual = max(style.pitch * before.main.size / style.size, before.main.size)
    return line.base - before.base > (1.2 if ends else 1.3 if is_short else 1.45) * usual


def _is_indented(line: TextLine, before: TextLine, after: TextLine, least: float) -> bool:
    return (
        after.column == line.column
        and line.left - before.left > least
        and line.left - after.left > least
    )


def _is_heading(paragraph: list[_TextOfLine], style: _Style) -> bool:
    text = " ".join(line.text for line in paragraph)
    if len(paragraph) > 3 or len(text) > MAX_HEADING:
        return False
    larger = min(line.line.main.size for line in paragraph) > style.heading
    if not larger and (
        len(text) > MAX_BOLD
        or text.endswith((".", ",", ";"))
        or not all(line.line.is_bold for line in paragraph)
    ):
        return False
    letters = sum(letter.isalpha() for letter in repair_glyphs(text).text)
    return letters >= max(3.0, 0.4 * len(text))


class _PageText:
    """A page's text before correction, with the glyph and the line of each character."""

    def __init__(self, glyphs: Glyphs, words: frozenset[str]) -> None:
        self._glyphs, self._words = glyphs, words
        self._letters: list[str] = []
        self._origin: list[int] = []
        self._lines: list[int] = []
        self._pieces: list[tuple[int, int, bool]] = []

    def add(self, lines: Sequence[_TextOfLine], is_heading: bool | None = None) -> None:
        """Append a paragraph after an empty line; one that is neither heading nor text is no piece
        of the page.
        """
        start = len(self._letters)
        for line in lines:
            self._join(start, line.text)
            for count, glyph in enumerate(line.line.glyphs, 1):
                self._write(glyph, line.index, is_last=count == len(line.line.glyphs))
        while len(self._letters) > start and self._letters[-1].isspace():
            self._drop()
        if len(self._letters) > start and self._letters[-1] == HYPHEN:
            self._letters[-1] = "-"
        if len(self._letters) > start:
            if is_heading is not None:
                self._pieces.append((start, len(self._letters), is_heading))
            self._gap("\n", "\n")

    def repaired(self) -> Prose:
        repaired = repair_glyphs("".join(self._letters).rstrip())
        pieces = [
            ProsePiece(
                first=bisect_left(repaired.origin, first),
                last=bisect_left(repaired.origin, last),
                is_heading=is_heading,
            )
            for first, last, is_heading in self._pieces
        ]
        return Prose(
            text=repaired.text,
            origin=[self._origin[index] for index in repaired.origin],
            lines=[self._lines[index] for index in repaired.origin],
            pieces=pieces,
            words=repaired.words,
            repaired=repaired.repaired,
            garbled=repaired.garbled,
        )

    def _write(self, glyph: int, line: int, *, is_last: bool) -> None:
        letter = " " if glyph < 0 else _letter_of(self._glyphs.codes[glyph])
        if (
            not letter
            or (letter == "\u00ad" and not is_last)
            or (letter.isspace() and self._letters and self._letters[-1].isspace())
        ):
            return  # soft hyphens within a line are invisible
        self._put("-" if letter == HYPHEN and not is_last else letter, glyph, line)

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
        """Join the next line: rejoin a hyphenated word, or else add a space."""
        while len(self._letters) > start and self._letters[-1].isspace():
            self._drop()
        if len(self._letters) == start:
            return
        if self._letters[-1] not in HYPHENS:
            ends = self._letters[-1] + (following.lstrip() or " ")[0]
            if not all(is_east_asian(ord(letter)) for letter in ends):
                self._gap(" ")
        elif self._is_broken(following):
            self._drop()
        elif self._letters[-1] == HYPHEN:
            self._letters[-1] = "-"

    def _is_broken(self, following: str) -> bool:
        """Whether the hyphen only breaks the line, unlike that of “x-axis” or “1990-95”."""
        before = re.search(r"\S*$", "".join(self._letters[-60:-1]))
        after = re.match(r"\w*", repair_glyphs(following).text)
        left, right = before[0] if before else "", after[0] if after else ""
        if len(left) < 2 or not left[-1].isalpha() or not right[:1].islower():
            return self._letters[-1] == "\u00ad"
        return (
            "-" not in left
            and left.casefold() not in _COMPOUNDING_WORDS
            and f"{left}-{right}" not in self._words
        )
