"""Settings as values, read when they are used."""

from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

NO_LLM = "none"
NO_RERANKER = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingChoice:
    """The embedding model that the settings name; ``model`` and ``dimensions`` are empty where the provider's usual ones are meant."""

    provider: str
    model: str = ""
    dimensions: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmChoice:
    """The language model that the settings name; ``base_url`` and ``model`` are empty, ``context_tokens`` 0 where the provider's usual ones are meant."""

    provider: str
    model: str = ""
    base_url: str = ""
    concurrency: int = 4
    context_tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Remote:
    """How a model's server is reached: its address, the key (never shown), and how long an answer may take in seconds."""

    base_url: str
    key: str
    timeout: float


def cache_dir() -> Path:
    """Return the folder of what can be made again from the database."""
    return Path(settings.DATA_DIR) / "cache"


def embedding() -> EmbeddingChoice:
    """Return the embedding model that is wanted."""
    return EmbeddingChoice(
        provider=settings.EMBEDDING_PROVIDER.strip().casefold(),
        model=settings.EMBEDDING_MODEL,
        dimensions=settings.EMBEDDING_DIMENSIONS,
    )


def llm() -> LlmChoice:
    """Return the language model that is wanted; its provider is ``none`` where there is none."""
    return LlmChoice(
        provider=settings.LLM_PROVIDER.casefold() or NO_LLM,
        model=settings.LLM_MODEL,
        base_url=settings.LLM_BASE_URL,
        concurrency=settings.LLM_CONCURRENCY,
        context_tokens=settings.LLM_CONTEXT_TOKENS,
    )


def remote(name: str) -> Remote:
    """Return how ``voyage``, ``openai``, ``ollama`` or ``anthropic`` is reached."""
    addresses = {
        "voyage": (settings.VOYAGE_BASE_URL, settings.VOYAGE_API_KEY),
        "openai": (settings.OPENAI_BASE_URL, settings.OPENAI_API_KEY),
        "ollama": (settings.OLLAMA_BASE_URL, ""),
        "anthropic": ("https://api.anthropic.com/v1", settings.ANTHROPIC_API_KEY),
    }
    base_url, key = addresses[name]
    return Remote(base_url=base_url.rstrip("/"), key=key, timeout=settings.MODEL_TIMEOUT_SECONDS)


def reranker() -> str:
    """Return the cross-encoder's name or folder; ``none`` where none is wanted."""
    name: str = settings.RERANKER.strip()
    return NO_RERANKER if name.casefold() in ("", NO_RERANKER) else name


def live_reranker() -> str:
    """Return the name or folder of the cross-encoder of live lectures; ``none`` where none is wanted."""
    name: str = settings.LIVE_RERANKER.strip()
    return NO_RERANKER if name.casefold() in ("", NO_RERANKER) else name


def live_keywords() -> str:
    """Return what finds the keywords of lectures: ``fast``, ``keybert`` or ``none``."""
    return str(settings.LIVE_KEYWORDS)


def live_distance() -> float:
    """Return the squared L2 distance beyond which a lecture cites nothing, where none was calibrated."""
    return float(settings.LIVE_DISTANCE_THRESHOLD)


def live_relevance() -> float:
    """Return the cross-encoder's score below which a passage is not cited."""
    return float(settings.LIVE_RELEVANCE_THRESHOLD)


def live_off_topic() -> float:
    """Return how sure the gate must be, and more, that talk is off-topic."""
    return float(settings.LIVE_OFF_TOPIC_CONFIDENCE)


def rerank_candidates() -> int:
    """Return how many candidates the cross-encoder looks at."""
    return int(settings.RERANK_CANDIDATES)


def models_dir() -> Path:
    """Return the folder of models made ready for this machine."""
    return Path(settings.MODELS_DIR)


def model_threads() -> int:
    """Return how many threads one call of a local model has."""
    return int(settings.MODEL_THREADS)


def uses_context() -> bool:
    """Say whether chunks get a context from the language model."""
    return llm().provider != NO_LLM and not settings.DISABLE_CONTEXTUAL_RETRIEVAL


def uses_hyde() -> bool:
    """Say whether a search looks for a hypothetical answer as well."""
    return llm().provider != NO_LLM and not settings.DISABLE_HYDE


def marks_unsupported() -> bool:
    """Say whether a claim that no quote bears out is shown and marked, instead of left out."""
    return bool(settings.UNSUPPORTED_CLAIMS == "mark")
