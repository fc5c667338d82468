"""What readers have written, in one list: the notes of collections and those on highlights."""

from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User
from django.db.models import QuerySet, Value

from citations.models import Highlight, Note
from citations.notebook import highlights, notes
from citations.notebook.highlights import HighlightFilter, PlacedHighlight
from transcripts.core.lists import page_of
from transcripts.core.scope import Scope


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
    highlight_rows = Highlight.objects.select_related(*highlights.DETAILS).in_bulk(
        [pk for _, pk, is_note in page if not is_note]
    )
    placed = {
        highlight.row.pk: highlight for highlight in highlights.place(highlight_rows.values())
    }
    entries = [note_rows.get(pk) if is_note else placed.get(pk) for _, pk, is_note in page]
    return EntryPage(
        entries=tuple(entry for entry in entries if entry is not None),
        total=keys.count(),
        next=following,
    )


def _keys(rows: QuerySet[Any], *, is_note: bool) -> QuerySet[Any, Any]:
    keys: QuerySet[Any, Any] = rows.order_by().annotate(is_note=Value(is_note))
    return keys.values_list("updated_at", "pk", "is_note")
