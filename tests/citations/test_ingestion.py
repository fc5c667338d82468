"""What is added becomes what is found: by words at once, by meaning a little later, and never twice."""

from collections.abc import Iterator

import pytest

from citations import embeddings, ingestion, lexical, lock, vectors
from citations.filters import Filter, resolve
from citations.models import Chunk, Embedding, Source, State
from citations.queries import parse
from tests.makers import make_cues, make_video
from transcripts.models import Collection
from transcripts.scope import Scope

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _fake_models(settings: object) -> None:
    settings.EMBEDDING_PROVIDER = "fake"


def found(scope: Scope, words: str) -> list[int]:
    reach = resolve(scope, Filter())
    return [hit.place for hit in lexical.search(parse(words), limit=10, reach=reach)]


def test_a_new_video_is_found_by_words_before_anything_is_embedded(collection: Collection, scope: Scope) -> None:
    make_video(collection)
    assert ingestion.index_words() == 1
    source = Source.objects.get()
    assert source.state == State.WORDS
    assert source.chunk_count == Chunk.objects.count() > 0
    assert found(scope, "backpropagation")
    assert not Embedding.objects.exists()


def test_after_its_ingest_it_is_found_by_meaning(collection: Collection, scope: Scope) -> None:
    make_video(collection)
    (source,) = ingestion.adopt()
    ingestion.ingest(source.pk)
    source.refresh_from_db()
    assert (source.state, source.error) == (State.READY, "")
    space = lock.active()
    assert space is not None
    assert not embeddings.wanted(space)
    chunk = Chunk.objects.order_by("pk")[2]
    vector = lock.embedder_of(space).embed_query(chunk.text)
    near = vectors.search(vector, space=space, limit=3, reach=resolve(scope, Filter()))
    assert near[0].chunk == chunk.pk
    assert near[0].cosine > 0.99
