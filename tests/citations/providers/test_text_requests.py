"""Texts go to servers whose limits nobody knows, in requests that they take."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from citations.errors import ModelRefused, ModelServerError
from citations.providers import embedding_services, http
from citations.providers.embedding_services import HostedEmbedder
from citations.providers.text_requests import RequestLimits
from tests.text_server import LENGTH, TextServer, texts_of, vector_of

TEXTS = [f"entry {number} of the diary" for number in range(40)]


@pytest.fixture
def server(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[TextServer]:
    """A server of one's own that speaks OpenAI's API and Ollama's."""
    policy = http.HttpRetryPolicy(tries=3, first=0.001, pause=0.005, total=5.0)
    monkeypatch.setattr(http, "RETRY_POLICY", policy)
    with TextServer() as own:
        settings.OPENAI_BASE_URL, settings.OPENAI_API_KEY = f"{own.url}/v1", ""
        settings.OLLAMA_BASE_URL = own.url
        yield own


@pytest.fixture
def embedder(server: TextServer) -> HostedEmbedder:
    return embedding_services.embedder("openai", "own", LENGTH)


def units(texts: list[str]) -> Any:
    """Return the vectors that the server gives, of length 1."""
    rows = np.array([vector_of(text) for text in texts])
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def longer_than(limit: int, status: int, reply: Any) -> Callable[[dict[str, Any]], Any]:
    """Refuse requests with a text of more characters."""
    return lambda body: (
        (status, reply) if any(len(text) > limit for text in texts_of(body)) else None
    )


@pytest.mark.parametrize(
    ("status", "reply"),
    [
        (400, {"error": {"message": "at most 6 requests can be in one batch"}}),
        (422, {"error": "batch size 40 > maximum allowed batch size 6"}),
        (413, b"<html>Request Entity Too Large</html>"),
        (400, {"code": 3210, "msg": "Zu viele Texte."}),
        (424, {"error": "Backend error", "error_type": "Backend"}),
    ],
)
def test_a_server_that_takes_few_texts_gets_few_and_is_not_refused_again(
    embedder: HostedEmbedder, server: TextServer, status: int, reply: Any
) -> None:
    server.refuse = lambda body: (status, reply) if len(body["input"]) > 6 else None
    vectors = embedder.embed_documents(TEXTS)
    assert np.allclose(vectors, units(TEXTS), atol=1e-6)
    assert (vectors.faults, vectors.cut) == ({}, set())
    server.requests.clear()
    embedder.embed_documents(TEXTS)
    assert max(server.sizes()) <= 6
    assert len(server.requests) <= 14


def test_a_limit_of_tokens_a_request_is_learnt_as_bytes(
    embedder: HostedEmbedder, server: TextServer
) -> None:
    message = {"error": {"message": "Requested 1,200 tokens, at most 300 per request."}}
    server.refuse = lambda body: (400, message) if len("".join(body["input"])) > 300 else None
    texts = ["word " * 20] * 12
    assert len(embedder.embed_documents(texts)) == 12
    server.requests.clear()
    embedder.embed_documents(["short"] * 12)
    assert server.sizes() == [12]


@pytest.mark.parametrize(
    ("provider", "status", "reply"),
    [
        ("openai", 400, {"message": "maximum context length is 128 tokens; you requested 300"}),
        ("openai", 413, {"error": "inputs must have less than 128 tokens", "type": "Validation"}),
        ("openai", 500, {"error": {"message": "input (600 tokens) is too large to process"}}),
        ("ollama", 400, {"error": "the input length exceeds the context length"}),
        ("openai", 400, b"no"),
        ("openai", 422, {"error": {"message": "Unprocessable"}}),
    ],
)
def test_a_text_beyond_the_model_is_cut_and_told(
    server: TextServer, provider: str, status: int, reply: Any
) -> None:
    server.refuse = longer_than(400, status, reply)
    texts = ["short", "long " * 180, "also short"]
    vectors = embedding_services.embedder(provider, "own", LENGTH).embed_documents(texts)
    assert (len(vectors), vectors.faults, vectors.cut) == (3, {}, {1})
    assert np.allclose(vectors[[0, 2]], units([texts[0], texts[2]]), atol=1e-6)


def test_a_length_that_was_refused_is_not_sent_again(
    embedder: HostedEmbedder, server: TextServer
) -> None:
    server.refuse = longer_than(400, 400, {"error": {"message": "too many tokens"}})
    assert embedder.embed_documents(["word " * 180] * 16).cut == set(range(16))
    server.requests.clear()
    assert embedder.embed_documents(["Wort " * 180] * 16).cut == set(range(16))
    assert server.sizes() == [16]
    assert embedder.embed_query("question " * 90).shape == (LENGTH,)


@pytest.mark.parametrize("provider", ["openai", "ollama"])
@pytest.mark.parametrize(
    ("status", "reply"),
    [
        (500, {"error": "failed to encode response: json: unsupported value: NaN"}),
        (400, {"error": {"message": "invalid character in input"}}),
        (422, b""),
    ],
)
def test_one_text_that_is_not_taken_does_not_take_the_others_with_it(
    server: TextServer, provider: str, status: int, reply: Any
) -> None:
    server.refuse = lambda body: (
        (status, reply) if any("odd" in text for text in body["input"]) else None
    )
    texts = [*TEXTS[:20], "an odd text", *TEXTS[20:], "another odd one"]
    vectors = embedding_services.embedder(provider, "own", LENGTH).embed_documents(texts)
    assert list(vectors.faults) == [20, 41]
    assert np.allclose(vectors, units(TEXTS), atol=1e-6)
    assert str(status) in vectors.faults[20].message


@pytest.mark.parametrize("bad", [None, [], [None] * LENGTH, [float("nan")] * LENGTH, [0] * LENGTH])
def test_a_text_whose_vector_cannot_be_used_is_left_out(
    embedder: HostedEmbedder, server: TextServer, bad: Any
) -> None:
    rows = [vector_of("a"), bad or None, vector_of("b")]
    server.embeddings = lambda texts: {"data": [{"embedding": row} for row in rows]}
    vectors = embedder.embed_documents(["a", "?", "b"])
    assert np.allclose(vectors, units(["a", "b"]), atol=1e-6)
    assert "zero or infinite length" in vectors.faults[1].message


def test_a_server_that_takes_nothing_is_told_in_its_own_words(
    embedder: HostedEmbedder, server: TextServer
) -> None:
    server.refuse = lambda body: (400, {"error": {"message": "Insufficient balance."}})
    with pytest.raises(ModelRefused, match="Insufficient balance"):
        embedder.embed_documents(TEXTS)
    assert len(server.requests) == 3  # as it was, and a short text with and without all fields
    server.refuse = lambda body: (500, {"error": {"message": "Out of memory."}})
    with pytest.raises(ModelServerError, match="Out of memory"):
        embedder.embed_documents(TEXTS)


def test_an_error_that_comes_as_a_success_is_one(
    embedder: HostedEmbedder, server: TextServer
) -> None:
    server.refuse = lambda body: (
        (200, {"error": {"message": "Too many inputs.", "code": 400}})
        if len(body["input"]) > 6
        else None
    )
    assert len(embedder.embed_documents(TEXTS)) == 40
    server.refuse = lambda body: (200, {"error": "The model is loading."})
    with pytest.raises(ModelServerError, match="The model is loading"):
        embedder.embed_documents(TEXTS)


def test_a_server_that_breaks_down_in_between_is_not_taken_for_bad_texts(
    embedder: HostedEmbedder, server: TextServer
) -> None:
    server.refuse = lambda body: (500, {"error": "broken"}) if len(server.requests) > 8 else None
    embedder._requests.limits = RequestLimits(texts=4, together=999, each=999)
    with pytest.raises(ModelServerError, match="broken"):
        embedder.embed_documents([f"{text} {n}" for n in range(2) for text in TEXTS])
    assert len(server.requests) < 60


@pytest.mark.parametrize(
    ("field", "reply"),
    [
        ("encoding_format", {"error": {"message": "Unknown parameter: encoding_format"}}),
        ("encoding_format", {"detail": [{"type": "extra_forbidden", "loc": ["body"]}]}),
        ("dimensions", {"error": {"message": "Model does not support other dimensions."}}),
        ("dimensions", b"no"),
    ],
)
def test_a_field_that_a_server_does_not_know_is_left_out_from_then_on(
    server: TextServer, field: str, reply: Any
) -> None:
    server.refuse = lambda body: (422, reply) if field in body else None
    embedder = embedding_services.embedder("openai", "text-embedding-3-small", LENGTH)
    assert np.allclose(embedder.embed_documents(TEXTS), units(TEXTS), atol=1e-6)
    server.requests.clear()
    embedder.embed_documents(["again"])
    embedder.embed_query("and again")
    assert [field in body for body in server.requests] == [False, False]


def test_a_query_alone_teaches_it_too(embedder: HostedEmbedder, server: TextServer) -> None:
    server.refuse = lambda body: (400, {"message": "extra"}) if "encoding_format" in body else None
    assert embedder.embed_query("what").shape == (LENGTH,)


def test_a_query_that_is_not_taken_is_told(embedder: HostedEmbedder, server: TextServer) -> None:
    server.refuse = lambda body: (400, {"error": "odd text"}) if "odd" in body["input"][0] else None
    with pytest.raises(ModelRefused, match="odd text"):
        embedder.embed_query("odd")
    server.embeddings = lambda texts: {"data": [{"embedding": None} for _ in texts]}
    with pytest.raises(ModelServerError, match="zero or infinite length"):
        embedder.embed_queries(["a", "b"])
