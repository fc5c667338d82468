"""Reads by OCR the pages of documents that are pictures, or whose text layer is broken.

Each page is stored as soon as it is read, so that an attempt continues where the last one was
killed or cancelled. Afterwards the document is read again, with these words.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from django.conf import settings
from django.db import IntegrityError, InterfaceError, OperationalError, transaction
from django.db.models import Max

from citations.errors import NothingToRead, OcrFailed, PageImageBusy, SourceNotFound
from citations.models import Document, OcrResult, Page, Source, State
from citations.readers.ocr import engine
from citations.readers.page import named_pages
from citations.readers.pdf import reader as pdf_reader
from citations.readers.pdf.ocr_page import OcrPage
from transcripts.core.errors import DatabaseLost

STEP: Final = "reading pages by OCR"
SURE: Final = 0.9  # a mean score below which a page is named
MOST_FAILURES: Final = 3  # pages one after the other, before OCR is given up
TRIES: Final = 12  # to draw a page while another is drawn for long
SCRIPTS: Final = "Latin letters, Chinese and Japanese"  # that the models of the package know

PageDone = Callable[[int, int, str], object]  # gets the pages read, those to read, and the step


@dataclass(frozen=True, slots=True)
class StoredOcr:
    """Finds what OCR has read on a document's pages; equal ones find the same."""

    document: int
    last: int  # primary key of the newest result

    def __call__(self, number: int) -> OcrPage | None:
        """Return what was read on a page. Raises ``DatabaseLost``, lest the page count as lost."""
        results = OcrResult.objects.filter(document=self.document, pk__lte=self.last)
        try:
            result = results.filter(number=number).first()
        except (OperationalError, InterfaceError) as error:
            raise DatabaseLost from error
        return OcrPage.of(result.page) if result else None


def pages_read(document: Document) -> set[int]:
    """Return the numbers of the pages that OCR has read, whatever it found."""
    return set(OcrResult.objects.filter(document=document).values_list("number", flat=True))


def results_of(document: Document) -> StoredOcr | None:
    """Return what OCR has read of a document, None if it has read nothing."""
    last = OcrResult.objects.filter(document=document).aggregate(last=Max("pk"))["last"]
    return StoredOcr(document.pk, last) if last else None


def score_of(document: Document, number: int) -> float:
    """Return how sure OCR is of a page, 0 of one that it has not read."""
    read = OcrResult.objects.filter(document=document, number=number, is_readable=True)
    return read.values_list("score", flat=True).first() or 0.0


def request(source: Source) -> None:
    """Have the pages of a source read that need OCR; the caller sends the source to the workers.

    Raises ``NothingToRead`` and ``OcrMissing``.
    """
    document = Document.objects.filter(source=source).first()
    if document is None or not document.unread_pages:
        raise NothingToRead(f"“{source.title}” has no pages that need OCR.")
    if document.awaits_ocr and source.state == State.PENDING:
        raise NothingToRead(f"“{source.title}” is being read by OCR already.")
    engine.require_installed()
    with transaction.atomic():
        Document.objects.filter(pk=document.pk).update(awaits_ocr=True)
        source.start_anew()


def cancel(source: Source) -> None:
    """Stop after the page that is being read; the pages that were read are kept and used."""
    Document.objects.filter(source=source).update(awaits_ocr=False)


def read_pages(document: Document, path: Path, on_page: PageDone | None = None) -> None:
    """Read the pages that need it and have not been read, until all are read or it is cancelled.

    Raises ``OcrMissing``, ``OcrFailed`` if page after page fails, and what ``pdf.reader`` raises.
    """
    engine.require_installed()
    needed = [
        page.number
        for page in pdf_reader.read(path, most_pages=settings.MAX_DOCUMENT_PAGES)
        if page.needs_ocr
    ]
    read = pages_read(document)
    failures = 0
    for count, number in enumerate(needed, 1):
        if number not in read:
            if not Document.objects.filter(pk=document.pk, awaits_ocr=True).exists():
                break
            try:
                page = _read_page(path, number)
                failures = 0
            except OcrFailed:
                failures += 1
                if failures == min(MOST_FAILURES, len(needed)):
                    raise
                continue
            _store(document, number, page)
        if on_page:
            on_page(count, len(needed), STEP)
    _read_again(document)


def note(document: Document, count: int) -> str:
    """Return what is to be known of how OCR has read some of a document's ``count`` pages."""
    results = list(OcrResult.objects.filter(document=document).defer("page"))
    read = [result for result in results if result.is_readable and result.score]
    unreadable = [result.number for result in results if not result.is_readable]
    empty = [result.number for result in results if result.is_readable and not result.score]
    notes = []
    if read:
        mean = sum(result.score for result in read) / len(read)
        pages = named_pages([result.number for result in read], count)
        notes.append(f"Read by OCR ({read[-1].engine}), {100 * mean:.0f} % sure: {pages}.")
        if unsure := [result.number for result in read if result.score < SURE]:
            pages = named_pages(unsure, count)
            notes.append(f"OCR is less than {100 * SURE:.0f} % sure of {pages}.")
    if unreadable:
        pages = named_pages(unreadable, count)
        notes.append(
            f"OCR could not read {pages}: too bad a picture, or another script than {SCRIPTS}."
        )
    if empty:
        notes.append(f"OCR found no words on {named_pages(empty, count)}.")
    return " ".join(notes)


def _read_page(path: Path, number: int) -> OcrPage:
    """Draw a page and read it. Raises ``OcrFailed``."""
    draw = partial(pdf_reader.render_at, path, number, dpi=engine.DPI, most=engine.MAX_SIDE)
    for _ in range(TRIES):
        try:
            return engine.read(draw())
        except PageImageBusy:
            continue
    raise OcrFailed("The pages of other documents are being drawn and take long.")


def _store(document: Document, number: int, page: OcrPage) -> None:
    about = {"engine": page.engine, "score": page.score, "is_readable": page.is_readable}
    try:
        OcrResult.objects.create(document=document, number=number, page=page.stored(), **about)
    except IntegrityError:
        raise SourceNotFound("The document was removed while it was read.") from None


def _read_again(document: Document) -> None:
    """Have the document read from its first page on."""
    with transaction.atomic():
        Page.objects.filter(document=document).delete()
        Document.objects.filter(pk=document.pk).update(read_by="", awaits_ocr=False)
        document.read_by, document.awaits_ocr = "", False
