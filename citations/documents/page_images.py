"""Pictures of pages, drawn once and kept in files as long as their document is there: at most ``MOST_KEPT`` bytes, those looked at longest ago go first."""

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from PIL import Image

from citations import conf
from citations.documents import storage as document_storage
from citations.models import Document, Page
from citations.readers.page import Box
from citations.readers.pdf import reader as pdf_reader
from transcripts.errors import KnowledgeBaseError

PDF: Final = "application/pdf"
WIDTHS: Final = (800, 1600, 2400)  # pixels
SUFFIX: Final = ".webp"
MOST_KEPT: Final = 500_000_000  # bytes
PRUNE_EVERY: Final = 50  # pictures of a document's page whose number this divides are the occasion to look how much is kept
MOST_SPANS: Final = 80  # of one page, that are looked for on its picture

Span = tuple[int, int]  # characters [first, last)


@dataclass(frozen=True, slots=True, kw_only=True)
class PageImage:
    """What is known of a page's picture: its size in pixels at the smallest width, and the widths that there are."""

    width: int
    height: int
    widths: tuple[int, ...] = WIDTHS


def measure_image(document: Document, number: int) -> PageImage | None:
    """Return how large a page's picture is; None where the file has none, or the page cannot be drawn."""
    if document.media_type != PDF:
        return None
    try:
        path = render_page(document, number, width=WIDTHS[0])
    except KnowledgeBaseError:
        return None  # the text is shown instead
    with Image.open(path) as image:
        return PageImage(width=image.width, height=image.height)


def render_page(document: Document, number: int, *, width: int) -> Path:
    """Return the file of a page's picture (WebP), drawn now if it was not kept. Raises ``DocumentBroken`` and ``DocumentEncrypted``."""
    path = (
        _folder()
        / document.digest[:2]
        / document.digest
        / f"{name(document, number, width=width)}{SUFFIX}"
    )
    with suppress(FileNotFoundError):
        os.utime(path)
        return path
    _keep(path, pdf_reader.render(document_storage.path_of(document), number, width=width))
    if number % PRUNE_EVERY == 0:
        prune()
    return path


def name(document: Document, number: int, *, width: int) -> str:
    """Return what tells a picture from every other: another file, page, width or way of drawing has another name."""
    return f"{document.digest[:16]}-{number}-{width}-{pdf_reader.VERSION.replace(' ', '')}"


def boxes(
    document: Document, page: Page, quote: Sequence[Span], found: Sequence[Span]
) -> tuple[tuple[Box, ...], tuple[Box, ...]]:
    """Return where a quote and the words that are looked for stand on a page's picture.

    Nothing where the file cannot be read any more, or where another version of the reader made the text: its characters stand elsewhere.
    """
    if document.read_by not in ("", pdf_reader.VERSION):
        return (), ()
    try:
        path = document_storage.path_of(document)
        on_page = [
            [
                box
                for first, last in spans[:MOST_SPANS]
                for box in pdf_reader.boxes(path, page.number, first, last)
            ]
            for spans in (quote, found)
        ]
    except KnowledgeBaseError:
        return (), ()
    return tuple(on_page[0]), tuple(on_page[1])


def prune(most: int = MOST_KEPT) -> None:
    """Delete the pictures of documents that are no more, and those that were not looked at for longest, until at most ``most`` bytes are left."""
    total = 0
    found = sorted(_kept(), reverse=True)
    known = _known()  # afterwards: what was drawn meanwhile for a new document is not among them
    for _, size, path in found:
        total += size
        if total > most or path.parent.name not in known:
            path.unlink(missing_ok=True)


def _known() -> set[str]:
    folders = {folder.name for folder in _folder().glob("*/*")}
    return set(Document.objects.filter(digest__in=folders).values_list("digest", flat=True))


def _folder() -> Path:
    return conf.cache_dir() / "pages"


def _kept() -> Iterator[tuple[float, int, Path]]:
    for path in _folder().glob("*/*/*"):
        try:
            stat = path.stat()
        except FileNotFoundError:
            continue  # somebody else was quicker
        yield stat.st_mtime, stat.st_size, path


def _keep(path: Path, data: bytes) -> None:
    """Write a file whole or not at all: others may be reading it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as fresh:
        fresh.write(data)
    Path(fresh.name).replace(path)
