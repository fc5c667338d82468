"""The nearest-neighbour index of an embedding space: built when the space is large enough to need one, dropped with it."""

import logging

from django.db import connection

from citations.models import EmbeddingSpace
from citations.vectors.search import INDEXED_FROM, indexed_expression
from transcripts import locks
from transcripts.locks import Lock

logger = logging.getLogger(__name__)

NEIGHBOURS, BREADTH = (
    16,
    64,
)  # m and ef_construction: more of either costs much time for little recall
BYTES_A_ROW = 450  # of memory beside the vector itself, while the index is built
LEAST_MEMORY, MOST_MEMORY = 64, 2_048  # MB


def ensure(space: EmbeddingSpace, *, rows: int = INDEXED_FROM) -> bool:
    """Build the index of a space that holds more than ``rows`` vectors, unless it is there; says whether it was built.

    Searches and ingests go on meanwhile. What a killed process left of an index is dropped first. Not within a transaction, except in tests.
    """
    if _is_valid(space) or not _holds_more(space, rows):
        return False
    with locks.hold(Lock.HNSW_INDEX) as held:
        if not held or _is_valid(space):
            return False
        _drop(space)
        logger.info("Building the index of %s.", space)
        _build(space)
    return True


def drop(space: EmbeddingSpace) -> None:
    """Drop the index of a space, if it has one."""
    _drop(space)


def exists(space: EmbeddingSpace) -> bool:
    """Say whether a space has a whole index."""
    return _is_valid(space)


def _build(space: EmbeddingSpace) -> None:
    how = f"USING hnsw (({indexed_expression(space)}) halfvec_cosine_ops) WITH (m = {NEIGHBOURS}, ef_construction = {BREADTH})"
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT set_config('maintenance_work_mem', %s, false)", [f"{_memory(space)}MB"]
        )
        try:
            cursor.execute(
                f"CREATE INDEX {_concurrently()} {space.index_name} ON citations_embedding {how} WHERE space_id = {space.pk:d}"
            )
        finally:
            cursor.execute("RESET maintenance_work_mem")


def _drop(space: EmbeddingSpace) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"DROP INDEX {_concurrently()} IF EXISTS {space.index_name}")


def _concurrently() -> str:
    return "" if connection.in_atomic_block else "CONCURRENTLY"


def _memory(space: EmbeddingSpace) -> int:
    """Return how many MB hold the whole graph: one that does not fit takes several times as long."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM citations_embedding WHERE space_id = %s", [space.pk])
        rows = int(cursor.fetchone()[0])
    return min(
        MOST_MEMORY,
        max(LEAST_MEMORY, rows * (2 * space.dimensions + BYTES_A_ROW) * 5 // 4 // 2**20),
    )


def _is_valid(space: EmbeddingSpace) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(%s)", [space.index_name]
        )
        row = cursor.fetchone()
        return bool(row and row[0])


def _holds_more(space: EmbeddingSpace, rows: int) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT EXISTS (SELECT FROM citations_embedding WHERE space_id = %s OFFSET %s)",
            [space.pk, rows],
        )
        return bool(cursor.fetchone()[0])
