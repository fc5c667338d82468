"""The models that the settings name: what each is for, whether it is here, how large it is, under which licence."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from citations import conf
from citations.errors import ModelError, ModelMissing
from citations.providers import embedding_services, registry, weights
from citations.providers.embedding import LOCAL
from transcripts.errors import InvalidInput, KnowledgeBaseError

EMBEDDING, CHUNKING, RERANKING, LECTURES, LANGUAGE = (
    "embedding",
    "chunking",
    "reranking",
    "live lectures",
    "language model",
)
OLLAMA: Final = "ollama"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelEntry:
    """A model. ``present``: None where its maker's server has it, or cannot say. ``size`` in bytes: None where it is not known. ``note``: what is wrong."""

    model: str
    provider: str
    uses: tuple[str, ...]
    present: bool | None = None
    size: int | None = None
    licence: str = ""
    note: str = ""

    @property
    def is_local(self) -> bool:
        """Whether it runs in this program, and so can be fetched."""
        return self.provider in LOCAL


def configured_models() -> list[ModelEntry]:
    """Return the models that the settings name, each once. Only a local Ollama is asked anything."""
    models: dict[str, list[str]] = {}
    for use, model in _local_uses():
        models.setdefault(model, []).append(use)
    return [*(_local(model, tuple(uses)) for model, uses in models.items()), *_served()]


def models_to_fetch(names: Sequence[str]) -> list[str]:
    """Return the models that are meant by ``names``: a provider's, or a name on the hub. None given: those of the settings that are missing.

    Raises ``InvalidInput`` for what is neither.
    """
    if not names:
        return [
            entry.model
            for entry in configured_models()
            if entry.is_local and entry.present is False
        ]
    return list(dict.fromkeys(_meant(name.strip()) for name in names))


def _meant(name: str) -> str:
    if name.casefold() in LOCAL:
        return LOCAL[name.casefold()].model
    if name.casefold() == "reranker" and conf.reranker() != conf.NO_RERANKER:
        return conf.reranker()
    if name.casefold() == "live-reranker" and conf.live_reranker() != conf.NO_RERANKER:
        return conf.live_reranker()
    if name.count("/") == 1 and not name.startswith(("/", ".", "~")):
        return name
    raise InvalidInput(
        f"No model {name!r} can be fetched.",
        hint=f"Name one of {', '.join(LOCAL)}, reranker, live-reranker, or a model of the hub such as {LOCAL['bge-base'].model}.",
    )


def _local_uses() -> Iterator[tuple[str, str]]:
    choice = conf.embedding()
    if choice.provider in LOCAL:
        yield EMBEDDING, choice.model or LOCAL[choice.provider].model
    yield CHUNKING, weights.MINILM
    if conf.reranker() != conf.NO_RERANKER:
        yield RERANKING, conf.reranker()
    if conf.live_reranker() != conf.NO_RERANKER:
        yield LECTURES, conf.live_reranker()


def _local(model: str, uses: tuple[str, ...]) -> ModelEntry:
    provider = next((name for name, one in LOCAL.items() if one.model == model), "local")
    known = weights.KNOWN.get(model)
    size, licence = (known.size, known.licence) if known else (None, "")
    try:
        folder = weights.find(model)
    except ModelMissing:
        return ModelEntry(
            model=model, provider=provider, uses=uses, present=False, size=size, licence=licence
        )
    except ModelError as error:
        return ModelEntry(
            model=model,
            provider=provider,
            uses=uses,
            present=False,
            size=size,
            licence=licence,
            note=_told(error),
        )
    return ModelEntry(
        model=model,
        provider=provider,
        uses=uses,
        present=True,
        size=weights.size(folder),
        licence=weights.licence(model, folder),
    )


def _served() -> Iterator[ModelEntry]:
    choice = conf.embedding()
    if choice.provider not in LOCAL:
        yield _embedding(choice)
    if conf.llm().provider != conf.NO_LLM:
        yield _language(conf.llm())


def _embedding(choice: conf.EmbeddingChoice) -> ModelEntry:
    try:
        provider, model, _ = registry.identity(choice)
        return ModelEntry(
            model=model,
            provider=provider,
            uses=(EMBEDDING,),
            **(_pulled(model) if provider == OLLAMA else {}),
        )
    except KnowledgeBaseError as error:
        return ModelEntry(
            model=choice.model, provider=choice.provider, uses=(EMBEDDING,), note=_told(error)
        )


def _language(choice: conf.LlmChoice) -> ModelEntry:
    try:
        made = registry.llm()
        name = made.name.partition(":")[2] if made else choice.model
        return ModelEntry(
            model=name,
            provider=choice.provider,
            uses=(LANGUAGE,),
            **(_pulled(name) if choice.provider == OLLAMA and not choice.base_url else {}),
        )
    except KnowledgeBaseError as error:
        return ModelEntry(
            model=choice.model, provider=choice.provider, uses=(LANGUAGE,), note=_told(error)
        )


def _pulled(model: str) -> dict[str, Any]:
    """Ask Ollama whether it has a model, and how large it is."""
    try:
        there = embedding_services.ollama_models()
    except ModelError as error:
        return {"note": _told(error)}
    name = model.removesuffix(":latest")
    return (
        {"present": True, "size": there[name]}
        if name in there
        else {"present": False, "note": f"`ollama pull {name}` gets it."}
    )


def _told(error: KnowledgeBaseError) -> str:
    return f"{error.message} {error.hint}".strip()
