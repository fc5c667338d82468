"""Markdown and web pages: headings, paragraphs, lists, tables and code, without navigation.

A child process with limits of time and memory parses them (see ``worker``).
"""

import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from citations.errors import DocumentBroken
from citations.readers import plain_text
from citations.readers.pagination import MAX_PAGE, MarkupBlock, OpenDocument, paginate
from citations.readers.parser_process import SECONDS, ParserEnded, run
from citations.readers.plain_text import clean

PROGRAM = Path(__file__).with_name("worker.py")
_MAX_MARKUP: Final = 4  # characters of a web page per character of its text
_HEAD: Final = 4_096  # bytes in which a web page declares its encoding
_CHARSET: Final = re.compile(
    rb"<(?:meta[^<>]{0,200}?charset|\?xml[^<>]{0,100}?encoding)\s*=\s*[\"']?\s*([\w.:-]{1,40})",
    re.IGNORECASE,
)


class MarkupTooComplex(DocumentBroken):
    """The process ended early: the markup is nested too deeply, too slow to parse, or too large."""


def read_html(path: Path, *, most_pages: int, first: int = 1) -> OpenDocument:
    """Divide a web page into pages. Raises ``DocumentTooLarge`` and ``MarkupTooComplex``."""
    with path.open("rb") as stream:
        match = _CHARSET.search(stream.read(_HEAD))
    declared = match[1].decode() if match else ""
    most = _MAX_MARKUP * most_pages * MAX_PAGE
    source, note = plain_text.load(path, most=most, declared=declared)
    facts, pieces = parse_markup(source, kind="html")
    return paginate(pieces, most_pages=most_pages, first=first, **_also_told(facts, note))


def read_markdown(path: Path, *, most_pages: int, first: int = 1) -> OpenDocument:
    """Divide a Markdown file into pages, as plain text if parsing takes too long."""
    source, note = plain_text.load(path, most=most_pages * MAX_PAGE)
    try:
        facts, pieces = parse_markup(source, kind="markdown")
    except MarkupTooComplex:
        facts, pieces = {}, plain_text.split_paragraphs(source)
    return paginate(pieces, most_pages=most_pages, first=first, **_also_told(facts, note))


def _also_told(facts: dict[str, str], note: str) -> dict[str, str]:
    return facts | {"note": f"{facts.get('note', '')} {note}".strip()}


def parse_markup(
    text: str, *, kind: str, seconds: int = SECONDS
) -> tuple[dict[str, str], Iterator[MarkupBlock]]:
    """Return the facts and the pieces of ``html`` or ``markdown``. Raises ``MarkupTooComplex``."""
    with tempfile.TemporaryFile() as source:
        source.write(text.encode(errors="replace"))
        try:
            facts, lines = run(PROGRAM, source, kind, seconds=seconds)
        except ParserEnded:
            raise MarkupTooComplex(
                "It cannot be parsed: it is too large or nested too deeply."
            ) from None
    return {name: clean(str(value)) for name, value in facts.items()}, (
        MarkupBlock(clean(text), level, clean(html)) for level, text, html in lines
    )
