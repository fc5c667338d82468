"""Nearest neighbours of a vector, through pgvector: exact for few rows, else by the HNSW index."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from django.db import connection, transaction
from numpy.typing import NDArray
from pgvector import HalfVector

from citations.library.filters import ResolvedFilter
from citations.models import EmbeddingSpace

INDEXED_FROM = 5_000  # vectors from which on the index is faster than comparing all
EXACT_ROWS = 20_000  # the same for filtered rows, which the index finds among others
LARGE = 50_000  # rows from which on the index must search wider for the same recall
MAX_SCANNED = 200_000  # rows that the index scans to find enough filtered ones
MAX_EF = 1_000  # pgvector's limit
FOREVER = 1 << 62  # ms


class NearestChunk(NamedTuple):
    """The primary key and position of a chunk, and the cosine of its vector and the query."""

    chunk: int
    position: int
    cosine: float


def search(
    vector: NDArray[Any], *, space: EmbeddingSpace, limit: int, resolved: ResolvedFilter
) -> list[NearestChunk]:
    """Find the ``limit`` chunks nearest to a vector of length 1, nearest first, ties by position.

    No filter starves the result: few matching chunks are all compared, also where the index returns
    too few. A chunk whose text has changed is found by its old vector until it has a new one.
    """
    if limit <= 0 or resolved.is_empty:
        return []
    if resolved.chunks <= (EXACT_ROWS if _is_narrow(resolved) else INDEXED_FROM):
        return _exact(vector, space, limit, resolved)
    nearest = _by_index(vector, space, limit, resolved)
    return (
        nearest
        if len(nearest) >= min(limit, resolved.chunks)
        else _exact(vector, space, limit, resolved)
    )


def _exact(
    vector: NDArray[Any], space: EmbeddingSpace, limit: int, resolved: ResolvedFilter
) -> list[NearestChunk]:
    # The bare column: with the indexed expression the planner could use the index and miss rows.
    sql = _query("e.vector", space, resolved, then=", e.chunk_id")
    return _fetched(sql, _values(vector, space, limit, resolved))


def _by_index(
    vector: NDArray[Any], space: EmbeddingSpace, limit: int, resolved: ResolvedFilter
) -> list[NearestChunk]:
    is_wide = _is_narrow(resolved) or resolved.chunks > LARGE
    width = min(MAX_EF, max(limit, 200 if is_wide else 100))
    settings = (
        f"SET LOCAL hnsw.ef_search = {width}; SET LOCAL hnsw.iterative_scan = relaxed_order;"
        f" SET LOCAL hnsw.max_scan_tuples = {MAX_SCANNED}"
    )
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute(settings)
        return _fetched(
            _query(indexed_expression(space, "e"), space, resolved),
            _values(vector, space, limit, resolved),
        )


def cosines_at(
    vector: NDArray[Any], positions: Sequence[int], *, space: EmbeddingSpace
) -> dict[int, float]:
    """Return the cosines of a vector of length 1 with the chunks at these positions.

    Chunks that are not embedded are missing.
    """
    sql = f"""
        SELECT chunk.position, 1 - (e.vector <=> %(vector)s::halfvec({space.dimensions}))
        FROM citations_chunk chunk
        JOIN citations_embedding e ON e.chunk_id = chunk.id AND e.space_id = %(space)s
        WHERE chunk.position = ANY(%(positions)s)
    """
    values: dict[str, Any] = {
        "vector": HalfVector(vector).to_text(),
        "space": space.pk,
        "positions": list(positions),
    }
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        return dict(cursor.fetchall())


def indexed_expression(space: EmbeddingSpace, table: str = "") -> str:
    """Return the SQL expression that is indexed: a column without dimensions cannot be."""
    return f"{f'{table}.' if table else ''}vector::halfvec({space.dimensions})"


def _is_narrow(resolved: ResolvedFilter) -> bool:
    return resolved.sources is not None or resolved.narrows_time


def _query(column: str, space: EmbeddingSpace, resolved: ResolvedFilter, *, then: str = "") -> str:
    conditions = ["e.space_id = %(space)s"]
    if resolved.sources is not None:
        conditions.append("e.source_id = ANY(%(sources)s)")
    if resolved.narrows_time:
        conditions.append('timed."end" > %(start)s AND timed.start < %(end)s')
    timed = "JOIN citations_chunk timed ON timed.id = e.chunk_id" if resolved.narrows_time else ""
    distance = f"{column} <=> %(vector)s::halfvec({space.dimensions})"
    return f"""
        SELECT chunk.id, chunk.position, 1 - near.distance
        FROM (
            SELECT e.chunk_id, {distance} AS distance FROM citations_embedding e {timed}
            WHERE {" AND ".join(conditions)} ORDER BY {distance}{then} LIMIT %(limit)s
        ) near JOIN citations_chunk chunk ON chunk.id = near.chunk_id
        ORDER BY near.distance, chunk.position
    """


def _values(
    vector: NDArray[Any], space: EmbeddingSpace, limit: int, resolved: ResolvedFilter
) -> dict[str, Any]:
    if vector.shape != (space.dimensions,):
        raise ValueError(f"expected {space.dimensions} dimensions, got the shape {vector.shape}")
    sources: Sequence[int] | None = None if resolved.sources is None else [*resolved.sources]
    start = resolved.start or 0
    end = FOREVER if resolved.end is None else max(resolved.end, start + 1)
    return {
        "vector": HalfVector(vector).to_text(),
        "space": space.pk,
        "sources": sources,
        "start": start,
        "end": end,
        "limit": limit,
    }


def _fetched(sql: str, values: dict[str, Any]) -> list[NearestChunk]:
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        return [NearestChunk(*row) for row in cursor.fetchall()]
