"""Which model the settings mean, made once a process. Never downloads."""

import threading
from typing import Any

from citations import conf
from citations.errors import InvalidProvider
from citations.providers import chat_apis, hosted
from citations.providers.embedding import LOCAL, Embedder, HashEmbedder, LocalEmbedder
from citations.providers.llm import Llm

_made: dict[tuple[Any, ...], Any] = {}
_lock = threading.RLock()


def identity(choice: conf.EmbeddingChoice) -> tuple[str, str, int]:
    """Return (provider, model, dimensions) of a choice, without loading the model where it is a known one. Raises ``InvalidProvider``."""
    known = LOCAL.get(choice.provider)
    if known and choice.model in ("", known.model):
        return choice.provider, known.model, known.dimensions
    if choice.provider in hosted.PROVIDERS:
        return choice.provider, *hosted.identity(choice.provider, choice.model, choice.dimensions)
    made = embedder(choice.provider, model=choice.model, dimensions=choice.dimensions)
    return made.provider, made.model, made.dimensions


def embedder(provider: str, *, model: str = "", dimensions: int = 0) -> Embedder:
    """Return an embedding model, the same one at each call. Raises ``InvalidProvider`` and ``ModelMissing``."""
    key = ("embedder", provider, model, dimensions)
    with _lock:
        if key not in _made:
            _made[key] = _make(provider, model, dimensions)
        made: Embedder = _made[key]
        return made


def wanted_embedder() -> Embedder:
    """Return the embedding model that the settings name."""
    wanted = conf.embedding()
    return embedder(wanted.provider, model=wanted.model, dimensions=wanted.dimensions)


def reranker() -> Any:
    """Return the cross-encoder that the settings name, or None where there is none."""
    return None


def llm() -> Llm | None:
    """Return the language model that the settings name, or None where there is none. Raises ``InvalidProvider``."""
    choice = conf.llm()
    with _lock:
        if ("llm", choice) not in _made:
            _made["llm", choice] = chat_apis.make(choice)
        made: Llm | None = _made["llm", choice]
        return made


def warm() -> None:
    """Load each wanted model of this machine and run it once, so that the first search does not wait for it. Servers are not asked."""
    if conf.embedding().provider in LOCAL:
        wanted_embedder().embed_query("warm")


def reset() -> None:
    """Forget the models that are loaded."""
    with _lock:
        _made.clear()


def _make(provider: str, model: str, dimensions: int) -> Embedder:
    if provider == "fake":
        return HashEmbedder(model=model or "words", dimensions=dimensions or 64)
    if provider in LOCAL:
        return LocalEmbedder(provider=provider, model=model or LOCAL[provider].model)
    if provider in hosted.PROVIDERS:
        return hosted.embedder(provider, model, dimensions)
    raise InvalidProvider(f"There is no embedding provider {provider!r}.", hint=f"One of {', '.join([*LOCAL, *hosted.PROVIDERS])} is expected.")
