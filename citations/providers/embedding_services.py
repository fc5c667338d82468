"""Embedding models of Voyage AI, of OpenAI and compatible servers, and of Ollama."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, Final, TypeAlias
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel

from citations import conf
from citations.errors import InvalidProvider, ModelServerError
from citations.providers.embedding import DocumentVectors
from citations.providers.embedding_replies import EmbeddingReply, vector_of
from citations.providers.http import ModelServer
from citations.providers.server_errors import (
    Refusal,
    ServerFailure,
    ServerNames,
    ollama_model_missing,
    server_name,
)
from citations.providers.text_requests import (
    RequestLimits,
    SentTexts,
    TextRequests,
    raise_inner_error,
)
from transcripts.core.stages import timed

Vectors: TypeAlias = NDArray[np.float32]
_QUERIES_KEPT: Final = 256
_QUERY_TRIES: Final = 2  # a user waits for the search
_HINT: Final = "Check EMBEDDING_MODEL and EMBEDDING_DIMENSIONS."


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingModelFacts:
    """A model's vector length, and its prefixes for queries and documents."""

    dimensions: int
    query: str = ""
    document: str = ""


_FACTS: Final = {
    "voyage": {
        f"voyage-{name}": EmbeddingModelFacts(dimensions=1024)
        for name in ("3-large", "3.5", "3.5-lite", "4-large", "4", "4-lite")
    },
    "openai": {
        "text-embedding-3-large": EmbeddingModelFacts(dimensions=3072),
        "text-embedding-3-small": EmbeddingModelFacts(dimensions=1536),
        "text-embedding-ada-002": EmbeddingModelFacts(dimensions=1536),
    },
    "ollama": {
        "mxbai-embed-large": EmbeddingModelFacts(
            dimensions=1024, query="Represent this sentence for searching relevant passages: "
        ),
        "nomic-embed-text": EmbeddingModelFacts(
            dimensions=768, query="search_query: ", document="search_document: "
        ),
        "bge-m3": EmbeddingModelFacts(dimensions=1024),
        "all-minilm": EmbeddingModelFacts(dimensions=384),
    },
}


_LIMITS: Final = {
    # Of the service: 1,000 texts, 120,000 tokens, 32,000 a text.
    "voyage": RequestLimits(texts=128, together=120_000, each=32_000),
    # 2,048 texts, 300,000 tokens, 8,191 a text.
    "openai": RequestLimits(texts=256, together=300_000, each=8_190),
}
# Of servers of one's own: 16 texts keep a processor busy for seconds, and must not time out.
_OWN_LIMITS: Final = RequestLimits(texts=16, together=100_000, each=32_000)
_SERVICES: Final = {  # with their hosts
    "voyage": ("Voyage AI", "api.voyageai.com"),
    "openai": ("OpenAI", "api.openai.com"),
    "ollama": ("Ollama", ""),
}


def identity(provider: str, model: str = "", dimensions: int = 0) -> tuple[str, int]:
    """Return a model's name and its vectors' length. Raises ``InvalidProvider``."""
    name = (model or next(iter(_FACTS[provider]))).removesuffix(":latest")
    facts = _facts(provider, name)
    if not facts and not dimensions:
        names = ", ".join(_FACTS[provider])
        raise InvalidProvider(
            f"The length of the vectors of {name} is not known.",
            hint=f"Set EMBEDDING_DIMENSIONS, or EMBEDDING_MODEL to one of these: {names}.",
        )
    return name, dimensions or (facts.dimensions if facts else 0)


def embedder(provider: str, model: str = "", dimensions: int = 0) -> "HostedEmbedder":
    """Return the embedder of ``voyage``, ``openai`` or ``ollama``. Sends no request.

    Raises ``InvalidProvider`` for an unknown model without dimensions, a missing key or an invalid
    address.
    """
    name, length = identity(provider, model, dimensions)
    return _CLASSES[provider](provider, name, length)


def ollama_models() -> dict[str, int]:
    """Return Ollama's models with their sizes in bytes. Raises ``ModelServerError``."""
    answer = _server("ollama").get("/api/tags", _Tags, tries=1)
    return {tag.name.removesuffix(":latest"): tag.size for tag in answer.models}


class _Tag(BaseModel):
    name: str
    size: int = 0


class _Tags(BaseModel):
    models: list[_Tag]


class HostedEmbedder:
    """An embedding model behind an API, with vectors of length 1. Thread safe.

    Raises ``ModelServerError`` without usable vectors, ``ModelRefused`` if the server refuses, and
    ``ModelMissing`` if Ollama lacks the model.
    """

    path = "/embeddings"
    length_name = "dimensions"  # the field for a length of vectors that is not the model's own

    def __init__(self, provider: str, model: str, dimensions: int) -> None:
        self.provider, self.model, self.dimensions = provider, model, dimensions
        self._facts = _facts(provider, model) or EmbeddingModelFacts(dimensions=dimensions)
        self._server = _server(provider)
        is_own = self._server.host != _SERVICES[provider][1]
        self._requests = TextRequests[NDArray[np.float64]](
            _OWN_LIMITS if is_own else _LIMITS[provider],
            optional=self._options("document"),
            unusable=self._invalid("gave a vector of zero or infinite length"),
        )
        self._query = lru_cache(_QUERIES_KEPT)(self._embed_query)

    def __repr__(self) -> str:
        return f"<{self.provider}:{self.model}>"

    def embed_documents(self, texts: Sequence[str]) -> DocumentVectors:
        """Return the vectors of ``texts``, float32 (n, dimensions), but for those that the server
        does not take. Truncates long texts.
        """
        send = partial(self._send, "document")
        prefixed = [self._facts.document + text for text in texts]
        sent = self._requests.send(prefixed, send, partly=True)
        vectors = self._stacked(sent).view(DocumentVectors)
        vectors.faults, vectors.cut = sent.faults, sent.cut
        return vectors

    def embed_query(self, text: str) -> Vectors:
        """Return the vector of a query, float32 (dimensions,), read-only and cached."""
        return self._query(text)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of queries, float32 (n, dimensions), with one retry only."""
        send = partial(self._send, "query")
        prefixed = [self._facts.query + text for text in texts]
        return self._stacked(self._requests.send(prefixed, send, tries=_QUERY_TRIES))

    def _embed_query(self, text: str) -> Vectors:
        vector: Vectors = self.embed_queries([text])[0]
        vector.setflags(write=False)
        return vector

    def _stacked(self, sent: SentTexts[NDArray[np.float64]]) -> Vectors:
        rows = [sent.values[index] for index in sorted(sent.values)]
        return np.asarray(rows, np.float32).reshape(len(rows), self.dimensions)

    def _send(
        self, kind: str, texts: list[str], omitted: frozenset[str], tries: int
    ) -> list[NDArray[np.float64] | None]:
        """Send texts. Raises ``ModelServerError`` for a wrong number of vectors or values."""
        options = {k: value for k, value in self._options(kind).items() if k not in omitted}
        body = {"model": self.model, "input": texts, **options}
        with timed("model", f"{self.provider}:{self.model}"):
            reply = self._post(body, tries)
        raise_inner_error(reply.error, self._server.names.server)
        rows = reply.rows
        if rows is None:
            raise self._unclear("does not number its vectors")
        if len(rows) != len(texts):
            raise self._unclear(f"gave {len(rows)} vectors for {len(texts)} texts")
        try:
            return [vector_of(row, self.dimensions) for row in rows]
        except ValueError as error:
            raise self._invalid(str(error)) from None

    def _post(self, body: dict[str, Any], tries: int) -> EmbeddingReply:
        return self._server.post(self.path, body, EmbeddingReply, tries=tries)

    def _options(self, kind: str) -> dict[str, Any]:
        """Return the fields that some servers do not know, of a request for texts of a kind."""
        is_default = self.dimensions == self._facts.dimensions
        return {} if is_default else {self.length_name: self.dimensions}

    def _invalid(self, fault: str) -> ModelServerError:
        return ModelServerError(f"{self._subject} {fault}.", hint=_HINT)

    def _unclear(self, fault: str) -> ModelServerError:
        """Return the fault of a reply to several texts that may be right for fewer."""
        return ServerFailure(f"{self._subject} {fault}.", hint=_HINT, status=500, reason="")

    @property
    def _subject(self) -> str:
        return f"{self.model} at {self._server.names.server}"


class VoyageEmbedder(HostedEmbedder):
    length_name = "output_dimension"

    def _options(self, kind: str) -> dict[str, Any]:
        own = {"input_type": kind, "truncation": True, "output_dtype": "float"}
        return {**own, **super()._options(kind)}


class OpenAiEmbedder(HostedEmbedder):
    """A model of OpenAI, or of a compatible server."""

    def _options(self, kind: str) -> dict[str, Any]:
        return {"encoding_format": "float", **super()._options(kind)}


class OllamaEmbedder(HostedEmbedder):
    path = "/api/embed"

    def _options(self, kind: str) -> dict[str, Any]:
        return {"truncate": True, **super()._options(kind)}

    def _post(self, body: dict[str, Any], tries: int) -> EmbeddingReply:
        try:
            return super()._post(body, tries)
        except Refusal as refusal:
            is_missing = refusal.status == 404 and refusal.reason
            raise (ollama_model_missing(self.model) if is_missing else refusal) from None


_CLASSES: Final[dict[str, type[HostedEmbedder]]] = {
    "voyage": VoyageEmbedder,
    "openai": OpenAiEmbedder,
    "ollama": OllamaEmbedder,
}


def _facts(provider: str, model: str) -> EmbeddingModelFacts | None:
    return _FACTS[provider].get(model) or _FACTS[provider].get(model.partition(":")[0])


def _server(provider: str) -> ModelServer:
    service, home = _SERVICES[provider]
    remote = conf.remote(provider)
    names = ServerNames(
        server=server_name(service, remote.base_url, home) if home else service,
        key=f"{provider.upper()}_API_KEY" if home else "",
        address=f"{provider.upper()}_BASE_URL",
    )
    if home == urlsplit(remote.base_url).hostname and not remote.key:
        raise InvalidProvider(
            f"{service} requires a key, and {names.key} is empty.",
            hint=f"Set {names.key}, or choose another EMBEDDING_PROVIDER.",
        )
    return ModelServer(names, remote)
