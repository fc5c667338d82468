"""Ingest a source: pages, blocks, chunks, vectors, outline, contexts.

Chunks and their words come first, so that these are found at once; then full stops for captions
without them, which change their chunks, vectors, the outline, and contexts by a language model.
Every step may be killed: the next attempt continues from the stored rows.
"""

import logging
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from datetime import timedelta
from typing import TypeAlias

from django.db import transaction
from django.db.models import Case, When
from django.db.models.functions import Now

from citations import conf
from citations.documents import local_copies, page_images
from citations.documents import storage as document_storage
from citations.errors import (
    EmbeddingMismatch,
    InvalidProvider,
    ModelError,
    ModelMissing,
    ModelServerError,
    SourceNotFound,
)
from citations.ingest import chunk_storage, contextual, discovery, lanes, punctuation
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
from citations.quotes import source_texts
from citations.readers import source_blocks
from citations.text import chunking as text_chunking
from citations.text.blocks import Block, text_of
from citations.text.breakpoints import WordVectors
from citations.text.chunking import chunk
from citations.vectors import space as vector_space
from citations.vectors import store as vector_store
from transcripts.core import audit, clock, deleting
from transcripts.core.audit import Action
from transcripts.core.errors import Retry
from transcripts.core.work.models import POLICIES, error_columns

logger = logging.getLogger(__name__)

OTHERS_PAUSE = timedelta(seconds=30)  # between attempts of sources while a model server fails
CONTEXTS_AT_ONCE = 32  # contexts after which their chunks are embedded again
STEPS = (State.PENDING, State.WORDS, State.READY)  # in which something is left to do
SETTINGS_ERRORS = (ModelMissing, InvalidProvider, EmbeddingMismatch)  # each stops every source

ProgressCallback: TypeAlias = Callable[[Source], object]
"""Called whenever a source makes progress."""


def index_words(*, most: int = 1_000) -> int:
    """Index the words of new sources whose pages are read, without a model; return how many."""
    discovery.update_sources()
    done = 0
    new = Source.objects.waiting().filter(state=State.PENDING).exclude(document__read_by="")
    new = new.exclude(document__awaits_ocr=True)
    keys = list(new.values_list("pk", flat=True)[:2])
    if len(keys) > 1:  # finding out whose turn it is takes long
        keys = list(lanes.in_turn(new).values_list("pk", flat=True)[:most])
    for key in keys:
        source = Source(pk=key)  # which the attempt reads
        done += _take(source, _Ingest(source).find_by_words, only=(State.PENDING,))
    return done


def read_document(pk: int, *, on_progress: ProgressCallback | None = None) -> None:
    """Read a waiting document and index its words, unless another process does."""
    source = Source.objects.waiting().filter(pk=pk, state=State.PENDING).first()
    if source is not None:
        _take(source, _Ingest(source, on_progress).find_by_words, only=(State.PENDING,))


def ingest(
    pk: int,
    *,
    on_progress: ProgressCallback | None = None,
    meanwhile: Callable[[], object] | None = None,
    contexts: bool = True,
) -> None:
    """Do all remaining work of a source, unless another process does.

    Expected errors are recorded with the source. ``meanwhile`` is called between batches, so that a
    long source does not delay the words of others. ``contexts`` false leaves contexts for later.
    """
    source = Source.objects.filter(pk=pk).first()
    if source is not None:
        _take(source, _Ingest(source, on_progress, meanwhile, contexts).perform, only=STEPS)


def advance(source: Source, *, meanwhile: Callable[[], object] | None = None) -> None:
    """Do the next step of a source, unless another process does: words, meaning, or contexts.

    Errors and ``meanwhile`` are treated as in ``ingest``.
    """
    steps = _Ingest(source, meanwhile=meanwhile)
    _take(source, steps.advance, only=STEPS)


def try_again() -> int:
    """Retry sources that wait for settings or a model server; return how many."""
    at_once = Case(When(state=State.READY, then=Now()))  # only its time says that it waits
    return Source.objects.filter(run_after__gt=Now()).update(run_after=at_once)


def split_and_embed(source: Source) -> None:
    """Split an indexed source if the settings say otherwise than it was split, and embed it if the
    library is embedded.
    """
    _Ingest(source).split(embeds=vector_space.active() is not None)


def remove(source: Source) -> None:
    """Delete a source with all that came from it."""
    with transaction.atomic():
        audit.record(Action.DELETE, "document", source.uuid, collection=source.collection)
        deleting.delete_row(source)
    local_copies.prune()
    page_images.prune()


def _take(source: Source, work: Callable[[], None], *, only: tuple[State, ...]) -> bool:
    """Hold a source and work on it, recording errors; return whether that was possible."""
    with source.attempt(Source.objects.filter(state__in=only)) as is_begun:
        if is_begun:
            try:
                work()
            except SourceNotFound:
                logger.info("source %s was deleted while it was indexed", source.pk)
            except SETTINGS_ERRORS as error:  # nothing can be embedded before the settings change
                logger.warning("%s %s", error.message, error.hint)
                source.settle(error)
                _others_like(source).update(run_after=source.run_after, **error_columns(error))
            except ModelError as error:
                # But a source that the server rejects must not stop the others.
                source.settle(error)
                _others_like(source).update(run_after=clock.now() + OTHERS_PAUSE)
    return is_begun


def _others_like(source: Source) -> SourceQuerySet:
    others = Source.objects.filter(state=source.state, run_after=None).exclude(pk=source.pk)
    return others.filter(contextual.WITHOUT_CONTEXTS) if source.state == State.READY else others


@dataclass(slots=True)
class _Ingest:
    """One attempt at a source that this process holds."""

    source: Source
    on_progress: ProgressCallback | None = None
    meanwhile: Callable[[], object] | None = None
    contexts: bool = True
    faults: list[ModelError] = field(default_factory=list)  # of chunks that have no vector

    def perform(self) -> None:
        for state in STEPS:
            if self.source.state == state:
                self.advance()

    def advance(self) -> None:
        """Do the next step."""
        if self.source.state == State.PENDING:
            self.find_by_words()
        elif self.source.state == State.WORDS:
            self.find_by_meaning()
        else:
            self.complete()

    def find_by_words(self) -> None:
        """Store chunks. A source that has some keeps them for now."""
        document_storage.extract(self.source, self._read_pages)
        if not self.source.chunk_count:
            self._replace_chunks(source_blocks.read(self.source), registry.word_vectors())
        self.source.reach(State.WORDS)
        if self.on_progress:
            self.on_progress(self.source)

    def _read_pages(self, done: int, total: int, step: str) -> None:
        self._report(step, done, total)
        self._pause()

    def find_by_meaning(self) -> None:
        """Add full stops, split by them, embed, and build the outline."""
        punctuation.add(self.source, self._pause)
        try:
            self.split()
        except (*SETTINGS_ERRORS, ModelError):
            outline_storage.refresh(self.source)
            raise
        self._update_outline()
        self.source.reach(State.READY)
        self._tell_faults()

    def complete(self) -> None:
        """Make the vectors that could not be made, then the contexts."""
        if self.source.run_after and not self.faults:
            self._embed(quietly=True)
        lacks_contexts = self.source.contexts_digest != self.source.digest
        if lacks_contexts and self.contexts and conf.uses_context():
            self.add_contexts()
        elif self.source.run_after and not self._tell_faults():
            self.source.reach(State.READY)

    def _tell_faults(self) -> bool:
        """Tell of chunks without a vector, which are tried again later; return whether any are."""
        if self.faults:
            count, total, first = len(self.faults), self.source.chunk_count, self.faults[0]
            until = POLICIES[Retry.LATER].next_try(self.source.attempts)
            hint = "They are found by their words, and tried again later."
            if until is None:
                hint = "They are found by their words. Indexing again tries them again."
            message = f"{count} of {total} passages have no vector: {first.message}"
            self.source.postpone(until=until, error=ModelServerError(message, hint=hint))
        self._report("")
        return bool(self.faults)

    def split(self, *, embeds: bool = True) -> None:
        """Split again if the text, the sizes or the kind of chunking changed, and embed."""
        blocks = source_blocks.read(self.source)
        words = registry.word_vectors()
        if (
            self.source.digest != text_chunking.digest_of(blocks)
            or self.source.split_by != str(conf.chunk_sizes())
            or (words and self.source.chunking != Chunking.MEANING)
        ):
            self._replace_chunks(blocks, words)
        if embeds:
            self._embed()

    def add_contexts(self) -> None:
        """Write a context for each chunk and store it at once; searches continue."""
        llm = registry.llm()
        if llm is None:
            return
        chunks = {
            chunk.pk: chunk
            for chunk in Chunk.objects.filter(source=self.source, context="").order_by("ordinal")
        }
        pieces = contextual.requests_for(chunks.values())
        text = text_of(source_blocks.read(self.source))
        written = 0

        def save(pk: int, context: str) -> None:
            nonlocal written
            Chunk.objects.filter(pk=pk).update(
                context=context, digest=chunk_storage.digest_of(context, chunks[pk].text)
            )
            written += 1
            self._report("writing contexts", written, len(pieces))
            self._pause()
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
                self._update_outline()
        again = POLICIES[Retry.UNEXPECTED].next_try(self.source.attempts)
        if result.failed and again:
            error = ModelServerError(
                f"{result.failed} contexts were not written.",
                hint="They are retried; the source is found without them.",
            )
            self.source.postpone(until=again, error=error)
            self._report("")
            return
        Source.objects.filter(pk=self.source.pk).update(contexts_digest=self.source.digest)
        self.source.reach(State.READY)
        self._tell_faults()

    def _update_outline(self) -> None:
        if outline_storage.refresh(self.source).is_change:
            topics.update(self.source)

    def _replace_chunks(self, blocks: list[Block], words: WordVectors | None) -> None:
        source_text = source_texts.from_blocks(blocks)
        sizes = conf.chunk_sizes()
        drafts = chunk(blocks, words=words, **asdict(sizes))
        chunk_storage.replace_chunks(
            self.source,
            chunk_storage.spoken(drafts, source_text),
            digest=source_text.digest,
            chunking=Chunking.MEANING if words else Chunking.SENTENCES,
            split_by=str(sizes),
            contexts_digest="",  # new chunks have none
            characters=len(source_text.text),
            size=len(source_text.text),
        )

    def _embed(self, *, quietly: bool = False) -> None:
        """Embed chunks without a vector; repeat if the active space was replaced meanwhile."""
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
        done, self.faults = 0, []
        for batch in vector_store.make(space, embedder, vector_store.in_batches(rows)):
            done += batch.count
            self.faults += batch.faults.values()
            if not quietly:
                self._report("embedding", done, len(rows))
            self._pause()
        vector_store.count_cut(space, Source.objects.filter(pk=self.source.pk))

    def _report(self, step: str, done: int = 0, total: int = 0) -> None:
        self.source.report(step=step, done=done, total=total)
        if self.on_progress:
            self.on_progress(self.source)

    def _pause(self) -> None:
        if self.meanwhile:
            self.meanwhile()
