"""The reader of each kind of file."""

from pathlib import Path
from typing import Final

from citations.readers import plain_text
from citations.readers.file_types import HTML, MARKDOWN, PDF, TEXT
from citations.readers.markup import html, markdown
from citations.readers.pagination import OpenDocument
from citations.readers.pdf import reader as pdf_reader

_READERS: Final = {MARKDOWN: markdown, TEXT: plain_text, HTML: html}


def version_of(media_type: str) -> str:
    """Return the reader's name and version; while it stays, a file yields the same pages."""
    return pdf_reader.VERSION if media_type == PDF else _READERS[media_type].VERSION


def open_file(path: Path, media_type: str, *, most_pages: int, first: int = 1) -> OpenDocument:
    """Open a file to read its pages from number ``first`` on; a PDF's are read on demand.

    Raises ``DocumentEncrypted``, ``DocumentBroken`` and ``DocumentTooLarge``, here or while
    iterating over the pages.
    """
    if media_type == PDF:
        pages = pdf_reader.read(path, most_pages=most_pages, first=first)
        return OpenDocument(facts=pdf_reader.describe(path), pages=pages)
    opened = _READERS[media_type].read(path, most_pages=most_pages)
    pages_left = [page for page in opened.pages if page.number >= first]
    return OpenDocument(facts=opened.facts, pages=pages_left)
