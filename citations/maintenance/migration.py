"""Migrate the library to another embedding model.

A second embedding space is built beside the active one and replaces it in one transaction. Searches
and ingests continue meanwhile. A process that is killed loses no stored vector.
"""

import logging
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass, field
from datetime import timedelta
from time import monotonic

from django.db import IntegrityError, connection, transaction
from django.db.models.functions import Now

from citations import conf
from citations.errors import MigrationConflict
from citations.evaluation import search_quality
from citations.models import Chunk, Embedding, EmbeddingSpace, Source, SpaceState, keep_writers_out
from citations.outline import storage as outline_storage
from citations.providers import registry
from citations.vectors import space as vector_space
from citations.vectors import store
from citations.vectors import store as vector_store
from citations.vectors.store import MissingEmbedding
from transcripts.core import audit, clock
from transcripts.core.audit import Action
from transcripts.core.errors import KnowledgeBaseError
from transcripts.core.work.models import NO_ERROR, PROGRESS

logger = logging.getLogger(__name__)

GRACE = timedelta(minutes=2)  # replaced vectors stay this long for searches that still use them
DELETED_AT_ONCE = 5_000
CHARACTERS_PER_TOKEN = 4  # of English, roughly

OnProgress = Callable[[EmbeddingSpace], object]


@dataclass(frozen=True, slots=True, kw_only=True)
class MigrationPlan:
    """The chunks to embed, and roughly their tokens, which remote providers charge for."""

    provider: str
    model: str
    dimensions: int
    chunks: int
    tokens: int

    def __str__(self) -> str:
        return vector_space.describe(self.provider, self.model, self.dimensions)


def plan(to: conf.EmbeddingChoice) -> MigrationPlan:
    """Plan a migration. Raises ``InvalidProvider``, ``ModelMissing`` and ``MigrationConflict``."""
    active = vector_space.locked()
    if active is None:
        raise MigrationConflict(
            "There is nothing to migrate: nothing is embedded yet.",
            hint="Set EMBEDDING_PROVIDER; the first source that is indexed locks the library.",
        )
    provider, model, dimensions = registry.identity(to)
    if (provider, model, dimensions) == (active.provider, active.model, active.dimensions):
        raise MigrationConflict(f"The library is already embedded with {active}.")
    building = under_way()
    if building and (provider, model, dimensions) != (
        building.provider,
        building.model,
        building.dimensions,
    ):
        raise MigrationConflict(
            f"A migration to {building} is under way.",
            hint="Wait until it ends, or cancel it: kb db migrate-embeddings --cancel",
        )
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*), coalesce(sum(length(context) + length(text)), 0) FROM citations_chunk"
        )
        chunks, characters = cursor.fetchone()
    return MigrationPlan(
        provider=provider,
        model=model,
        dimensions=dimensions,
        chunks=chunks,
        tokens=int(characters) // CHARACTERS_PER_TOKEN,
    )


def under_way() -> EmbeddingSpace | None:
    """Return the space that is being built."""
    return EmbeddingSpace.objects.building().first()


def begin(to: conf.EmbeddingChoice, *, guarded: bool = False) -> EmbeddingSpace:
    """Start to build a space for a model, or return the space that is being built for it.

    A ``guarded`` migration does not switch if marked hits would rank worse. Raises what ``plan``
    raises, and ``ModelError`` if the model cannot embed a word, for instance for a wrong key.
    """
    planned = plan(to)
    registry.embedder(
        planned.provider, model=planned.model, dimensions=planned.dimensions
    ).embed_documents(["test"])
    with transaction.atomic():
        space = under_way() or _created(planned)
        space.restart(guarded=guarded)
        audit.record(Action.MIGRATE, "embeddings", space)
    return space


def advance(
    space: EmbeddingSpace,
    *,
    on_progress: OnProgress | None = None,
    seconds: float | None = None,
    meanwhile: Callable[[], object] | None = None,
) -> bool:
    """Embed what a space lacks, then switch to it; return whether it is active now.

    Return False if another process builds it, if it was cancelled, or after ``seconds``. Raises
    ``ModelError``, and ``MigrationConflict`` if it is guarded and ranks marked hits worse. Stored
    vectors stay, and the error is recorded with the space.
    """
    failure: KnowledgeBaseError | None = None
    with space.attempt(EmbeddingSpace.objects.building()) as is_begun:
        if is_begun:
            deadline = monotonic() + seconds if seconds else None
            try:
                return _Build(space, on_progress, meanwhile, deadline).run()
            except vector_store.SpaceGone:
                return False
            except KnowledgeBaseError as error:
                failure = error
                raise
    if failure:
        raise failure
    return False


def switch(space: EmbeddingSpace, *, without: Set[int] = frozenset()) -> bool:
    """Activate a space, excluding writers; return False if it lacks more than one batch.

    The chunks ``without`` a vector, by primary key, are tried again by the ingest of their sources.
    """
    with transaction.atomic():
        keep_writers_out()
        missing = vector_store.missing(space, limit=vector_store.BATCH + 1 + len(without))
        missing = [row for row in missing if row.chunk not in without]
        if len(missing) > vector_store.BATCH:
            return False
        batches = [missing] if missing else []
        for batch in vector_store.make(space, vector_space.embedder_of(space), batches):
            without |= batch.faults.keys()
        building = EmbeddingSpace.objects.select_for_update().filter(
            pk=space.pk, state=SpaceState.BUILDING
        )
        if not building:
            raise vector_store.SpaceGone
        overrules = vector_space.overruled_by(space)
        EmbeddingSpace.objects.filter(state=SpaceState.ACTIVE).update(state=SpaceState.RETIRED)
        total = Chunk.objects.count()
        Source.objects.filter(chunks__in=without, run_after=None).update(run_after=Now())
        vector_store.count_cut(space, Source.objects.all())
        building.update(
            state=SpaceState.ACTIVE,
            activated_at=Now(),
            overrules=overrules,
            done=total,
            total=total,
            **NO_ERROR,
        )
    logger.info("Searches now use %s.", space)
    return True


def cancel(space: EmbeddingSpace) -> None:
    """Cancel a space that is being built. Raises ``MigrationConflict`` if it is not."""
    if not EmbeddingSpace.objects.filter(pk=space.pk, state=SpaceState.BUILDING).update(
        state=SpaceState.RETIRED
    ):
        raise MigrationConflict(f"{space} is not being built.")


def delete_leftovers(*, seconds: float = 20) -> None:
    """Delete vectors of replaced and cancelled spaces in batches, for at most so long."""
    deadline = monotonic() + seconds
    unused = EmbeddingSpace.objects.filter(state=SpaceState.RETIRED)
    active = vector_space.locked()
    activated_at = active.activated_at if active else None
    if activated_at is None or activated_at > clock.now() - GRACE:
        unused = unused.filter(activated_at=None)  # searches may still use the others
    for space in unused:
        store.drop_index(space)
        embeddings = Embedding.objects.filter(space=space).order_by("pk")
        while embeddings.filter(pk__in=embeddings.values("pk")[:DELETED_AT_ONCE]).delete()[0]:
            if monotonic() > deadline:
                return
        if space.activated_at is None:
            space.delete()


def _created(planned: MigrationPlan) -> EmbeddingSpace:
    values = {
        "provider": planned.provider,
        "model": planned.model,
        "dimensions": planned.dimensions,
        "total": planned.chunks,
    }
    try:
        with transaction.atomic():
            return EmbeddingSpace.objects.create(state=SpaceState.BUILDING, **values)
    except IntegrityError:
        raise MigrationConflict(
            "Another migration was started at the same time.", hint="`kb db status` shows it."
        ) from None


@dataclass(slots=True)
class _Build:
    """The work of one process on a space."""

    space: EmbeddingSpace
    on_progress: OnProgress | None
    meanwhile: Callable[[], object] | None
    deadline: float | None
    without: set[int] = field(default_factory=set)  # chunks that the model does not take

    def run(self) -> bool:
        """Embed, index, check and switch; repeat while ingests add chunks."""
        while not self._is_late:
            self._embed()
            if self._is_late:
                break
            store.ensure_index(self.space)
            lost = search_quality.loses(self.space) if self.space.guarded else []
            if lost:
                raise MigrationConflict(
                    f"{self.space} ranks hits worse that people marked as right: "
                    f"{'; '.join(map(str, lost))}.",
                    hint="To switch anyway, run kb db migrate-embeddings without --guarded. "
                    "To cancel, run kb db migrate-embeddings --cancel",
                )
            if switch(self.space, without=self.without):
                self.space.refresh_from_db()
                if self.on_progress:
                    self.on_progress(self.space)
                outline_storage.catch_up()
                return True
        return False

    @property
    def _is_late(self) -> bool:
        return self.deadline is not None and monotonic() > self.deadline

    def _embed(self) -> None:
        missing, total = vector_store.count_wanted(self.space), Chunk.objects.count()
        self._report(total - missing, total)
        for batch in vector_store.make(
            self.space, vector_space.embedder_of(self.space), self._batches()
        ):
            self.without |= batch.faults.keys()
            self._report(min(total, self.space.done + batch.count), total)
            if self.meanwhile:
                self.meanwhile()

    def _batches(self) -> Iterator[Sequence[MissingEmbedding]]:
        after = 0
        while not self._is_late and (
            batch := vector_store.missing(self.space, after=after, limit=vector_store.BATCH)
        ):
            after = batch[-1].chunk
            yield batch

    def _report(self, done: int, total: int) -> None:
        self.space.change(done=done, total=total, **PROGRESS, **NO_ERROR)
        if self.on_progress:
            self.on_progress(self.space)
