"""The models of the settings, made once a process on first use. Downloads nothing."""

import logging
import threading
import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, Final

from citations import conf
from citations.errors import InvalidProvider, ModelError, ModelMissing
from citations.providers import chat_services, embedding, embedding_services, encoders, weights
from citations.providers.embedding import LOCAL, Embedder, HashEmbedder, LocalEmbedder
from citations.providers.keywords import Extractor, Keywords
from citations.providers.llm import Llm
from citations.providers.reranking import BrokenReranker, CrossEncoderReranker, Reranker
from citations.providers.reranking_services import ServedReranker
from citations.providers.topic_gate import Head
from citations.providers.word_vectors import HashedWordVectors, WordPieceVectors
from citations.text.breakpoints import WordVectors
from transcripts.core.installation import install_command

KEYBERT, NO_KEYWORDS = "keybert", "none"  # alternatives to our own extractor
FAKE: Final = "fake"  # the embedder of tests, not documented
LOOK_AGAIN_SECONDS: Final = 30.0  # so that a downloaded model is used without a restart
logger = logging.getLogger(__name__)


def identity(choice: conf.EmbeddingChoice) -> tuple[str, str, int]:
    """Return (provider, model, dimensions) of a choice without loading it or a request.

    Raises ``InvalidProvider``, and ``ModelMissing`` for an unknown model that is not here.
    """
    provider = _normalised(choice.provider)
    if provider in LOCAL:
        return provider, *embedding.identity(provider, choice.model)
    if provider in conf.EMBEDDING_SERVICES:
        return provider, *embedding_services.identity(provider, choice.model, choice.dimensions)
    model = embedder(provider, model=choice.model, dimensions=choice.dimensions)
    return model.provider, model.model, model.dimensions


def embedder(provider: str, *, model: str = "", dimensions: int = 0) -> Embedder:
    """Return an embedding model, the same object at each call.

    Raises ``InvalidProvider``, ``ModelMissing`` and ``ModelError``.
    """
    provider = _normalised(provider)
    if provider in LOCAL:  # the same model has one key
        model, dimensions = model or LOCAL[provider].model, 0
    elif provider == FAKE:
        model, dimensions = model or "words", dimensions or 64
    instance: Embedder = _models.get(
        (provider, model, dimensions), lambda: _make(provider, model, dimensions)
    )
    return instance


def configured_embedder() -> Embedder:
    """Return the embedding model of the settings. Raises as ``embedder`` does."""
    choice = conf.embedding()
    return embedder(choice.provider, model=choice.model, dimensions=choice.dimensions)


def word_vectors() -> WordVectors | None:
    """Return the vectors of words by which sources are split where their subject changes, None if
    the settings do not want that, or all-MiniLM-L6-v2 is not on this machine or cannot be read,
    which is logged, and said by `kb models`.
    """
    if not conf.splits_by_subject():
        return None
    is_fake = conf.embedding().provider == FAKE
    try:
        vectors: WordVectors = _models.get(
            ("words", is_fake), HashedWordVectors if is_fake else WordPieceVectors
        )
    except ModelMissing:
        return None
    except ModelError as error:
        logger.warning("Sources are split at sentences, whatever their subject: %s", error.text)
        return None
    return vectors


def reranker() -> Reranker | None:
    """Return the cross-encoder of the settings, None for none.

    None also if it is not on this machine or cannot be loaded, which is logged once.
    """
    model = _cross_encoder(conf.reranker())
    if not isinstance(model, BrokenReranker):
        return model
    if model.name not in _logged:
        logger.warning("Searches are not re-ranked: %s %s", model.error.message, model.error.hint)
    _logged.add(model.name)
    return None


def live_encoder() -> Embedder | None:
    """Return the model of the topic gate and of lectures' keywords: all-MiniLM-L6-v2.

    None if neither is enabled, or it is not on this machine. Raises ``ModelError``.
    """
    if conf.live_keywords() == NO_KEYWORDS and conf.live_off_topic() >= 1:
        return None
    try:
        return embedder(FAKE if conf.embedding().provider == FAKE else "local")
    except ModelMissing:
        return None


def keywords() -> Keywords | None:
    """Return the keyword extractor, None without it or its model. Raises ``ModelError``."""
    method = conf.live_keywords()
    encoder = live_encoder() if method != NO_KEYWORDS else None
    if encoder is None:
        return None
    extractor: Keywords = _models.get(
        ("keywords", method, encoder), lambda: _keywords(method, encoder)
    )
    return extractor


def gate() -> Head | None:
    """Return the topic gate, None if trained on another model. Raises ``ModelError``."""
    head: Head = _models.get(("gate",), Head.read)
    encoder = live_encoder()
    return head if encoder and encoder.model == head.model else None


def live_reranker() -> Reranker | None:
    """Return the cross-encoder of lectures, None for none or if it is not on this machine.

    One that cannot be loaded raises its error when used, and is loaded again after a while.
    """
    return _cross_encoder(conf.live_reranker())


def llm() -> Llm | None:
    """Return the language model of the settings, None for none. Raises ``InvalidProvider``."""
    choice = conf.llm()
    model: Llm | None = _models.get(("llm", choice), lambda: chat_services.make(choice))
    return model


def warm() -> None:
    """Run each local model that is here once, so that no search waits for it; log its errors."""
    for warm_up in (_warm_embedder, _warm_rerankers, _warm_live_encoder):
        try:
            warm_up()
        except ModelError as error:
            logger.warning("A model cannot be used: %s %s", error.message, error.hint)


def warm_again() -> None:
    """Load in the background the models that left memory unused; cheap enough for every request."""
    if encoders.released.is_set():
        encoders.released.clear()
        threading.Thread(target=warm, name="warm", daemon=True).start()


def reset() -> None:
    _models.clear()


def _normalised(provider: str) -> str:
    name = provider.strip().casefold()
    if name not in (*LOCAL, *conf.EMBEDDING_SERVICES, FAKE):
        raise InvalidProvider(
            f"There is no embedding provider {provider!r}.",
            hint=f"One of {', '.join([*LOCAL, *conf.EMBEDDING_SERVICES])} is expected.",
        )
    return name


def _warm_embedder() -> None:
    choice = conf.embedding()
    if choice.provider in LOCAL and _is_here(choice.model or LOCAL[choice.provider].model):
        configured_embedder().embed_documents(["warm"])


def _warm_live_encoder() -> None:
    text = "Let us begin with what we saw last time."
    if conf.embedding().provider != FAKE and _is_here(LOCAL["local"].model):
        if encoder := live_encoder():
            encoder.embed_documents([text])
        if extractor := keywords():
            extractor.extract(text)


def _warm_rerankers() -> None:
    for name, load in ((conf.reranker(), reranker), (conf.live_reranker(), live_reranker)):
        if not conf.is_served(name) and _is_here(name) and (model := load()):
            model.score("warm", ["warm"])


def _is_here(name: str) -> bool:
    try:
        return bool(weights.find(name))
    except ModelMissing:
        return False


def _make(provider: str, model: str, dimensions: int) -> Embedder:
    if provider == FAKE:
        return HashEmbedder(model=model, dimensions=dimensions)
    if provider in conf.EMBEDDING_SERVICES:
        return embedding_services.embedder(provider, model, dimensions)
    return LocalEmbedder(provider=provider, model=model)


def _cross_encoder(name: str) -> Reranker | None:
    remote = conf.served_reranker() if conf.is_served(name) else None

    def load() -> Reranker | None:
        try:
            return ServedReranker(name, remote) if remote else CrossEncoderReranker(name)
        except InvalidProvider as error:
            return BrokenReranker(name, ModelError(error.message, hint=error.hint))
        except ModelMissing:
            return None
        except ModelError as error:
            return BrokenReranker(name, error)

    model: Reranker | None = None
    if name != conf.NO_RERANKER:
        model = _models.get(("cross-encoder", name, remote), load)
    return model


def _keywords(method: str, encoder: Embedder) -> Keywords:
    if method != KEYBERT:
        return Extractor(encoder)
    try:
        from citations.providers.keybert_reference import KeyBertKeywords
    except (ImportError, OSError) as error:
        raise ModelError(
            f"KeyBERT cannot be loaded: {error}",
            hint=f"Install it with `{install_command('models')}`, or set LIVE_KEYWORDS=fast.",
        ) from error
    return KeyBertKeywords(encoder)


@dataclass(slots=True)
class _Slot:
    """A model or None, with the time it was made."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    filled: float = 0.0
    model: Any = None

    @property
    def is_good(self) -> bool:
        is_whole = self.model is not None and not isinstance(self.model, BrokenReranker)
        is_fresh = time.monotonic() - self.filled < LOOK_AGAIN_SECONDS
        return bool(self.filled) and (is_whole or is_fresh)


class _Models:
    """Caches models by key. Threads wait only for the model they need."""

    def __init__(self) -> None:
        self._slots: dict[Hashable, _Slot] = {}
        self._lock = threading.Lock()

    def get(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """Return the model of ``key``; make a missing or broken one again after a while."""
        with self._lock:
            slot = self._slots.setdefault(key, _Slot())
        if slot.is_good:
            return slot.model
        with slot.lock:
            if not slot.is_good:
                slot.model = make()
                slot.filled = time.monotonic()
        return slot.model

    def clear(self) -> None:
        with self._lock:
            self._slots.clear()


_models: Final = _Models()
_logged: Final[set[str]] = set()
