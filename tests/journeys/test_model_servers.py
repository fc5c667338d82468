"""A library all of whose models are behind servers: from a video to a search, over real HTTP."""

from typing import Any

import pytest

from citations.ingest import discovery
from citations.ingest import pipeline as ingest_pipeline
from citations.models import Chunk, Embedding, Source, State
from citations.providers import registry
from citations.providers.embedding import HashEmbedder
from citations.search import pipeline as search_pipeline
from tests.makers import make_video
from tests.model_standin import Fault, ModelStandIn
from transcripts.core.scope import Scope
from transcripts.models import Collection

pytestmark = pytest.mark.django_db
QUESTION = "Where does backpropagation carry the error?"


def test_a_video_is_indexed_and_found_with_remote_models(
    model_server: ModelStandIn,
    settings: Any,
    scope: Scope,
    collection: Collection,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = registry.embedder
    # The local model finds where subjects change; here it need not.
    monkeypatch.setattr(
        registry,
        "embedder",
        lambda provider, **options: (
            HashEmbedder() if provider == "local" else real(provider, **options)
        ),
    )
    settings.EMBEDDING_PROVIDER, settings.LLM_PROVIDER, settings.LLM_BASE_URL, settings.RERANKER = (
        "voyage",
        "anthropic",
        model_server.anthropic_url,
        "none",
    )
    make_video(collection)
    discovery.adopt()
    source = Source.objects.get()
    ingest_pipeline.ingest(source.pk)
    ingest_pipeline.ingest(source.pk)

    source.refresh_from_db()
    chunks = Chunk.objects.filter(source=source)
    assert (source.state, source.error) == (State.READY, "")
    assert chunks
    assert all(chunk.context.startswith("It is about") for chunk in chunks)
    assert Embedding.objects.count() == len(chunks)

    result = search_pipeline.search(scope, QUESTION)
    assert result.hypothesis == f"It is about {QUESTION}."
    assert "Backpropagation carries the error" in result.passages[0].text
    assert not result.notes

    registry.reset()  # the server remembers no query
    model_server.fail(*[Fault.UNAUTHORIZED] * 2)
    result = search_pipeline.search(scope, QUESTION)
    assert "Backpropagation carries the error" in result.passages[0].text
    assert len(result.notes) == 2
    assert all("did not accept the key (401)" in note for note in result.notes)
