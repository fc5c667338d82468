"""Celery tasks of the knowledge engine: each loads by id and makes one call. A message is a nudge; losing one, or doing it twice, changes nothing."""

import logging
import threading
import time
from datetime import timedelta
from functools import partial

from celery import shared_task
from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from kombu.exceptions import ChannelError, OperationalError

from citations import ingestion
from citations.models import Source

logger = logging.getLogger(__name__)

LOST_AFTER = timedelta(seconds=30)
WORDS_EVERY = 3.0  # seconds between two looks for new words in the middle of a long ingest

# One thread of the worker is left for other jobs: ingests take long.
_turns = threading.BoundedSemaphore(max(1, settings.WORKER_CONCURRENCY - 1))
_looked_at = 0.0


@shared_task
def ingest_source(pk: int) -> None:
    """Do what is left for one source, then say what can be done next."""
    if not _turns.acquire(blocking=False):
        Source.objects.filter(pk=pk).update(sent_at=None)  # whoever has the turn sends it
        return
    try:
        ingestion.ingest(pk, meanwhile=_index_words)
    finally:
        _turns.release()
    dispatch()


@shared_task
def sweep() -> None:
    """Take up new transcripts, let their words be found, and send what waits and was not sent or got lost."""
    ingestion.index_words(most=100)
    dispatch()


def send(source: Source) -> None:
    """Tell the workers of a source, once its row is committed."""
    Source.objects.filter(pk=source.pk).update(sent_at=timezone.now())
    transaction.on_commit(partial(_publish, source.pk))


def dispatch() -> None:
    """Send the sources whose turn comes next."""
    lost = Q(sent_at=None) | Q(sent_at__lt=timezone.now() - LOST_AFTER)
    for source in ingestion.waiting().filter(lost)[: settings.WORKER_CONCURRENCY]:
        send(source)


def _index_words() -> None:
    global _looked_at
    if time.monotonic() - _looked_at > WORDS_EVERY:
        _looked_at = time.monotonic()
        ingestion.index_words(most=20)


def _publish(pk: int) -> None:
    try:
        ingest_source.delay(pk)
    except (OperationalError, ChannelError, OSError) as error:  # the last two: a queue of files on a full disk
        logger.warning("the broker is away (%s); source %s waits for the next sweep", type(error).__name__, pk)
        Source.objects.filter(pk=pk).update(sent_at=None)
