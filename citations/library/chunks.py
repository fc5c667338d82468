"""What a source holds: its chunks in the order of its text."""

from dataclasses import dataclass

from django.db.models import F, Q
from django.db.models.functions import Coalesce

from citations.models import Chunk, Source


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkPage:
    """Some chunks of a source; ``next`` goes on after the last one, None at the end, and ``previous`` goes back, None at the start."""

    chunks: tuple[Chunk, ...]
    previous: int | None
    next: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Spot:
    """A spot in a source: how many chunks stand before it, and the primary keys of those that are there."""

    offset: int = 0
    chunks: frozenset[int] = frozenset()


def list_chunks(source: Source, *, offset: int = 0, limit: int = 50) -> ChunkPage:
    """Return a page of a source's chunks."""
    rows = tuple(source.chunks.order_by("ordinal")[offset : offset + limit + 1])
    return ChunkPage(
        chunks=rows[:limit],
        previous=max(0, offset - limit) if offset else None,
        next=offset + limit if len(rows) > limit else None,
    )


def find_page(source: Source, number: int) -> Spot:
    """Return the chunks on a page of a document, counted from 1; the start of the source where there is no such page."""
    on_page = Q(page__lte=number) & Q(last__gte=number)
    rows = list(
        source.chunks.annotate(last=Coalesce(F("last_page"), F("page")))
        .filter(on_page)
        .order_by("ordinal")
        .values_list("pk", "ordinal")
    )
    if not rows:
        return Spot()
    return Spot(
        offset=source.chunks.filter(ordinal__lt=rows[0][1]).count(),
        chunks=frozenset(pk for pk, _ in rows),
    )
