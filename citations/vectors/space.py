"""The active embedding space, and the chunks nearest to a vector in a space.

The first ingest sets the active space. A migration replaces it and overrules the settings that were
in force. Settings that name yet another model fail at once. Neighbours are found through pgvector:
exactly for few rows, else by the HNSW index.
"""

import json
import logging
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from django.db import DEFAULT_DB_ALIAS, IntegrityError, connection, transaction
from numpy.typing import NDArray
from pgvector import HalfVector

from citations import conf
from citations.errors import EmbeddingMismatch, InvalidProvider, ModelError
from citations.library.filters import ResolvedFilter
from citations.models import Embedding, EmbeddingSpace, Source, SpaceState, State, keep_writers_out
from citations.providers import registry
from citations.providers.embedding import Embedder
from transcripts.core import clock

logger = logging.getLogger(__name__)

INDEXED_FROM = 5_000  # vectors from which on the index is faster than comparing all
EXACT_ROWS = 20_000  # the same for filtered rows, which the index finds among others
LARGE = 50_000  # rows from which on the index must search wider for the same recall
MAX_SCANNED = 200_000  # rows that the index scans to find enough filtered ones
MAX_EF = 1_000  # pgvector's limit
# Raw SQL, because every search runs it; JSON comes last, as text.
_COLUMNS = sorted(
    (field.attname for field in EmbeddingSpace._meta.concrete_fields), key="overrules".__eq__
)
_ACTIVE = (
    f"SELECT {', '.join(_COLUMNS)} FROM citations_embeddingspace"
    f" WHERE state = '{SpaceState.ACTIVE}'"
)


def active() -> EmbeddingSpace | None:
    """Return the active space, or None. Raises ``EmbeddingMismatch`` and ``InvalidProvider``."""
    space = locked()
    if space is None or _governs(space):
        return space
    if Embedding.objects.filter(space=space).exists():
        raise _mismatch(space)
    return space


def mismatch() -> EmbeddingMismatch | InvalidProvider | None:
    """Return why the settings do not fit the library, or None."""
    try:
        active()
    except (EmbeddingMismatch, InvalidProvider) as error:
        return error
    return None


def locked() -> EmbeddingSpace | None:
    """Return the active space, whatever the settings name."""
    with connection.cursor() as cursor:
        cursor.execute(_ACTIVE)
        row = cursor.fetchone()
    if row is None:
        return None
    *values, overrules = row
    return EmbeddingSpace.from_db(DEFAULT_DB_ALIAS, _COLUMNS, (*values, json.loads(overrules)))


def claim() -> EmbeddingSpace:
    """Create the active space from the settings, unless there is one; one of several first ingests
    wins.

    Raises ``EmbeddingMismatch`` for another model, and ``ModelMissing`` or ``InvalidProvider`` for
    an unusable one.
    """
    space = active()
    if space is not None and _governs(space):
        return space
    registry.configured_embedder()
    return _claimed(empty=space) or claim()


def embedder_of(space: EmbeddingSpace) -> Embedder:
    """Return the model of a space's vectors. Raises ``ModelMissing`` and ``InvalidProvider``."""
    return registry.embedder(space.provider, model=space.model, dimensions=space.dimensions)


def configured() -> tuple[str, str, int]:
    """Return provider, model, dimensions (0: unknown). Raises ``InvalidProvider``."""
    choice = conf.embedding()
    try:
        return registry.identity(choice)
    except ModelError:
        return choice.provider, choice.model, choice.dimensions


def describe(provider: str, model: str, dimensions: int) -> str:
    size = f"{dimensions} dimensions" if dimensions else ""
    return " · ".join(filter(None, (provider, model, size)))


def overruled_by(space: EmbeddingSpace) -> list[tuple[str, str, int]]:
    """Return the settings that a migration to this space overrules: those in force until now."""
    replaced = locked()
    in_force = [replaced.identity, *map(tuple, replaced.overrules)] if replaced else []
    with suppress(InvalidProvider):
        in_force.append(configured())
    return [names for names in dict.fromkeys(in_force) if names != space.identity]


def _governs(space: EmbeddingSpace) -> bool:
    """Tell whether the settings name the space's model, or one that it overrules."""
    provider, model, dimensions = configured()
    return any(
        (provider, model) == (names[0], names[1]) and dimensions in (0, names[2])
        for names in (space.identity, *space.overrules)
    )


def _mismatch(space: EmbeddingSpace) -> EmbeddingMismatch:
    provider, model, dimensions = configured()
    option = f" --model {model}" if conf.embedding().model else ""
    if provider != space.provider:
        setting = f"EMBEDDING_PROVIDER={space.provider}"
    elif model != space.model:
        setting = f"EMBEDDING_MODEL={space.model}"
    else:
        setting = f"EMBEDDING_DIMENSIONS={space.dimensions}"
    return EmbeddingMismatch(
        f"The library is locked to {space};"
        f" the settings name {describe(provider, model, dimensions)}.",
        hint=f"Run `kb db migrate-embeddings --to {provider}{option}`, or set `{setting}` again.",
    )


def _claimed(*, empty: EmbeddingSpace | None) -> EmbeddingSpace | None:
    """Create the active space by the settings in place of an empty one; None if too late."""
    provider, model, dimensions = registry.identity(conf.embedding())
    try:
        with transaction.atomic():
            keep_writers_out()
            if empty is not None:
                own = EmbeddingSpace.objects.filter(pk=empty.pk, state=SpaceState.ACTIVE)
                own.filter(embeddings=None).delete()
            _adopt_sources(f"{provider} · {model}")
            values = {"state": SpaceState.ACTIVE, "activated_at": clock.now()}
            return EmbeddingSpace.objects.create(
                provider=provider, model=model, dimensions=dimensions, **values
            )
    except IntegrityError:
        return None


def _adopt_sources(name: str) -> None:
    """Take data without an active space to be the configured model's; embed what lacks."""
    ready = Source.objects.filter(state=State.READY)
    if ready.exists():
        logger.warning(
            "The library has embedded sources but no active model: assuming %s, as configured.",
            name,
        )
        ready.update(state=State.WORDS)


# Nearest neighbours


class NearestChunk(NamedTuple):
    """The primary key and position of a chunk, and the cosine of its vector and the query."""

    chunk: int
    position: int
    cosine: float


def nearest(
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
    chunks = _by_index(vector, space, limit, resolved)
    if len(chunks) >= min(limit, resolved.chunks):
        return chunks
    return _exact(vector, space, limit, resolved)


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
    return resolved.sources is not None or resolved.narrows_passages


def _query(column: str, space: EmbeddingSpace, resolved: ResolvedFilter, *, then: str = "") -> str:
    conditions = ["e.space_id = %(space)s"]
    if resolved.sources is not None:
        conditions.append("e.source_id = ANY(%(sources)s)")
    passages = ""
    if resolved.narrows_passages:
        passages = "JOIN citations_chunk passage ON passage.id = e.chunk_id"
        conditions.append(resolved.passages_sql("passage"))
    distance = f"{column} <=> %(vector)s::halfvec({space.dimensions})"
    return f"""
        SELECT chunk.id, chunk.position, 1 - near.distance
        FROM (
            SELECT e.chunk_id, {distance} AS distance FROM citations_embedding e {passages}
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
    return {
        "vector": HalfVector(vector).to_text(),
        "space": space.pk,
        "sources": sources,
        "limit": limit,
        **resolved.passage_values,
    }


def _fetched(sql: str, values: dict[str, Any]) -> list[NearestChunk]:
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        return [NearestChunk(*row) for row in cursor.fetchall()]
