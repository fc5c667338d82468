"""The operations on notes."""

from typing import Any

from ninja import Query, Router, Status

from citations.api.conversations_in import NoteId, NoteIn, NotesIn, NoteText
from citations.api.conversations_out import NoteOut, NotesOut
from citations.models import Note
from citations.notebook import answers as notebook_answers
from citations.notebook import notes
from transcripts.api.endpoints import Request
from transcripts.api.out import responses

router = Router(tags=["conversations"])


@router.get("notes", response=responses({200: NotesOut}, 404), summary="List notes")
def list_notes(request: Request, wanted: Query[NotesIn]) -> NotesOut:
    """List the notes of your collections, latest first."""
    page = notes.list_notes(
        request.access,
        collection=wanted.collection,
        words=wanted.words,
        offset=wanted.offset,
        limit=wanted.limit,
    )
    shown = [NoteOut.read(note, request.caller.user) for note in page.notes]
    return NotesOut(notes=shown, total=page.total, next=page.next)


@router.post(
    "notes", response=responses({200: NoteOut, 201: NoteOut}, 404, 409), summary="Keep a note"
)
def add_note(request: Request, sent: NoteIn) -> Status[NoteOut]:
    """Keep a text, or an answer of yours with its citations, in a collection.

    Everybody who may read the collection sees it. An answer is kept once: sent again, it returns
    200 and the existing note.
    """
    request.caller.require_write()
    user = request.caller.user
    if sent.answer is None:
        note = notes.pin(
            request.access, user, collection=sent.collection, title=sent.title, text=sent.text
        )
        return Status(201, NoteOut.read(note, user))
    answer = notebook_answers.find_answer(request.access, user, sent.answer)
    kept = notes.keep(request.access, user, answer, collection=sent.collection, title=sent.title)
    return Status(201 if kept.is_new else 200, NoteOut.read(kept.note, user))


@router.get("notes/{note_id}", response=responses({200: NoteOut}, 404), summary="Read a note")
def get_note(request: Request, note_id: NoteId) -> NoteOut:
    """Return a note."""
    return NoteOut.read(notes.find_note(request.access, note_id), request.caller.user)


@router.put("notes/{note_id}", response=responses({200: NoteOut}, 404), summary="Change a note")
def put_note(request: Request, note_id: NoteId, sent: NoteText) -> NoteOut:
    """Replace a note's title and text. Needs the right to change its collection."""
    note = _find_writable(request, note_id)
    notes.change(note, title=sent.title, text=sent.text)
    return NoteOut.read(note, request.caller.user)


@router.delete("notes/{note_id}", response=responses({204: None}, 404), summary="Delete a note")
def delete_note(request: Request, note_id: NoteId) -> Status[Any]:
    """Delete a note."""
    notes.delete(_find_writable(request, note_id))
    return Status(204, None)


def _find_writable(request: Request, note_id: Any) -> Note:
    request.caller.require_write()
    return notes.find_note(request.access, note_id, write=True)
