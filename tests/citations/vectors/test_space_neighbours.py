"""The nearest vectors are found, exactly or by the index, whatever a filter leaves of them."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from django.db import connection
from numpy.typing import NDArray

from citations.library.filters import Filter, ResolvedFilter, resolve
from citations.models import Chunk, Embedding, EmbeddingSpace, Source, SpaceState, State
from citations.vectors import space as vector_space
from citations.vectors import store
from citations.vectors import store as vector_store
from citations.vectors.store import MissingEmbedding
from transcripts.core.scope import Scope
from transcripts.models import Collection

SIZE = 16
pytestmark = pytest.mark.django_db


@pytest.fixture
def space(db: None) -> EmbeddingSpace:
    return EmbeddingSpace.objects.create(
        provider="fake", model="words", dimensions=SIZE, state=SpaceState.ACTIVE
    )


def unit(*numbers: float) -> NDArray[np.float32]:
    vector = np.zeros(SIZE, dtype=np.float32)
    vector[: len(numbers)] = numbers
    return vector / np.linalg.norm(vector)


def random_units(count: int, *, seed: int = 1) -> NDArray[np.float32]:
    vectors = np.random.default_rng(seed).standard_normal((count, SIZE)).astype(np.float32)
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)


def fill(
    space: EmbeddingSpace,
    collection: Collection,
    vectors: NDArray[np.float32],
    *,
    title: str = "s",
    first: int | None = None,
) -> Source:
    """Make a source whose chunks, of ten seconds each, have these vectors."""
    start = Chunk.objects.count() if first is None else first
    source = Source.objects.create(
        collection=collection, kind="text", title=title, state=State.READY, chunk_count=len(vectors)
    )
    where = {"span_start": 0, "span_end": 4, "text": "text", "digest": b"d"}
    chunks = Chunk.objects.bulk_create(
        Chunk(
            source=source,
            ordinal=n,
            position=start + n,
            start=n * 10_000,
            end=(n + 1) * 10_000,
            **where,
        )
        for n in range(len(vectors))
    )
    vector_store.store(
        space, [MissingEmbedding(chunk.pk, source.pk, b"d", "text") for chunk in chunks], vectors
    )
    with connection.cursor() as cursor:
        cursor.execute(
            "SET CONSTRAINTS ALL IMMEDIATE; SET CONSTRAINTS ALL DEFERRED"
        )  # as at the end of a transaction
    return source


def places(hits: list[vector_space.NearestChunk]) -> list[int]:
    return [hit.position for hit in hits]


def nearest(known: NDArray[np.float32], query: NDArray[np.float32], limit: int) -> list[int]:
    return [int(place) for place in np.argsort(-(known @ query), kind="stable")[:limit]]


@pytest.fixture
def indexed_only(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Use the index from the first row on."""
    monkeypatch.setattr(vector_space, "INDEXED_FROM", 0)
    monkeypatch.setattr(vector_space, "EXACT_ROWS", 0)
    with connection.cursor() as cursor:
        cursor.execute(
            "SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_sort = off"
        )
        yield
        cursor.execute("RESET enable_seqscan; RESET enable_bitmapscan; RESET enable_sort")


def test_the_nearest_come_first_with_their_cosines(
    space: EmbeddingSpace, collection: Collection, scope: Scope
) -> None:
    fill(space, collection, np.stack([unit(0, 1), unit(1, 0), unit(1, 1), unit(-1, 0)]))
    hits = vector_space.nearest(
        unit(1, 0.1), space=space, limit=3, resolved=resolve(scope, Filter())
    )
    assert places(hits) == [1, 2, 0]
    assert [hit.cosine for hit in hits] == pytest.approx([0.995, 0.774, 0.0995], abs=0.002)


def test_equal_ones_are_in_the_order_of_their_places(
    space: EmbeddingSpace, collection: Collection, scope: Scope
) -> None:
    fill(space, collection, np.stack([unit(1)] * 5), first=5)
    fill(space, collection, np.stack([unit(1)] * 5), first=0)
    assert places(
        vector_space.nearest(unit(1), space=space, limit=10, resolved=resolve(scope, Filter()))
    ) == list(range(10))


def test_what_is_found_lies_in_one_space(
    space: EmbeddingSpace, collection: Collection, scope: Scope
) -> None:
    fill(space, collection, random_units(10))
    other = EmbeddingSpace.objects.create(
        provider="fake", model="other", dimensions=4, state=SpaceState.BUILDING
    )
    hits = vector_space.nearest(unit(1), space=space, limit=20, resolved=resolve(scope, Filter()))
    assert len(hits) == 10
    assert (
        vector_space.nearest(unit(1)[:4], space=other, limit=20, resolved=resolve(scope, Filter()))
        == []
    )
    with pytest.raises(ValueError, match="4 dimensions"):
        vector_space.nearest(unit(1), space=other, limit=20, resolved=resolve(scope, Filter()))


def test_nothing_is_found_where_nothing_may_be_looked_at(
    space: EmbeddingSpace, collection: Collection, django_assert_num_queries: Any
) -> None:
    fill(space, collection, random_units(3))
    with django_assert_num_queries(0):
        assert (
            vector_space.nearest(
                unit(1),
                space=space,
                limit=5,
                resolved=ResolvedFilter(sources=frozenset(), chunks=0),
            )
            == []
        )
        assert (
            vector_space.nearest(
                unit(1), space=space, limit=0, resolved=ResolvedFilter(sources=None, chunks=3)
            )
            == []
        )


@pytest.mark.parametrize("by_index", [False, True])
def test_filters_and_times_never_starve_the_result(
    space: EmbeddingSpace,
    collection: Collection,
    scope: Scope,
    by_index: bool,
    request: pytest.FixtureRequest,
) -> None:
    known = random_units(800)
    wanted = fill(space, collection, known[:500], title="large")
    small = fill(space, collection, known[500:520], title="small")
    fill(space, collection, known[520:], title="rest")
    store.ensure_index(space, rows=100)
    if by_index:
        request.getfixturevalue("indexed_only")
    query = -known[505]  # whatever the filter leaves is far away
    for source, low, high in ((small, 500, 520), (wanted, 0, 500)):
        resolved = ResolvedFilter(sources=frozenset({source.pk}), chunks=high - low)
        positions = places(vector_space.nearest(query, space=space, limit=10, resolved=resolved))
        assert len(positions) == 10
        assert all(low <= place < high for place in positions)
    timed = ResolvedFilter(sources=frozenset({wanted.pk}), chunks=500, start=50_000, end=80_000)
    hits = sorted(places(vector_space.nearest(query, space=space, limit=10, resolved=timed)))
    assert hits == [5, 6, 7]
    assert places(
        vector_space.nearest(
            query,
            space=space,
            limit=1,
            resolved=ResolvedFilter(sources=None, chunks=800, start=0, end=0),
        )
    )[0] in (0, 500, 520)


def test_a_whole_scan_finds_exactly_the_nearest(
    space: EmbeddingSpace, collection: Collection, scope: Scope
) -> None:
    known = random_units(600)
    fill(space, collection, known)
    for query in random_units(20, seed=2):
        positions = places(
            vector_space.nearest(query, space=space, limit=10, resolved=resolve(scope, Filter()))
        )
        exact = nearest(known, query, 12)
        assert len(set(positions) & set(exact)) == 10, (
            "half floats may exchange neighbours at the end"
        )


@pytest.mark.usefixtures("indexed_only")
def test_the_index_finds_nearly_all_of_the_nearest(
    space: EmbeddingSpace, collection: Collection, scope: Scope
) -> None:
    known = random_units(1_000)
    fill(space, collection, known)
    assert store.ensure_index(space, rows=500)
    with connection.cursor() as cursor:
        order = f"{vector_space.indexed_expression(space)} <=> '{[1] * SIZE}'"
        cursor.execute(
            f"EXPLAIN SELECT id FROM citations_embedding WHERE space_id = {space.pk} ORDER BY"
            f" {order} LIMIT 5"
        )
        assert space.index_name in str(cursor.fetchall())
    resolved = resolve(scope, Filter())
    hits = [
        len(
            set(places(vector_space.nearest(query, space=space, limit=10, resolved=resolved)))
            & set(nearest(known, query, 10))
        )
        for query in random_units(30, seed=2)
    ]
    assert np.mean(hits) >= 9.8


def test_an_index_is_built_once_a_space_is_large_and_dropped_with_it(
    space: EmbeddingSpace, collection: Collection
) -> None:
    fill(space, collection, random_units(30))
    assert not store.ensure_index(space)
    assert not store.has_index(space)
    assert store.ensure_index(space, rows=29)
    assert not store.ensure_index(space, rows=29), "it is there already"
    assert store.has_index(space)
    store.drop_index(space)
    assert not store.has_index(space)
    store.drop_index(space)


def test_what_a_killed_process_left_of_an_index_is_made_again(
    space: EmbeddingSpace, collection: Collection
) -> None:
    fill(space, collection, random_units(30))
    store.ensure_index(space, rows=10)
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE pg_index SET indisvalid = false WHERE indexrelid = to_regclass(%s)",
            [space.index_name],
        )
    assert not store.has_index(space)
    assert store.ensure_index(space, rows=10)
    assert store.has_index(space)


def test_vectors_of_chunks_that_are_gone_are_left_out(
    space: EmbeddingSpace, collection: Collection
) -> None:
    source = fill(space, collection, random_units(2))
    gone = MissingEmbedding(0, source.pk, b"d", "text")
    assert vector_store.store(space, [gone], random_units(1)) == 0
    assert Embedding.objects.count() == 2


def test_no_vector_is_stored_for_a_space_that_was_replaced(
    space: EmbeddingSpace, collection: Collection
) -> None:
    source = fill(space, collection, random_units(1))
    EmbeddingSpace.objects.update(state=SpaceState.RETIRED)
    with pytest.raises(vector_store.SpaceGone):
        vector_store.store(space, [MissingEmbedding(1, source.pk, b"d", "text")], random_units(1))
