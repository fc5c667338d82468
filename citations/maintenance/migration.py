"""Moving the library to another embedding model: a space is built beside the active one, and takes its place in one transaction.

Searches and ingests go on throughout. Whatever kills the process, the next one goes on from the vectors that are stored.
"""

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from time import monotonic

from django.db import IntegrityError, connection, transaction
from django.db.models import QuerySet
from django.utils import timezone

from citations import conf
from citations.errors import MigrationConflict
from citations.evaluation import search_quality
from citations.models import Chunk, Embedding, EmbeddingSpace, SpaceState, keep_writers_out
from citations.outline import storage as outline_storage
from citations.providers import registry
from citations.vectors import hnsw
from citations.vectors import space as vector_space
from citations.vectors import store as vector_store
from citations.vectors.store import MissingEmbedding
from transcripts.errors import KnowledgeBaseError
from transcripts.work.models import NO_ERROR
from transcripts.work.retry import RetryPolicy

logger = logging.getLogger(__name__)

GRACE = timedelta(
    minutes=2
)  # how long the vectors of a replaced space stay: a search that began before may still look at them
RETRY = RetryPolicy(pause=timedelta(minutes=5))
DELETED_AT_ONCE = 5_000
CHARACTERS_A_TOKEN = 4  # of English, roughly

Told = Callable[[EmbeddingSpace], object]


@dataclass(frozen=True, slots=True, kw_only=True)
class MigrationPlan:
    """What a migration would do: chunks to embed, and their tokens, roughly, which remote providers are paid for."""

    provider: str
    model: str
    dimensions: int
    chunks: int
    tokens: int

    def __str__(self) -> str:
        return vector_space.describe(self.provider, self.model, self.dimensions)


def plan(to: conf.EmbeddingChoice) -> MigrationPlan:
    """Look at what a migration would do. Raises ``InvalidProvider``, ``ModelMissing``, and ``MigrationConflict`` where there is nothing to migrate."""
    active = vector_space.locked()
    if active is None:
        raise MigrationConflict(
            "Nothing is embedded yet, so there is nothing to migrate.",
            hint="Set EMBEDDING_PROVIDER; the first ingest locks the library.",
        )
    provider, model, dimensions = registry.identity(to)
    if (provider, model, dimensions) == (active.provider, active.model, active.dimensions):
        raise MigrationConflict(f"The library is embedded with {active} already.")
    building = under_way()
    if building and (provider, model, dimensions) != (
        building.provider,
        building.model,
        building.dimensions,
    ):
        raise MigrationConflict(
            f"A migration to {building} is under way.",
            hint="Let it end, or give it up: kb db migrate-embeddings --cancel",
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
        tokens=int(characters) // CHARACTERS_A_TOKEN,
    )


def under_way() -> EmbeddingSpace | None:
    """Return the space that is being built."""
    return EmbeddingSpace.objects.building().first()


def begin(to: conf.EmbeddingChoice, *, guarded: bool = False) -> EmbeddingSpace:
    """Start building a space for a model, or return the one that is being built for it. ``guarded``: not to be switched to where it loses marked hits.

    Raises what ``plan`` raises, and ``ModelError`` when the model cannot embed a word: a wrong key should be told now.
    """
    planned = plan(to)
    registry.embedder(
        planned.provider, model=planned.model, dimensions=planned.dimensions
    ).embed_documents(["test"])
    space = under_way() or _created(planned)
    space.restart(guarded=guarded)
    return space


def advance(
    space: EmbeddingSpace,
    *,
    on_progress: Told | None = None,
    seconds: float | None = None,
    meanwhile: Callable[[], object] | None = None,
) -> bool:
    """Embed what is missing in a space that is being built, then switch to it; says whether it is active now.

    Returns False when another process does it, when it was cancelled, or after ``seconds``. Raises ``ModelError`` kinds, and ``MigrationConflict`` when
    it is guarded and loses; what is done stays done, and the error is noted with the space.
    """
    with space.hold() as held:
        if not held:
            return False
        space.count_attempt()
        try:
            return _Build(
                space, on_progress, meanwhile, monotonic() + seconds if seconds else None
            ).run()
        except vector_store.SpaceGone:
            return False
        except KnowledgeBaseError as error:
            space.postpone(until=RETRY.next_try(space.attempts), error=error)
            raise


def switch(space: EmbeddingSpace) -> bool:
    """Let a space take the active one's place, in one transaction that nothing is written beside; False when more than a batch is missing in it yet."""
    with transaction.atomic():
        keep_writers_out()
        missing = vector_store.missing(space, limit=vector_store.BATCH + 1)
        if len(missing) > vector_store.BATCH:
            return False
        for _ in vector_store.make(
            space, vector_space.embedder_of(space), [missing] if missing else []
        ):
            continue
        building = EmbeddingSpace.objects.select_for_update().filter(
            pk=space.pk, state=SpaceState.BUILDING
        )
        if not building:
            raise vector_store.SpaceGone
        EmbeddingSpace.objects.filter(state=SpaceState.ACTIVE).update(state=SpaceState.RETIRED)
        total = Chunk.objects.count()
        building.update(
            state=SpaceState.ACTIVE,
            activated_at=timezone.now(),
            done=total,
            total=total,
            **NO_ERROR,
        )
    logger.info("The library is now searched with %s.", space)
    return True


def cancel(space: EmbeddingSpace) -> None:
    """Give up a space that is being built. Raises ``MigrationConflict`` when it is none."""
    if not EmbeddingSpace.objects.filter(pk=space.pk, state=SpaceState.BUILDING).update(
        state=SpaceState.RETIRED
    ):
        raise MigrationConflict(f"{space} is not being built.")


def sweep_away(*, seconds: float = 20) -> None:
    """Delete the vectors of replaced and given up spaces, some at a time, at most so long."""
    deadline = monotonic() + seconds
    for space in _left_over():
        hnsw.drop(space)
        while _delete_some(space):
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
            "Another migration was started at the same moment.", hint="`kb db status` shows it."
        ) from None


@dataclass(slots=True)
class _Build:
    """One process's work on a space."""

    space: EmbeddingSpace
    on_progress: Told | None
    meanwhile: Callable[[], object] | None
    deadline: float | None

    def run(self) -> bool:
        """Fill, index, judge, switch; again when ingests were faster."""
        while not self._is_late:
            self._fill()
            if self._is_late:
                break
            hnsw.ensure(self.space)
            self._judge()
            if switch(self.space):
                self.space.refresh_from_db()
                self._tell()
                outline_storage.catch_up()
                return True
        return False

    @property
    def _is_late(self) -> bool:
        return self.deadline is not None and monotonic() > self.deadline

    def _fill(self) -> None:
        missing, total = vector_store.count_wanted(self.space), Chunk.objects.count()
        self._note(total - missing, total)
        for count in vector_store.make(
            self.space, vector_space.embedder_of(self.space), self._batches()
        ):
            self._note(min(total, self.space.done + count), total)
            if self.meanwhile:
                self.meanwhile()

    def _batches(self) -> Iterator[Sequence[MissingEmbedding]]:
        after = 0
        while not self._is_late and (
            batch := vector_store.missing(self.space, after=after, limit=vector_store.BATCH)
        ):
            after = batch[-1].chunk
            yield batch

    def _judge(self) -> None:
        """Raise ``MigrationConflict`` where the space is guarded and would find what people marked as right worse than the active one does."""
        lost = search_quality.loses(self.space) if self.space.guarded else []
        if lost:
            raise MigrationConflict(
                f"With {self.space} the hits that people marked as right would be found worse: {'; '.join(map(str, lost))}.",
                hint="Switch all the same: kb db migrate-embeddings without --guarded. Or give it up: kb db migrate-embeddings --cancel",
            )

    def _note(self, done: int, total: int) -> None:
        self.space.change(done=done, total=total, attempts=1, **NO_ERROR)
        self._tell()

    def _tell(self) -> None:
        if self.on_progress:
            self.on_progress(self.space)


def _left_over() -> QuerySet[EmbeddingSpace]:
    """Return the spaces whose vectors nobody looks at any more."""
    retired = EmbeddingSpace.objects.filter(state=SpaceState.RETIRED)
    active = vector_space.locked()
    if (
        active is None
        or active.activated_at is None
        or active.activated_at > timezone.now() - GRACE
    ):
        retired = retired.filter(activated_at=None)
    return retired


def _delete_some(space: EmbeddingSpace) -> bool:
    some = Embedding.objects.filter(space=space).order_by("pk").values("pk")[:DELETED_AT_ONCE]
    return bool(Embedding.objects.filter(pk__in=some).delete()[0])
