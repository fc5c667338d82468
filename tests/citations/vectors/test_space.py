"""A library is locked to the model of its first ingest: other settings fail at once, and say both
sides.
"""

import logging
from threading import Thread
from typing import Any

import pytest
from django.db import connection

from citations.conf import EmbeddingChoice
from citations.errors import EmbeddingMismatch, InvalidProvider, ModelMissing
from citations.ingest import discovery
from citations.ingest import pipeline as ingest_pipeline
from citations.maintenance import migration
from citations.models import Embedding, EmbeddingSpace, Source, State
from citations.vectors import space as vector_space
from tests.makers import make_cues, make_video
from transcripts.models import Collection

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("fake_models")]


@pytest.fixture
def library(collection: Collection) -> EmbeddingSpace:
    """A library of one short talk, locked to the fake model; returns the space."""
    make_video(collection, cues=make_cues(6))
    (source,) = discovery.adopt()
    ingest_pipeline.ingest(source.pk)
    space = vector_space.locked()
    assert space is not None
    return space


def test_an_empty_library_is_locked_to_nothing(db: None) -> None:
    assert vector_space.active() is None
    assert vector_space.mismatch() is None


def test_the_first_ingest_locks_it_to_what_the_settings_name(library: EmbeddingSpace) -> None:
    assert (library.provider, library.model, library.dimensions) == ("fake", "words", 64)
    assert vector_space.active() == vector_space.claim() == library
    assert vector_space.embedder_of(library).dimensions == 64


@pytest.mark.parametrize(("provider", "model"), [("local", ""), ("fake", "others"), ("openai", "")])
def test_other_settings_fail_at_once_and_say_both_sides_and_the_command(
    library: EmbeddingSpace, settings: Any, provider: str, model: str
) -> None:
    settings.EMBEDDING_PROVIDER, settings.EMBEDDING_MODEL = provider, model
    settings.OPENAI_API_KEY = "key"
    assert isinstance(vector_space.mismatch(), EmbeddingMismatch)
    for call in (vector_space.active, vector_space.claim):
        with pytest.raises(EmbeddingMismatch) as raised:
            call()
        assert "fake · words · 64 dimensions" in raised.value.message
        assert (model or provider) in raised.value.message
        assert f"kb db migrate-embeddings --to {provider}" in raised.value.hint
        assert (f"--model {model}" in raised.value.hint) == bool(model)
        setting = "EMBEDDING_MODEL=words" if provider == "fake" else "EMBEDDING_PROVIDER=fake"
        assert f"set `{setting}` again" in raised.value.hint
    assert vector_space.locked() == library


def test_an_ingest_under_other_settings_waits_and_embeds_nothing(
    library: EmbeddingSpace, collection: Collection, settings: Any
) -> None:
    before = Embedding.objects.count()
    settings.EMBEDDING_MODEL = "others"
    make_video(collection, key="other")
    (source,) = discovery.adopt()
    ingest_pipeline.ingest(source.pk)
    source.refresh_from_db()
    assert (source.state, source.error_code) == (State.WORDS, "embedding_mismatch")
    assert "migrate-embeddings" in source.hint
    assert Embedding.objects.count() == before


def test_a_provider_that_does_not_exist_is_told(library: EmbeddingSpace, settings: Any) -> None:
    settings.EMBEDDING_PROVIDER = "nonsense"
    with pytest.raises(InvalidProvider):
        vector_space.active()


def test_a_model_that_is_missing_locks_nothing(collection: Collection, settings: Any) -> None:
    settings.EMBEDDING_PROVIDER = "bge-base"
    with pytest.raises(ModelMissing):
        vector_space.claim()
    assert vector_space.locked() is None


def test_a_lock_that_holds_nothing_gives_way_to_the_settings(db: None, settings: Any) -> None:
    first = vector_space.claim()
    settings.EMBEDDING_MODEL = "others"
    second = vector_space.claim()
    assert second.model == "others"
    assert list(EmbeddingSpace.objects.all()) == [second] != [first]


def test_a_migration_overrules_the_settings_that_were_in_force(
    library: EmbeddingSpace, settings: Any
) -> None:
    for model in ("others", "third"):
        space = migration.begin(EmbeddingChoice(provider="fake", model=model, dimensions=64))
        assert migration.advance(space)
        assert settings.EMBEDDING_MODEL == ""
        active = vector_space.active()
        assert active is not None
        assert active.model == vector_space.claim().model == model
    settings.EMBEDDING_MODEL = "fourth"
    with pytest.raises(EmbeddingMismatch):
        vector_space.active()
    settings.EMBEDDING_MODEL = "third"
    assert vector_space.active() == space


def test_what_is_added_after_a_migration_is_embedded_with_the_new_model(
    library: EmbeddingSpace, collection: Collection
) -> None:
    space = migration.begin(EmbeddingChoice(provider="fake", model="others", dimensions=64))
    assert migration.advance(space)
    make_video(collection, key="other")
    (source,) = discovery.adopt()
    ingest_pipeline.ingest(source.pk)
    source.refresh_from_db()
    assert source.state == State.READY
    assert Embedding.objects.filter(source=source, space=space).exists()


def test_data_without_a_lock_is_trusted_to_be_of_the_settings_with_a_warning(
    library: EmbeddingSpace, caplog: pytest.LogCaptureFixture
) -> None:
    library.delete()
    with caplog.at_level(logging.WARNING, logger="citations.vectors.space"):
        space = vector_space.claim()
    assert space.provider == "fake"
    assert "no active model" in caplog.text
    source = Source.objects.get()
    assert source.state == State.WORDS, "what lacks its vectors gets them"
    ingest_pipeline.ingest(source.pk)
    assert Embedding.objects.filter(space=space).count() == source.chunks.count()


def test_a_new_library_is_locked_without_a_warning(
    collection: Collection, caplog: pytest.LogCaptureFixture
) -> None:
    make_video(collection, cues=make_cues(6))
    ingest_pipeline.index_words()
    with caplog.at_level(logging.WARNING, logger="citations.vectors.space"):
        vector_space.claim()
    assert not caplog.records


@pytest.mark.django_db(transaction=True)
def test_of_several_first_ingests_one_wins(settings: Any) -> None:
    spaces: list[EmbeddingSpace] = []

    def claim() -> None:
        spaces.append(vector_space.claim())
        connection.close()

    threads = [Thread(target=claim) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({space.pk for space in spaces}) == 1
    assert len(spaces) == 4
    assert EmbeddingSpace.objects.count() == 1
