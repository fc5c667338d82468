"""The active embedding space: the one that is searched.

The first ingest sets it. A migration replaces it and overrules the settings that were in force.
Settings that name yet another model fail at once.
"""

import logging
from contextlib import suppress

from django.db import IntegrityError, transaction

from citations import conf
from citations.errors import EmbeddingMismatch, InvalidProvider, ModelError
from citations.models import Embedding, EmbeddingSpace, Source, SpaceState, State, keep_writers_out
from citations.providers import registry
from citations.providers.embedding import Embedder
from transcripts import clock

logger = logging.getLogger(__name__)

_ACTIVE = f"SELECT * FROM citations_embeddingspace WHERE state = '{SpaceState.ACTIVE}'"


def active() -> EmbeddingSpace | None:
    """Return the active space, or None. Raises ``EmbeddingMismatch`` and ``InvalidProvider``."""
    space = locked()
    if space is None or _governs(space):
        return space
    if Embedding.objects.filter(space=space).exists():
        raise _mismatch(space)
    return space


def mismatch() -> EmbeddingMismatch | InvalidProvider | None:
    """Return why the settings do not fit the library, or None."""
    try:
        active()
    except (EmbeddingMismatch, InvalidProvider) as error:
        return error
    return None


def locked() -> EmbeddingSpace | None:
    """Return the active space, whatever the settings name."""
    # Raw SQL, because every search runs it.
    return next(iter(EmbeddingSpace.objects.raw(_ACTIVE)), None)


def claim() -> EmbeddingSpace:
    """Create the active space from the settings, unless there is one; one of several first ingests
    wins.

    Raises ``EmbeddingMismatch`` for another model, and ``ModelMissing`` or ``InvalidProvider`` for
    an unusable one.
    """
    space = active()
    if space is not None and _governs(space):
        return space
    registry.configured_embedder()
    return _claimed(empty=space) or claim()


def embedder_of(space: EmbeddingSpace) -> Embedder:
    """Return the model of a space's vectors. Raises ``ModelMissing`` and ``InvalidProvider``."""
    return registry.embedder(space.provider, model=space.model, dimensions=space.dimensions)


def configured() -> tuple[str, str, int]:
    """Return provider, model, dimensions (0: unknown). Raises ``InvalidProvider``."""
    choice = conf.embedding()
    try:
        return registry.identity(choice)
    except ModelError:
        return choice.provider, choice.model, choice.dimensions


def describe(provider: str, model: str, dimensions: int) -> str:
    size = f"{dimensions} dimensions" if dimensions else ""
    return " · ".join(filter(None, (provider, model, size)))


def overruled_by(space: EmbeddingSpace) -> list[tuple[str, str, int]]:
    """Return the settings that a migration to this space overrules: those in force until now."""
    replaced = locked()
    in_force = [replaced.identity, *map(tuple, replaced.overrules)] if replaced else []
    with suppress(InvalidProvider):
        in_force.append(configured())
    return [names for names in dict.fromkeys(in_force) if names != space.identity]


def _governs(space: EmbeddingSpace) -> bool:
    """Tell whether the settings name the space's model, or one that it overrules."""
    provider, model, dimensions = configured()
    return any(
        (provider, model) == (names[0], names[1]) and dimensions in (0, names[2])
        for names in (space.identity, *space.overrules)
    )


def _mismatch(space: EmbeddingSpace) -> EmbeddingMismatch:
    provider, model, dimensions = configured()
    option = f" --model {model}" if conf.embedding().model else ""
    if provider != space.provider:
        setting = f"EMBEDDING_PROVIDER={space.provider}"
    elif model != space.model:
        setting = f"EMBEDDING_MODEL={space.model}"
    else:
        setting = f"EMBEDDING_DIMENSIONS={space.dimensions}"
    return EmbeddingMismatch(
        f"The library is locked to {space};"
        f" the settings name {describe(provider, model, dimensions)}.",
        hint=f"Run `kb db migrate-embeddings --to {provider}{option}`, or set `{setting}` again.",
    )


def _claimed(*, empty: EmbeddingSpace | None) -> EmbeddingSpace | None:
    """Create the active space by the settings in place of an empty one; None if too late."""
    provider, model, dimensions = registry.identity(conf.embedding())
    try:
        with transaction.atomic():
            keep_writers_out()
            if empty is not None:
                own = EmbeddingSpace.objects.filter(pk=empty.pk, state=SpaceState.ACTIVE)
                own.filter(embeddings=None).delete()
            _adopt_sources(f"{provider} · {model}")
            values = {"state": SpaceState.ACTIVE, "activated_at": clock.now()}
            return EmbeddingSpace.objects.create(
                provider=provider, model=model, dimensions=dimensions, **values
            )
    except IntegrityError:
        return None


def _adopt_sources(name: str) -> None:
    """Take data without an active space to be the configured model's; embed what lacks."""
    ready = Source.objects.filter(state=State.READY)
    if ready.exists():
        logger.warning(
            "The library has embedded sources but no active model: assuming %s, as configured.",
            name,
        )
        ready.update(state=State.WORDS)
