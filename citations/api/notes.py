"""The operations on notes."""

from typing import Annotated, Any, Self
from uuid import UUID

from ninja import Field, Path, Query, Router, Status
from pydantic import model_validator

from citations.models import Note
from citations.notebook import answers as notebook_answers
from citations.notebook import notes
from citations.schemas.notebook import NoteOut, NotesOut
from citations.schemas.requests import WordsIn
from transcripts.api.endpoints import Request
from transcripts.api.shapes import BodyIn, PageIn, Words, responses
from transcripts.core.access import AccessLevel, needs
from transcripts.core.headers import located
from transcripts.schemas import CollectionName, Id, SlugOrName

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


router = Router(tags=["notebook"])


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
