"""Vectors that were made once are kept in ``build/vectors``, so that a benchmark that embeds for an
hour does so once.
"""

import hashlib
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import numpy as np
from django.conf import settings
from environment import ROOT
from numpy.typing import NDArray

from citations.providers import registry
from citations.providers.embedding import Embedder

Vectors = NDArray[np.float32]
AT_ONCE = 256
T = TypeVar("T")


class KeptEmbedder:
    """An embedding model whose vectors of documents are kept on disk.

    Queries are embedded each time: they are what is timed.
    """

    def __init__(
        self, model: Embedder, *, path: Path = ROOT / "build" / "vectors" / "kept.sqlite"
    ) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.provider, self.model, self.dimensions = model.provider, model.model, model.dimensions
        self._model = model
        self._lock = threading.Lock()
        self._store = sqlite3.connect(path, check_same_thread=False, timeout=60)
        self._store.execute("PRAGMA journal_mode=WAL")
        self._store.execute(
            "CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB) WITHOUT ROWID"
        )

    def embed_query(self, text: str) -> Vectors:
        """Return the vector of what is looked for."""
        return self._model.embed_query(text)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of several things that are looked for."""
        return self._model.embed_queries(texts)

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of texts, from the disk where they are there."""
        with self._lock:
            keys = [
                hashlib.sha256(
                    f"{self.provider}\0{self.model}\0{text}".encode("utf-8", "replace")
                ).digest()
                for text in texts
            ]
            vectors = self._read(keys)
            missing = {
                key: text for key, text in zip(keys, texts, strict=True) if key not in vectors
            }
            for part in _parts(list(missing.items()), AT_ONCE):
                made = self._model.embed_documents([text for _, text in part])
                vectors |= dict(zip((key for key, _ in part), made, strict=True))
                with self._store:
                    rows = [
                        (key, vector.astype(np.float32).tobytes())
                        for (key, _), vector in zip(part, made, strict=True)
                    ]
                    self._store.executemany("INSERT OR IGNORE INTO vectors VALUES (?, ?)", rows)
            return (
                np.stack([vectors[key] for key in keys])
                if keys
                else np.zeros((0, self.dimensions), np.float32)
            )

    def _read(self, keys: Sequence[bytes]) -> dict[bytes, Vectors]:
        vectors: dict[bytes, Vectors] = {}
        for part in _parts(list(keys), 500):
            marks = ",".join("?" * len(part))
            rows = self._store.execute(
                f"SELECT key, vector FROM vectors WHERE key IN ({marks})", part
            )
            vectors |= {key: np.frombuffer(vector, np.float32) for key, vector in rows}
        return vectors


@contextmanager
def kept_vectors() -> Iterator[None]:
    """Let everything embed with vectors that are kept, by the provider of the settings."""
    make = registry.embedder
    model = KeptEmbedder(make(settings.EMBEDDING_PROVIDER))
    registry.embedder = lambda *_, **__: model
    try:
        yield
    finally:
        registry.embedder = make


def _parts(values: list[T], size: int) -> Iterator[list[T]]:
    return (values[start : start + size] for start in range(0, len(values), size))
