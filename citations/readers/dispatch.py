"""Files of every kind that is read: what they say of themselves, and their pages."""

from pathlib import Path
from typing import Final

from citations.readers import plain_text
from citations.readers.file_types import HTML, MARKDOWN, PDF, TEXT
from citations.readers.markup import html, markdown
from citations.readers.pagination import OpenDocument
from citations.readers.pdf import reader as pdf_reader

_READERS: Final = {MARKDOWN: markdown, TEXT: plain_text, HTML: html}


def version_of(media_type: str) -> str:
    """Return which reader reads it, in which version: the same file gives the same pages as long as this stays."""
    return pdf_reader.VERSION if media_type == PDF else _READERS[media_type].VERSION


def open_file(path: Path, media_type: str, *, most_pages: int, first: int = 1) -> OpenDocument:
    """Open a file to read its pages from number ``first`` on; those of a PDF are read as they are asked for.

    Raises, here or while pages come: ``DocumentEncrypted``, ``DocumentBroken``, ``DocumentTooLarge``.
    """
    if media_type == PDF:
        return OpenDocument(
            facts=pdf_reader.describe(path),
            pages=pdf_reader.read(path, most_pages=most_pages, first=first),
        )
    opened = _READERS[media_type].read(path, most_pages=most_pages)
    return OpenDocument(
        facts=opened.facts, pages=[page for page in opened.pages if page.number >= first]
    )
