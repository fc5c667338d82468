"""Vectors that were made once are kept in ``build/vectors``: embedding the sets takes an hour."""

import hashlib
import sqlite3
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Final

import numpy as np
from django.conf import settings
from numpy.typing import NDArray

from citations.providers import registry
from citations.providers.embedding import Embedder
from harness.environment import ROOT

Vectors = NDArray[np.float32]
AT_ONCE: Final = 256
STORE: Final = ROOT / "build" / "vectors" / "kept.sqlite"


class KeptEmbedder:
    """An embedding model whose vectors of documents are kept on disk.

    Queries are embedded each time: they are what is timed.
    """

    def __init__(self, model: Embedder, path: Path = STORE) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.provider, self.model, self.dimensions = model.provider, model.model, model.dimensions
        self.embed_query, self.embed_queries = model.embed_query, model.embed_queries
        self._made = model.embed_documents
        self._lock = threading.Lock()
        self._store = sqlite3.connect(path, check_same_thread=False, timeout=60)
        self._store.execute("PRAGMA journal_mode=WAL")
        self._store.execute(
            "CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB) WITHOUT ROWID"
        )

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Return the vectors of texts, from the disk where they are there."""
        if not texts:
            return np.zeros((0, self.dimensions), np.float32)
        with self._lock:
            keys = [self._key(text) for text in texts]
            kept = {key: vector for key in keys if (vector := self._read(key)) is not None}
            pairs = dict(zip(keys, texts, strict=True)).items()
            missing = ((key, text) for key, text in pairs if key not in kept)
            while part := list(islice(missing, AT_ONCE)):
                made = self._made([text for _, text in part])
                rows = [
                    (key, vector.astype(np.float32).tobytes())
                    for (key, _), vector in zip(part, made, strict=True)
                ]
                with self._store:
                    self._store.executemany("INSERT OR IGNORE INTO vectors VALUES (?, ?)", rows)
                kept |= {key: np.frombuffer(vector, np.float32) for key, vector in rows}
            return np.stack([kept[key] for key in keys])

    def _key(self, text: str) -> bytes:
        name = f"{self.provider}\0{self.model}\0{text}"
        return hashlib.sha256(name.encode("utf-8", "replace")).digest()

    def _read(self, key: bytes) -> Vectors | None:
        row = self._store.execute("SELECT vector FROM vectors WHERE key = ?", [key]).fetchone()
        return np.frombuffer(row[0], np.float32) if row else None


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
