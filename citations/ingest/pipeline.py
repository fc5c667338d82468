"""The write side: what can be read becomes what can be found.

An ingest reads top to bottom: read a document's pages, read the blocks, cut them at sentences, so that their words are found at once; cut them where the
subject changes; embed the chunks; build the levels of detail; let a language model write the chunks' contexts. Every step may be killed: the next try goes
on from what is stored.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, TypeAlias

from django.db import InterfaceError, OperationalError
from django.db.models import Case, Q, When
from django.utils import timezone
from numpy.typing import NDArray

from citations import conf
from citations.documents import page_images
from citations.documents import storage as document_storage
from citations.errors import (
    EmbeddingMismatch,
    InvalidProvider,
    ModelError,
    ModelMissing,
    ModelServerError,
    SourceNotFound,
)
from citations.ingest import chunk_storage, contextual, contextual_costs, discovery
from citations.models import (
    Chunk,
    Chunking,
    EmbeddingSpace,
    Source,
    SourceQuerySet,
    SpaceState,
    State,
)
from citations.outline import storage as outline_storage
from citations.outline import topics
from citations.providers import registry
from citations.providers.embedding import Embedder
from citations.readers import source_blocks
from citations.text import chunking as text_chunking
from citations.text.blocks import Block, text_of
from citations.text.breakpoints import Embed
from citations.text.chunking import chunk
from citations.vectors import space as vector_space
from citations.vectors import store as vector_store
from transcripts.errors import KnowledgeBaseError, Retry
from transcripts.work import retry
from transcripts.work.models import error_columns

logger = logging.getLogger(__name__)

OTHERS_PAUSE = timedelta(
    seconds=30
)  # while a model's server has trouble, one source in so long tries it
CONTEXTS_AT_ONCE = 32  # contexts after which their chunks are embedded anew
SETTINGS_ERRORS = (ModelMissing, InvalidProvider, EmbeddingMismatch)  # each stops every source

Told: TypeAlias = Callable[[Source], object]
"""Is called whenever a source has moved on."""

adopt = discovery.adopt


def waiting() -> SourceQuerySet:
    """Return the sources that have work left whose time has come, those that nothing finds yet first."""
    if not conf.uses_context():
        return Source.objects.waiting()
    ready = Q(state=State.READY) & contextual_costs.WITHOUT_CONTEXTS
    ordered = [
        When(state=state, then=rank)
        for rank, state in enumerate((State.PENDING, State.WORDS, State.READY))
    ]
    unfinished = Q(state__in=(State.PENDING, State.WORDS)) | ready
    return Source.objects.due().filter(unfinished).order_by(Case(*ordered), "pk")


def index_words(*, on_progress: Told | None = None, most: int = 1_000) -> int:
    """Let what was added be found by its words: take up new sources and cut them without a model. Returns how many there were.

    Documents whose pages are not read yet are left to ``ingest``: a long one would keep the words of others waiting.
    """
    adopt()
    done = 0
    for source in (
        Source.objects.waiting().filter(state=State.PENDING).exclude(document__read_by="")[:most]
    ):
        done += _take(source, _Ingest(source, on_progress).find_by_words, only=(State.PENDING,))
    return done


def read_document(pk: int, *, on_progress: Told | None = None) -> None:
    """Read a document that waits, and let it be found by its words; nothing when another process does it. Expected failures are noted with it."""
    source = Source.objects.waiting().filter(pk=pk, state=State.PENDING).first()
    if source is not None:
        _take(source, _Ingest(source, on_progress).find_by_words, only=(State.PENDING,))


def ingest(
    pk: int,
    *,
    on_progress: Told | None = None,
    meanwhile: Callable[[], object] | None = None,
    contexts: bool = True,
) -> None:
    """Do what is left to do for a source; nothing when another process does it, or nothing is left. Expected failures are noted with it.

    ``meanwhile`` is called between two batches: a long source must not keep the words of others waiting. ``contexts`` false leaves those for later.
    """
    source = Source.objects.filter(pk=pk).first()
    if source is not None:
        _take(
            source,
            _Ingest(source, on_progress, meanwhile, contexts).perform,
            only=(State.PENDING, State.WORDS, State.READY),
        )


def start_anew(source: Source) -> None:
    """Let a source be indexed again from its text on; it is found as it is until then."""
    source.start_anew()


def try_again() -> int:
    """Let what waits for other settings or for a model's server be tried at once. Returns how many sources that are."""
    return (
        Source.objects.exclude(run_after=None)
        .filter(run_after__gt=timezone.now())
        .update(run_after=None)
    )


def remove(source: Source) -> None:
    """Delete a source with all that came from it."""
    source.delete()
    document_storage.prune()
    page_images.prune()


# One source


def _take(source: Source, work: Callable[[], None], *, only: tuple[State, ...]) -> bool:
    """Hold a source and work on it; says whether that was possible. What goes wrong is noted with it."""
    with source.hold() as held:
        if not held:
            return False
        try:
            source.refresh_from_db()
        except Source.DoesNotExist:
            return False
        if source.state not in only:
            return False
        source.count_attempt()
        _noting_failures(source, work)
        return True


def _noting_failures(source: Source, work: Callable[[], None]) -> None:
    try:
        if source.attempts > Source.MAX_CRASHES:
            raise KnowledgeBaseError(
                "Every process that indexed it was killed.",
                hint="It may be too large for this machine; try it again with more memory.",
            )
        work()
    except SourceNotFound:
        logger.info("source %s was deleted while it was indexed", source.pk)
    except (OperationalError, InterfaceError):
        raise  # the database is away: nothing can be noted
    except SETTINGS_ERRORS as error:
        _wait_for_settings(source, error)
    except ModelError as error:
        _wait_for_server(source, error)
    except KnowledgeBaseError as error:
        source.fail(error)
    except Exception as unexpected:
        logger.exception("source %s failed unexpectedly", source.pk)
        _fail_or_retry(source, unexpected)


def _wait_for_settings(source: Source, error: KnowledgeBaseError) -> None:
    """Put off every source in this one's state: none of them can be embedded before somebody does something."""
    logger.warning("%s %s", error.message, error.hint)
    until = retry.next_try(error, source.attempts)
    source.postpone(until=until, error=error)
    _others_like(source).update(run_after=until, **error_columns(error))


def _wait_for_server(source: Source, error: ModelError) -> None:
    """Put off this source for longer each time, and the others for a moment; one whose text the server does not take must not stop them for good."""
    source.postpone(until=retry.next_try(error, source.attempts), error=error)
    _others_like(source).update(run_after=timezone.now() + OTHERS_PAUSE)


def _others_like(source: Source) -> SourceQuerySet:
    """Return the other sources in the same state that do not wait yet."""
    return Source.objects.filter(state=source.state, run_after=None).exclude(pk=source.pk)


def _fail_or_retry(source: Source, unexpected: Exception) -> None:
    error = KnowledgeBaseError(
        "It could not be indexed, for an unexpected reason.",
        hint="The log of the worker says more; “index again” tries it anew.",
    )
    until = retry.next_try(unexpected, source.attempts)
    if until is None:
        source.fail(error)
    else:
        source.postpone(until=until, error=error)


# The story


@dataclass(slots=True)
class _Ingest:
    """One try at one source, which is held."""

    source: Source
    on_progress: Told | None = None
    meanwhile: Callable[[], object] | None = None
    contexts: bool = True

    def perform(self) -> None:
        """Do all that is left."""
        if self.source.state == State.PENDING:
            self.find_by_words()
        if self.source.state == State.WORDS:
            self.find_by_meaning()
        if self.source.state == State.READY and self.contexts and conf.uses_context():
            self.add_contexts()

    def find_by_words(self) -> None:
        """Store chunks that end with sentences, which takes no model. One that is found already, by its text of before, is only cut anew later."""
        document_storage.extract(self.source, self._read_pages)
        if not self.source.chunk_count:
            self._exchange(source_blocks.read(self.source), None, Chunking.SENTENCES)
        self.source.reach(State.WORDS)
        if self.on_progress:
            self.on_progress(self.source)

    def _read_pages(self, done: int, total: int) -> None:
        self._tell("reading pages", done, total)
        self._pause()

    def find_by_meaning(self) -> None:
        """Chunk where the subject changes, embed what has no vector yet, and build the levels of detail; from words, for as long as the model is away."""
        try:
            self._cut_and_embed()
        except (*SETTINGS_ERRORS, ModelError):
            outline_storage.refresh(self.source)
            raise
        self._tell_levels()
        self.source.reach(State.READY)
        self._tell("")

    def _cut_and_embed(self) -> None:
        """Chunk again if the text or the chunking is not what it should be, and embed."""
        self._tell("cutting")
        blocks = source_blocks.read(self.source)
        cutter = _cutter()
        chunking = Chunking.MEANING if cutter else Chunking.SENTENCES
        if self.source.digest != text_chunking.digest_of(blocks) or (
            cutter and self.source.chunking != chunking
        ):
            self._exchange(blocks, cutter, chunking)
        self._embed()

    def add_contexts(self) -> None:
        """Let the language model write a context for each chunk; each is kept as soon as it comes, and the source is found meanwhile as it is."""
        llm = registry.llm()
        if llm is None or self.source.contexts_digest == self.source.digest:
            return
        chunks = {
            one.pk: one
            for one in Chunk.objects.filter(source=self.source, context="").order_by("ordinal")
        }
        pieces = contextual_costs.pieces_of(chunks.values())
        text = text_of(source_blocks.read(self.source))
        written = 0

        def save(pk: int, context: str) -> None:
            nonlocal written
            Chunk.objects.filter(pk=pk).update(
                context=context, digest=chunk_storage.digest_of(context, chunks[pk].text)
            )
            written += 1
            self._tell("writing contexts", written, len(pieces))
            if written % CONTEXTS_AT_ONCE == 0:
                self._embed(quietly=True)

        try:
            result = contextual.write(
                llm, title=self.source.title, text=text, pieces=pieces, save=save
            )
        finally:
            if written:
                self._embed(quietly=True)
                chunk_storage.reindex(self.source)
                self._tell_levels()
        again = retry.POLICIES[Retry.UNEXPECTED].next_try(self.source.attempts)
        if result.failed and again:
            self._write_the_others_later(result.failed, again)
            return
        Source.objects.filter(pk=self.source.pk).update(contexts_digest=self.source.digest)
        self.source.reach(State.READY)
        self._tell("")

    def _tell_levels(self) -> None:
        if outline_storage.refresh(self.source).is_change:
            topics.update(self.source)

    def _write_the_others_later(self, missing: int, until: datetime) -> None:
        error = ModelServerError(
            f"{missing} contexts were not written.",
            hint="They are tried again; the source is found as it is.",
        )
        self.source.postpone(until=until, error=error)
        self._tell("")

    def _exchange(self, blocks: list[Block], cutter: Embedder | None, chunking: Chunking) -> None:
        digest, text = text_chunking.digest_of(blocks), text_of(blocks)
        drafts = chunk(blocks, embed=self._between_batches(cutter) if cutter else None)
        chunk_storage.exchange(
            self.source, drafts, digest=digest, chunking=chunking, characters=len(text)
        )

    def _between_batches(self, cutter: Embedder) -> Embed:
        def embed(texts: list[str]) -> NDArray[Any]:
            self._pause()
            return cutter.embed_documents(texts)

        return embed

    def _embed(self, *, quietly: bool = False) -> None:
        """Embed every chunk that lacks its vector; once more for the new space when the active one was exchanged meanwhile."""
        while True:
            space = vector_space.claim()
            try:
                self._fill(space, quietly=quietly)
            except vector_store.SpaceGone:
                continue
            if EmbeddingSpace.objects.filter(pk=space.pk, state=SpaceState.ACTIVE).exists():
                return

    def _fill(self, space: EmbeddingSpace, *, quietly: bool) -> None:
        embedder = vector_space.embedder_of(space)
        vector_store.copy_equal(space, source=self.source.pk)
        rows = vector_store.missing(space, source=self.source.pk)
        done = 0
        for count in vector_store.make(space, embedder, vector_store.in_batches(rows)):
            done += count
            if not quietly:
                self._tell("embedding", done, len(rows))
            self._pause()

    def _tell(self, step: str, done: int = 0, total: int = 0) -> None:
        self.source.report(step=step, done=done, total=total)
        if self.on_progress:
            self.on_progress(self.source)

    def _pause(self) -> None:
        if self.meanwhile:
            self.meanwhile()


def _cutter() -> Embedder | None:
    """Return the model that finds where the subject changes: the local one, if it is on this machine."""
    wanted = conf.embedding()
    try:
        return (
            registry.configured_embedder()
            if wanted.provider in ("local", "fake")
            else registry.embedder("local")
        )
    except ModelMissing:
        return None
