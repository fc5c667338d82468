"""A cross-encoder reads a query and a passage together and says how well the one answers the other."""

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from citations.errors import ModelError
from citations.providers import weights
from citations.providers.model_config import ModelConfig
from citations.providers.openvino_conversion import Unconvertible
from citations.providers.openvino_encoder import Engine, Tokens, replace_surrogates, tokenizer
from citations.providers.sentence_transformers_models import TorchPairScorer

QUERY_TOKENS = 64  # the cost of a pair grows faster than its length
PAIR_TOKENS = 256
logger = logging.getLogger(__name__)


class Reranker(Protocol):
    """A model that orders passages."""

    @property
    def name(self) -> str:
        """The model's name."""

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return how well each text answers, 0 to 1, in their order. Raises ``ModelError``."""


class CrossEncoderReranker:
    """A cross-encoder on this machine. Thread safe. Raises ``ModelMissing`` or ``ModelError`` where it cannot be had."""

    def __init__(self, name: str) -> None:
        self.name = name
        folder = weights.find(name)
        blueprint = ModelConfig.read(folder)
        if blueprint.labels != 1:
            raise ModelError(
                f"{name} is no reranker: it gives {blueprint.labels} numbers for a pair, not one.",
                hint="Check RERANKER.",
            )
        self._scorer = _scorer(folder, blueprint)

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return how well each text answers, 0 to 1: the logistic function of the model's logit."""
        if not texts:
            return []
        logits = self._scorer.logits(query, texts).astype(np.float64)
        return [float(score) for score in 1 / (1 + np.exp(-logits.clip(-500, 500)))]


class BrokenReranker:
    """A cross-encoder that cannot be loaded: whoever asks it learns why."""

    def __init__(self, name: str, error: ModelError) -> None:
        self.name = name
        self._error = error

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """Raise ``ModelError``."""
        raise ModelError(self._error.message, hint=self._error.hint)


def _scorer(folder: Path, blueprint: ModelConfig) -> "PairScorer | TorchPairScorer":
    most = min(PAIR_TOKENS, blueprint.max_tokens)
    if not (folder / "tokenizer.json").is_file():
        return TorchPairScorer(folder, max_tokens=most)
    try:
        return PairScorer(
            Engine(folder, blueprint, head="logits"), tokenizer(folder), max_tokens=most
        )
    except Unconvertible as reason:
        logger.warning(
            "%s runs in torch, which is slower: it cannot be converted (%s)", folder.name, reason
        )
        return TorchPairScorer(folder, max_tokens=most)


class PairScorer:
    """Makes pairs of at most ``max_tokens`` tokens, of which the query has at most ``QUERY_TOKENS``, and asks the engine."""

    def __init__(self, engine: Engine, tokens: Any, *, max_tokens: int) -> None:
        self._engine = engine
        self._tokenizer = tokens
        self._room = max_tokens - tokens.num_special_tokens_to_add(True)
        self._query_room = min(QUERY_TOKENS, self._room // 2)

    def logits(self, query: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the model's logit for each pair, shape (n,)."""
        asked = self._tokenizer.encode(replace_surrogates(query), add_special_tokens=False)
        asked.truncate(self._query_room)
        passages = self._tokenizer.encode_batch(
            [replace_surrogates(text) for text in texts], add_special_tokens=False
        )
        return self._engine.run([self._pair(asked, passage) for passage in passages])[:, 0]

    def _pair(self, asked: Any, passage: Any) -> Tokens:
        passage.truncate(self._room - len(asked.ids))
        pair = self._tokenizer.post_process(asked, passage)
        return Tokens(pair.ids, pair.type_ids)
