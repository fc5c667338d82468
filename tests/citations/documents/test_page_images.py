"""Pictures of pages: the sample textbook as it is drawn, and what is kept of it."""

import os
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from citations.documents import page_images, pages
from citations.documents.pages import PageView
from citations.ingest import pipeline as ingest_pipeline
from citations.models import Document, Source
from citations.readers.page import ReadPage
from citations.readers.pdf import reader as pdf_reader
from citations.samples import TEXTBOOK
from citations.text.occurrences import SearchTerm
from tests.makers import make_paper
from transcripts.core.scope import Scope
from transcripts.models import Collection

pytestmark = pytest.mark.django_db

QUOTE = "A small guard is placed between the program and the service."


@lru_cache
def textbook() -> tuple[ReadPage, ...]:
    """Return the pages of the sample textbook, read once."""
    return tuple(pdf_reader.read(TEXTBOOK, most_pages=50))


@pytest.fixture
def book(collection: Collection, settings: Any, tmp_path: Path) -> Source:
    settings.DATA_DIR = tmp_path
    return make_paper(
        collection, textbook(), data=TEXTBOOK.read_bytes(), name=TEXTBOOK.name, title="Textbook"
    )


def kept(folder: Path) -> list[Path]:
    """Return the pictures that are kept."""
    return sorted(folder.rglob("*.webp"))


def show_quote(scope: Scope, book: Source, term: str = "probe") -> PageView:
    """Show the page with the quote, marked as the words of a search are."""
    page = book.document.pages.get(text__contains=QUOTE)
    first = page.start + page.text.index(QUOTE)
    quote, terms = (first, first + len(QUOTE)), [SearchTerm(term)]
    return pages.show_page(scope, book.uuid, page.number, quote=quote, terms=terms)


def test_a_quote_is_boxed_on_the_picture_of_its_page(scope: Scope, book: Source) -> None:
    view = show_quote(scope, book)
    assert view.image is not None
    assert (view.image.width, view.image.height) == (800, 1130)
    (box,) = view.quote_boxes
    assert 0.1 < box.left < 0.15
    assert 0.2 < box.top < 0.35
    assert 0.5 < box.width < 0.75
    assert 0.01 < box.height < 0.025
    assert len(view.match_boxes) == len(view.matches) >= 2
    assert view.page.label == "10"
    assert view.heading == "2.3 The circuit breaker"


def test_ink_is_under_the_boxes_and_paper_beside_them(scope: Scope, book: Source) -> None:
    view = show_quote(scope, book)
    (box,) = view.quote_boxes
    with Image.open(page_images.render_page(book.document, view.number, width=1600)) as image:
        grey = image.convert("L")
        left, right = (round(x * grey.width) for x in (box.left, box.left + box.width))
        top, bottom = (round(y * grey.height) for y in (box.top, box.top + box.height))
        assert grey.crop((left, top, right, bottom)).histogram()[:90] != [0] * 90
        assert grey.crop((0, top, left - 4, bottom)).histogram()[:240] == [0] * 240


def test_nothing_is_boxed_where_another_reader_made_the_text(scope: Scope, book: Source) -> None:
    Document.objects.filter(pk=book.pk).update(read_by="pdf 0")
    view = show_quote(scope, book, "guard")
    assert view.image
    assert view.quote
    assert view.matches
    assert view.quote_boxes == view.match_boxes == ()


def test_a_picture_is_drawn_once(
    book: Source, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn = page_images.render_page(book.document, 3, width=800)
    monkeypatch.setattr(pdf_reader, "render", lambda *_, **__: pytest.fail("drawn again"))
    assert page_images.render_page(book.document, 3, width=800) == drawn
    assert kept(tmp_path) == [drawn]
    names = {
        page_images.name(book.document, number, width=width)
        for number in (3, 4)
        for width in page_images.WIDTHS
    }
    assert len(names) == 6


def test_what_was_not_looked_at_for_longest_goes_first(
    book: Source, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page_images, "MAX_KEPT", 250)
    drawn = [page_images.render_page(book.document, number, width=800) for number in (1, 2, 3)]
    for age, path in enumerate(drawn):
        path.write_bytes(b"x" * 100)
        os.utime(path, (1e9 - age, 1e9 - age))
    page_images.prune()
    assert kept(tmp_path) == drawn[:2]
    page_images.prune()
    assert kept(tmp_path) == drawn[:2]


def test_pictures_go_with_their_document(
    book: Source, collection: Collection, tmp_path: Path
) -> None:
    drawn = page_images.render_page(book.document, 1, width=800)
    page_images.prune()
    assert kept(tmp_path) == [drawn]
    ingest_pipeline.remove(book)
    assert kept(tmp_path) == []


def test_a_page_that_cannot_be_drawn_is_shown_as_text(
    scope: Scope, collection: Collection, settings: Any, tmp_path: Path
) -> None:
    settings.DATA_DIR = tmp_path
    broken = make_paper(
        collection,
        ["What was read while it was whole."],
        data=b"%PDF-1.7 broken off",
        name="broken.pdf",
    )
    view = pages.show_page(scope, broken.uuid, 1, quote=(0, 4))
    assert view.image is None
    assert view.quote == ((0, 4),)
    assert kept(tmp_path) == []
