"""Web pages: the body's headings, paragraphs, lists, tables and code, without navigation."""

import re
from pathlib import Path
from typing import Final

from citations.readers import plain_text
from citations.readers.markup.isolation import parse_markup
from citations.readers.pagination import PAGE, OpenDocument, paginate

VERSION: Final = "html 1"
_MAX_MARKUP: Final = 4  # characters of a page per character of its text
_CHARSET: Final = re.compile(
    rb"<meta[^<>]{0,200}?charset\s*=\s*[\"']?\s*([\w.:-]{1,40})", re.IGNORECASE
)
_HEAD: Final = 4_096  # bytes in which a page declares its encoding


def read(path: Path, *, most_pages: int) -> OpenDocument:
    """Divide a web page into pages. Raises ``DocumentTooLarge`` and ``MarkupTooComplex``."""
    with path.open("rb") as stream:
        match = _CHARSET.search(stream.read(_HEAD))
    declared = match[1].decode() if match else ""
    source = plain_text.load(path, most=_MAX_MARKUP * most_pages * PAGE, declared=declared)
    facts, pieces = parse_markup(source, kind="html")
    return paginate(pieces, most_pages=most_pages, **facts)
