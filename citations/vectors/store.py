"""Create and store the missing vectors of a space, batch by batch."""

import logging
from collections.abc import Iterable, Iterator, Sequence, Set
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.db import connection, transaction
from django.db.models import Count, OuterRef, Q, Subquery
from django.db.models.functions import Coalesce
from numpy.typing import NDArray
from pgvector import HalfVector

from citations.errors import ModelError
from citations.models import (
    Embedding,
    EmbeddingSpace,
    SourceQuerySet,
    SpaceState,
    indexed_text,
    keep_switch_out,
)
from citations.providers.embedding import DocumentVectors, Embedder
from citations.vectors.space import INDEXED_FROM, indexed_expression
from transcripts.core import locks
from transcripts.core.locks import Lock

BATCH = 128  # texts of one call, and vectors of one transaction: what a kill may cost

logger = logging.getLogger(__name__)

NEIGHBOURS, BREADTH = 16, 64  # m and ef_construction; more costs much time for little recall
BYTES_PER_ROW = 450  # of memory besides the vector, while the index is built
MIN_MEMORY, MAX_MEMORY = 64, 2_048  # MB


class MissingEmbedding(NamedTuple):
    """A chunk without a current vector in a space."""

    chunk: int
    source: int
    digest: bytes
    text: str


@dataclass(frozen=True, slots=True)
class StoredBatch:
    """How many chunks of a batch have got vectors, and why others have none, by primary key."""

    count: int
    faults: dict[int, ModelError]


class SpaceGone(Exception):
    """The space was replaced while its vectors were made."""


def missing(
    space: EmbeddingSpace, *, source: int | None = None, after: int = 0, limit: int | None = None
) -> list[MissingEmbedding]:
    """Return chunks without a current vector, ordered by primary key, beyond ``after``."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT c.id, c.source_id, c.digest, c.context, c.text FROM citations_chunk c"
            f" WHERE {_LACKING} AND c.id > %(after)s ORDER BY c.id LIMIT %(limit)s",
            {"space": space.pk, "source": source, "after": after, "limit": limit},
        )
        return [
            MissingEmbedding(chunk, of, bytes(digest), indexed_text(context, text))
            for chunk, of, digest, context, text in cursor.fetchall()
        ]


def count_wanted(space: EmbeddingSpace) -> int:
    """Count the chunks without a current vector."""
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT count(*) FROM citations_chunk c WHERE {_LACKING}",
            {"space": space.pk, "source": None},
        )
        return int(cursor.fetchone()[0])


def count_cut(space: EmbeddingSpace, sources: SourceQuerySet) -> None:
    """Count the chunks of sources of which the model has read the beginning alone."""
    cut = Embedding.objects.filter(space=space, is_cut=True)
    own = cut.filter(source=OuterRef("pk")).order_by().values("source").annotate(Count("pk"))
    changed = sources.filter(Q(cut_count__gt=0) | Q(pk__in=cut.values("source")))
    changed.update(cut_count=Coalesce(Subquery(own.values("pk__count")), 0))


def copy_equal(space: EmbeddingSpace, *, source: int) -> int:
    """Copy the vectors of equal texts within the space to chunks of a source; return how many."""
    with transaction.atomic():
        _stay(space)
        with connection.cursor() as cursor:
            cursor.execute(_COPY, {"space": space.pk, "source": source})
            return int(cursor.rowcount)


def make(
    space: EmbeddingSpace, embedder: Embedder, batches: Iterable[Sequence[MissingEmbedding]]
) -> Iterator[StoredBatch]:
    """Embed and store batches; yield what is stored of each. The next batch is embedded meanwhile.

    Raises what the embedder raises, and ``SpaceGone``; earlier batches stay stored.
    """
    with ThreadPoolExecutor(1, thread_name_prefix="embedding") as executor:
        ready: tuple[Sequence[MissingEmbedding], list[str], Future[NDArray[Any]]] | None = None
        for batch in batches:
            texts = list(dict.fromkeys(chunk.text for chunk in batch))
            pending = executor.submit(embedder.embed_documents, texts)
            if ready is not None:
                yield _stored(space, ready[0], ready[1], ready[2].result())
            ready = batch, texts, pending
        if ready is not None:
            yield _stored(space, ready[0], ready[1], ready[2].result())


def _stored(
    space: EmbeddingSpace,
    batch: Sequence[MissingEmbedding],
    texts: Sequence[str],
    vectors: NDArray[Any],
) -> StoredBatch:
    """Store the vectors of a batch's texts; ``DocumentVectors`` may lack some."""
    made = vectors if isinstance(vectors, DocumentVectors) else vectors.view(DocumentVectors)
    faults = {texts[index]: error for index, error in made.faults.items()}
    rows = {text: row for row, text in enumerate(text for text in texts if text not in faults)}
    chunks = [chunk for chunk in batch if chunk.text in rows]
    cut = {texts[index] for index in made.cut}
    count = store(space, chunks, vectors[[rows[chunk.text] for chunk in chunks]], cut=cut)
    return StoredBatch(count, {row.chunk: faults[row.text] for row in batch if row.text in faults})


def store(
    space: EmbeddingSpace,
    chunks: Sequence[MissingEmbedding],
    vectors: NDArray[Any],
    *,
    cut: Set[str] = frozenset(),
) -> int:
    """Store the vectors of chunks, except deleted ones; return how many. Some texts were ``cut``.

    Raises ``SpaceGone``.
    """
    with transaction.atomic():
        _stay(space)
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT id FROM citations_chunk WHERE id = ANY(%s) ORDER BY id FOR KEY SHARE",
                [[chunk.chunk for chunk in chunks]],
            )
            living = {pk for (pk,) in cursor.fetchall()}
        rows = [
            Embedding(
                space=space,
                chunk_id=chunk.chunk,
                source_id=chunk.source,
                digest=chunk.digest,
                vector=HalfVector(vector),
                is_cut=chunk.text in cut,
            )
            for chunk, vector in zip(chunks, vectors, strict=True)
            if chunk.chunk in living
        ]
        Embedding.objects.bulk_create(
            rows,
            update_conflicts=True,
            unique_fields=["chunk", "space"],
            update_fields=["digest", "vector", "is_cut"],
        )
        return len(rows)


def in_batches(rows: Sequence[MissingEmbedding]) -> Iterator[Sequence[MissingEmbedding]]:
    for start in range(0, len(rows), BATCH):
        yield rows[start : start + BATCH]


def _stay(space: EmbeddingSpace) -> None:
    keep_switch_out()
    if not EmbeddingSpace.objects.filter(pk=space.pk).exclude(state=SpaceState.RETIRED).exists():
        raise SpaceGone


_LACKING = """
    (%(source)s::bigint IS NULL OR c.source_id = %(source)s)
    AND NOT EXISTS (
        SELECT FROM citations_embedding e
        WHERE e.chunk_id = c.id AND e.space_id = %(space)s AND e.digest = c.digest
    )
"""
_COPY = f"""
    INSERT INTO citations_embedding (chunk_id, space_id, source_id, digest, vector, is_cut)
    SELECT c.id, %(space)s, c.source_id, c.digest, known.vector, known.is_cut FROM citations_chunk c
    CROSS JOIN LATERAL (
        SELECT vector, is_cut FROM citations_embedding e
        WHERE e.space_id = %(space)s AND e.digest = c.digest LIMIT 1
    ) known
    WHERE {_LACKING} ORDER BY c.id FOR KEY SHARE OF c
    ON CONFLICT (chunk_id, space_id)
        DO UPDATE SET digest = excluded.digest, vector = excluded.vector, is_cut = excluded.is_cut
"""


def ensure_index(space: EmbeddingSpace, *, rows: int = INDEXED_FROM) -> bool:
    """Build the index of a space of more than ``rows`` vectors if it is missing.

    Return whether it was built. Searches and ingests continue meanwhile. An index that a killed
    process left incomplete is dropped first. Outside of tests, do not call it in a transaction.
    """
    embeddings = Embedding.objects.filter(space=space).order_by()
    if has_index(space) or not embeddings[rows:].exists():
        return False
    with locks.hold(Lock.HNSW_INDEX) as is_held:
        if not is_held or has_index(space):
            return False
        drop_index(space)
        logger.info("Building the index of %s.", space)
        _build_index(space)
    return True


def drop_index(space: EmbeddingSpace) -> None:
    """Drop the index of a space, if it has one."""
    with connection.cursor() as cursor:
        cursor.execute(f"DROP INDEX {_concurrently()} IF EXISTS {space.index_name}")


def has_index(space: EmbeddingSpace) -> bool:
    """Return whether a space has a complete index."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(%s)", [space.index_name]
        )
        row = cursor.fetchone()
        return bool(row and row[0])


def _build_index(space: EmbeddingSpace) -> None:
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
