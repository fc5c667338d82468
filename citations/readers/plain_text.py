"""Plain text: bytes become characters, whatever encoding they are in; paragraphs, and lines that look like headings."""

import codecs
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from charset_normalizer import from_bytes

from citations.errors import DocumentTooLarge
from citations.readers.pagination import PAGE, MarkupBlock, OpenDocument, paginate
from transcripts import captions

VERSION: Final = "text 1"

_MARKS: Final = (  # UTF-32's little-endian mark begins with UTF-16's
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_SAMPLE: Final = 32_768  # bytes from which an encoding is guessed
_BYTES_A_CHARACTER: Final = 4
# Neither PostgreSQL nor a reader wants them: controls, halves of characters, marks that turn the direction of what follows.
_UNWANTED: Final = {
    **dict.fromkeys(
        [
            *range(32),
            *range(0x7F, 0xA0),
            *range(0xD800, 0xE000),
            *range(0x202A, 0x202F),
            *range(0x2066, 0x206A),
            0xAD,
            0xFEFF,
        ]
    ),
    **dict.fromkeys((0x0A, 0x0B, 0x85, 0x2028), "\n"),
    **dict.fromkeys((0x0C, 0x2029), "\n\n"),
    0x09: "\t",
}


def read(path: Path, *, most_pages: int) -> OpenDocument:
    """Lay a text file out on pages. Raises ``DocumentTooLarge``."""
    return paginate(split_paragraphs(load(path, most=most_pages * PAGE)), most_pages=most_pages)


def load(path: Path, *, most: int, declared: str = "") -> str:
    """Return a file's text, cleaned. Raises ``DocumentTooLarge`` where it has more than ``most`` characters, before it is read if its size tells."""
    if path.stat().st_size > _BYTES_A_CHARACTER * most:
        raise _too_large(most)
    text = clean(decode(path.read_bytes(), declared=declared))
    if len(text) > most:
        raise _too_large(most)
    return text


def decode(data: bytes, *, declared: str = "") -> str:
    """Decode by the byte order mark, as UTF-8, as what the file itself ``declared``, or as what a guess finds; what does not fit becomes U+FFFD."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return data[len(mark) :].decode(encoding, errors="replace")
    if found := captions.unmarked_utf16(data):
        return data.decode(found, errors="replace")
    try:
        return codecs.getincrementaldecoder("utf-8")().decode(data)
    except UnicodeDecodeError:
        return captions.nearly_utf8(data) or data.decode(
            _encoding(data, declared), errors="replace"
        )


def clean(text: str) -> str:
    """Return the text with line breaks of one kind, and without what cannot be stored or shown."""
    return text.replace("\r\n", "\n").replace("\r", "\n").translate(_UNWANTED)


def split_paragraphs(text: str) -> Iterator[MarkupBlock]:
    """Yield the paragraphs, which empty lines part, and the headings among them. The lines of a paragraph stay as they are."""
    for paragraph in _EMPTY_LINES.split(text):
        lines = [line.rstrip() for line in paragraph.split("\n")]
        if len(lines) > 1 and _UNDERLINE.fullmatch(lines[1]) and _may_be_heading(lines[0]):
            yield MarkupBlock(lines[0].strip(), 1 if lines[1][0] == "=" else 2)
            lines = lines[2:]
        elif len(lines) == 1 and _is_heading(lines[0]):
            yield MarkupBlock(lines[0].strip(), 1)
            continue
        yield MarkupBlock("\n".join(lines))


_EMPTY_LINES: Final = re.compile(r"\n[ \t]*(?:\n[ \t]*)+")
_UNDERLINE: Final = re.compile(r"={3,}|-{3,}")
_CHAPTER: Final = re.compile(
    r"(?:chapter|part|section|lecture|appendix|book|kapitel|teil|abschnitt|chapitre|capítulo)\s+[\divxlc]+\b.*",
    re.IGNORECASE,
)
_NUMBERED: Final = re.compile(r"\d{1,2}(?:\.\d{1,3}){1,4}\.?\s+\S.*|\d{1,2}\.?\s+[^\W\d_a-z].*")
_HEADING_LENGTH: Final = 80
_NO_ENCODINGS: Final = frozenset(
    {"idna", "punycode", "unicode-escape", "raw-unicode-escape", "undefined"}
)
_SHOUTED: Final = 4  # capital letters that a heading all in capitals has at least


def _may_be_heading(line: str) -> bool:
    return 0 < len(line.strip()) <= _HEADING_LENGTH


def _is_heading(line: str) -> bool:
    """Say whether a line that stands alone is a heading: numbered, called a chapter, or in capitals, and no sentence."""
    line = line.strip()
    if not _may_be_heading(line):
        return False
    if _CHAPTER.fullmatch(line):
        return True
    if line[-1] in ".!?:;,…":
        return False
    shouted = line.isupper() and sum(map(str.isalpha, line)) >= _SHOUTED
    return shouted or _NUMBERED.fullmatch(line) is not None


def _encoding(data: bytes, declared: str) -> str:
    sample = data[:_SAMPLE]
    for name in (declared, _guessed(sample)):
        if name and _is_text_codec(name):
            return name
    return "cp1252"


def _guessed(sample: bytes) -> str:
    found = from_bytes(sample).best()
    return found.encoding if found else ""


def _is_text_codec(name: str) -> bool:
    """Say whether Python decodes text by this name. What a file declares may be anything: "zip" and "punycode" are codecs too, but no encodings."""
    try:
        return codecs.lookup(name).name not in _NO_ENCODINGS and isinstance(b" ".decode(name), str)
    except (LookupError, ValueError):
        return False


def _too_large(most: int) -> DocumentTooLarge:
    return DocumentTooLarge(f"It has more than {most:,} characters.")
