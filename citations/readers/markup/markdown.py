"""Markdown: headings become sections; lists, tables and programs keep their lines."""

from pathlib import Path
from typing import Final

from citations.readers import plain_text
from citations.readers.markup.isolation import MarkupTooComplex, parse_markup
from citations.readers.pagination import PAGE, OpenDocument, paginate

VERSION: Final = "markdown 2"


def read(path: Path, *, most_pages: int) -> OpenDocument:
    """Lay a Markdown file out on pages; one that no parser is done with is read as plain text. Raises ``DocumentTooLarge``."""
    source = plain_text.load(path, most=most_pages * PAGE)
    try:
        facts, pieces = parse_markup(source, kind="markdown")
    except MarkupTooComplex:
        return paginate(plain_text.split_paragraphs(source), most_pages=most_pages)
    return paginate(
        pieces,
        most_pages=most_pages,
        title=facts.get("title", ""),
        author=facts.get("author", ""),
        language=facts.get("language", ""),
    )
