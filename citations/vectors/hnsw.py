"""The HNSW index of an embedding space, which a large space needs."""

import logging

from django.db import connection

from citations.models import Embedding, EmbeddingSpace
from citations.vectors.space import INDEXED_FROM, indexed_expression
from transcripts.core import locks
from transcripts.core.locks import Lock

logger = logging.getLogger(__name__)

NEIGHBOURS, BREADTH = 16, 64  # m and ef_construction; more costs much time for little recall
BYTES_PER_ROW = 450  # of memory besides the vector, while the index is built
MIN_MEMORY, MAX_MEMORY = 64, 2_048  # MB


def ensure(space: EmbeddingSpace, *, rows: int = INDEXED_FROM) -> bool:
    """Build the index of a space of more than ``rows`` vectors if it is missing.

    Return whether it was built. Searches and ingests continue meanwhile. An index that a killed
    process left incomplete is dropped first. Outside of tests, do not call it in a transaction.
    """
    embeddings = Embedding.objects.filter(space=space).order_by()
    if exists(space) or not embeddings[rows:].exists():
        return False
    with locks.hold(Lock.HNSW_INDEX) as is_held:
        if not is_held or exists(space):
            return False
        drop(space)
        logger.info("Building the index of %s.", space)
        _build(space)
    return True


def drop(space: EmbeddingSpace) -> None:
    """Drop the index of a space, if it has one."""
    with connection.cursor() as cursor:
        cursor.execute(f"DROP INDEX {_concurrently()} IF EXISTS {space.index_name}")


def exists(space: EmbeddingSpace) -> bool:
    """Return whether a space has a complete index."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(%s)", [space.index_name]
        )
        row = cursor.fetchone()
        return bool(row and row[0])


def _build(space: EmbeddingSpace) -> None:
    sql = f"""
        CREATE INDEX {_concurrently()} {space.index_name} ON citations_embedding
        USING hnsw (({indexed_expression(space)}) halfvec_cosine_ops)
        WITH (m = {NEIGHBOURS}, ef_construction = {BREADTH})
        WHERE space_id = {space.pk:d}
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT set_config('maintenance_work_mem', %s, false)", [f"{_memory(space)}MB"]
        )
        try:
            cursor.execute(sql)
        finally:
            cursor.execute("RESET maintenance_work_mem")


def _concurrently() -> str:
    return "" if connection.in_atomic_block else "CONCURRENTLY"


def _memory(space: EmbeddingSpace) -> int:
    """Return the memory in MB that holds the whole graph; with less, building takes far longer."""
    rows = Embedding.objects.filter(space=space).count()
    needed = rows * (2 * space.dimensions + BYTES_PER_ROW) * 5 // 4 // 2**20
    return min(MAX_MEMORY, max(MIN_MEMORY, needed))
