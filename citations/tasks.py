"""Celery tasks of the knowledge engine: each loads by id and makes one call. A message is a nudge; losing one, or doing it twice, changes nothing."""

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import partial

from celery import shared_task
from django.conf import settings
from django.core.cache import cache
from django.db import transaction
from django.utils import timezone

from citations.documents import page_images
from citations.documents import storage as document_storage
from citations.ingest import pipeline as ingest_pipeline
from citations.lectures import worker as lecture_worker
from citations.lexical import index as lexical_index
from citations.maintenance import migration
from citations.models import EmbeddingSpace, Source
from citations.outline import storage as outline_storage
from citations.outline import topics
from citations.vectors import hnsw
from citations.vectors import space as vector_space
from transcripts.errors import KnowledgeBaseError
from transcripts.work import messages
from transcripts.work.models import LOST_AFTER

logger = logging.getLogger(__name__)

WORDS_EVERY = 3.0  # seconds between two looks for new words in the middle of a long ingest
SLICE = timedelta(seconds=30)  # a migration goes on for so long before others have their turn
ABSTRACTS_PAUSE = 600  # seconds in which a source's abstracts are asked for once

# One thread of the worker is left for other jobs: ingests and migrations take long.
_turns = threading.BoundedSemaphore(max(1, settings.WORKER_CONCURRENCY - 1))
_looked_at = 0.0


@shared_task
def ingest_source(pk: int) -> None:
    """Do what is left for one source, then say what can be done next."""
    with _turn() as mine:
        if not mine:
            Source.objects.filter(pk=pk).update(sent_at=None)  # whoever has the turn sends it
            return
        ingest_pipeline.ingest(pk, meanwhile=_index_words)
    dispatch()


@shared_task
def write_abstracts(pk: int) -> None:
    """Let the language model tell of a source in its own words."""
    source = Source.objects.filter(pk=pk).first()
    if source is not None:
        try:
            outline_storage.ensure_abstracts(source)
        except KnowledgeBaseError as error:
            logger.warning("source %s is told in its own sentences: %s", pk, error)


@shared_task
def advance_migration(pk: int) -> None:
    """Go on with a space that is being built, for a while."""
    EmbeddingSpace.objects.filter(pk=pk).update(sent_at=timezone.now())
    with _turn() as mine:
        space = migration.under_way()
        if mine and space is not None and space.pk == pk:
            try:
                migration.advance(space, seconds=SLICE.total_seconds(), meanwhile=_index_words)
            except KnowledgeBaseError as error:
                logger.warning("the migration to %s does not go on: %s", space, error)
                return
    EmbeddingSpace.objects.filter(pk=pk).update(sent_at=None)
    dispatch()


@shared_task
def sweep() -> None:
    """Take up new transcripts, let their words be found, and send what waits and was not sent or got lost; cite what a dead process left of lectures."""
    lecture_worker.sweep()
    ingest_pipeline.index_words(most=100)
    dispatch()
    lexical_index.merge()


@shared_task
def tend() -> None:
    """Build the index that a space has grown into, look after levels and topics, and delete what is left of replaced spaces."""
    if space := vector_space.locked():
        hnsw.ensure(space)
    if not outline_storage.catch_up():
        topics.tend()
    migration.sweep_away()
    document_storage.prune()
    page_images.prune()


@shared_task
def wake() -> None:
    """Begin as a worker whose settings may be others than before: what waited for that is tried at once."""
    ingest_pipeline.try_again()
    sweep()


def send(source: Source) -> None:
    """Tell the workers of a source, once its row is committed."""
    messages.nudge(ingest_source, source)


def send_for_abstracts(source: Source) -> None:
    """Tell the workers, the first time in a while, that somebody reads a source's outline, where a language model could tell of it in its own words."""
    if outline_storage.lacks_abstracts(source) and cache.add(
        f"abstracts:{source.pk}", True, ABSTRACTS_PAUSE
    ):
        transaction.on_commit(partial(messages.publish, write_abstracts, source.pk))


def dispatch() -> None:
    """Send what comes next: a migration that is under way, and sources."""
    spaces = EmbeddingSpace.objects.building().due().unsent(after=LOST_AFTER + SLICE)
    messages.sweep(advance_migration, spaces)
    sources = ingest_pipeline.waiting().unsent()[: settings.WORKER_CONCURRENCY]
    messages.sweep(ingest_source, sources)


@contextmanager
def _turn() -> Iterator[bool]:
    taken = _turns.acquire(blocking=False)
    try:
        yield taken
    finally:
        if taken:
            _turns.release()


def _index_words() -> None:
    global _looked_at
    if time.monotonic() - _looked_at > WORDS_EVERY:
        _looked_at = time.monotonic()
        ingest_pipeline.index_words(most=20)
