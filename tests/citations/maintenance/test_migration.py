"""A library moves to another model beside its searches, resumably, and switches in one moment."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import pytest
from django.db.models import Sum
from django.utils import timezone
from numpy.typing import NDArray

from citations.conf import EmbeddingChoice
from citations.errors import MigrationConflict, ModelMissing, ModelServerError
from citations.evaluation import search_quality
from citations.ingest import discovery, lanes
from citations.ingest import pipeline as ingest_pipeline
from citations.maintenance import migration
from citations.models import Chunk, Embedding, EmbeddingSpace, Source, SpaceState, State
from citations.passages import SearchMode
from citations.providers.embedding import DocumentVectors, HashEmbedder
from citations.search import pipeline as search_pipeline
from citations.vectors import space as vector_space
from citations.vectors import store
from citations.vectors import store as vector_store
from tests.makers import make_cues, make_video
from transcripts.core.scope import Scope
from transcripts.models import Collection

OTHER = EmbeddingChoice(provider="fake", model="others", dimensions=32)
pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("fake_models")]


@pytest.fixture(autouse=True)
def _small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vector_store, "BATCH", 4)


@pytest.fixture
def library(collection: Collection) -> Collection:
    """A collection of three talks that are found by meaning."""
    for n in range(3):
        make_video(
            collection,
            key=f"v{n}",
            cues=make_cues(
                80, sentences=[f"Talk {n} is on its own subject {n}.", "It goes on.", "And on."]
            ),
        )
    for source in discovery.adopt():
        ingest_pipeline.ingest(source.pk)
    return collection


def count_hits(scope: Scope) -> int:
    return len(
        search_pipeline.search(scope, "its own subject", mode=SearchMode.MEANING, limit=50).passages
    )


def spaces() -> dict[str, str]:
    return dict(EmbeddingSpace.objects.values_list("model", "state"))


def test_a_library_moves_to_another_model(library: Collection, scope: Scope, settings: Any) -> None:
    old = vector_space.locked()
    space = migration.begin(OTHER)
    assert spaces() == {"words": SpaceState.ACTIVE, "others": SpaceState.BUILDING}
    reports: list[int] = []
    assert migration.advance(space, on_progress=lambda building: reports.append(building.done))
    assert spaces() == {"words": SpaceState.RETIRED, "others": SpaceState.ACTIVE}
    assert reports == sorted(reports)
    assert (space.done, space.total) == (Chunk.objects.count(), Chunk.objects.count())
    settings.EMBEDDING_MODEL, settings.EMBEDDING_DIMENSIONS = "others", 32
    assert vector_space.active() == space != old
    assert Embedding.objects.filter(space=space).count() == Chunk.objects.count()
    assert count_hits(scope)


def test_what_is_done_is_not_done_again(library: Collection, embedded: list[str]) -> None:
    space = migration.begin(OTHER)
    assert not migration.advance(space, seconds=1e-9)
    batches = vector_store.make(
        space, vector_space.embedder_of(space), [vector_store.missing(space, limit=8)]
    )
    assert next(batches).count == 8
    batches.close()
    embedded.clear()
    again = migration.begin(OTHER)
    assert again == space
    assert migration.advance(again)
    assert len(embedded) == Chunk.objects.count() - 8 + len(["test"])


def test_a_server_that_fails_ends_it_resumably_and_it_says_why(
    library: Collection, scope: Scope, monkeypatch: pytest.MonkeyPatch
) -> None:
    space = migration.begin(OTHER)
    calls: list[int] = []
    real = HashEmbedder.embed_documents

    def embed(self: HashEmbedder, texts: Sequence[str]) -> NDArray[Any]:
        calls.append(1)
        if len(calls) == 3:
            raise ModelServerError("It is too slow.", hint="Later.")
        return real(self, texts)

    monkeypatch.setattr(HashEmbedder, "embed_documents", embed)
    with pytest.raises(ModelServerError):
        migration.advance(space)
    space.refresh_from_db()
    expected = (SpaceState.BUILDING, "It is too slow.", "Later.")
    assert (space.state, space.error, space.hint) == expected
    assert Embedding.objects.filter(space=space).count() == space.done == 8
    assert count_hits(scope)
    assert migration.advance(space)
    space.refresh_from_db()
    assert space.error == ""


def test_what_is_ingested_meanwhile_is_not_missed(library: Collection, scope: Scope) -> None:
    def add(space: EmbeddingSpace) -> None:
        if Source.objects.count() == 3:
            make_video(library, key="late", cues=make_cues(12, sentences=["Something else."]))
            ingest_pipeline.index_words()
            ingest_pipeline.ingest(Source.objects.get(video__key="late").pk)

    space = migration.begin(OTHER)
    assert migration.advance(space, on_progress=add)
    assert Embedding.objects.filter(space=space).count() == Chunk.objects.count()
    assert set(Source.objects.values_list("state", flat=True)) == {State.READY}


def test_texts_that_the_new_model_does_not_take_do_not_stop_it(
    library: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = HashEmbedder.embed_documents

    def embed(self: HashEmbedder, texts: Sequence[str]) -> NDArray[Any]:
        if self.model == "words" or len(texts) < 4:
            return real(self, texts)
        vectors = real(self, [texts[0], *texts[3:]]).view(DocumentVectors)
        vectors.faults = dict.fromkeys([1, 2], ModelServerError("It gave no vector."))
        vectors.cut = {0}
        return vectors

    monkeypatch.setattr(HashEmbedder, "embed_documents", embed)
    space = migration.begin(OTHER)
    assert migration.advance(space)
    made = Embedding.objects.filter(space=space)
    lacking = Chunk.objects.exclude(embeddings__in=made)
    assert 0 < lacking.count() < Chunk.objects.count() / 2
    again = Source.objects.exclude(run_after=None)
    assert set(again) == set(Source.objects.filter(chunks__in=lacking))
    cut = Source.objects.aggregate(total=Sum("cut_count"))["total"]
    assert cut == made.filter(is_cut=True).count() > 0
    monkeypatch.setattr(HashEmbedder, "embed_documents", real)
    for source in lanes.waiting():
        ingest_pipeline.advance(source)
    assert not lacking.exists()
    assert not lanes.waiting().exists()


def test_no_switch_happens_while_more_than_a_batch_is_missing(library: Collection) -> None:
    space = migration.begin(OTHER)
    assert not migration.switch(space)
    assert spaces() == {"words": SpaceState.ACTIVE, "others": SpaceState.BUILDING}


def test_an_ingest_that_a_switch_overtakes_goes_on_in_the_new_space(library: Collection) -> None:
    make_video(library, key="slow", cues=make_cues(40, sentences=["Slow and steady it is."]))
    ingest_pipeline.index_words()
    source = Source.objects.get(video__key="slow")
    space = migration.begin(OTHER)
    switched: list[bool] = []

    def switch(source: Source) -> None:
        if source.step == "embedding" and not switched:
            switched.append(migration.advance(space))

    ingest_pipeline.ingest(source.pk, on_progress=switch)
    source.refresh_from_db()
    assert switched == [True]
    assert source.state == State.READY
    assert not vector_store.missing(space)


def test_the_old_vectors_go_when_no_search_can_look_at_them_any_more(library: Collection) -> None:
    old = vector_space.locked()
    assert old is not None
    space = migration.begin(OTHER)
    migration.advance(space)
    migration.delete_leftovers()
    assert Embedding.objects.filter(space=old).exists()
    EmbeddingSpace.objects.filter(pk=space.pk).update(
        activated_at=timezone.now() - timedelta(hours=1)
    )
    migration.delete_leftovers()
    assert not Embedding.objects.filter(space=old).exists()
    assert Embedding.objects.filter(space=space).exists()
    assert not store.has_index(old)


def test_it_can_be_given_up(library: Collection, scope: Scope) -> None:
    space = migration.begin(OTHER)
    migration.advance(space, seconds=1e-9)
    migration.cancel(space)
    with pytest.raises(MigrationConflict):
        migration.cancel(space)
    assert not migration.advance(space)
    migration.delete_leftovers()
    assert spaces() == {"words": SpaceState.ACTIVE}
    assert count_hits(scope)


def test_one_given_up_in_the_middle_stops(library: Collection) -> None:
    space = migration.begin(OTHER)
    assert not migration.advance(
        space,
        on_progress=lambda building: (
            migration.cancel(building)
            if building.state == SpaceState.BUILDING and building.done == 4
            else None
        ),
    )
    assert spaces() == {"words": SpaceState.ACTIVE, "others": SpaceState.RETIRED}


@pytest.mark.parametrize(
    "choice",
    [
        EmbeddingChoice(provider="fake"),
        EmbeddingChoice(provider="fake", model="words", dimensions=64),
    ],
)
def test_there_is_no_migration_to_what_is_there(
    library: Collection, choice: EmbeddingChoice
) -> None:
    with pytest.raises(MigrationConflict, match="already"):
        migration.begin(choice)


def test_there_is_no_migration_of_nothing(db: None) -> None:
    with pytest.raises(MigrationConflict, match="nothing to migrate"):
        migration.plan(OTHER)


def test_there_is_no_second_migration_beside_one(library: Collection) -> None:
    migration.begin(OTHER)
    with pytest.raises(MigrationConflict, match="under way"):
        migration.begin(EmbeddingChoice(provider="fake", model="third"))


def test_a_model_that_cannot_be_had_is_told_before_anything_begins(library: Collection) -> None:
    with pytest.raises(ModelMissing):
        migration.begin(EmbeddingChoice(provider="bge-base"))
    assert migration.under_way() is None


def test_a_plan_says_how_much_it_is(library: Collection) -> None:
    planned = migration.plan(OTHER)
    assert str(planned) == "fake · others · 32 dimensions"
    assert planned.chunks == Chunk.objects.count()
    assert planned.tokens > planned.chunks


def test_a_guarded_one_does_not_switch_where_marked_hits_are_lost(
    library: Collection, scope: Scope, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost: list[Any] = ["nDCG@10 of hybrid goes from 1.000 to 0.500"]
    monkeypatch.setattr(search_quality, "loses", lambda space, **_: lost)
    space = migration.begin(OTHER, guarded=True)
    with pytest.raises(MigrationConflict, match="1.000 to 0.500"):
        migration.advance(space)
    space.refresh_from_db()
    assert space.state == SpaceState.BUILDING
    assert "1.000 to 0.500" in space.error
    assert migration.advance(migration.begin(OTHER, guarded=False))


def test_a_guarded_one_switches_where_nothing_is_lost(library: Collection) -> None:
    assert migration.advance(migration.begin(OTHER, guarded=True))
