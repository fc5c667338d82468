"""The library's lock: the embedding space that is searched.

The first ingest sets it, a migration exchanges it, and settings that name another model fail at once.
"""

import logging

from django.db import IntegrityError, transaction
from django.utils import timezone

from citations import conf
from citations.errors import EmbeddingMismatch, ModelError
from citations.models import Embedding, EmbeddingSpace, Source, SpaceState, State, keep_writers_out
from citations.providers import registry
from citations.providers.embedding import Embedder

logger = logging.getLogger(__name__)

_ACTIVE = f"SELECT * FROM citations_embeddingspace WHERE state = '{SpaceState.ACTIVE}'"
STARTED = (
    timezone.now()
)  # of this process, near enough: whether its settings are older than a switch


def active() -> EmbeddingSpace | None:
    """Return the space that is searched, None where nothing was embedded yet. Raises ``EmbeddingMismatch``, ``InvalidProvider``."""
    space = locked()
    if space is not None and _contradicts(space):
        raise _mismatch(space)
    return space


def check() -> None:
    """Raise ``EmbeddingMismatch`` when the settings name another model than the one the library is locked to."""
    active()


def locked() -> EmbeddingSpace | None:
    """Return the space that is searched, whatever the settings name."""
    return next(
        iter(EmbeddingSpace.objects.raw(_ACTIVE)), None
    )  # written out: every search asks it


def claim() -> EmbeddingSpace:
    """Lock the library to the model that the settings name, unless it is locked; of several first ingests one wins.

    Raises ``EmbeddingMismatch`` when it is locked to another; ``ModelMissing`` and ``InvalidProvider`` rather than lock to a model that cannot be had.
    """
    space = active()
    if space is not None and (_is_wanted(space) or _switched_since_start(space)):
        return space
    registry.configured_embedder()
    return _claimed(empty=space) or claim()


def embedder_of(space: EmbeddingSpace) -> Embedder:
    """Return the model whose vectors a space holds. Raises ``ModelMissing``, ``InvalidProvider``."""
    return registry.embedder(space.provider, model=space.model, dimensions=space.dimensions)


def configured() -> tuple[str, str, int]:
    """Return provider, model and dimensions that the settings name; 0 where a model that is not here would have to say. Raises ``InvalidProvider``."""
    choice = conf.embedding()
    try:
        return registry.identity(choice)
    except ModelError:
        return choice.provider, choice.model, choice.dimensions


def describe(provider: str, model: str, dimensions: int) -> str:
    """Write a model as it is shown."""
    return " · ".join(
        filter(None, (provider, model, f"{dimensions} dimensions" if dimensions else ""))
    )


def _contradicts(space: EmbeddingSpace) -> bool:
    return (
        not _is_wanted(space)
        and not _switched_since_start(space)
        and Embedding.objects.filter(space=space).exists()
    )


def _is_wanted(space: EmbeddingSpace) -> bool:
    provider, model, dimensions = configured()
    return (provider, model) == (space.provider, space.model) and dimensions in (
        0,
        space.dimensions,
    )


def _switched_since_start(space: EmbeddingSpace) -> bool:
    """Say whether these settings were right when this process started: a migration that ends must not make its searches fail."""
    if space.activated_at is None or space.activated_at < STARTED:
        return False
    provider, model, _ = configured()
    return EmbeddingSpace.objects.filter(
        state=SpaceState.RETIRED, activated_at__isnull=False, provider=provider, model=model
    ).exists()


def _mismatch(space: EmbeddingSpace) -> EmbeddingMismatch:
    provider, model, dimensions = configured()
    named = f" --model {model}" if conf.embedding().model else ""
    return EmbeddingMismatch(
        f"The library is locked to {space}; the settings name {describe(provider, model, dimensions)}.",
        hint=f"Embed it anew with `kb db migrate-embeddings --to {provider}{named}`, or set EMBEDDING_PROVIDER={space.provider} back.",
    )


def _claimed(*, empty: EmbeddingSpace | None) -> EmbeddingSpace | None:
    """Make the active space of the settings, in place of one that holds nothing; None where another process was first."""
    provider, model, dimensions = registry.identity(conf.embedding())
    try:
        with transaction.atomic():
            keep_writers_out()
            if empty is not None:
                EmbeddingSpace.objects.filter(
                    pk=empty.pk, state=SpaceState.ACTIVE, embeddings=None
                ).delete()
            _trust_what_is_there(f"{provider} · {model}")
            values = {"state": SpaceState.ACTIVE, "activated_at": timezone.now()}
            return EmbeddingSpace.objects.create(
                provider=provider, model=model, dimensions=dimensions, **values
            )
    except IntegrityError:
        return None


def _trust_what_is_there(name: str) -> None:
    """Take up a library that has data and no lock: it is taken to be of the model that the settings name, and what lacks a vector gets one."""
    ready = Source.objects.filter(state=State.READY)
    if ready.exists():
        logger.warning(
            "The library holds embedded sources but is locked to no model; it is taken to be of %s, as the settings say.",
            name,
        )
        ready.update(state=State.WORDS)
