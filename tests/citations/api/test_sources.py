"""Files over REST: documents at once, captions as a job, and what is refused."""

from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from citations.guide import storage as guide_storage
from citations.ingest import pipeline as ingest_pipeline
from citations.models import Archive, Document, Source
from citations.readers.ocr import engine
from citations.readers.speech import whisper
from tests.citations.readers.pdf.papers import scanned
from tests.citations.talks import talk_in
from tests.makers import make_source, make_user, make_video, token_client
from tests.programs import require
from tests.tones import make_recording
from transcripts.adding import acquisition
from transcripts.models import Collection, Job, Role, Video

NOTES = b"# Walruses\n\nThey rest on the ice.\n"
CAPTIONS = b"WEBVTT\n\n00:00.000 --> 00:05.000\nHello there\n"

pytestmark = pytest.mark.usefixtures("fake_models")


def client_of(collection: Collection, *, name: str = "ada", role: str = Role.OWNER) -> Client:
    return token_client(make_user(name, collection=collection, role=role))


@pytest.fixture
def asking(collection: Collection) -> Client:
    return client_of(collection)


def upload(client: Client, *files: tuple[str, bytes], **more: Any) -> Any:
    return client.post(
        "/api/v1/sources/files",
        {"files": [SimpleUploadedFile(name, content) for name, content in files], **more},
    )


def test_a_document_is_added_and_listed_and_deleted(asking: Client, collection: Collection) -> None:
    response = upload(
        asking, ("notes.md", NOTES), collection="lectures", tags=["a", "b"], title="My notes"
    )
    assert response.status_code == 202, response.content
    [added] = response.json()["documents"]
    assert added["is_new"]
    added = added["source"]
    assert (added["kind"], added["title"], added["state"]) == ("markdown", "My notes", "pending")
    assert Source.objects.get().tags == ["a", "b"]
    ingest_pipeline.ingest(Source.objects.get().pk)
    assert asking.get(f"/api/content/sources/{added['id']}/").json()["state"] == "ready"
    [hit] = asking.get("/api/v1/search?q=walruses&mode=words").json()["passages"]
    assert (hit["source_id"], hit["page"]) == (added["id"], 1)
    assert upload(asking, ("again.md", NOTES)).json()["documents"][0]["is_new"] is False
    assert asking.delete(f"/api/v1/sources/{added['id']}").status_code == 204
    assert not Document.objects.exists()


def test_pages_without_text_are_named_and_read_by_ocr_when_asked(
    asking: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "is_installed", lambda: True)
    scan = scanned(tmp_path / "scan.pdf").read_bytes()
    [added] = upload(asking, ("scan.pdf", scan)).json()["documents"]
    ingest_pipeline.read_document(Source.objects.get().pk)
    [source] = asking.get("/api/v1/sources").json()["sources"]
    assert (source["state"], source["unread_pages"]) == ("failed", [1, 2])
    address = f"/api/v1/sources/{added['source']['id']}/ocr"
    assert asking.post(address).json()["state"] == "pending"
    assert Document.objects.get().awaits_ocr
    assert asking.post(address).json()["code"] == "nothing_to_read"
    assert asking.delete(address).status_code == 204
    assert not Document.objects.get().awaits_ocr
    upload(asking, ("scan.pdf", scan), ocr="true")
    assert Document.objects.get().awaits_ocr
    monkeypatch.setattr(engine, "is_installed", lambda: False)
    refused = upload(asking, ("other.pdf", scan + b"%"), ocr="true")
    assert (refused.status_code, refused.json()["code"]) == (503, "ocr_missing")


def test_a_file_that_is_not_read_is_named_among_the_problems(
    asking: Client, collection: Collection
) -> None:
    files = [("....dots...vtt", CAPTIONS), ("talk.dat", CAPTIONS)]
    answer = upload(asking, *files, collection="lectures").json()
    assert answer["job"]["target"] == "....dots...vtt"
    assert [problem["name"] for problem in answer["problems"]] == ["talk.dat"]


def test_captions_among_the_files_become_a_job(asking: Client, collection: Collection) -> None:
    answer = upload(
        asking,
        ("notes.md", NOTES),
        ("talk.vtt", CAPTIONS),
        ("slides.zip", b"PK\x03\x04"),
        ("prose.txt", b"No times at all."),
    ).json()
    assert {document["source"]["title"] for document in answer["documents"]} == {"notes", "prose"}
    assert answer["job"]["id"] == Job.objects.get().pk
    assert [(problem["name"], problem["code"]) for problem in answer["problems"]] == [
        ("slides.zip", "document_unknown")
    ]


def test_captions_that_are_too_large_leave_no_document_behind(
    asking: Client, settings: Any
) -> None:
    settings.MAX_UPLOAD_BYTES = 10
    assert upload(asking, ("notes.md", NOTES), ("talk.vtt", CAPTIONS)).status_code == 413
    assert not Source.objects.exists()


def test_a_sound_file_joins_its_captions_or_is_refused(
    asking: Client, collection: Collection
) -> None:
    answer = upload(
        asking, ("talk.vtt", CAPTIONS), ("talk.mp3", b"ID3"), ("song.mp3", b"ID3")
    ).json()
    assert [(problem["name"], problem["code"]) for problem in answer["problems"]] == [
        ("song.mp3", "media_without_captions")
    ]
    acquisition.perform(answer["job"]["id"])
    assert Video.objects.get().media.name == "talk.mp3"


def test_a_document_that_is_refused_keeps_no_captions_out(asking: Client) -> None:
    answer = upload(asking, ("slides.md", b"PK\x03\x04"), ("talk.vtt", CAPTIONS)).json()
    assert answer["job"]["id"] == Job.objects.get().pk
    assert [problem["name"] for problem in answer["problems"]] == ["slides.md"]


@pytest.mark.parametrize(
    ("files", "more", "status", "code"),
    [
        ([("slides.zip", b"PK\x03\x04")], {}, 422, "document_unknown"),
        ([("empty.md", b"")], {}, 422, "invalid_input"),
        ([("large.md", b"x" * 101)], {}, 413, "document_too_large"),
        ([], {}, 422, "invalid_input"),
        ([("notes.md", NOTES)], {"colour": "red"}, 422, "invalid_input"),
        ([("notes.md", NOTES)], {"title": "x" * 301}, 422, "invalid_input"),
        ([("notes.md", NOTES)], {"collection": "nowhere"}, 404, "collection_not_found"),
    ],
)
def test_what_cannot_be_taken_is_said_to_be_so(
    asking: Client, settings: Any, files: Any, more: Any, status: int, code: str
) -> None:
    settings.MAX_DOCUMENT_BYTES = 100
    response = upload(asking, *files, **more)
    assert (response.status_code, response.json()["code"]) == (status, code)
    assert response["Content-Type"] == "application/problem+json"
    assert not Document.objects.exists()


def test_a_recording_is_not_deleted_as_a_source(asking: Client, collection: Collection) -> None:
    source = make_source(make_video(collection))
    response = asking.delete(f"/api/v1/sources/{source.uuid}")
    assert (response.status_code, response.json()["code"]) == (409, "conflict")


def test_a_viewer_neither_adds_nor_deletes(asking: Client, collection: Collection) -> None:
    viewer = client_of(collection, name="vera", role=Role.VIEWER)
    assert upload(viewer, ("notes.md", NOTES), collection="lectures").status_code == 403
    added = upload(asking, ("notes.md", NOTES)).json()["documents"][0]["source"]
    assert viewer.delete(f"/api/v1/sources/{added['id']}").status_code == 403


def test_the_guide_to_a_source_has_a_place_and_a_link_for_each_item(
    asking: Client, collection: Collection
) -> None:
    source = talk_in(
        collection,
        said=(
            "A sourdough starter is a dough of flour and water that wild yeast has fermented.",
            "How long does a sourdough starter rise in a warm kitchen?",
            "A sourdough starter rises for about 12 hours in a warm kitchen before it is used.",
            "The sourdough starter is fed with flour every day.",
        ),
    )
    address = f"/api/v1/sources/{source.uuid}/guide"
    assert asking.get(address).json()["is_ready"] is False
    source.refresh_from_db()
    guide_storage.make(source)
    guide = asking.get(address).json()
    assert guide["is_ready"] is True
    [question] = guide["questions"][:1]
    assert question["label"] == "How long does a sourdough starter rise in a warm kitchen?"
    assert question["place"] == "0:10–0:20"
    assert f"from={question['span'][0]}&to={question['span'][1]}" in question["link"]


def test_an_archive_of_chosen_sources_has_only_these(
    asking: Client, collection: Collection
) -> None:
    chosen = make_source(make_video(collection, key="chosen"))
    other = make_source(make_video(collection, key="other"))

    def ask(*references: str) -> Any:
        body = {"source_id": references}
        return asking.post("/api/v1/archives", body, content_type="application/json")

    assert ask(str(chosen.uuid), "nowhere").status_code == 404
    assert ask(str(chosen.uuid)).status_code == 202
    assert Archive.objects.get().sources == [chosen.pk]
    assert ask(str(other.uuid)).status_code == 409


def test_a_recording_without_captions_is_listened_to_if_that_is_asked_for(
    asking: Client, settings: Any, tmp_path: Path
) -> None:
    require("" if whisper.is_installed() else "Whisper is not installed")
    song = ("song.mp3", make_recording("mp3"))
    settings.SPEECH_PROVIDER = "none"
    refused = upload(asking, song, listen="true")
    assert (refused.status_code, refused.json()["code"]) == (503, "speech_missing")
    for name in ("config.json", "model.bin"):
        (tmp_path / name).write_text("{}")
    settings.SPEECH_PROVIDER, settings.SPEECH_MODEL = "local", str(tmp_path)
    (job,) = upload(asking, song, listen="true").json()["listening"]
    assert (job["kind"], job["state"], job["target"]) == ("listen", "queued", "song.mp3")
    stopped = asking.post(f"/api/v1/jobs/{job['id']}/stop")
    assert (stopped.status_code, stopped.json()["error_code"]) == (200, "listening_stopped")
    assert asking.post(f"/api/v1/jobs/{job['id']}/stop").json() == stopped.json()
