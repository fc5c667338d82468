"""Page images, rendered once and cached; the least recently used are deleted beyond a limit."""

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from PIL import Image, UnidentifiedImageError

from citations import conf
from citations.documents import local_copies, ocr
from citations.models import Document, Page
from citations.readers.page import Box
from citations.readers.pdf import reader as pdf_reader
from transcripts.core.errors import KnowledgeBaseError
from transcripts.core.work.disk import make_private_folder, storage_full, write_whole

WIDTHS: Final = (800, 1600, 2400)  # pixels
SUFFIX: Final = ".webp"
MAX_KEPT: Final = 500_000_000  # bytes of the cache
PRUNE_EVERY: Final = 50  # pages
MAX_LINES: Final = 400  # of a page that can be selected
BASE_LINE: Final = 0.8  # of a line's height
MAX_SPANS: Final = 80  # of a page that are located on its image

Span = tuple[int, int]  # characters [first, last)


@dataclass(frozen=True, slots=True, kw_only=True)
class PageImage:
    """The size in pixels of a page's image at the smallest width, and the available widths."""

    width: int
    height: int
    widths: tuple[int, ...] = WIDTHS


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectableLine:
    """A line of text on a page's image; ``base`` is where its letters stand. In pixels."""

    text: str
    left: float
    base: float
    width: float
    size: float


def measure_image(document: Document, number: int) -> PageImage | None:
    """Return the size of a page's image, None if it has none or cannot be rendered."""
    if not document.format.is_laid_out:
        return None
    try:
        path = render_page(document, number, width=WIDTHS[0])
        with Image.open(path) as image:
            return PageImage(width=image.width, height=image.height)
    except (KnowledgeBaseError, UnidentifiedImageError):
        return None  # the text is shown instead


def render_page(document: Document, number: int, *, width: int) -> Path:
    """Return a page's cached image (WebP). Raises what ``pdf.reader.render`` raises."""
    file_name = f"{name(document, number, width=width)}{SUFFIX}"
    path = _folder() / document.digest[:2] / document.digest / file_name
    with suppress(FileNotFoundError):
        os.utime(path)
        return path
    image = pdf_reader.render(local_copies.path_of(document), number, width=width)
    make_private_folder(path.parent)
    try:
        write_whole(path, image)
    except OSError as error:
        raise storage_full(error) or error from error
    if number % PRUNE_EVERY == 0:
        prune()
    return path


def name(document: Document, number: int, *, width: int) -> str:
    """Return the image's unique name, made of file, page, width and renderer's version."""
    return f"{document.digest[:16]}-{number}-{width}-{document.format.version.replace(' ', '')}"


def boxes(
    document: Document, page: Page, quote: Sequence[Span], matches: Sequence[Span]
) -> tuple[tuple[Box, ...], tuple[Box, ...]]:
    """Return the boxes of a quote and of matches; none if another version read the file."""
    if document.is_read_otherwise:
        return (), ()
    try:
        path, read = local_copies.path_of(document), ocr.results_of(document)
        quote_boxes, match_boxes = (
            tuple(
                box
                for first, last in spans[:MAX_SPANS]
                for box in pdf_reader.boxes(path, page.number, first, last, ocr=read)
            )
            for spans in (quote, matches)
        )
    except KnowledgeBaseError:
        return (), ()
    return quote_boxes, match_boxes


def text_lines(document: Document, page: Page, image: PageImage) -> tuple[SelectableLine, ...]:
    """Return the lines of a page's text, to select on its image; none as for ``boxes``."""
    if document.is_read_otherwise:
        return ()
    try:
        path, read = local_copies.path_of(document), ocr.results_of(document)
        lines = pdf_reader.text_lines(path, page.number, ocr=read)
    except KnowledgeBaseError:
        return ()
    return tuple(
        SelectableLine(
            text=" ".join(page.text[first:last].split()),
            left=box.left * image.width,
            base=(box.top + BASE_LINE * box.height) * image.height,
            width=box.width * image.width,
            size=box.height * image.height,
        )
        for first, last, box in lines[:MAX_LINES]
        if last <= page.length and page.text[first:last].strip()
    )


def prune() -> None:
    """Delete images of deleted documents, and the least recently used beyond ``MAX_KEPT`` bytes."""
    total = 0
    images = sorted(_images(), reverse=True)
    folders = {folder.name for folder in _folder().glob("*/*")}
    documents = Document.objects.filter(digest__in=folders)
    digests = set(documents.values_list("digest", flat=True))  # last: some were just added
    for _, size, path in images:
        total += size
        if total > MAX_KEPT or path.parent.name not in digests:
            path.unlink(missing_ok=True)


def _folder() -> Path:
    return conf.cache_dir() / "pages"


def _images() -> Iterator[tuple[float, int, Path]]:
    for path in _folder().glob("*/*/*"):
        with suppress(FileNotFoundError):  # another process may prune
            stat = path.stat()
            yield stat.st_mtime, stat.st_size, path
