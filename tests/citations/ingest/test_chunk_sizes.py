"""Other chunk sizes: what was split with other values is known, and split again on demand."""

from typing import Any

import pytest

from citations.ingest import discovery
from citations.ingest import pipeline as ingest_pipeline
from citations.library import sources
from citations.models import Chunk, Chunking, Source, State
from citations.providers import registry
from citations.quotes import source_texts
from citations.readers import source_blocks
from citations.search import pipeline as search_pipeline
from citations.text.chunking import chunk
from citations.vectors import space as vector_space
from citations.vectors import store as vector_store
from tests.fake_llm import FakeLlm
from tests.makers import make_video
from transcripts.core.scope import Scope
from transcripts.models import Collection

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("fake_models")]


@pytest.fixture
def lecture(collection: Collection) -> Source:
    make_video(collection)
    ingest_pipeline.index_words()
    return finish(Source.objects.get())


def finish(source: Source) -> Source:
    ingest_pipeline.ingest(source.pk)
    source.refresh_from_db()
    assert source.state == State.READY
    return source


def longest() -> int:
    return max(len(text) for text in Chunk.objects.values_list("text", flat=True))


def split_otherwise() -> int:
    return sources.split_otherwise(Source.objects.all()).count()


def test_what_was_split_with_other_values_is_known_and_split_again_on_demand(
    lecture: Source, scope: Scope, settings: Any
) -> None:
    assert (lecture.split_by, split_otherwise()) == ("500/150/80", 0)
    assert longest() > 300
    settings.CHUNK_SIZE, settings.CHUNK_OVERLAP, settings.CHUNK_PERCENTILE = 200, 40, 62.5
    assert split_otherwise() == 1
    before = list(Chunk.objects.values_list("pk", flat=True))
    text = source_texts.of(lecture)
    assert discovery.renew() == 1
    assert (split_otherwise(), discovery.renew()) == (0, 0)
    assert list(Chunk.objects.values_list("pk", flat=True)) == before
    assert search_pipeline.search(scope, "backpropagation").passages, "it is found meanwhile"
    finish(lecture)
    assert (lecture.split_by, split_otherwise()) == ("200/40/62.5", 0)
    assert longest() <= 1.7 * 200
    space = vector_space.active()
    assert space is not None
    assert not vector_store.missing(space)
    assert search_pipeline.search(scope, "backpropagation").passages
    assert source_texts.of(lecture).digest == text.digest, "citations keep their quotes"


def test_splitting_at_sentences_alone_is_a_setting(lecture: Source, settings: Any) -> None:
    settings.CHUNKING = "sentences"
    assert split_otherwise() == 1
    assert discovery.renew() == 1
    finish(lecture)
    assert (lecture.split_by, lecture.chunking) == ("500/150/100", Chunking.SENTENCES)
    assert split_otherwise() == 0
    blocks = source_blocks.read(lecture)
    stored = Chunk.objects.order_by("ordinal").values_list("text", flat=True)
    assert [*stored] == [draft.text for draft in chunk(blocks)]


def test_the_values_of_today_split_as_ever(lecture: Source, embedded: list[str]) -> None:
    before = list(Chunk.objects.order_by("ordinal").values_list("pk", "text"))
    lecture.start_anew()
    finish(lecture)
    assert list(Chunk.objects.order_by("ordinal").values_list("pk", "text")) == before


def test_new_chunks_get_contexts_although_the_text_is_the_same(
    lecture: Source, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    llm = FakeLlm(lambda prompt: "This part of the lecture is about walruses.")
    settings.LLM_PROVIDER = "ollama"
    monkeypatch.setattr(registry, "llm", lambda: llm)
    finish(lecture)
    settings.CHUNK_SIZE = 250
    discovery.renew()
    finish(lecture)
    assert not Chunk.objects.filter(context="").exists()
    assert lecture.contexts_digest == lecture.digest
