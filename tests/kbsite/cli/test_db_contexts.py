"""db write-contexts: the cost comes first, then the contexts."""

from typing import Any

import pytest

from citations.ingest import contextual, discovery
from citations.ingest import pipeline as ingest_pipeline
from citations.models import Chunk, Source, State
from citations.providers import registry
from citations.providers.prompts import prompt_tokens
from tests.fake_llm import FakeLlm
from tests.kbsite.cli.conftest import Kb
from tests.makers import make_video
from transcripts.models import Collection


@pytest.fixture
def source(library: Collection) -> Source:
    """A talk that was indexed before there was a language model."""
    make_video(library)
    (adopted,) = discovery.adopt()
    ingest_pipeline.ingest(adopted.pk)
    return Source.objects.get()


@pytest.fixture
def llm(settings: Any, monkeypatch: pytest.MonkeyPatch) -> FakeLlm:
    """A language model that the settings name."""
    fake = FakeLlm(lambda prompt: "It is about walruses.")
    settings.LLM_PROVIDER = "ollama"
    monkeypatch.setattr(registry, "llm", lambda: fake)
    return fake


def test_without_a_language_model_it_says_what_to_set(kb: Kb, source: Source) -> None:
    assert "LLM_PROVIDER" in kb("db", "write-contexts", code=8).err


def test_the_cost_is_shown_and_nothing_asked(kb: Kb, source: Source, llm: FakeLlm) -> None:
    report = kb("db", "write-contexts", "--estimate", "--json").json
    assert (report["model"], report["sources"]) == ("fake:words", 1)
    assert report["pieces"] == report["calls"] == source.chunk_count
    assert report["input"] > report["output"] > 0
    said = " ".join(kb("db", "write-contexts", "--estimate").out.split())
    assert f"{source.chunk_count} chunks of 1 source get a context from fake:words" in said
    assert not llm.prompts


def test_a_no_writes_nothing(kb: Kb, source: Source, llm: FakeLlm) -> None:
    assert "Write them?" in kb("db", "write-contexts", stdin="n\n", code=1).err
    assert not llm.prompts


def test_a_yes_writes_all(kb: Kb, source: Source, llm: FakeLlm) -> None:
    report = kb("db", "write-contexts", "--yes", "--json").json
    assert (report["pieces"], report["left"]) == (source.chunk_count, 0)
    assert set(Chunk.objects.values_list("context", flat=True)) == {"It is about walruses."}
    assert "Every chunk has its context." in kb("db", "write-contexts").out


def test_the_estimate_is_no_less_than_what_is_asked(source: Source, llm: FakeLlm) -> None:
    planned = contextual.plan().cost
    ingest_pipeline.ingest(source.pk)
    assert len(llm.prompts) == planned.calls
    assert sum(prompt_tokens(prompt) for prompt in llm.prompts) <= planned.input


def test_adding_with_wait_says_the_cost_before(
    kb: Kb, library: Collection, llm: FakeLlm, tmp_path: Any
) -> None:
    talk = tmp_path / "talk.txt"
    talk.write_text("Walruses rest on the ice. Zebras graze on the plain. " * 20)
    assert "get a context from fake:words" in " ".join(kb("add", talk, "--wait").err.split())
    assert Source.objects.get().state == State.READY
    assert not Chunk.objects.filter(context="").exists()
