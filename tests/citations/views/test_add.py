"""Adding documents in the browser: what becomes of each file, who may, and what is refused."""

from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from citations.ingest import pipeline as ingest_pipeline
from citations.models import Document, Page, Source, State
from tests.html import text_of
from transcripts.models import Collection, Job

HTMX = {"HTTP_HX_REQUEST": "true"}
NOTES = b"# Walruses\n\nThey rest on the ice.\n"
CAPTIONS = b"WEBVTT\n\n00:00.000 --> 00:05.000\nHello there\n"

pytestmark = pytest.mark.usefixtures("fake_models")


def upload(client: Client, *files: tuple[str, bytes], htmx: bool = True, **more: str) -> Any:
    data = {"files": [SimpleUploadedFile(name, content) for name, content in files], **more}
    return client.post("/sources/add/", data, **(HTMX if htmx else {}))


def test_documents_become_sources_and_captions_a_job_and_the_answer_says_which(
    page: Client, collection: Collection
) -> None:
    found = text_of(
        upload(
            page,
            ("notes.md", NOTES),
            ("talk.vtt", CAPTIONS),
            ("slides.zip", b"PK\x03\x04rest"),
            collection="lectures",
        )
    )
    source = Source.objects.get()
    assert (source.kind, source.collection, source.state) == ("markdown", collection, State.PENDING)
    assert Job.objects.get().target == "talk.vtt"
    assert "Markdown document" in found
    assert "ZIP archive" in found


def test_captions_that_are_too_large_leave_no_document_behind(page: Client, settings: Any) -> None:
    settings.MAX_UPLOAD_BYTES = 10
    assert upload(page, ("notes.md", NOTES), ("talk.vtt", CAPTIONS)).status_code == 413
    assert not Source.objects.exists()


def test_the_fragment_of_a_document_asks_again_until_it_is_done(page: Client) -> None:
    found = text_of(upload(page, ("notes.md", NOTES)))
    source = Source.objects.get()
    address = f"/sources/{source.uuid}/state/"
    assert f'hx-get="{address}"' in found
    ingest_pipeline.ingest(source.pk)
    done = text_of(page.get(address, **HTMX))
    assert "hx-get" not in done
    assert "Walruses" in done
    assert page.get(address)["Location"] == f"/sources/{source.uuid}/"


def test_a_plain_browser_is_told_on_the_sources_page(page: Client) -> None:
    response = upload(page, ("notes.md", NOTES), htmx=False)
    assert response["Location"] == "/sources/"
    assert "is being read" in text_of(page.get("/sources/"))
    again = upload(page, ("other name.md", NOTES), htmx=False)
    assert "already exists" in text_of(page.get(again["Location"]))


def test_the_sources_page_takes_files_from_who_may_write_alone(
    page: Client, viewer: Client
) -> None:
    assert 'id="files"' in text_of(page.get("/sources/"))
    assert 'id="files"' not in text_of(viewer.get("/sources/"))


def test_nobody_adds_where_they_may_not(
    viewer: Client, stranger: Client, collection: Collection
) -> None:
    assert upload(viewer, ("notes.md", NOTES), collection=collection.slug).status_code == 403
    assert upload(stranger, ("notes.md", NOTES), collection=collection.slug).status_code == 404
    assert not Document.objects.exists()


def test_a_stranger_does_not_learn_how_far_a_document_is(page: Client, stranger: Client) -> None:
    upload(page, ("notes.md", NOTES))
    assert stranger.get(f"/sources/{Source.objects.get().uuid}/state/", **HTMX).status_code == 404


def test_the_page_of_a_document_tells_what_its_reader_noticed(page: Client) -> None:
    upload(page, ("notes.md", NOTES))
    source = Source.objects.get()
    Document.objects.update(note="No text on page 7 of 9.")
    assert "No text on page 7 of 9." in text_of(page.get(f"/sources/{source.uuid}/passages/"))


def test_a_document_is_deleted_after_a_question_with_its_pages_and_bytes(page: Client) -> None:
    upload(page, ("notes.md", NOTES))
    source = Source.objects.get()
    ingest_pipeline.ingest(source.pk)
    assert "Delete “Walruses”?" in text_of(page.get(f"/sources/{source.uuid}/delete/"))
    page.post(f"/sources/{source.uuid}/delete/")
    assert (Source.objects.count(), Document.objects.count(), Page.objects.count()) == (0, 0, 0)
