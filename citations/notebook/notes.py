"""Notes: what people keep beside the sources of a collection, in their own words or as an answer with its citations. All who may read it see them."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from django.contrib.auth.models import User

from citations.errors import NoteNotFound
from citations.models import Answer, Note
from citations.notebook import answers as notebook_answers
from citations.notebook import export
from transcripts import library
from transcripts.errors import Conflict, InvalidInput
from transcripts.models import Collection
from transcripts.sanitize import clean, uuid_of
from transcripts.scope import Scope

MAX_TEXT: Final = 50_000  # characters
TITLE: Final = 80  # characters of a note's first line, where it was given no title


@dataclass(frozen=True, slots=True, kw_only=True)
class NotePage:
    """Some notes of one collection or of several, the latest first; ``next`` goes on after the last one, None at the end."""

    notes: tuple[Note, ...]
    total: int
    next: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredNote:
    """The note that an answer is kept as; ``is_new`` unless it was kept already."""

    note: Note
    is_new: bool


def list_notes(
    scope: Scope, *, collection: str = "", words: str = "", offset: int = 0, limit: int = 25
) -> NotePage:
    """Return a page of the notes of a collection ("": of all that may be read) in which every one of ``words`` occurs. Raises ``CollectionNotFound``."""
    found = Note.objects.visible(scope)
    if collection:
        found = found.filter(collection=library.find_collection(scope, collection))
    for word in clean(words, 1_000).split()[:10]:
        found = found.filter(title__icontains=word) | found.filter(text__icontains=word)
    rows = tuple(
        found.select_related("collection", "author", "answer__conversation").order_by(
            "-updated_at", "-pk"
        )[offset : offset + limit + 1]
    )
    return NotePage(
        notes=rows[:limit], total=found.count(), next=offset + limit if len(rows) > limit else None
    )


def find_note(scope: Scope, reference: UUID | str, *, write: bool = False) -> Note:
    """Return the visible note of this id. Raises ``NoteNotFound``, and ``Forbidden`` where it is to be changed and may only be read."""
    visible = Note.objects.visible(scope).select_related(
        "collection", "author", "answer__conversation"
    )
    found = visible.filter(uuid=uuid_of(reference)).first()
    if found is None:
        raise NoteNotFound("There is no such note.")
    if write:
        scope.require_write(found.collection_id)
    return found


def pin(
    scope: Scope, user: User | None, *, collection: str = "", title: str = "", text: str = ""
) -> Note:
    """Keep a note in a collection that the caller may change ("": their usual one). Its title is its first line, unless one is given.

    Raises ``Forbidden``, ``CollectionNotFound``, ``InvalidInput`` for nothing, or more than ``MAX_TEXT`` characters.
    """
    shelf = library.target_collection(scope, collection)
    return Note.objects.create(collection=shelf, author=user, **_written(title, text))


def keep(
    scope: Scope, user: User | None, answer: Answer, *, collection: str = "", title: str = ""
) -> StoredNote:
    """Keep an answer of the caller's with its citations, once, in the collection that was asked unless another one is named.

    Raises what ``pin`` raises, and ``Conflict`` for an answer that says nothing, or that quotes what not everybody who reads the collection may read.
    """
    asked = answer.conversation.collection
    shelf = library.target_collection(scope, collection or (asked.slug if asked else ""))
    before = (
        Note.objects.filter(answer=answer, collection=shelf)
        .select_related("collection", "author", "answer__conversation")
        .first()
    )
    if before is not None:
        return StoredNote(note=before, is_new=False)
    written = _written(title or answer.question, _told(shelf, answer))
    note, is_new = Note.objects.get_or_create(
        answer=answer, collection=shelf, defaults={"author": user, **written}
    )  # two pages may save it at once
    return StoredNote(note=note, is_new=is_new)


def saved(scope: Scope, answers: Iterable[UUID]) -> dict[UUID, Note]:
    """Return the visible note that each of these answers, by their ids, is kept as; its latest, where several collections have one."""
    visible = Note.objects.visible(scope).filter(answer__uuid__in=list(answers))
    return {
        note.answer.uuid: note
        for note in visible.select_related("collection", "answer").order_by("pk")
        if note.answer
    }


def change(note: Note, *, title: str, text: str) -> None:
    """Write a note anew. Raises ``InvalidInput``."""
    for name, value in _written(title, text).items():
        setattr(note, name, value)
    note.save(update_fields=["title", "text", "updated_at"])


def delete(note: Note) -> None:
    """Delete a note."""
    Note.objects.filter(pk=note.pk).delete()


def _told(shelf: Collection, answer: Answer) -> str:
    """Return an answer as whoever may read the collection, and no other, may see it."""
    (record,) = notebook_answers.read(Scope(readable=frozenset({shelf.pk})), [answer])
    if record.withheld:
        raise Conflict(
            f"The answer quotes sources that are not in “{shelf.name}”.",
            hint="Whoever reads the notes there may not be allowed to read them.",
        )
    if record.gone:
        raise Conflict(
            "The answer quotes sources that were deleted.", hint="Have it answered anew."
        )
    if not record.claims:
        raise Conflict("This answer says nothing that could be kept.")
    return export.told(record)


def _written(title: str, text: str) -> dict[str, str]:
    if len(text) > MAX_TEXT:
        raise InvalidInput(
            f"A note has at most {MAX_TEXT:,} characters; this one has {len(text):,}.",
            hint="Make two of it.",
        )
    body = clean(_BREAKS.sub("\n", text), MAX_TEXT)
    named = (
        " ".join(clean(title, 300).split())
        or " ".join(body.lstrip("# ").partition("\n")[0].split())[:TITLE].strip()
    )
    if not named:
        raise InvalidInput("There is nothing in the note.", hint="Write a title or a text.")
    return {"title": named, "text": body}


_BREAKS: Final = re.compile(r"\r\n?")
