"""Pictures are documents whose words OCR reads, without being asked for it."""

from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from citations.documents import local_copies, pages, storage
from citations.errors import DocumentBroken, OcrMissing
from citations.ingest import pipeline
from citations.models import Document, Page, Source, State
from citations.readers.ocr import engine
from citations.readers.recognition import may_be_document
from tests.citations.documents.test_ocr import Engine
from tests.citations.readers.pictures.test_reader import made
from tests.html import text_of
from transcripts.core.scope import Scope
from transcripts.models import Collection

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("fake_models")]


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> Engine:
    stand_in = Engine()
    monkeypatch.setattr(engine, "read", stand_in.read)
    monkeypatch.setattr(engine, "is_installed", lambda: True)
    return stand_in


def add(collection: Collection, data: bytes, name: str = "scan") -> Source:
    return storage.add(collection, BytesIO(data), name=name).source


def read(source: Source) -> Source:
    pipeline.read_document(source.pk)
    source.refresh_from_db()
    return source


def test_each_page_of_a_scan_is_read_and_its_quotes_have_boxes(
    collection: Collection, scope: Scope, stand_in: Engine
) -> None:
    source = read(add(collection, made("1", "TIFF", frames=2)))
    assert (source.kind, source.state) == ("picture", State.WORDS)
    texts = (
        Page.objects.filter(document=source.pk).order_by("number").values_list("text", flat=True)
    )
    assert [*texts] == [f"Picture number {n} shows these words." for n in (1, 2)]
    document = Document.objects.get(source=source)
    assert document.note == "Read by OCR (Stand-in 1), 99 % sure: pages 1–2 of 2."
    start = Page.objects.get(document=source.pk, number=2).start
    view = pages.show_page(scope, source.uuid, 2, quote=(start, start + 7))
    assert view.image is not None
    assert (view.image.width, view.ocr_percent) == (800, 99)
    assert len(view.quote_boxes) == 1


def test_without_ocr_it_is_refused_with_what_to_install(
    collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "is_installed", lambda: False)
    with pytest.raises(OcrMissing) as raised:
        add(collection, made("RGB", "PNG"))
    assert "[ocr]" in raised.value.hint
    assert not Source.objects.exists()


def test_its_content_decides_and_its_bytes_are_what_is_downloaded(
    browser: Client, collection: Collection, stand_in: Engine
) -> None:
    data = made("RGB", "JPEG")
    file = SimpleUploadedFile("scan.png", data, content_type="image/png")
    browser.post("/add/", {"files": [file]}, headers={"HX-Request": "true"})
    source = read(Source.objects.get())
    response = browser.get(f"/sources/{source.uuid}/file/")
    assert response["Content-Type"] == "image/jpeg"
    parts = Document.objects.get(source=source).parts.values_list("data", flat=True)
    assert b"".join(map(bytes, parts)) == data
    assert "Picture number 1" in text_of(browser.get(f"/sources/{source.uuid}/pages/1/"))


def test_the_pdf_that_is_made_of_it_is_kept_and_goes_with_it(
    collection: Collection, stand_in: Engine, settings: Any, tmp_path: Path
) -> None:
    settings.DATA_DIR = tmp_path
    source = add(collection, made("RGB", "PNG"))
    path = local_copies.path_of(source.document)
    made_at = path.stat().st_ino
    local_copies.prune()
    assert local_copies.path_of(source.document).stat().st_ino == made_at
    pipeline.remove(source)
    assert not path.exists()


def test_a_damaged_one_fails_and_leaves_no_copy(
    collection: Collection, stand_in: Engine, settings: Any, tmp_path: Path
) -> None:
    settings.DATA_DIR = tmp_path
    source = add(collection, made("RGB", "PNG")[:60])
    with pytest.raises(DocumentBroken):
        local_copies.path_of(source.document)
    assert [path.suffix for path in (tmp_path / "cache" / "documents").iterdir()] == [""]
    assert read(source).error_code == "document_broken"


def test_in_a_folder_a_picture_is_no_document_unless_it_is_named() -> None:
    assert not may_be_document("photo.jpg")
    assert may_be_document("paper.pdf")
