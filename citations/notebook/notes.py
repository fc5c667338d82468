"""Notes in a collection, visible to its readers: a user's own words, or a saved answer; and, in one
list with them, those on highlights.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from django.contrib.auth.models import User
from django.db.models import QuerySet, Value
from django.utils.translation import ngettext

from citations.errors import NoteNotFound
from citations.models import Answer, AnswerState, Conversation, Highlight, Note
from citations.notebook import answers as notebook_answers
from citations.notebook import export, highlights, notes, shared_conversations
from citations.notebook.highlights import HighlightFilter, PlacedHighlight
from citations.schemas.requests import MAX_NOTE
from transcripts.core.errors import Conflict, InvalidInput
from transcripts.core.lists import containing, page_of, row_of
from transcripts.core.sanitize import clean
from transcripts.core.scope import Scope
from transcripts.library import reading as library
from transcripts.models import Collection, DeletableQuerySet
from transcripts.schemas import MAX_TITLE

DETAILS: Final = ("collection", "author", "answer__conversation")  # to load with notes
TITLE: Final = 80  # characters of the first line, for notes without a title


@dataclass(frozen=True, slots=True, kw_only=True)
class NotePage:
    """A page of notes, latest first; ``next`` is the next offset or None."""

    notes: tuple[Note, ...]
    total: int
    next: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredNote:
    """The note of a saved answer; ``is_new`` unless it existed."""

    note: Note
    is_new: bool


def list_notes(
    scope: Scope, *, collection: str = "", words: str = "", offset: int = 0, limit: int = 25
) -> NotePage:
    """Return notes that contain all ``words``, latest first. Raises ``CollectionNotFound``."""
    notes = matching(scope, collection=collection, words=words)
    rows, following = page_of(notes, offset, limit)
    return NotePage(notes=rows, total=notes.count(), next=following)


def matching(scope: Scope, *, collection: str = "", words: str = "") -> DeletableQuerySet[Note]:
    """Return the notes that ``list_notes`` pages through."""
    notes = Note.objects.visible(scope)
    if collection:
        notes = notes.filter(collection=library.find_collection(scope, collection))
    notes = containing(notes, words, "title", "text")
    return notes.select_related(*DETAILS).order_by("-updated_at", "-pk")


def find_note(scope: Scope, reference: UUID | str, *, write: bool = False) -> Note:
    """Return a visible note. Raises ``NoteNotFound``, and ``Forbidden`` if read-only."""
    visible = Note.objects.visible(scope).select_related(*DETAILS)
    note = row_of(visible, reference, NoteNotFound)
    if write:
        scope.require_write(note.collection_id)
    return note


def pin(
    scope: Scope, user: User | None, *, collection: str = "", title: str = "", text: str = ""
) -> Note:
    """Store a note in a writable collection ("": the default one).

    Without a title, the first line becomes it. Raises ``Forbidden``, ``CollectionNotFound``,
    and ``InvalidInput`` for an empty note or one above ``MAX_NOTE``.
    """
    target = library.target_collection(scope, collection)
    return Note.objects.create(collection=target, author=user, **_columns(title, text))


def keep(
    scope: Scope, user: User | None, answer: Answer, *, collection: str = "", title: str = ""
) -> StoredNote:
    """Save an answer as a note, once, in the collection it is about unless one is named.

    What it quotes from other collections is left out, which the note says. Raises what ``pin``
    raises, and ``Conflict`` for an answer of which nothing would be left.
    """
    target = _target(scope, answer.conversation, [answer], named=collection)
    notes = Note.objects.filter(answer=answer, collection=target)
    notes.exclude(deletion=None).update(answer=None)  # it is going
    existing = notes.select_related(*DETAILS).first()
    if existing is not None:
        return StoredNote(note=existing, is_new=False)
    columns = _columns(title or answer.question, _answer_text(target, user, answer))
    note, is_new = Note.objects.get_or_create(
        answer=answer, collection=target, defaults={"author": user, **columns}
    )  # two pages may save it concurrently
    return StoredNote(note=note, is_new=is_new)


def keep_conversation(scope: Scope, user: User | None, conversation: Conversation) -> Note:
    """Save the answered questions of a conversation as a new note, as ``keep`` saves one.

    Raises what ``keep`` raises.
    """
    states = (AnswerState.ANSWERED, AnswerState.PARTIAL)
    answers = list(conversation.answers.filter(state__in=states).order_by("ordinal"))
    if not answers:
        raise Conflict("Nothing was answered in this conversation.", hint="Ask first.")
    target = _target(scope, conversation, answers)
    parts = [f"## {answer.question}\n\n{_answer_text(target, user, answer)}" for answer in answers]
    return pin(
        scope, user, collection=target.slug, title=conversation.title, text="\n\n".join(parts)
    )


def saved(scope: Scope, answers: Iterable[UUID]) -> dict[UUID, Note]:
    """Return the visible note of each of these answers (by id): the latest."""
    visible = Note.objects.visible(scope).filter(answer__uuid__in=list(answers))
    notes = visible.select_related("collection", "answer").order_by("pk")
    return {note.answer.uuid: note for note in notes if note.answer}


def change(note: Note, *, title: str, text: str) -> None:
    """Replace a note's title and text. Raises ``InvalidInput``."""
    for name, value in _columns(title, text).items():
        setattr(note, name, value)
    note.save(update_fields=["title", "text", "updated_at"])


def delete(note: Note) -> None:
    Note.objects.filter(pk=note.pk).delete()


def _target(
    scope: Scope, conversation: Conversation, answers: Sequence[Answer], *, named: str = ""
) -> Collection:
    """Return the collection of a note: the named one, that of the conversation, or else the one
    that may be added to and has most of what the answers quote.
    """
    own = conversation.collection
    if named or own:
        return library.target_collection(scope, named or (own.slug if own else ""))
    writable = Collection.objects.filter(pk__in=scope.writable)
    choices = shared_conversations.choices(notebook_answers.read(scope, answers), writable)
    return choices[0].collection if choices else library.target_collection(scope)


def _answer_text(target: Collection, user: User | None, answer: Answer) -> str:
    """Return an answer as readers of just this collection may see it."""
    (record,) = notebook_answers.read(Scope(readable=frozenset({target.pk})), [answer])
    if record.withheld and not record.claims:
        raise Conflict(
            f"The answer quotes sources outside “{target.name}”.",
            hint="Readers of the note may not be allowed to see them.",
        )
    if record.gone:
        raise Conflict("The answer quotes deleted sources.", hint="Answer it again first.")
    if not record.claims:
        raise Conflict("This answer is empty.")
    text = export.to_markdown(shared_conversations.as_seen(user, answer.conversation, record))
    if not record.withheld:
        return text
    left_out = ngettext(
        "%(count)d sentence that quotes another collection is left out.",
        "%(count)d sentences that quote other collections are left out.",
        record.withheld,
    )
    return f"{text}\n*{left_out % {'count': record.withheld}}*\n"


def _columns(title: str, text: str) -> dict[str, str]:
    if len(text) > MAX_NOTE:
        raise InvalidInput(
            f"The note has {len(text):,} characters; at most {MAX_NOTE:,} are allowed.",
            hint="Split it.",
        )
    body = clean(re.sub(r"\r\n?", "\n", text), MAX_NOTE)
    first_line = " ".join(body.lstrip("# ").partition("\n")[0].split())[:TITLE].strip()
    line = " ".join(clean(title, MAX_TITLE).split()) or first_line
    if not line:
        raise InvalidInput("The note is empty.", hint="Enter a title or a text.")
    return {"title": line, "text": body}


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryPage:
    """A page of notes and of highlights with a note, latest first; ``next`` is the next offset or
    None.
    """

    entries: tuple[Note | PlacedHighlight, ...]
    total: int
    next: int | None

    @property
    def highlights(self) -> tuple[PlacedHighlight, ...]:
        return tuple(entry for entry in self.entries if isinstance(entry, PlacedHighlight))


def list_entries(
    scope: Scope,
    user: User | None,
    *,
    collection: str = "",
    words: str = "",
    offset: int = 0,
    limit: int = 25,
) -> EntryPage:
    """Return what contains all ``words``: of a highlight, its note, its quote and its source count.

    Raises ``CollectionNotFound``.
    """
    note_matches = notes.matching(scope, collection=collection, words=words)
    filter = HighlightFilter(words=words, collection=collection)
    highlight_matches = highlights.matching(scope, user, filter).exclude(note="")
    keys = _keys(note_matches, is_note=True).union(
        _keys(highlight_matches, is_note=False), all=True
    )
    page, following = page_of(keys.order_by("-updated_at", "-pk"), offset, limit)
    note_rows = note_matches.in_bulk([pk for _, pk, is_note in page if is_note])
    related = Highlight.objects.select_related(*highlights.DETAILS)
    rows = related.in_bulk([pk for _, pk, is_note in page if not is_note])
    placed = {highlight.row.pk: highlight for highlight in highlights.place(rows.values())}
    entries = [note_rows.get(pk) if is_note else placed.get(pk) for _, pk, is_note in page]
    return EntryPage(
        entries=tuple(entry for entry in entries if entry is not None),
        total=keys.count(),
        next=following,
    )


def _keys(rows: QuerySet[Any], *, is_note: bool) -> QuerySet[Any, Any]:
    keys: QuerySet[Any, Any] = rows.order_by().annotate(is_note=Value(is_note))
    return keys.values_list("updated_at", "pk", "is_note")
