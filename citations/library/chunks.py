"""Page through the chunks of a source."""

from dataclasses import dataclass

from django.db.models import F, Q
from django.db.models.functions import Coalesce

from citations.models import Chunk, Source


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkPage:
    """Some chunks of a source; ``previous`` and ``next`` are offsets, None at either end."""

    chunks: tuple[Chunk, ...]
    previous: int | None
    next: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Spot:
    """A position in a source: the number of chunks before it, and the primary keys of the chunks
    there.
    """

    offset: int = 0
    chunks: frozenset[int] = frozenset()


def list_chunks(source: Source, *, offset: int = 0, limit: int = 50) -> ChunkPage:
    rows = tuple(source.chunks.order_by("ordinal")[offset : offset + limit + 1])
    return ChunkPage(
        chunks=rows[:limit],
        previous=max(0, offset - limit) if offset else None,
        next=offset + limit if len(rows) > limit else None,
    )


def find_page(source: Source, number: int) -> Spot:
    """Return the chunks on a page of a document, counted from 1.

    The start where it has no such page.
    """
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
