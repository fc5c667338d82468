"""Office documents and books are added, found, quoted and shown as other documents are."""

from functools import partial
from io import BytesIO
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils.translation import override
from reportlab.pdfgen.canvas import Canvas

from citations.documents import storage
from citations.formats import DOCX, EPUB, ODT, PPTX, DocumentFormat
from citations.ingest import pipeline
from citations.models import Document, Page, Source, State
from citations.passages import place
from citations.quotes import verification
from citations.reading.places import place as translated_place
from citations.schemas.answers import QuoteCheckOut
from citations.schemas.search import PassageOut
from citations.search import pipeline as search_pipeline
from kbsite.mcp import source_text
from tests.citations.readers.office.archives import (
    STYLES,
    docx,
    epub,
    odt,
    paragraph,
    pptx,
    shape,
    slide,
)
from tests.citations.readers.pdf.papers import paper
from tests.html import text_of
from transcripts.core.scope import Scope
from transcripts.models import Collection

pytestmark = pytest.mark.usefixtures("fake_models")

SAID = "The gradient points uphill, so each weight moves a little against it."
OTHER = "Walruses rest on the ice and zebras graze on the plain."
MADE: tuple[tuple[DocumentFormat, bytes], ...] = (
    (
        DOCX,
        docx(
            paragraph("First", "berschrift1")
            + paragraph(OTHER)
            + paragraph("Second", "berschrift1")
            + paragraph(SAID),
            parts={"word/styles.xml": STYLES},
        ),
    ),
    (
        PPTX,
        pptx(
            [
                slide(shape("First", kind="title"), shape(OTHER, kind="")),
                slide(shape("Second", kind="title"), shape(SAID, kind="")),
            ]
        ),
    ),
    (
        ODT,
        odt(
            f'<text:h text:outline-level="1">First</text:h><text:p>{OTHER}</text:p>'
            f'<text:h text:outline-level="1">Second</text:h><text:p>{SAID}</text:p>'
        ),
    ),
    (
        EPUB,
        epub(
            {
                "one.xhtml": f"<h1>First</h1><p>{OTHER}</p>",
                "two.xhtml": f"<h1>Second</h1><p>{SAID}</p>",
            }
        ),
    ),
)


def ingested(collection: Collection, data: bytes, name: str) -> Source:
    source = storage.add(collection, BytesIO(data), name=name).source
    pipeline.ingest(source.pk)
    source.refresh_from_db()
    return source


@pytest.mark.parametrize(("format", "data"), MADE, ids=[format.kind for format, _ in MADE])
def test_a_quote_is_verified_on_its_slide_or_in_its_chapter(
    format: DocumentFormat, data: bytes, collection: Collection, scope: Scope
) -> None:
    source = ingested(collection, data, "file")
    assert (source.kind, source.state, source.title) == (format.kind, State.READY, "On limits")
    verified = verification.verify(scope, "each weight moves a little against it")
    assert verified.is_enough
    page = Page.objects.get(document=source.pk, text__contains=SAID)
    assert page.number == (2 if format is PPTX else 1)
    [block] = [row for row in page.blocks if SAID in page.text[row[0] : row[1]]]
    assert block[2] == "Second"


def test_the_page_takes_them_under_any_media_type_and_shows_them_with_their_markup(
    browser: Client, collection: Collection
) -> None:
    files = [
        SimpleUploadedFile(f"file{format.suffixes[0]}", data, content_type="application/zip")
        for format, data in MADE
    ]
    browser.post("/add/", {"files": files}, headers={"HX-Request": "true"})
    sources = {source.kind: source for source in Source.objects.all()}
    assert {*sources} == {format.kind for format, _ in MADE}
    for format, data in MADE:
        source = sources[format.kind]
        pipeline.ingest(source.pk)
        number = 2 if format is PPTX else 1
        html = text_of(browser.get(f"/sources/{source.uuid}/pages/{number}/"))
        assert SAID in html
        assert "Second</h" in html
        response = browser.get(f"/sources/{source.uuid}/file/")
        assert response["Content-Type"] == format.media_type
        parts = Document.objects.get(source=source).parts.values_list("data", flat=True)
        assert b"".join(map(bytes, parts)) == data


def test_a_slide_is_cited_by_its_number_wherever_its_place_is_shown(
    browser: Client, collection: Collection, scope: Scope
) -> None:
    source = ingested(collection, dict(MADE)[PPTX], "talk.pptx")
    verified = verification.verify(scope, SAID)
    assert verified.locator is not None
    assert place(verified.locator) == "slide 2"
    assert QuoteCheckOut.model_validate(verified).place == "slide 2"
    hit = search_pipeline.search(scope, SAID).passages[0]
    assert hit.shown_place == "slide 2"
    written = PassageOut.model_validate(hit)
    assert (written.place, written.is_slide) == ("slide 2", True)
    again = PassageOut.model_validate(written.model_dump(mode="json"))
    assert again.place == "slide 2"
    assert [place(chunk) for chunk in source.chunks.order_by("ordinal")] == ["slide 1", "slide 2"]
    assert "Slide 2 of 2" in text_of(browser.get(f"/sources/{source.uuid}/pages/2/"))
    with override("de"):
        assert "2" in translated_place(verified.locator)
        assert "Seite" not in translated_place(verified.locator)
    lines, _ = source_text.read(source, 0, room=500)
    assert "[slide 2]" in lines


def draw(canvas: Canvas, title: str) -> None:
    canvas.setFont("Helvetica-Bold", 28)
    canvas.drawString(60, 340, title)
    canvas.setFont("Helvetica", 16)
    canvas.drawString(60, 250, f"Some words about {title.casefold()} stand here.")


def draw_marked(canvas: Canvas, title: str) -> None:
    canvas.bookmarkPage(title)
    canvas.addOutlineEntry(title, title)
    draw(canvas, title)


def test_slides_as_pdf_are_a_section_each_with_their_titles(
    collection: Collection, tmp_path: Path
) -> None:
    titles = ["Learning", "Example", "Example", "Example", "Example", "Errors"]
    pages = [partial(draw, title=title) for title in titles]
    path = paper(tmp_path / "talk.pdf", pages, size=(720, 405))
    source = ingested(collection, path.read_bytes(), "talk.pdf")
    assert source.has_slides
    document = Document.objects.get(source=source)
    assert document.outline == [[1, title, n] for n, title in enumerate(titles, 1)]
    for page, title in zip(document.pages.order_by("number"), titles, strict=True):
        assert [row[2:] for row in page.blocks] == [
            [title, n == 0] for n in range(len(page.blocks))
        ]


@pytest.mark.parametrize(
    ("size", "bookmarks", "is_deck"),
    [((720, 405), True, True), ((720, 405), False, True), ((595, 842), False, False)],
    ids=["with bookmarks", "without", "in portrait"],
)
def test_a_pdf_is_slides_if_its_pages_are_with_bookmarks_or_without(
    size: tuple[int, int], bookmarks: bool, is_deck: bool, collection: Collection, tmp_path: Path
) -> None:
    drawn = draw_marked if bookmarks else draw
    path = paper(
        tmp_path / "talk.pdf", [partial(drawn, title=f"Part {n}") for n in range(4)], size=size
    )
    assert ingested(collection, path.read_bytes(), "talk.pdf").has_slides == is_deck
