"""db: status, and moving to another embedding model."""

from collections.abc import Iterator
from typing import Any

import pytest

from citations.conf import EmbeddingChoice
from citations.ingest import discovery
from citations.ingest import pipeline as ingest_pipeline
from citations.maintenance import migration
from citations.models import EmbeddingSpace, Source, SpaceState
from citations.providers import registry, weights
from citations.vectors import space as vector_space
from tests.kbsite.cli.conftest import Kb
from tests.makers import make_document, make_video
from transcripts.models import AuditEntry, Collection


@pytest.fixture(autouse=True)
def _fresh_models() -> Iterator[None]:
    registry.reset()
    yield
    registry.reset()


@pytest.fixture
def embedded(library: Collection) -> EmbeddingSpace:
    """A library of one talk, found by meaning."""
    make_video(library)
    for source in discovery.adopt():
        ingest_pipeline.ingest(source.pk)
    space = vector_space.locked()
    assert space is not None
    return space


def test_an_empty_library_has_a_status(kb: Kb) -> None:
    assert kb("db", "status", "--json").json["spaces"] == []
    assert "Locked to no embedding model yet" in kb("db", "status").out


def test_the_status_says_how_much_there_is_and_what_it_is_locked_to(
    kb: Kb, embedded: EmbeddingSpace
) -> None:
    status = kb("db", "status", "--json").json
    assert (status["videos"], status["sources"]["ready"], status["waiting"]) == (1, 1, 0)
    assert status["spaces"][0]["vectors"] == status["chunks"] > 0
    output = kb("db", "status").out
    assert "Locked to fake · words · 64 dimensions" in output
    assert "1 found by words and meaning" in output


def test_the_status_says_what_is_found_by_words_alone(kb: Kb, library: Collection) -> None:
    about = {"provider": "local", "model": weights.MINILM, "dimensions": 384}
    EmbeddingSpace.objects.create(**about, state="active")
    for language in ("de", "fr", "en"):
        make_document(library, ["text"], language=language)
    Source.objects.update(state="ready")
    output = kb("db", "status").out
    assert "Sources: 2 found by words alone, 1 found by words and meaning" in output
    assert kb("db", "status", "--json").json["sources"]["ready"] == 3


def test_a_mismatch_is_shown_by_status_config_and_doctor_with_the_command(
    kb: Kb, embedded: EmbeddingSpace, settings: Any
) -> None:
    settings.EMBEDDING_MODEL = "others"
    status, config, doctor = kb("db", "status").out, kb("config").err, kb("doctor", code=1).out
    for shown in (status, config, doctor):
        assert "fake · words · 64 dimensions" in shown
        assert "fake · others · 64 dimensions" in shown
        assert "kb db migrate-embeddings --to fake --model others" in shown


def test_a_healthy_lock_is_shown_by_config_and_doctor(kb: Kb, embedded: EmbeddingSpace) -> None:
    assert "locked to fake · words" in kb("config").err
    checks = {check["name"]: check for check in kb("doctor", "--json").json["checks"]}
    assert checks["Embeddings"]["ok"]


def test_other_chunk_sizes_are_told_and_one_command_splits_again(
    kb: Kb, embedded: EmbeddingSpace, settings: Any
) -> None:
    chunks = {check["name"]: check for check in kb("doctor", "--json").json["checks"]}["Chunks"]
    assert chunks["ok"]
    settings.CHUNK_SIZE = 250
    output = kb("doctor").out
    assert "Chunks: 1 source split with other values of CHUNK_SIZE" in output
    assert "kb db reindex" in output
    before = kb("db", "status", "--json").json["chunks"]
    assert "1 of 1 sources are indexed again" in kb("db", "reindex", "--wait", "--yes").out
    assert kb("db", "status", "--json").json["chunks"] > before
    assert kb("db", "reindex", "--json").json == {"sources": 0, "left": 0, "failed": 0}
    assert "all sources are split as the settings say" in kb("doctor").out


def test_the_library_moves_and_the_settings_need_no_change(
    kb: Kb, embedded: EmbeddingSpace
) -> None:
    ran = kb("db", "migrate-embeddings", "--to", "fake", "--model", "others", "--yes")
    assert "The settings need no change." in ran.out.splitlines()[-1]
    assert "the settings name" not in kb("db", "status").out
    assert kb("doctor", "--json").json["checks"]
    space = vector_space.locked()
    assert space is not None
    assert space.model == "others"
    entry = AuditEntry.objects.get(action="migrate")
    assert (entry.door, entry.kind, entry.thing) == ("kb", "embeddings", str(space))


def test_it_asks_first_and_a_no_changes_nothing(kb: Kb, embedded: EmbeddingSpace) -> None:
    ran = kb("db", "migrate-embeddings", "--to", "fake", "--model", "others", stdin="n\n", code=1)
    assert "chunks with fake · others" in ran.err
    assert EmbeddingSpace.objects.count() == 1


def test_for_a_remote_provider_it_says_the_tokens_before(
    kb: Kb, embedded: EmbeddingSpace, settings: Any
) -> None:
    settings.OPENAI_API_KEY = "key"
    ran = kb("db", "migrate-embeddings", "--to", "openai", stdin="n\n", code=1)
    assert "tokens that openai may charge for" in ran.err


def test_one_under_way_is_shown_and_can_be_given_up(kb: Kb, embedded: EmbeddingSpace) -> None:
    migration.begin(EmbeddingChoice(provider="fake", model="others"))
    assert "Migrating to fake · others" in kb("db", "status").out
    again = ("--to", "fake", "--model", "others")
    assert "Continue embedding" in kb("db", "migrate-embeddings", *again, stdin="n\n", code=1).err
    kb("db", "migrate-embeddings", "--cancel")
    assert list(EmbeddingSpace.objects.values_list("state", flat=True)) == [SpaceState.ACTIVE]
    kb("db", "migrate-embeddings", "--cancel", code=3)


@pytest.mark.parametrize(("provider", "code"), [("nonsense", 2), ("fake", 5)])
def test_what_cannot_be_migrated_to_is_told(
    kb: Kb, embedded: EmbeddingSpace, provider: str, code: int
) -> None:
    kb("db", "migrate-embeddings", "--to", provider, "--yes", code=code)
