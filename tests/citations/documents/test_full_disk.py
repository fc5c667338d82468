"""A disk that is full: a typed error, no half files, and work that goes on once there is space."""

from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client

from citations.documents import page_images, pages
from citations.documents import storage as document_storage
from citations.ingest import pipeline as ingest_pipeline
from citations.models import Document, Source, State
from citations.samples import TEXTBOOK
from tests.full_disk import SmallDisk, small_disk
from transcripts.core.scope import Scope
from transcripts.core.work.disk import StorageFull
from transcripts.models import Collection

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("fake_models")]

NO_SPACE = """
    CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = 'disk_full'; END $$;
    CREATE TRIGGER full_disk BEFORE INSERT ON citations_chunk EXECUTE FUNCTION full_disk();
"""


@pytest.fixture
def disk(tmp_path: Path, settings: Any) -> Iterator[SmallDisk]:
    with small_disk(tmp_path / "disk", megabytes=12) as mounted:
        settings.DATA_DIR = settings.FILE_UPLOAD_TEMP_DIR = mounted.path
        yield mounted


@pytest.fixture
def book(collection: Collection, disk: SmallDisk) -> Source:
    data = BytesIO(TEXTBOOK.read_bytes())
    return document_storage.add(collection, data, name="book.pdf").source


def half_files(disk: SmallDisk) -> list[Path]:
    files = (path for path in disk.path.rglob("*") if path.is_file())
    return [path for path in files if path.name != "filler" and path.parent.name != "metrics"]


def test_a_source_waits_for_space_and_is_then_read_to_the_end(
    book: Source, disk: SmallDisk
) -> None:
    disk.fill()
    ingest_pipeline.ingest(book.pk)
    book.refresh_from_db()
    assert (book.state, book.error) == (State.PENDING, "No space is left on the server's disk.")
    assert book.run_after is not None
    assert half_files(disk) == []
    disk.free()
    Source.objects.update(run_after=None)
    ingest_pipeline.ingest(book.pk)
    book.refresh_from_db()
    assert book.state == State.READY


def test_a_source_waits_however_often_the_database_had_no_space(book: Source) -> None:
    with connection.cursor() as cursor:
        cursor.execute(NO_SPACE)
    for _ in range(Source.MAX_CRASHES + 1):
        ingest_pipeline.ingest(book.pk)
    book.refresh_from_db()
    assert (book.state, book.attempts) == (State.PENDING, 0)
    assert book.error == "No space is left on the server's disk."
    with connection.cursor() as cursor:
        cursor.execute("DROP TRIGGER full_disk ON citations_chunk")
    ingest_pipeline.ingest(book.pk)
    book.refresh_from_db()
    assert book.state == State.READY


def test_a_page_without_space_for_its_image_is_shown_as_text(
    book: Source, disk: SmallDisk, scope: Scope
) -> None:
    ingest_pipeline.ingest(book.pk)
    document = Document.objects.get(source=book)
    kept = half_files(disk)
    disk.fill(left=4096)
    with pytest.raises(StorageFull):
        page_images.render_page(document, 1, width=800)
    assert half_files(disk) == kept
    assert pages.show_page(scope, book.uuid, 1).image is None
    disk.free()
    assert page_images.render_page(document, 1, width=800).stat().st_size > 4096


def test_an_upload_without_space_is_answered_with_507(
    collection: Collection, page: Client, disk: SmallDisk
) -> None:
    disk.fill(left=100_000)
    upload = {"files": SimpleUploadedFile("large.txt", b"Some words. " * 400_000)}
    form = {"collection": collection.slug, **upload}
    page.raise_request_exception = False
    answer = page.post("/api/v1/sources/files", form)
    assert (answer.status_code, answer.json()["code"]) == (507, "storage_full")
    assert not Source.objects.exists()
    assert half_files(disk) == []
    disk.free()
    upload["files"].seek(0)
    assert page.post("/api/v1/sources/files", {**form, **upload}).status_code < 300
