"""Markdown: headings become sections; lists, tables and code keep their lines."""

from pathlib import Path
from typing import Final

from citations.readers import plain_text
from citations.readers.markup.isolation import MarkupTooComplex, parse_markup
from citations.readers.pagination import PAGE, OpenDocument, paginate

VERSION: Final = "markdown 2"


def read(path: Path, *, most_pages: int) -> OpenDocument:
    """Divide a Markdown file into pages; read it as plain text if parsing takes too long.

    Raises ``DocumentTooLarge``.
    """
    source = plain_text.load(path, most=most_pages * PAGE)
    try:
        facts, pieces = parse_markup(source, kind="markdown")
    except MarkupTooComplex:
        return paginate(plain_text.split_paragraphs(source), most_pages=most_pages)
    return paginate(pieces, most_pages=most_pages, **facts)
