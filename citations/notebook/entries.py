"""What readers have written, in one list: the notes of collections and those on highlights."""

from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db.models import Value

from citations.models import Highlight, Note
from citations.notebook import highlights, notes
from citations.notebook.highlights import HighlightFilter, PlacedHighlight
from transcripts.scope import Scope


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryPage:
    """A page of notes and of highlights with a note, latest first; ``next`` is the next offset or
    None.
    """

    entries: tuple[Note | PlacedHighlight, ...]
    total: int
    next: int | None


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
    written = notes.matching(scope, collection=collection, words=words)
    filter = HighlightFilter(words=words, collection=collection)
    noted = highlights.matching(scope, user, filter).exclude(note="")
    rows = [rows.order_by().values_list("updated_at", "pk") for rows in (written, noted)]
    both = (
        rows[0]
        .annotate(is_note=Value(True))
        .union(rows[1].annotate(is_note=Value(False)), all=True)
    )
    keys = [*both.order_by("-updated_at", "-pk")[offset : offset + limit + 1]]
    found_notes = written.in_bulk([pk for _, pk, is_note in keys if is_note])
    found = Highlight.objects.select_related(*highlights.DETAILS).in_bulk(
        [pk for _, pk, is_note in keys if not is_note]
    )
    placed = {each.row.pk: each for each in highlights.place(found.values())}
    entries = [
        found_notes.get(pk) if is_note else placed.get(pk) for _, pk, is_note in keys[:limit]
    ]
    return EntryPage(
        entries=tuple(entry for entry in entries if entry is not None),
        total=both.count(),
        next=offset + limit if len(keys) > limit else None,
    )
