"""Embedding models behind an API: Voyage AI, OpenAI (and what speaks its API), Ollama."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, TypeAlias
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel

from citations import conf
from citations.errors import InvalidProvider, ModelServerError
from citations.providers.http import ModelServer
from citations.providers.server_errors import Refusal, ServerNames, ollama_model_missing
from transcripts.sanitize import clean

PROVIDERS: Final = ("voyage", "openai", "ollama")

Vectors: TypeAlias = NDArray[np.float32]
_QUERIES_KEPT: Final = 256
_QUERY_TRIES: Final = 2  # somebody waits for the search


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingModelFacts:
    """What has to be known of a model: the length of its vectors, and what it wants before a text."""

    dimensions: int
    query: str = ""
    document: str = ""


_MXBAI: Final = "Represent this sentence for searching relevant passages: "  # from the model's card
_KNOWN: Final = {
    "voyage": {
        "voyage-3-large": EmbeddingModelFacts(dimensions=1024),
        "voyage-3.5": EmbeddingModelFacts(dimensions=1024),
        "voyage-3.5-lite": EmbeddingModelFacts(dimensions=1024),
        "voyage-4-large": EmbeddingModelFacts(dimensions=1024),
        "voyage-4": EmbeddingModelFacts(dimensions=1024),
        "voyage-4-lite": EmbeddingModelFacts(dimensions=1024),
    },
    "openai": {
        "text-embedding-3-large": EmbeddingModelFacts(dimensions=3072),
        "text-embedding-3-small": EmbeddingModelFacts(dimensions=1536),
        "text-embedding-ada-002": EmbeddingModelFacts(dimensions=1536),
    },
    "ollama": {
        "mxbai-embed-large": EmbeddingModelFacts(dimensions=1024, query=_MXBAI),
        "nomic-embed-text": EmbeddingModelFacts(
            dimensions=768, query="search_query: ", document="search_document: "
        ),
        "bge-m3": EmbeddingModelFacts(dimensions=1024),
        "all-minilm": EmbeddingModelFacts(dimensions=384),
    },
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestLimits:
    """What one request may hold: so many texts, so many bytes in all and a text. A token is a byte at least, so a limit in bytes keeps one in tokens."""

    texts: int
    together: int
    each: int


_LIMITS: Final = {
    "voyage": RequestLimits(
        texts=128, together=120_000, each=32_000
    ),  # 1,000 texts, 120,000 tokens, 32,000 a text
    "openai": RequestLimits(
        texts=256, together=300_000, each=8_190
    ),  # 2,048 texts, 300,000 tokens, 8,191 a text
    "ollama": RequestLimits(
        texts=16, together=100_000, each=32_000
    ),  # none; but 16 texts keep a processor busy for some seconds
}


def identity(provider: str, model: str = "", dimensions: int = 0) -> tuple[str, int]:
    """Return the model's name and the length of its vectors, without asking anybody.

    Raises ``InvalidProvider`` for a model that is not known where no dimensions are given.
    """
    name = (model or next(iter(_KNOWN[provider]))).removesuffix(":latest")
    known = _known(provider, name)
    if not known and not dimensions:
        raise InvalidProvider(
            f"How long the vectors of {name} are is not known.",
            hint=f"Set EMBEDDING_DIMENSIONS, or name one of these in EMBEDDING_MODEL: {', '.join(_KNOWN[provider])}.",
        )
    return name, dimensions or (known.dimensions if known else 0)


def embedder(provider: str, model: str = "", dimensions: int = 0) -> "HostedEmbedder":
    """Make the embedder of ``voyage``, ``openai`` or ``ollama``; nothing is asked yet.

    Raises ``InvalidProvider`` for an unknown model without dimensions, a missing key or an address that cannot be used.
    """
    name, length = identity(provider, model, dimensions)
    return _CLASSES[provider](provider, name, length)


def ollama_models() -> dict[str, int]:
    """Return the models that Ollama has, with their sizes in bytes. Raises ``ModelServerError`` where it does not answer."""
    answer = _server("ollama").get("/api/tags", _Tags, tries=1)
    return {tag.name.removesuffix(":latest"): tag.size for tag in answer.models}


class HostedEmbedder:
    """An embedding model behind an API. All vectors have length 1. Safe to share between threads.

    Raises ``ModelServerError`` where no usable vectors came, ``ModelRefused`` where the server refused, ``ModelMissing`` where Ollama lacks the model.
    """

    def __init__(self, provider: str, model: str, dimensions: int) -> None:
        self.provider, self.model, self.dimensions = provider, model, dimensions
        self._known = _known(provider, model) or EmbeddingModelFacts(dimensions=dimensions)
        self._limits = _LIMITS[provider]
        self._server = _server(provider)
        self._query = lru_cache(_QUERIES_KEPT)(self._fresh)

    def __repr__(self) -> str:
        """Name the model."""
        return f"<{self.provider}:{self.model}>"

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of ``texts``, float32 (n, dimensions), in their order. What is too long for the model is cut."""
        wanted = [_fitting(self._known.document + text, self._limits.each) for text in texts]
        parts = [
            self._checked(self._ask(batch, "document", 0), len(batch))
            for batch in _batches(wanted, self._limits)
        ]
        return np.concatenate(parts) if parts else np.empty((0, self.dimensions), np.float32)

    def embed_query(self, text: str) -> Vectors:
        """Return the vector of a query, float32 (dimensions,), read-only; the last few hundred are remembered."""
        return self._query(text)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of several queries, float32 (n, dimensions), in their order; a server that fails is asked once more, as somebody waits."""
        wanted = [_fitting(self._known.query + text, self._limits.each) for text in texts]
        parts = [
            self._checked(self._ask(batch, "query", _QUERY_TRIES), len(batch))
            for batch in _batches(wanted, self._limits)
        ]
        return np.concatenate(parts) if parts else np.empty((0, self.dimensions), np.float32)

    def _fresh(self, text: str) -> Vectors:
        wanted = _fitting(self._known.query + text, self._limits.each)
        vector: Vectors = self._checked(self._ask([wanted], "query", _QUERY_TRIES), 1)[0]
        vector.setflags(write=False)
        return vector

    def _ask(self, texts: list[str], kind: str, tries: int) -> list[list[float]]:
        raise NotImplementedError

    def _shortened(self) -> int:
        """The dimensions to ask for, where they are others than the model's own; else 0."""
        return 0 if self.dimensions == self._known.dimensions else self.dimensions

    def _checked(self, rows: list[list[float]], count: int) -> Vectors:
        """Return the rows with length 1. Raises ``ModelServerError`` for another number or length of them, or what is no number."""
        if len(rows) != count:
            raise self._nonsense(f"gave {len(rows)} vectors for {count} texts")
        if length := next(
            (len(row) for row in rows if len(row) != self.dimensions), 0 if all(rows) else -1
        ):
            raise self._nonsense(
                f"gives vectors of {max(length, 0)} numbers, not {self.dimensions}"
            )
        vectors = np.asarray(rows, np.float64)
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        if not np.isfinite(norms).all() or not norms.all():
            raise self._nonsense("gave a vector that is no direction")
        unit: Vectors = (vectors / norms).astype(np.float32)
        return unit

    def _nonsense(self, what: str) -> ModelServerError:
        return ModelServerError(
            f"{self.model} at {self._server.names.server} {what}.",
            hint="Check EMBEDDING_MODEL and EMBEDDING_DIMENSIONS.",
        )


class VoyageEmbedder(HostedEmbedder):
    """A model of Voyage AI."""

    def _ask(self, texts: list[str], kind: str, tries: int) -> list[list[float]]:
        body: dict[str, Any] = {
            "model": self.model,
            "input": texts,
            "input_type": kind,
            "truncation": True,
            "output_dtype": "float",
        }
        if wanted := self._shortened():
            body["output_dimension"] = wanted
        return _in_order(
            self._server.post("/embeddings", body, _Listed, tries=tries), self._nonsense
        )


class OpenAiEmbedder(HostedEmbedder):
    """A model of OpenAI, or of a server that speaks its API."""

    def _ask(self, texts: list[str], kind: str, tries: int) -> list[list[float]]:
        body: dict[str, Any] = {"model": self.model, "input": texts, "encoding_format": "float"}
        if wanted := self._shortened():
            body["dimensions"] = wanted
        return _in_order(
            self._server.post("/embeddings", body, _Listed, tries=tries), self._nonsense
        )


class OllamaEmbedder(HostedEmbedder):
    """A model of Ollama."""

    def _ask(self, texts: list[str], kind: str, tries: int) -> list[list[float]]:
        try:
            return self._embed(texts, tries)
        except Refusal as refusal:
            if refusal.status != 400 or "length" not in refusal.words:
                raise
        return [
            self._cut(text, tries) for text in texts
        ]  # one by one: what is cut from a text must not depend on its neighbours

    def _cut(self, text: str, tries: int) -> list[float]:
        """Embed the longest beginning of a text that the model takes, by halves: whether Ollama cuts by itself depends on its version."""
        while True:
            try:
                return next(iter(self._embed([text], tries)), [])
            except Refusal as refusal:
                if refusal.status != 400 or "length" not in refusal.words or len(text) < 2:
                    raise
                text = text[: len(text) // 2]

    def _embed(self, texts: list[str], tries: int) -> list[list[float]]:
        body: dict[str, Any] = {"model": self.model, "input": texts, "truncate": True}
        if wanted := self._shortened():
            body["dimensions"] = wanted
        try:
            return self._server.post("/api/embed", body, _Embeddings, tries=tries).embeddings
        except Refusal as refusal:
            raise (
                ollama_model_missing(self.model)
                if refusal.status == 404 and refusal.words
                else refusal
            ) from None


_CLASSES: Final[dict[str, type[HostedEmbedder]]] = {
    "voyage": VoyageEmbedder,
    "openai": OpenAiEmbedder,
    "ollama": OllamaEmbedder,
}


# What servers answer


class _Vector(BaseModel):
    embedding: list[float]
    index: int


class _Listed(BaseModel):
    data: list[_Vector]


class _Embeddings(BaseModel):
    embeddings: list[list[float]]


class _Tag(BaseModel):
    name: str
    size: int = 0


class _Tags(BaseModel):
    models: list[_Tag]


def _in_order(answer: _Listed, nonsense: Callable[[str], ModelServerError]) -> list[list[float]]:
    ordered = sorted(answer.data, key=lambda vector: vector.index)
    if [vector.index for vector in ordered] != list(range(len(ordered))):
        raise nonsense("does not say which vector is whose")
    return [vector.embedding for vector in ordered]


def _known(provider: str, model: str) -> EmbeddingModelFacts | None:
    return _KNOWN[provider].get(model) or _KNOWN[provider].get(model.partition(":")[0])


def _server(provider: str) -> ModelServer:
    names = {
        "voyage": ServerNames(server="Voyage AI", key="VOYAGE_API_KEY", address="VOYAGE_BASE_URL"),
        "openai": ServerNames(server="OpenAI", key="OPENAI_API_KEY", address="OPENAI_BASE_URL"),
        "ollama": ServerNames(server="Ollama", key="", address="OLLAMA_BASE_URL"),
    }[provider]
    remote = conf.remote(provider)
    if (
        names.key
        and not remote.key
        and (urlsplit(remote.base_url).hostname or "") in {"api.voyageai.com", "api.openai.com"}
    ):
        raise InvalidProvider(
            f"{names.server} wants a key, and {names.key} is empty.",
            hint=f"Set {names.key}, or choose another EMBEDDING_PROVIDER.",
        )
    return ModelServer(names, remote)


def _fitting(text: str, limit: int) -> str:
    """Cut a text to ``limit`` bytes; "." where nothing is left, as an empty text is refused."""
    fit = clean(text, limit)
    return fit.encode()[:limit].decode(errors="ignore") or "."


def _batches(texts: list[str], limits: RequestLimits) -> Iterator[list[str]]:
    batch: list[str] = []
    size = 0
    for text in texts:
        length = len(text.encode())
        if batch and (len(batch) == limits.texts or size + length > limits.together):
            yield batch
            batch, size = [], 0
        batch.append(text)
        size += length
    if batch:
        yield batch
