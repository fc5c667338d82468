"""The operations on notes, links for people without an account, and archives."""

from typing import Annotated, Any, Final, Literal, Self
from uuid import UUID

from django.http import StreamingHttpResponse
from ninja import Field, Path, Query, Router, Status
from pydantic import StringConstraints, model_validator

from citations.library.filters import find_source
from citations.models import Archive, Note, SharedLink
from citations.notebook import answers as notebook_answers
from citations.notebook import archives, notes, shared_links
from citations.notebook.shared_links import LIFETIME, ShareTarget
from citations.schemas.filters import MAX_VALUES
from citations.schemas.notebook import ArchiveOut, NoteOut, NotesOut, SharedLinkOut, SharedLinksOut
from citations.schemas.requests import WordsIn
from citations.tasks import send_archive
from transcripts.api.endpoints import Request
from transcripts.api.shapes import BodyIn, PageIn, Whole, Words, responses
from transcripts.core.access import AccessLevel, needs
from transcripts.core.headers import FILE_NAME, located
from transcripts.schemas import CollectionName, Id, SlugOrName, Text
from transcripts.text.timecodes import MAX_SECONDS, milliseconds

router = Router(tags=["notebook"])

NoteId = Annotated[UUID, Path(description="The note's id.")]


class NotesIn(PageIn):
    """Filters and a page of notes."""

    collection: SlugOrName = Field("", description="Slug or name; empty: all your collections.")
    words: Words = Field("", description="Words of the title or text.")


class NoteText(WordsIn, BodyIn):
    """The text of a note."""

    @model_validator(mode="after")
    def something(self) -> Self:
        if not (self.title.strip() or self.text.strip() or getattr(self, "answer_id", None)):
            raise ValueError("a note has a title or a text")
        return self


class NoteIn(NoteText):
    """A note: a text, or an answer with its citations."""

    collection: CollectionName = ""
    answer_id: Id | None = Field(None, description="Keep this answer of yours instead of a text.")

    @model_validator(mode="after")
    def check_alternatives(self) -> Self:
        if self.answer_id and self.text.strip():
            raise ValueError("give either a text or an answer")
        return self


@router.get("notes", response=responses({200: NotesOut}, 404), summary="List notes")
@needs(AccessLevel.READ)
def list_notes(request: Request, query: Query[NotesIn]) -> NotesOut:
    """List the notes of your collections, latest first."""
    page = notes.list_notes(request.access, **query.model_dump())
    listed = [NoteOut.read(note, request.caller.user) for note in page.notes]
    return NotesOut(notes=listed, total=page.total, next=page.next)


@router.post(
    "notes",
    response=responses({200: NoteOut, 201: NoteOut}, 404, 409),
    openapi_extra=located(200, 201),
    summary="Keep a note",
)
@needs(AccessLevel.WRITE)
def add_note(request: Request, body: NoteIn) -> Status[NoteOut]:
    """Keep a text, or an answer of yours with its citations, in a collection.

    Everybody who may read the collection sees it. An answer is kept once: sent again, it returns
    200 and the existing note.
    """
    user = request.caller.user
    if body.answer_id is None:
        note = notes.pin(
            request.access, user, collection=body.collection, title=body.title, text=body.text
        )
        return _created(request, note, 201)
    answer = notebook_answers.find_answer(request.access, user, body.answer_id)
    result = notes.keep(request.access, user, answer, collection=body.collection, title=body.title)
    return _created(request, result.note, 201 if result.is_new else 200)


@router.get("notes/{note_id}", response=responses({200: NoteOut}, 404), summary="Read a note")
@needs(AccessLevel.READ)
def get_note(request: Request, note_id: NoteId) -> NoteOut:
    """Return a note."""
    return NoteOut.read(notes.find_note(request.access, note_id), request.caller.user)


@router.put("notes/{note_id}", response=responses({200: NoteOut}, 404), summary="Change a note")
@needs(AccessLevel.WRITE)
def put_note(request: Request, note_id: NoteId, body: NoteText) -> NoteOut:
    """Replace a note's title and text. Needs the right to change its collection."""
    note = _find_writable(request, note_id)
    notes.change(note, title=body.title, text=body.text)
    return NoteOut.read(note, request.caller.user)


@router.delete("notes/{note_id}", response=responses({204: None}, 404), summary="Delete a note")
@needs(AccessLevel.WRITE)
def delete_note(request: Request, note_id: NoteId) -> Status[Any]:
    """Delete a note."""
    notes.delete(_find_writable(request, note_id))
    return Status(204, None)


def _created(request: Request, note: Note, status: int) -> Status[NoteOut]:
    request.answer["Location"] = f"/api/v1/notes/{note.uuid}"
    return Status(status, NoteOut.read(note, request.caller.user))


def _find_writable(request: Request, note_id: Any) -> Note:
    return notes.find_note(request.access, note_id, write=True)


LinkId = Annotated[UUID, Path(description="The link's id.")]


class SharedLinkIn(BodyIn):
    """What a link shows, and for how long.

    One of: a highlight, an answer, a page of a document, a clip of a recording.
    """

    highlight_id: Id | None = None
    answer_id: Id | None = None
    source_id: Id | None = Field(None, description="With a page, or with start and end.")
    page: int | None = Field(None, ge=1, le=1_000_000, description="Of a document, from 1.")
    start: float | None = Field(None, ge=0, le=MAX_SECONDS, description="Seconds.")
    end: float | None = Field(None, ge=0, le=MAX_SECONDS, description="Seconds.")
    days: Annotated[Literal[1, 7, 30, 90], Whole] = Field(
        LIFETIME, description="Until it leads nowhere."
    )
    plays_file: bool = Field(
        default=False, description="Plays what it shows, cut out of the recording's own file."
    )


@router.get("shared-links", response=responses({200: SharedLinksOut}), summary="List shared links")
@needs(AccessLevel.MANAGE)
def list_shared_links(request: Request) -> dict[str, Any]:
    """List your links that have not expired."""
    return {"links": shared_links.list_links(request.access, request.caller.user)}


@router.post(
    "shared-links",
    response=responses({201: SharedLinkOut}, 404, 409),
    openapi_extra=located(201),
    summary="Share by a link",
)
@needs(AccessLevel.MANAGE)
def add_shared_link(request: Request, body: SharedLinkIn) -> Status[SharedLink]:
    """Make a link to a highlight, an answer, a page or a clip, where owners allow links."""
    target = ShareTarget(
        highlight=body.highlight_id or "",
        answer=body.answer_id or "",
        source=body.source_id or "",
        page=body.page,
        start=milliseconds(body.start),
        end=milliseconds(body.end),
    )
    terms: dict[str, Any] = {"days": body.days, "plays_file": body.plays_file}
    link = shared_links.share(request.access, request.caller.user, target, **terms)
    request.answer["Location"] = "/api/v1/shared-links"
    return Status(201, link)


@router.delete(
    "shared-links/{link_id}", response=responses({204: None}, 404), summary="Revoke a shared link"
)
@needs(AccessLevel.MANAGE)
def revoke_shared_link(request: Request, link_id: LinkId) -> Status[None]:
    """End a link of yours, or of others to a collection that you own, at once."""
    shared_links.revoke(request.access, request.caller.user, link_id)
    return Status(204, None)


ArchiveId = Annotated[UUID, Path(description="The archive's id.")]
_FILE: Final = {
    200: {
        "description": "The ZIP.",
        "headers": FILE_NAME,
        "content": {"application/zip": {"schema": {"type": "string", "format": "binary"}}},
    }
}


class ArchiveIn(BodyIn):
    """What to put into a ZIP."""

    collection: CollectionName = Field("", description="Slug or name; empty: all that you read.")
    source_id: list[Annotated[Text, StringConstraints(max_length=500)]] = Field(
        [],
        max_length=MAX_VALUES,
        description="Only these, with what was made of them: ids of sources or of videos.",
    )
    with_media: bool = Field(
        default=False, description="With the audio and video files of recordings."
    )


@router.post(
    "archives",
    response=responses({202: ArchiveOut}, 404, 409),
    openapi_extra=located(202),
    summary="Put everything into one ZIP",
)
@needs(AccessLevel.WRITE)
def add_archive(request: Request, body: ArchiveIn) -> Status[Archive]:
    """Begin a ZIP of all that you may read, or of some sources; while the same is being made, that
    is returned.
    """
    chosen = [find_source(request.access, reference) for reference in body.source_id]
    archive = archives.request(
        request.access,
        request.caller.user,
        collection=body.collection,
        sources=chosen,
        with_media=body.with_media,
    )
    if archive.sent_at is None:
        send_archive(archive)
    request.answer["Location"] = f"/api/v1/archives/{archive.uuid}"
    return Status(202, archive)


@router.get(
    "archives/{archive_id}", response=responses({200: ArchiveOut}, 404), summary="Watch a ZIP"
)
@needs(AccessLevel.READ)
def get_archive(request: Request, archive_id: ArchiveId) -> Archive:
    """Return how far a ZIP is."""
    return archives.find(request.access, request.caller.user, archive_id)


@router.get(
    "archives/{archive_id}/file",
    response=responses({200: None}, 404),
    openapi_extra={"responses": _FILE},
    summary="Download a ZIP",
)
@needs(AccessLevel.READ)
def get_archive_file(request: Request, archive_id: ArchiveId) -> StreamingHttpResponse:
    """Return a ZIP that is done."""
    user = request.caller.user
    archive = archives.find(request.access, user, archive_id, ready=True)
    headers = {
        "Content-Disposition": f'attachment; filename="{archive.file_name}"',
        "ETag": f'"{archive.uuid}"',  # what is done does not change
    }
    parts = archives.pieces(archive)
    return StreamingHttpResponse(parts, content_type="application/zip", headers=headers)


@router.delete(
    "archives/{archive_id}", response=responses({204: None}, 404), summary="Delete a ZIP"
)
@needs(AccessLevel.WRITE)
def delete_archive(request: Request, archive_id: ArchiveId) -> Status[Any]:
    """Delete a ZIP before its day is over."""
    archives.delete(archives.find(request.access, request.caller.user, archive_id))
    return Status(204, None)
