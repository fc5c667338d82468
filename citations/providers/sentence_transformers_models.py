"""Local models in torch, by sentence-transformers, for those that are not built.

They are slower, take half a gigabyte more, and need the extra ``models``.
"""

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from citations import conf
from citations.errors import ModelError
from citations.providers.openvino_encoder import replace_surrogates


class TorchEncoder:
    """Embeds texts as vectors of length 1. Raises ``ModelError`` if it cannot be loaded."""

    def __init__(self, folder: Path) -> None:
        _require_extra(folder)
        from sentence_transformers import SentenceTransformer

        self._model = _loaded(SentenceTransformer, folder)
        self.dimensions = self._model.get_embedding_dimension() or 0

    def vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return vectors, float32 (n, dimensions)."""
        if not texts:
            return np.empty((0, self.dimensions), np.float32)
        # No prompt: the caller adds prefixes.
        encoded = self._model.encode(
            [replace_surrogates(text) for text in texts],
            prompt="",
            normalize_embeddings=True,
            show_progress_bar=False,
        )
        return np.asarray(encoded, dtype=np.float32)


class TorchPairScorer:
    """Scores pairs. Raises ``ModelError`` if it cannot be loaded."""

    def __init__(self, folder: Path, *, max_tokens: int) -> None:
        _require_extra(folder)
        import torch
        from sentence_transformers import CrossEncoder

        self._identity = torch.nn.Identity()
        self._model = _loaded(CrossEncoder, folder, max_length=max_tokens)

    def logits(self, query: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the logits of a query with each text, shape (n,)."""
        pairs = [(replace_surrogates(query), replace_surrogates(text)) for text in texts]
        scores = self._model.predict(pairs, activation_fn=self._identity, show_progress_bar=False)
        return np.asarray(scores, dtype=np.float32).reshape(len(texts))


def _require_extra(folder: Path) -> None:
    if find_spec("sentence_transformers") is None:
        raise ModelError(
            f"The model {folder.name} needs PyTorch, which is not installed.",
            hint="`pip install 'cuebase[models]'` installs it.",
        )


def _loaded(kind: Any, folder: Path, **options: Any) -> Any:
    import torch

    torch.set_num_threads(conf.model_threads())
    try:
        return kind(str(folder), device="cpu", local_files_only=True, **options)
    except Exception as error:  # a model may fail in any way
        raise ModelError(f"The model {folder.name} cannot be loaded: {str(error)[:300]}") from error
