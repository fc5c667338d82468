"""Settings as values, read at call time."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from django.conf import settings

NO_LLM = "none"
NO_RERANKER = "none"
NO_SPEECH = "none"
WHISPER: Final = "Systran/faster-whisper-{}"  # on the hub
WHISPER_SIZES: Final = ("base", "tiny", "small", "medium", "large-v3")
SERVICE_TIMEOUT = 30.0  # seconds
EMBEDDING_SERVICES = ("voyage", "openai", "ollama")  # providers that are asked by HTTP


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingChoice:
    """The configured embedding model; empty fields mean the provider's defaults."""

    provider: str
    model: str = ""
    dimensions: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class LlmChoice:
    """The configured language model; empty or zero fields mean the provider's defaults.

    One that ``is_stored`` was chosen on a page, with its own key; it only writes answers.
    """

    provider: str
    model: str = ""
    base_url: str = ""
    key: str = field(default="", repr=False)
    is_stored: bool = False
    concurrency: int = 0
    context_tokens: int = 0
    timeout: float = 0


@dataclass(frozen=True, slots=True)
class ChunkSizes:
    """What sources are split by, see ``text.chunking.chunk``; as text, what each remembers."""

    target: int = 500
    overlap: int = 150
    percentile: float = 80

    def __str__(self) -> str:
        return f"{self.target}/{self.overlap}/{self.percentile:g}"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Remote:
    """A model server: its address, the key (hidden from repr), and the timeout in seconds."""

    base_url: str
    key: str
    timeout: float


_stored_llm: Final[list[Callable[[], LlmChoice | None]]] = []


def cache_dir() -> Path:
    """Return the folder of files that can be recreated from the database."""
    return Path(settings.DATA_DIR) / "cache"


def embedding() -> EmbeddingChoice:
    return EmbeddingChoice(
        provider=settings.EMBEDDING_PROVIDER.strip().casefold(),
        model=settings.EMBEDDING_MODEL,
        dimensions=settings.EMBEDDING_DIMENSIONS,
    )


def llm() -> LlmChoice:
    """Return the choice of the environment, or else the one that is stored."""
    stored = (read() for read in _stored_llm if may_choose_llm())
    chosen = next(filter(None, stored), None)
    return replace(
        chosen
        or LlmChoice(
            provider=settings.LLM_PROVIDER.casefold() or NO_LLM,
            model=settings.LLM_MODEL,
            base_url=settings.LLM_BASE_URL,
        ),
        concurrency=settings.LLM_CONCURRENCY,
        context_tokens=settings.LLM_CONTEXT_TOKENS,
        timeout=settings.MODEL_TIMEOUT_SECONDS,
    )


def may_choose_llm() -> bool:
    """Say whether a language model can be chosen on a page: the environment names none."""
    return not settings.LLM_PROVIDER.strip()


def read_stored_llm_by(read: Callable[[], LlmChoice | None]) -> None:
    """Let a function of the tables, which know these values, read the stored choice."""
    _stored_llm.append(read)


def prepares_sources() -> bool:
    """Say whether a language model also works on sources in advance, as the environment's does."""
    return llm().provider != NO_LLM and not llm().is_stored


def remote(name: str) -> Remote:
    """Return the server of ``voyage``, ``openai``, ``ollama`` or ``anthropic``."""
    addresses = {
        "voyage": (settings.VOYAGE_BASE_URL, settings.VOYAGE_API_KEY),
        "openai": (settings.OPENAI_BASE_URL, settings.OPENAI_API_KEY),
        "ollama": (settings.OLLAMA_BASE_URL, ""),
        "anthropic": ("https://api.anthropic.com/v1", settings.ANTHROPIC_API_KEY),
    }
    base_url, key = addresses[name]
    timeout = settings.MODEL_TIMEOUT_SECONDS or SERVICE_TIMEOUT
    return Remote(base_url=base_url.rstrip("/"), key=key, timeout=timeout)


def reranker() -> str:
    """Return the name or folder of the cross-encoder; ``none`` if disabled."""
    name: str = settings.RERANKER.strip()
    return NO_RERANKER if name.casefold() in ("", NO_RERANKER) else name


def served_reranker() -> Remote | None:
    """Return the server that runs the model of ``reranker``, if it is not on this machine."""
    base_url = settings.RERANKER_BASE_URL.strip().rstrip("/").removesuffix("/rerank")
    timeout = settings.MODEL_TIMEOUT_SECONDS or SERVICE_TIMEOUT
    remote = Remote(base_url=base_url, key=settings.RERANKER_API_KEY, timeout=timeout)
    return remote if base_url else None


def is_served(name: str) -> bool:
    """Say whether a cross-encoder, of searches or lectures, is at the reranking server."""
    return name == reranker() != NO_RERANKER and served_reranker() is not None


def live_reranker() -> str:
    """Return the name or folder of the cross-encoder for live lectures; ``none`` if disabled."""
    name: str = settings.LIVE_RERANKER.strip()
    return NO_RERANKER if name.casefold() in ("", NO_RERANKER) else name


def live_keywords() -> str:
    """Return the keyword extractor of lectures: ``fast``, ``keybert`` or ``none``."""
    return str(settings.LIVE_KEYWORDS)


def live_distance() -> float:
    """Return the greatest squared L2 distance, 2 − 2·cosine, at which a lecture cites."""
    return float(settings.LIVE_DISTANCE_THRESHOLD)


def live_off_topic() -> float:
    """Return the probability above which the gate skips talk as off-topic."""
    return float(settings.LIVE_OFF_TOPIC_CONFIDENCE)


def chunk_sizes() -> ChunkSizes:
    percentile = settings.CHUNK_PERCENTILE if splits_by_subject() else 100  # which none exceeds
    return ChunkSizes(settings.CHUNK_SIZE, settings.CHUNK_OVERLAP, percentile)


def splits_by_subject() -> bool:
    """Say whether sources are split where their subject changes, and not at sentences alone."""
    return str(settings.CHUNKING) == "subjects"


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeechChoice:
    """Who recognises speech; ``model`` of ``local`` is a name of the hub or a folder."""

    provider: str
    model: str
    base_url: str = ""
    key: str = field(default="", repr=False)


def speech() -> SpeechChoice | None:
    """Return who recognises speech, None for nobody."""
    provider = str(settings.SPEECH_PROVIDER)
    model = settings.SPEECH_MODEL.strip()
    if provider == "local":
        model = model or WHISPER_SIZES[0]
        is_size = model in WHISPER_SIZES
        return SpeechChoice(provider=provider, model=WHISPER.format(model) if is_size else model)
    if provider == NO_SPEECH:
        return None
    own = settings.SPEECH_BASE_URL.strip().rstrip("/")
    return SpeechChoice(
        provider=provider,
        model=model or "whisper-1",
        base_url=own.removesuffix("/audio/transcriptions") or settings.OPENAI_BASE_URL.rstrip("/"),
        key=settings.SPEECH_API_KEY or ("" if own else settings.OPENAI_API_KEY),
    )


def model_timeout() -> float:
    """Return the longest wait for a model server in seconds; 0: as is usual for its kind."""
    seconds: float = settings.MODEL_TIMEOUT_SECONDS
    return seconds


def search_numbers() -> dict[str, str]:
    """Return the numbers in the formulas of a search, by the names of their settings."""
    names = ("BM25_K1", "BM25_B", "SEARCH_CANDIDATES", "RRF_K", "DUPLICATE_SIMILARITY")
    return {name.lower(): str(getattr(settings, name)) for name in names}


def search_candidates() -> int:
    """Return the candidates of each branch of a search for up to ten passages."""
    return int(settings.SEARCH_CANDIDATES)


def rrf_k() -> int:
    return int(settings.RRF_K)


def duplicate_similarity() -> float:
    """Return the Jaccard similarity from which passages are near-duplicates."""
    return float(settings.DUPLICATE_SIMILARITY)


def rerank_candidates() -> int:
    return int(settings.RERANK_CANDIDATES)


def model_threads() -> int:
    return int(settings.MODEL_THREADS)


def model_idle() -> float:
    """Return the seconds after which an unused local model leaves memory; 0: never."""
    seconds: float = settings.MODEL_IDLE_SECONDS
    return seconds


def adds_full_stops() -> bool:
    """Say whether captions without full stops get some."""
    return bool(settings.ADD_FULL_STOPS)


def uses_context() -> bool:
    """Say whether a language model writes contexts for chunks."""
    return prepares_sources() and not settings.DISABLE_CONTEXTUAL_RETRIEVAL


def uses_hyde() -> bool:
    """Say whether searches also use a hypothetical answer."""
    return prepares_sources() and not settings.DISABLE_HYDE


def marks_unsupported() -> bool:
    """Say whether unsupported claims are shown and marked instead of dropped."""
    return bool(settings.UNSUPPORTED_CLAIMS == "mark")
