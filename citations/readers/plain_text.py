"""Plain text in any encoding: its paragraphs, and lines that look like headings."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from citations.errors import DocumentTooLarge
from citations.readers.pagination import MAX_PAGE, MarkupBlock, OpenDocument, paginate
from transcripts import captions
from transcripts.captions.caption_errors import UnsureEncoding

_MAX_CHARACTER_BYTES: Final = 4
# Controls, surrogates, and marks that change the direction of text.
_UNWANTED: Final = {
    **dict.fromkeys((*range(32), *range(0x7F, 0xA0), *range(0xD800, 0xE000))),
    **dict.fromkeys((*range(0x202A, 0x202F), *range(0x2066, 0x206A), 0xAD, 0xFEFF)),
    **dict.fromkeys((0x0A, 0x0B, 0x85, 0x2028), "\n"),
    **dict.fromkeys((0x0C, 0x2029), "\n\n"),
    0x09: "\t",
}


def read(path: Path, *, most_pages: int, first: int = 1) -> OpenDocument:
    """Divide a text file into pages. Raises ``DocumentTooLarge``."""
    text, note = load(path, most=most_pages * MAX_PAGE)
    return paginate(split_paragraphs(text), most_pages=most_pages, first=first, note=note)


def load(path: Path, *, most: int, declared: str = "") -> tuple[str, str]:
    """Return a file's cleaned text, and a note where its encoding is a guess that may be wrong.

    ``declared`` is the encoding that it names itself. Raises ``DocumentTooLarge`` for more than
    ``most`` characters, if possible before reading.
    """
    is_small = path.stat().st_size <= _MAX_CHARACTER_BYTES * most
    decoded = captions.decode(path.read_bytes() if is_small else b"", declared=declared)
    text = clean(decoded.text)
    if not is_small or len(text) > most:
        raise DocumentTooLarge(f"It has more than {most:,} characters.")
    return text, "" if decoded.is_sure else UnsureEncoding(decoded.encoding).text


def clean(text: str) -> str:
    """Normalise line breaks and remove characters that cannot be stored or shown."""
    return text.replace("\r\n", "\n").replace("\r", "\n").translate(_UNWANTED)


def split_paragraphs(text: str) -> Iterator[MarkupBlock]:
    """Yield the paragraphs, separated by empty lines, and headings. Lines are kept."""
    for paragraph in _EMPTY_LINES.split(text):
        lines = [line.rstrip() for line in paragraph.split("\n")]
        if len(lines) > 1 and _UNDERLINE.fullmatch(lines[1]) and _has_heading_length(lines[0]):
            yield MarkupBlock(lines[0].strip(), 1 if lines[1][0] == "=" else 2)
            lines = lines[2:]
        elif len(lines) == 1 and _is_heading(lines[0]):
            yield MarkupBlock(lines[0].strip(), 1)
            continue
        yield MarkupBlock("\n".join(lines))


_EMPTY_LINES: Final = re.compile(r"\n[ \t]*(?:\n[ \t]*)+")
_UNDERLINE: Final = re.compile(r"={3,}|-{3,}")
_CHAPTER: Final = re.compile(
    r"(?:chapter|part|section|lecture|appendix|book|kapitel|teil|abschnitt|chapitre|capítulo)"
    r"\s+[\divxlc]+\b.*",
    re.IGNORECASE,
)
_NUMBERED: Final = re.compile(r"\d{1,2}(?:\.\d{1,3}){1,4}\.?\s+\S.*|\d{1,2}\.?\s+[^\W\d_a-z].*")
_HEADING_LENGTH: Final = 80
_LEAST_CAPITALS: Final = 4  # of a heading in capitals


def _has_heading_length(line: str) -> bool:
    return 0 < len(line.strip()) <= _HEADING_LENGTH


def _is_heading(line: str) -> bool:
    """Whether a line by itself is numbered, called a chapter, or in capitals, and no sentence."""
    line = line.strip()
    if not _has_heading_length(line):
        return False
    if _CHAPTER.fullmatch(line):
        return True
    if line[-1] in ".!?:;,…":
        return False
    is_capitals = line.isupper() and sum(map(str.isalpha, line)) >= _LEAST_CAPITALS
    return is_capitals or _NUMBERED.fullmatch(line) is not None
