"""A library of 100 sources, made fast, and all addresses in it that must stay."""

from io import BytesIO
from typing import Any

from django.contrib.auth import get_user_model

from citations.documents import storage as document_storage
from citations.ingest import discovery
from citations.ingest import pipeline as ingest_pipeline
from citations.models import Answer, Chunk, Citation, Note, Source, State
from kbsite import boot
from kbsite.cli import backup_files
from tests.makers import make_cues, make_document, make_pdf, make_source, make_video
from tests.upgrades import contents
from transcripts.models import AuditEntry, Collection

TALKS = 88
NOTES = 8
OPENED = 30  # pages; the addresses of all are compared


def make() -> dict[str, Any]:
    """Make talks and documents, an answer, a note, a lecture; return all contents."""
    boot.boot()
    shelf = Collection.objects.create(name="Samples", slug="samples")
    get_user_model().objects.create_superuser("ada", password="spring tides 37")
    make_video(shelf, key="ranks", title="Ranks", cues=make_cues(24, sentences=[contents.SAID]))
    make_video(shelf, key="last", title="Last")
    for n in range(TALKS):
        texts = [f"Talk {n} is about the subject {n * 7 + part}." for part in range(3)]
        video = make_video(shelf, key=f"talk-{n}", title=f"Talk {n}", cues=make_cues(2))
        make_source(video, texts=texts)
    for n in range(NOTES):
        make_document(shelf, [f"Paper {n} describes the tides of harbour {n}."], title=f"Paper {n}")
    for name, data in (
        ("tides.pdf", make_pdf(["High tide.", "Low tide."])),
        ("moon.md", b"# Moon"),
    ):
        document_storage.add(shelf, BytesIO(data), name=name, title=name)
    discovery.adopt()
    for source in Source.objects.filter(state=State.PENDING):
        ingest_pipeline.ingest(source.pk)
    contents.fill(contents.sign_in())
    links = permalinks()
    return {"tables": tables(), "links": links}


def read() -> dict[str, Any]:
    """Return all contents of a library that was restored; to sign in changes it."""
    boot.boot()
    return {"tables": tables(), "links": permalinks()}


def tables() -> dict[str, Any]:
    """Return rows and checksum of each table but that which records backups and restores."""
    with backup_files.snapshot() as (_, manifest):
        return {
            name: table
            for name, table in manifest.tables.items()
            if name != AuditEntry._meta.db_table
        }


def permalinks() -> dict[str, Any]:
    """Return all addresses of the library, and what is found there."""
    client = contents.sign_in()
    links: dict[str, Any] = {}
    for citation in Citation.objects.all():
        response = client.get(f"/citations/{citation.uuid}/")
        links[f"/citations/{citation.uuid}/"] = [response.headers["Location"], citation.quote]
    for answer in Answer.objects.all():
        links[f"/ask/answers/{answer.uuid}/"] = [answer.question, answer.claims]
    for note in Note.objects.all():
        links[f"/notes/{note.uuid}/"] = [note.title, note.text]
    for source in Source.objects.all():
        links[f"/sources/{source.uuid}/"] = [source.title, source.state, source.chunk_count]
    chunks = Chunk.objects.order_by("pk").select_related("source__video")
    for chunk in chunks:
        links[f"{chunk.pk} {chunk.source.path_to(chunk.locator)}"] = chunk.text
    paths = [path.split(" ")[-1] for path in links]
    pages = [path for path in paths if path.startswith(("/citations/", "/ask/", "/notes/"))]
    pages += paths[:: len(paths) // OPENED]
    statuses = {client.get(path, follow=True).status_code for path in pages}
    assert statuses == {200}, statuses
    return links
