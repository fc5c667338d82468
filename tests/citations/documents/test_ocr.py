"""Pages that OCR reads: which, when, what is kept of them, and how an attempt continues."""

from html import escape
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from citations.documents import ocr, pages
from citations.documents import storage as document_storage
from citations.errors import NothingToRead, OcrFailed, OcrMissing
from citations.ingest import pipeline as ingest_pipeline
from citations.models import Document, OcrResult, Page, Source, State
from citations.readers.ocr import engine
from citations.readers.pdf.ocr_page import OcrPage
from tests.citations.readers.pdf.papers import LOSS, paper, photographed, scanned, write
from tests.programs import require
from transcripts.core.installation import install_command
from transcripts.core.scope import Scope
from transcripts.models import Collection

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("fake_models")]


def line(text: str, *, row: int = 0, score: float = 0.99) -> Any:
    """Return a line as the engine would, letters of 10 pixels from the left."""
    places = [
        (100 + 10 * place, 108 + 10 * place)
        for place, letter in enumerate(text)
        if not letter.isspace()
    ]
    return text, score, 100.0 + 30 * row, 10.0 * len(text), 22.0, places


class Engine:
    """Reads a sentence on every picture; at the ``dies``-th picture it dies or fails."""

    def __init__(self) -> None:
        self.pictures = 0
        self.dies: dict[int, BaseException] = {}
        self.score = 0.99

    def read(self, picture: bytes) -> OcrPage:
        self.pictures += 1
        if error := self.dies.pop(self.pictures, None):
            raise error
        said = line(f"Picture number {self.pictures} shows these words.", score=self.score)
        return OcrPage(width=1000, height=1400, engine="Stand-in 1", lines=[said])


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> Engine:
    stand_in = Engine()
    monkeypatch.setattr(engine, "read", stand_in.read)
    monkeypatch.setattr(engine, "is_installed", lambda: True)
    return stand_in


def add(collection: Collection, path: Path, **more: Any) -> Source:
    with path.open("rb") as file:
        return document_storage.add(collection, file, name=path.name, **more).source


def read(source: Source) -> Source:
    ingest_pipeline.read_document(source.pk)
    source.refresh_from_db()
    return source


def texts(source: Source) -> list[str]:
    rows = Page.objects.filter(document=source.pk).order_by("number")
    return list(rows.values_list("text", flat=True))


@pytest.fixture
def scan(collection: Collection, tmp_path: Path) -> Source:
    """A file of three scanned pages, which was read without OCR."""
    return read(add(collection, scanned(tmp_path / "scan.pdf", pages=3)))


def test_a_scan_is_kept_and_says_which_pages_ocr_can_read(scan: Source) -> None:
    assert (scan.state, scan.error_code) == (State.FAILED, "document_without_text")
    assert scan.document.unread_pages == [1, 2, 3]


def test_asked_to_ocr_reads_it_and_says_how_sure_it_is(
    scan: Source, scope: Scope, stand_in: Engine
) -> None:
    ocr.request(scan)
    assert read(scan).state == State.WORDS
    assert texts(scan)[0] == "Picture number 1 shows these words."
    document = Document.objects.get(source=scan)
    assert (document.unread_pages, document.awaits_ocr) == ([], False)
    assert document.note == "Read by OCR (Stand-in 1), 99 % sure: pages 1–3 of 3."
    start = Page.objects.get(document=scan.pk, number=2).start
    view = pages.show_page(scope, scan.uuid, 2, quote=(start, start + 7))
    assert view.ocr_percent == 99
    (box,) = view.quote_boxes
    assert (round(box.left, 2), round(box.top, 2)) == (0.1, 0.06)
    with pytest.raises(NothingToRead):
        ocr.request(scan)


def test_it_continues_after_the_page_at_which_it_was_killed(scan: Source, stand_in: Engine) -> None:
    ocr.request(scan)
    stand_in.dies = {3: KeyboardInterrupt()}
    with pytest.raises(KeyboardInterrupt):
        read(scan)
    assert OcrResult.objects.filter(document=scan.pk).count() == 2
    read(scan)
    assert stand_in.pictures == 4  # the third twice
    assert len(texts(scan)) == 3


def test_stopped_it_keeps_what_was_read_and_can_be_asked_for_the_rest(
    scan: Source, stand_in: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    ocr.request(scan)
    first = stand_in.read

    def read_and_stop(picture: bytes) -> OcrPage:
        ocr.cancel(scan)
        return first(picture)

    monkeypatch.setattr(engine, "read", read_and_stop)
    assert read(scan).state == State.WORDS
    assert texts(scan) == ["Picture number 1 shows these words.", "", ""]
    assert scan.document.unread_pages == [2, 3]
    monkeypatch.setattr(engine, "read", first)
    ocr.request(scan)
    assert all(texts(read(scan)))


def test_it_tells_page_by_page_how_far_it_is(scan: Source, stand_in: Engine) -> None:
    ocr.request(scan)
    reports: list[tuple[int, int, str]] = []
    scan.refresh_from_db()
    document_storage.extract(scan, lambda *about: reports.append(about))
    assert reports == [
        *((number, 3, "reading pages by OCR") for number in (1, 2, 3)),
        (3, 3, "reading pages"),
    ]


def test_one_page_that_fails_does_not_stop_the_others(scan: Source, stand_in: Engine) -> None:
    ocr.request(scan)
    stand_in.dies = {2: OcrFailed("It failed.")}
    assert read(scan).state == State.WORDS
    assert [bool(text) for text in texts(scan)] == [True, False, True]
    assert scan.document.unread_pages == [2]


def test_it_is_given_up_if_page_after_page_fails(scan: Source, stand_in: Engine) -> None:
    ocr.request(scan)
    stand_in.dies = {number: OcrFailed("It failed.") for number in (1, 2, 3)}
    assert (read(scan).state, scan.error_code) == (State.FAILED, "ocr_failed")


def test_pages_that_are_not_readable_are_named_and_have_no_words(
    scan: Source, stand_in: Engine
) -> None:
    ocr.request(scan)
    stand_in.score = 0.4
    assert read(scan).state == State.FAILED
    assert "OCR could not read pages 1–3 of 3" in scan.error
    assert scan.document.unread_pages == []


def test_doubtful_pages_are_named(scan: Source, stand_in: Engine) -> None:
    ocr.request(scan)
    stand_in.score = 0.8
    read(scan)
    assert "OCR is less than 90 % sure of pages 1–3 of 3." in scan.document.note


def test_of_mixed_files_only_the_pictures_are_read(
    collection: Collection, tmp_path: Path, stand_in: Engine
) -> None:
    path = paper(tmp_path / "mixed.pdf", [lambda canvas: write(canvas, LOSS), picture])
    source = read(add(collection, path, by_ocr=True))
    assert (source.state, stand_in.pictures) == (State.WORDS, 1)
    first, second = texts(source)
    assert first.startswith("Gradient descent")
    assert second == "Picture number 1 shows these words."
    assert source.document.note == "Read by OCR (Stand-in 1), 99 % sure: page 2 of 2."


def picture(canvas: Any) -> None:
    for row in range(30):  # a drawing
        canvas.line(72, 100 + 10 * row, 300, 90 + 12 * row)


def test_without_the_extra_it_is_refused_before_anything_is_stored(
    collection: Collection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "is_installed", lambda: False)
    with pytest.raises(OcrMissing, match="not installed") as raised:
        add(collection, scanned(tmp_path / "scan.pdf"), by_ocr=True)
    assert install_command("ocr") in raised.value.hint
    assert not Source.objects.exists()


def test_its_page_offers_ocr_or_says_what_to_install(
    scan: Source, page: Client, stand_in: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = reverse("source-passages", args=(scan.uuid,))
    assert "Read it by OCR" in page.get(address).content.decode()
    page.post(reverse("source-ocr", args=(scan.uuid,)))
    assert "Stop OCR" in page.get(address).content.decode()
    page.post(reverse("source-ocr", args=(scan.uuid,)), {"stop": "1"})
    monkeypatch.setattr(engine, "is_installed", lambda: False)
    assert escape(install_command("ocr")) in page.get(address).content.decode()


def test_a_real_scan_is_found_by_its_words_and_cited_with_boxes(
    collection: Collection, scope: Scope, tmp_path: Path
) -> None:
    require("" if engine.is_installed() else "OCR is not installed: pip install 'cuebase[ocr]'")
    typed = paper(tmp_path / "typed.pdf", [lambda canvas: write(canvas, LOSS)])
    source = read(add(collection, photographed(tmp_path / "scan.pdf", typed), by_ocr=True))
    (text,) = texts(source)
    assert source.state == State.WORDS
    assert source.chunks.filter(text__contains="learning rate").exists()
    first = text.index("learning rate")
    view = pages.show_page(scope, source.uuid, 1, quote=(first, first + 13))
    assert view.ocr_percent > 90
    assert view.quote_boxes
    assert view.lines
