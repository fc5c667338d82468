"""The models of the settings: their uses, presence, size and licence."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Any, Final

from citations import conf
from citations.errors import ModelError, ModelMissing
from citations.providers import embedding_services, registry, weights
from citations.providers.embedding import LOCAL
from transcripts.core.errors import InvalidInput, KnowledgeBaseError

EMBEDDING, CHUNKING, RERANKING = "embedding", "chunking", "reranking"  # uses
LECTURES, LANGUAGE, SPEECH = "live lectures", "language model", "speech"
OLLAMA: Final = "ollama"
SERVED: Final = "server"  # of rerankers


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelEntry:
    """A model. ``size`` is in bytes, ``note`` says what is wrong.

    ``present`` and ``size`` are None if unknown, as for models of a service.
    """

    model: str
    provider: str
    uses: tuple[str, ...]
    present: bool | None = None
    size: int | None = None
    licence: str = ""
    note: str = ""

    @property
    def is_local(self) -> bool:
        """Whether it runs on this machine, and so can be downloaded."""
        return self.provider in LOCAL


def configured_models() -> list[ModelEntry]:
    """Return each model of the settings once. Sends requests only to Ollama."""
    models: dict[str, list[str]] = {}
    for use, model in _uses():
        models.setdefault(model, []).append(use)
    entries = [
        ModelEntry(model=model, provider=SERVED, uses=tuple(uses))
        if conf.is_served(model)
        else _local(model, tuple(uses))
        for model, uses in models.items()
    ]
    if conf.embedding().provider not in LOCAL:
        entries.append(_embedding(conf.embedding()))
    if conf.llm().provider != conf.NO_LLM:
        entries.append(_language(conf.llm()))
    return entries


def models_to_fetch(names: Sequence[str]) -> list[str]:
    """Return the models of ``names`` (a local provider, or a name on the hub).

    No names mean the missing models of the settings. Raises ``InvalidInput`` for other names.
    """
    if not names:
        models = configured_models()
        return [entry.model for entry in models if entry.is_local and entry.present is False]
    return list(dict.fromkeys(_resolve(name.strip()) for name in names))


def _resolve(name: str) -> str:
    if name.casefold() in LOCAL:
        return LOCAL[name.casefold()].model
    rerankers = {"reranker": conf.reranker(), "live-reranker": conf.live_reranker()}
    speech = conf.speech()
    if speech and speech.provider == "local" and name.casefold() == SPEECH:
        return speech.model
    model = rerankers.get(name.casefold(), conf.NO_RERANKER)
    if model != conf.NO_RERANKER and not conf.is_served(model):
        return model
    if name.count("/") == 1 and not name.startswith(("/", ".", "~")):
        return name
    raise InvalidInput(
        f"There is no model {name!r} to download.",
        hint=f"Name one of {', '.join(LOCAL)}, reranker, live-reranker, speech, or a model of the "
        f"hub such as {LOCAL['bge-base'].model}.",
    )


def _uses() -> Iterator[tuple[str, str]]:
    choice = conf.embedding()
    if choice.provider in LOCAL:
        yield EMBEDDING, choice.model or LOCAL[choice.provider].model
    yield CHUNKING, weights.MINILM
    if conf.reranker() != conf.NO_RERANKER:
        yield RERANKING, conf.reranker()
    if conf.live_reranker() != conf.NO_RERANKER:
        yield LECTURES, conf.live_reranker()
    if (speech := conf.speech()) and speech.provider == "local" and find_spec("faster_whisper"):
        yield SPEECH, speech.model


def _local(model: str, uses: tuple[str, ...]) -> ModelEntry:
    provider = next((name for name, local in LOCAL.items() if local.model == model), "local")
    facts = weights.KNOWN.get(model)
    known: dict[str, Any] = {"size": facts.size, "licence": facts.licence} if facts else {}
    entry = ModelEntry(model=model, provider=provider, uses=uses, present=False, **known)
    try:
        folder = weights.find(model)
    except ModelMissing:
        return entry
    except ModelError as error:
        return replace(entry, note=error.text)
    size, licence = weights.size(folder), weights.licence(model, folder)
    return replace(entry, present=True, size=size, licence=licence)


def _embedding(choice: conf.EmbeddingChoice) -> ModelEntry:
    entry = ModelEntry(model=choice.model, provider=choice.provider, uses=(EMBEDDING,))
    try:
        provider, model, _ = registry.identity(choice)
    except KnowledgeBaseError as error:
        return replace(entry, note=error.text)
    pulled = _pulled(model) if provider == OLLAMA else {}
    return replace(entry, model=model, provider=provider, **pulled)


def _language(choice: conf.LlmChoice) -> ModelEntry:
    entry = ModelEntry(model=choice.model, provider=choice.provider, uses=(LANGUAGE,))
    try:
        model = registry.llm()
    except KnowledgeBaseError as error:
        return replace(entry, note=error.text)
    name = model.name.partition(":")[2] if model else choice.model
    pulled = _pulled(name) if choice.provider == OLLAMA and not choice.base_url else {}
    return replace(entry, model=name, **pulled)


def _pulled(model: str) -> dict[str, Any]:
    try:
        models = embedding_services.ollama_models()
    except ModelError as error:
        return {"note": error.text}
    name = model.removesuffix(":latest")
    if name in models:
        return {"present": True, "size": models[name]}
    return {"present": False, "note": f"`ollama pull {name}` gets it."}
