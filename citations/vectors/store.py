"""Create and store the missing vectors of a space, batch by batch."""

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, NamedTuple

from django.db import connection, transaction
from numpy.typing import NDArray
from pgvector import HalfVector

from citations.models import Embedding, EmbeddingSpace, SpaceState, keep_switch_out
from citations.providers.embedding import Embedder

BATCH = 128  # texts of one call, and vectors of one transaction: what a kill may cost


class MissingEmbedding(NamedTuple):
    """A chunk without a current vector in a space."""

    chunk: int
    source: int
    digest: bytes
    text: str


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
            MissingEmbedding(chunk, of, bytes(digest), f"{context}\n\n{text}" if context else text)
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


def copy_equal(space: EmbeddingSpace, *, source: int) -> int:
    """Copy the vectors of equal texts within the space to chunks of a source; return how many."""
    with transaction.atomic():
        _stay(space)
        with connection.cursor() as cursor:
            cursor.execute(_COPY, {"space": space.pk, "source": source})
            return int(cursor.rowcount)


def make(
    space: EmbeddingSpace, embedder: Embedder, batches: Iterable[Sequence[MissingEmbedding]]
) -> Iterator[int]:
    """Embed and store batches; yield how many chunks of each are stored. The next batch is embedded
    meanwhile.

    Raises what the embedder raises, and ``SpaceGone``; earlier batches stay stored.
    """
    with ThreadPoolExecutor(1, thread_name_prefix="embedding") as executor:
        ready: tuple[Sequence[MissingEmbedding], list[int], Future[NDArray[Any]]] | None = None
        for batch in batches:
            texts: dict[str, int] = {}
            indexes = [texts.setdefault(chunk.text, len(texts)) for chunk in batch]
            pending = executor.submit(embedder.embed_documents, list(texts))
            if ready is not None:
                yield store(space, ready[0], ready[2].result()[ready[1]])
            ready = batch, indexes, pending
        if ready is not None:
            yield store(space, ready[0], ready[2].result()[ready[1]])


def store(space: EmbeddingSpace, chunks: Sequence[MissingEmbedding], vectors: NDArray[Any]) -> int:
    """Store the vectors of chunks, except deleted ones; return how many. Raises ``SpaceGone``."""
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
            )
            for chunk, vector in zip(chunks, vectors, strict=True)
            if chunk.chunk in living
        ]
        Embedding.objects.bulk_create(
            rows,
            update_conflicts=True,
            unique_fields=["chunk", "space"],
            update_fields=["digest", "vector"],
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
    INSERT INTO citations_embedding (chunk_id, space_id, source_id, digest, vector)
    SELECT c.id, %(space)s, c.source_id, c.digest, known.vector FROM citations_chunk c
    CROSS JOIN LATERAL (
        SELECT vector FROM citations_embedding e
        WHERE e.space_id = %(space)s AND e.digest = c.digest LIMIT 1
    ) known
    WHERE {_LACKING} ORDER BY c.id FOR KEY SHARE OF c
    ON CONFLICT (chunk_id, space_id)
        DO UPDATE SET digest = excluded.digest, vector = excluded.vector
"""
