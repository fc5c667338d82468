"""llama.cpp's server with real models: found, chosen, tried, asked; it embeds and reranks."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
import pytest
import requests

from citations import conf
from citations.errors import ModelRefused
from citations.ingest import discovery
from citations.ingest import pipeline as ingest_pipeline
from citations.models import ChosenModel, Chunk, Embedding, Source, State
from citations.providers import (
    chat_services,
    embedding_services,
    local_servers,
    registry,
    reranking_services,
    trial,
)
from citations.providers.llm import RemoteLlm
from citations.providers.prompts import Prompt
from citations.search import pipeline as search_pipeline
from tests.citations.talks import SAID, reply_to, talk_in
from tests.html import assert_shows, text_of
from tests.llama import program
from tests.makers import embed, make_user, make_video, signed_in
from transcripts.core.scope import Scope
from transcripts.models import Collection

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("fresh_registry")]
PAGE = "/ask/model/"
QUESTION = "What does backpropagation carry to the start of a network?"
MEANT = "How do mistakes travel through layers of neurons?"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program.require_llama()
    return tmp_path_factory.mktemp("gguf")


@pytest.fixture
def chat(folder: Path) -> Iterator[str]:
    """The address of a server with a language model, which reads 1,024 tokens."""
    with program.llama_server(program.chat_model(), program.CHAT, "-c", "1024") as address:
        yield address


@pytest.fixture
def embedding_server(folder: Path, settings: Any) -> Iterator[str]:
    """A server of vectors, which reads 100 tokens of a text; the settings name it."""
    model = program.write_minilm(folder / "embedding.gguf")
    options = ("--embedding", "-ub", "100")
    with program.llama_server(model, program.EMBEDDING, *options) as address:
        settings.OPENAI_BASE_URL, settings.OPENAI_API_KEY = f"{address}/v1", ""
        settings.EMBEDDING_PROVIDER, settings.EMBEDDING_MODEL = "openai", program.EMBEDDING
        settings.EMBEDDING_DIMENSIONS = 384
        yield address


def _llm(address: str, **choice: Any) -> RemoteLlm:
    made = chat_services.make(
        conf.LlmChoice(provider="openai", model=program.CHAT, base_url=f"{address}/v1", **choice)
    )
    assert isinstance(made, RemoteLlm)
    return made


def test_a_server_that_runs_is_found_chosen_and_answers_with_proof(
    chat: str, scope: Scope, collection: Collection, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    port = int(chat.rpartition(":")[2])
    monkeypatch.setattr(local_servers, "PORTS", {port: ""})
    settings.LLM_PROVIDER = ""
    ChosenModel.KNOWN.read_at = None
    local_servers.forget()
    admin = signed_in(make_user("grace", is_staff=True, is_superuser=True))
    talk_in(collection)
    offer = f"llama.cpp is running with {program.CHAT}. Write answers with it?"
    assert offer in text_of(admin.get(PAGE))
    chosen = {"port": port, "model": program.CHAT}
    assert_shows(admin.post(PAGE, chosen, follow=True), "writes the answers now; it answered in")

    reply = reply_to(scope, QUESTION)
    assert reply.model == f"openai:{program.CHAT}"
    assert reply.quotes
    assert all(any(quote.text in said for said in SAID) for quote in reply.quotes)

    assert_shows(admin.post(PAGE, {"stop": "1"}, follow=True), "own sentences again.")
    ChosenModel.KNOWN.read_at = None


def test_it_says_what_it_can_do_and_how_much_it_reads(chat: str) -> None:
    llm = _llm(chat)
    result = trial.try_model(llm)
    assert (result.answers, result.streams, result.system_role) == (True, True, True)
    assert "96" in result.answer
    with pytest.raises(ModelRefused, match="exceeds the available context size"):
        llm.ask(Prompt(text="word " * 2_000, max_tokens=5))
    assert llm.budget == 1_024
    with pytest.raises(ModelRefused, match="reads 1,024 tokens at once"):
        llm.ask(Prompt(text="word " * 2_000, max_tokens=5))


def test_an_answer_that_nobody_waits_for_ends_at_the_server(chat: str) -> None:
    prompt = Prompt(text="Write a very long story about a kettle.", max_tokens=900)
    pieces = _llm(chat).stream(prompt)
    assert "".join(islice(pieces, 5)).strip()
    pieces.close()
    started = monotonic()
    while requests.get(f"{chat}/slots", timeout=5).json()[0]["is_processing"]:
        assert monotonic() - started < 10


def test_a_library_is_embedded_by_it_and_found_by_meaning(
    embedding_server: str, scope: Scope, collection: Collection
) -> None:
    make_video(collection)
    discovery.adopt()
    source = Source.objects.get()
    ingest_pipeline.ingest(source.pk)
    source.refresh_from_db()
    assert (source.state, source.error) == (State.READY, "")
    chunks = Chunk.objects.filter(source=source).count()
    assert Embedding.objects.count() == chunks > 3
    result = search_pipeline.search(scope, MEANT)
    assert "Backpropagation carries the error" in result.passages[0].text
    assert not result.notes


def test_its_vectors_are_those_of_the_built_in_model_and_long_texts_are_cut(
    embedding_server: str,
) -> None:
    served = embedding_services.embedder("openai", program.EMBEDDING, 384)
    vectors = served.embed_documents([*SAID, "word " * 600])
    assert (vectors.faults, vectors.cut) == ({}, {len(SAID)})
    built_in = registry.embedder("local").embed_documents(SAID)
    cosines = np.sum(np.asarray(vectors)[:-1] * built_in, axis=1)
    assert min(cosines) > 0.999


def test_it_reranks_a_search_and_one_that_is_late_is_left_out(
    folder: Path,
    scope: Scope,
    collection: Collection,
    settings: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    embed(talk_in(collection))
    monkeypatch.setattr(reranking_services, "RERANK_SECONDS", 60.0)  # machines are noisy
    model = program.write_minilm(folder / "reranker.gguf", "--rank")
    with program.llama_server(model, program.RERANKER, "--reranking") as address:
        settings.RERANKER, settings.RERANKER_BASE_URL = program.RERANKER, f"{address}/v1"
        result = search_pipeline.search(scope, QUESTION)
        assert result.passages
        assert not result.notes
        assert result.reranked
        scores = registry.reranker().score(QUESTION, ["word " * 900, *SAID])
        assert len(set(scores)) > 3  # the long one was cut
        registry.reset()
        monkeypatch.setattr(reranking_services, "RERANK_SECONDS", 0.0001)
        late = search_pipeline.search(scope, "gradient")
    assert late.passages
    assert "took more than" in late.notes[0]


def test_a_server_that_was_started_for_something_else_says_so_in_its_own_words(
    chat: str, settings: Any
) -> None:
    settings.OPENAI_BASE_URL, settings.OPENAI_API_KEY = f"{chat}/v1", ""
    with pytest.raises(ModelRefused, match="does not support embeddings. Start it with"):
        embedding_services.embedder("openai", "m", 384).embed_query("why")
