"""Which model the settings mean: made once a process, when it is first asked for. Nothing here downloads anything."""

import logging
import threading
import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, Final

from citations import conf
from citations.errors import InvalidProvider, ModelError, ModelMissing
from citations.providers import (
    chat_services,
    embedding,
    embedding_services,
    openvino_conversion,
    weights,
)
from citations.providers.embedding import LOCAL, Embedder, HashEmbedder, LocalEmbedder
from citations.providers.keywords import Extractor, Keywords
from citations.providers.llm import Llm
from citations.providers.reranking import BrokenReranker, CrossEncoderReranker, Reranker
from citations.providers.topic_gate import Gate, Head

KEYBERT, NO_KEYWORDS = "keybert", "none"  # what may find keywords, beside our own extractor
FAKE: Final = "fake"  # the embedder of tests; the settings' documentation does not name it
LOOK_AGAIN_SECONDS: Final = (
    30.0  # a cross-encoder that was fetched meanwhile is found without a restart
)
logger = logging.getLogger(__name__)


def identity(choice: conf.EmbeddingChoice) -> tuple[str, str, int]:
    """Return (provider, model, dimensions) of a choice without loading the model or asking its server.

    Raises ``InvalidProvider`` for what does not exist, ``ModelMissing`` for a local model that is neither known nor on this machine.
    """
    provider = _checked(choice.provider)
    if provider in LOCAL:
        return provider, *embedding.identity(provider, choice.model)
    if provider in embedding_services.PROVIDERS:
        return provider, *embedding_services.identity(provider, choice.model, choice.dimensions)
    made = embedder(provider, model=choice.model, dimensions=choice.dimensions)
    return made.provider, made.model, made.dimensions


def embedder(provider: str, *, model: str = "", dimensions: int = 0) -> Embedder:
    """Return an embedding model, the same one at each call. Raises ``InvalidProvider``, ``ModelMissing`` and ``ModelError``."""
    provider = _checked(provider)
    model, dimensions = _spelled_out(provider, model, dimensions)
    made: Embedder = _models.get(
        (provider, model, dimensions), lambda: _make(provider, model, dimensions)
    )
    return made


def configured_embedder() -> Embedder:
    """Return the embedding model that the settings name. Raises what ``embedder`` raises."""
    wanted = conf.embedding()
    return embedder(wanted.provider, model=wanted.model, dimensions=wanted.dimensions)


def reranker() -> Reranker | None:
    """Return the cross-encoder that the settings name; None where none is wanted, it is not on this machine, or it cannot be loaded (logged once)."""
    name = conf.reranker()
    if name == conf.NO_RERANKER:
        return None
    found: Reranker | None = _models.get(
        ("reranker", name), lambda: _reranker(name), seconds=LOOK_AGAIN_SECONDS
    )
    return found


def live_encoder() -> Embedder | None:
    """Return the model that the gate and the keywords of lectures go by: all-MiniLM-L6-v2; None where neither is wanted, or it is not on this machine.

    Raises ``ModelError``.
    """
    if conf.live_keywords() == NO_KEYWORDS and conf.live_off_topic() >= 1:
        return None
    try:
        return embedder(FAKE if conf.embedding().provider == FAKE else "local")
    except ModelMissing:
        return None


def keywords() -> Keywords | None:
    """Return what finds keywords; None where none are wanted or its model is not on this machine. Raises ``ModelError``."""
    wanted = conf.live_keywords()
    encoder = live_encoder() if wanted != NO_KEYWORDS else None
    made: Keywords | None = (
        _models.get(("keywords", wanted, encoder), lambda: _keywords(wanted, encoder))
        if encoder
        else None
    )
    return made


def gate() -> Gate | None:
    """Return what tells asides from the subject by vectors of ``live_encoder``; None for one that it was not trained on. Raises ``ModelError``."""
    head: Head = _models.get(("gate",), Head.read)
    encoder = live_encoder()
    return head if encoder and encoder.model == head.model else None


def live_reranker() -> Reranker | None:
    """Return the cross-encoder of live lectures; None where none is wanted or it is not on this machine.

    One that cannot be loaded says so whenever it is asked, and is tried again after a while, as one that is missing is.
    """
    name = conf.live_reranker()
    if name == conf.NO_RERANKER:
        return None
    found: Reranker | None = _models.get(
        ("live reranker", name), lambda: _live_reranker(name), seconds=LOOK_AGAIN_SECONDS
    )
    return found


def llm() -> Llm | None:
    """Return the language model that the settings name, or None where there is none. Raises ``InvalidProvider``."""
    choice = conf.llm()
    made: Llm | None = _models.get(("llm", choice), lambda: chat_services.make(choice))
    return made


def warm() -> None:
    """Load each wanted model that has been made ready for this machine and run it once, so that the first search does not wait for it.

    Servers are not asked. What cannot be loaded is logged; whoever needs it gets the error.
    """
    for warm_up in (_warm_embedder, _warm_reranker, _warm_live_encoder, _warm_live_reranker):
        try:
            warm_up()
        except ModelError as error:
            logger.warning("A model cannot be used: %s %s", error.message, error.hint)


def reset() -> None:
    """Forget the models that are loaded."""
    _models.clear()


def _checked(provider: str) -> str:
    name = provider.strip().casefold()
    if name not in (*LOCAL, *embedding_services.PROVIDERS, FAKE):
        raise InvalidProvider(
            f"There is no embedding provider {provider!r}.",
            hint=f"One of {', '.join([*LOCAL, *embedding_services.PROVIDERS])} is expected.",
        )
    return name


def _warm_embedder() -> None:
    wanted = conf.embedding()
    if wanted.provider in LOCAL and _is_ready(
        wanted.model or LOCAL[wanted.provider].model, "vector"
    ):
        configured_embedder().embed_documents(["warm"])


def _warm_reranker() -> None:
    if _is_ready(conf.reranker(), "logits") and (found := reranker()):
        found.score("warm", ["warm"])


def _warm_live_encoder() -> None:
    if conf.embedding().provider == FAKE or not _is_ready(LOCAL["local"].model, "vector"):
        return
    text = "Let us begin with what we saw last time."
    if encoder := live_encoder():
        encoder.embed_documents([text])
    if found := keywords():
        found.extract(text)


def _warm_live_reranker() -> None:
    if _is_ready(conf.live_reranker(), "logits") and (found := live_reranker()):
        found.score("warm", ["warm"])


def _is_ready(name: str, head: str) -> bool:
    try:
        return openvino_conversion.is_ready(weights.find(name), head=head)
    except ModelMissing:
        return False


def _spelled_out(provider: str, model: str, dimensions: int) -> tuple[str, int]:
    """Name a model in full: whoever means the same one gets the same one."""
    if provider in LOCAL:
        return model or LOCAL[provider].model, 0
    return (model or "words", dimensions or 64) if provider == FAKE else (model, dimensions)


def _make(provider: str, model: str, dimensions: int) -> Embedder:
    if provider == FAKE:
        return HashEmbedder(model=model, dimensions=dimensions)
    if provider in embedding_services.PROVIDERS:
        return embedding_services.embedder(provider, model, dimensions)
    return LocalEmbedder(provider=provider, model=model)


def _reranker(name: str) -> Reranker | None:
    try:
        return CrossEncoderReranker(name)
    except ModelMissing:
        return None
    except ModelError as error:
        if name not in _complained:
            logger.warning("Searches are not re-ranked: %s %s", error.message, error.hint)
        _complained.add(name)
        return None


def _keywords(wanted: str, encoder: Embedder) -> Keywords:
    if wanted != KEYBERT:
        return Extractor(encoder)
    try:
        from citations.providers.keybert_reference import KeyBertKeywords
    except (ImportError, OSError) as error:
        raise ModelError(
            f"KeyBERT cannot be loaded: {error}",
            hint="Install Cuebase anew, or set LIVE_KEYWORDS=fast.",
        ) from error
    return KeyBertKeywords(encoder)


def _live_reranker(name: str) -> Reranker | None:
    try:
        return CrossEncoderReranker(name)
    except ModelMissing:
        return None
    except ModelError as error:
        return BrokenReranker(name, error)


@dataclass(slots=True)
class _Slot:
    """A model, or None, and when that was found out; whoever makes it holds the lock."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    filled: float = 0.0
    model: Any = None


class _Models:
    """Models by what was asked for. One thread makes a model while others wait for that one alone."""

    def __init__(self) -> None:
        self._slots: dict[Hashable, _Slot] = {}
        self._lock = threading.Lock()

    def get(self, key: Hashable, make: Callable[[], Any], *, seconds: float = 0.0) -> Any:
        """Return the model of ``key``; with ``seconds``, None or a broken one is asked for again when it is older."""
        with self._lock:
            slot = self._slots.setdefault(key, _Slot())
        if self._is_good(slot, seconds):
            return slot.model
        with slot.lock:
            if not self._is_good(slot, seconds):
                slot.model = make()
                slot.filled = time.monotonic()
        return slot.model

    def clear(self) -> None:
        """Forget them."""
        with self._lock:
            self._slots.clear()

    def _is_good(self, slot: _Slot, seconds: float) -> bool:
        is_whole = slot.model is not None and not isinstance(slot.model, BrokenReranker)
        return bool(slot.filled) and (
            is_whole or not seconds or time.monotonic() - slot.filled < seconds
        )


_models: Final = _Models()
_complained: Final[set[str]] = set()
