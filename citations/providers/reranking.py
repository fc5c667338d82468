"""Rerankers: cross-encoders that score how well a passage answers a query."""

import logging
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from citations.errors import ModelError
from citations.providers import weights
from citations.providers.encoders import (
    Engine,
    Tokens,
    TorchPairScorer,
    replace_surrogates,
    tokenizer,
)
from citations.providers.openvino_graph import UnknownArchitecture
from citations.providers.weights import ModelConfig

QUERY_TOKENS = 64
PAIR_TOKENS = 256  # the cost grows faster than the length
READ_SECONDS: Final = 1.0  # for the passages of a search; the first ``AT_ONCE`` are always read
AT_ONCE: Final = 5
logger = logging.getLogger(__name__)


class Reranker(Protocol):
    @property
    def name(self) -> str: ...

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return a score of 0 to 1 for each text, or for the first ones, as many as can be read in
        time. Raises ``ModelError``.
        """


class CrossEncoderReranker:
    """A cross-encoder on this machine. Thread safe. Raises ``ModelMissing`` and ``ModelError``."""

    def __init__(self, name: str) -> None:
        self.name = name
        folder = weights.find(name)
        config = ModelConfig.read(folder)
        if config.labels != 1:
            raise ModelError(
                f"{name} is no reranker: it returns {config.labels} numbers for a pair, not one.",
                hint="Check RERANKER.",
            )
        self._scorer = _scorer(folder, config)

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return the logistic function of the logits; read until ``READ_SECONDS`` are over."""
        started, scores = perf_counter(), list[float]()
        for first in range(0, len(texts), AT_ONCE):
            if scores and perf_counter() - started > READ_SECONDS:
                break
            part = texts[first : first + AT_ONCE]
            logits = self._scorer.logits(query, part).astype(np.float64)
            scores += (1 / (1 + np.exp(-logits.clip(-500, 500)))).tolist()
        return scores


class BrokenReranker:
    """A cross-encoder that cannot be loaded: raises the reason when used."""

    def __init__(self, name: str, error: ModelError) -> None:
        self.name = name
        self.error = error

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        raise ModelError(self.error.message, hint=self.error.hint)


def _scorer(folder: Path, config: ModelConfig) -> "PairScorer | TorchPairScorer":
    most = min(PAIR_TOKENS, config.max_tokens)
    if not (folder / "tokenizer.json").is_file():
        return TorchPairScorer(folder, max_tokens=most)
    try:
        return PairScorer(Engine(folder, config, head="logits"), tokenizer(folder), max_tokens=most)
    except UnknownArchitecture as reason:
        logger.warning(
            "%s runs in torch, which is slower, as we cannot build it (%s)", folder.name, reason
        )
        return TorchPairScorer(folder, max_tokens=most)


class PairScorer:
    """Scores pairs of at most ``max_tokens`` tokens, ``QUERY_TOKENS`` of them for the query."""

    def __init__(self, engine: Engine, tokens: Any, *, max_tokens: int) -> None:
        self._engine = engine
        self._tokenizer = tokens
        self._room = max_tokens - tokens.num_special_tokens_to_add(True)
        self._query_room = min(QUERY_TOKENS, self._room // 2)

    def logits(self, query: str, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the logit of each pair, shape (n,)."""
        query_tokens = self._tokenizer.encode(replace_surrogates(query), add_special_tokens=False)
        query_tokens.truncate(self._query_room)
        passages = self._tokenizer.encode_batch(
            [replace_surrogates(text) for text in texts], add_special_tokens=False
        )
        return self._engine.run([self._pair(query_tokens, passage) for passage in passages])[:, 0]

    def _pair(self, query: Any, passage: Any) -> Tokens:
        passage.truncate(self._room - len(query.ids))
        pair = self._tokenizer.post_process(query, passage)
        return Tokens(pair.ids, pair.type_ids)
