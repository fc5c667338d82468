"""The operations on notes: each parses, makes one call, renders."""

from collections.abc import Mapping
from typing import Any

from ninja import Query, Router, Status

from citations.api.conversations_in import NoteId, NoteIn, NotesIn, NoteText
from citations.api.conversations_out import NoteOut, NotesOut, noted
from citations.models import Note
from citations.notebook import answers as notebook_answers
from citations.notebook import notes
from transcripts.api.endpoints import Request
from transcripts.api.out import answers

router = Router(tags=["conversations"])


@router.get("notes", response=answers({200: NotesOut}, 404), summary="List notes")
def list_notes(request: Request, wanted: Query[NotesIn]) -> dict[str, Any]:
    """List the notes of your collections, the latest first."""
    page = notes.list_notes(
        request.reach,
        collection=wanted.collection,
        words=wanted.words,
        offset=wanted.offset,
        limit=wanted.limit,
    )
    return {
        "notes": [noted(note, request.caller.user) for note in page.notes],
        "total": page.total,
        "next": page.next,
    }


@router.post(
    "notes", response=answers({200: NoteOut, 201: NoteOut}, 404, 409), summary="Keep a note"
)
def add_note(request: Request, sent: NoteIn) -> Status[Mapping[str, Any]]:
    """Keep a text, or an answer of yours with its citations, beside the sources of a collection: all who may read it see it.

    An answer that is kept there already is not kept twice: 200, with the note as it is.
    """
    request.caller.require_write()
    user = request.caller.user
    if sent.answer is None:
        made = notes.pin(
            request.reach, user, collection=sent.collection, title=sent.title, text=sent.text
        )
        return Status(201, noted(made, user))
    answer = notebook_answers.find_answer(request.reach, user, sent.answer)
    kept = notes.keep(request.reach, user, answer, collection=sent.collection, title=sent.title)
    return Status(201 if kept.is_new else 200, noted(kept.note, user))


@router.get("notes/{note_id}", response=answers({200: NoteOut}, 404), summary="Read a note")
def get_note(request: Request, note_id: NoteId) -> Mapping[str, Any]:
    """Give a note."""
    return noted(notes.find_note(request.reach, note_id), request.caller.user)


@router.put("notes/{note_id}", response=answers({200: NoteOut}, 404), summary="Change a note")
def put_note(request: Request, note_id: NoteId, sent: NoteText) -> Mapping[str, Any]:
    """Write a note anew. Whoever may change its collection may do that."""
    note = _changeable(request, note_id)
    notes.change(note, title=sent.title, text=sent.text)
    return noted(note, request.caller.user)


@router.delete("notes/{note_id}", response=answers({204: None}, 404), summary="Delete a note")
def delete_note(request: Request, note_id: NoteId) -> Status[Any]:
    """Delete a note."""
    notes.delete(_changeable(request, note_id))
    return Status(204, None)


def _changeable(request: Request, note_id: Any) -> Note:
    request.caller.require_write()
    return notes.find_note(request.reach, note_id, write=True)
