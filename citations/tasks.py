"""Celery tasks. Losing or repeating a message does no harm: see docs/decisions/0013."""

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import partial

from celery import shared_task
from django.conf import settings
from django.db.models.functions import Now

from citations.documents import podcasts, web_pages
from citations.guide import storage as guide_storage
from citations.ingest import lanes, selection
from citations.ingest import pipeline as ingest_pipeline
from citations.lectures import worker as lecture_worker
from citations.lexical import index as lexical_index
from citations.lexical import merging
from citations.listening import work as listening_work
from citations.maintenance import migration
from citations.models import AbstractsRequest, Archive, Deletion, EmbeddingSpace, Guide, Source
from citations.notebook import archives
from citations.outline import storage as outline_storage
from citations.outline import topics
from citations.vectors import space as vector_space
from citations.vectors import store
from transcripts.adding.transcript_rows import StorageChange
from transcripts.core import clock, locks
from transcripts.core.errors import KnowledgeBaseError
from transcripts.core.locks import Lock
from transcripts.core.work.models import LOST_AFTER
from transcripts.models import Job
from transcripts.models.jobs import read_row
from transcripts.tasks import nudge, nudge_all, run_job

logger = logging.getLogger(__name__)

WORDS_EVERY = 3.0  # seconds between two checks for new words during a long ingest
LISTENING_TURN = timedelta(seconds=10)  # until a recording whose turn it is not is tried again
SLICE = timedelta(seconds=30)  # the time that a migration runs before other work

# Ingests and migrations take long, so one thread of the worker is left for short tasks.
_long_tasks = threading.BoundedSemaphore(max(1, settings.WORKER_CONCURRENCY - 1))
_words_checked_at = 0.0


@shared_task
def ingest_source(pk: int) -> None:
    """Do the next step of the source whose turn it is, then send the next work.

    The source of the message was next when it was sent; meanwhile, it may be another's turn.
    """
    Source.objects.filter(pk=pk).update(sent_at=None)
    with _long_task() as may_be_long:
        source = lanes.next_source() if may_be_long else lanes.next_short()
        if source is None:
            return
        ingest_pipeline.advance(source, meanwhile=partial(_give_way, source))
    dispatch()


@shared_task
def write_abstracts(pk: int) -> None:
    """Let the language model summarise a source and its sections."""
    if request := AbstractsRequest.objects.filter(pk=pk).first():
        outline_storage.answer(request)


@shared_task
def make_guide(pk: int) -> None:
    """Make the guide to a source while no source waits, or once somebody opened it, then send the
    next one.
    """
    guide = Guide.objects.select_related("source").filter(pk=pk).first()
    if guide is None:
        return
    source = guide.source
    with _long_task() as may_run:
        if not may_run or not (source.wanted_at or not lanes.waiting().exists()):
            guide.mark_unsent()
            return  # the next sweep sends it again, or the long work that runs makes it
        is_made = guide_storage.make(
            source, meanwhile=_index_words if source.wanted_at else _give_way
        )
    if is_made:
        dispatch()


@shared_task
def advance_migration(pk: int) -> None:
    """Continue to build an embedding space for one time slice."""
    EmbeddingSpace.objects.filter(pk=pk).update(sent_at=Now())
    with _long_task() as may_run:
        space = migration.under_way()
        if may_run and space is not None and space.pk == pk:
            try:
                migration.advance(space, seconds=SLICE.total_seconds(), meanwhile=_give_way)
            except KnowledgeBaseError as error:
                logger.warning("the migration to %s has stopped: %s", space, error)
                return
    EmbeddingSpace.objects.filter(pk=pk).update(sent_at=None)
    dispatch()


@shared_task
def make_archive(pk: int) -> None:
    """Write everything that a user may read into one ZIP."""
    archive = Archive.objects.filter(pk=pk).first()
    if archive is not None:
        archives.make(archive)


@shared_task
def carry_out_deletion(pk: int) -> None:
    """Delete what was not restored in time."""
    if deletion := Deletion.objects.filter(pk=pk).first():
        selection.carry_out(deletion)


@shared_task
def sweep() -> None:
    """Cite abandoned windows, index the words of new sources, and send unsent work."""
    lecture_worker.sweep()
    ingest_pipeline.index_words(most=100)
    dispatch()
    merging.merge()


@shared_task
def tend() -> None:
    """Build missing indexes, outlines and topics, and renew what another version has indexed."""
    lexical_index.renew()
    if space := vector_space.locked():
        store.ensure_index(space)
    if not outline_storage.catch_up():
        topics.tend()


@shared_task
def wake() -> None:
    """Retry work that waits for other settings or whose message is lost: a worker starts."""
    ingest_pipeline.try_again()
    for works in (Source, EmbeddingSpace, Archive, Deletion, Guide, AbstractsRequest):
        works.objects.forget_messages()
    sweep()
    lexical_index.renew()


def run_page(job: Job) -> None:
    """Fetch the web page of a job that is held, store it, and send it to be read and indexed; or
    the episodes of a podcast, or the sound of one.
    """
    if job.listens == Job.Listens.NOW:
        podcasts.fetch_sound(job)
        return
    job.report(step="fetching the page", done=0, total=2)
    page = web_pages.fetch(job.target)
    episodes = podcasts.add(job, page)
    if episodes is not None:
        nudge_all(run_job, episodes)
        job.finish()
        return
    added = web_pages.store(job, page)
    change = StorageChange.ADDED if added.is_new else StorageChange.UNCHANGED
    row = read_row(job.target, document=str(added.source.uuid), change=change)
    job.change(read=[row])
    job.finish()
    send(added.source)


def run_listening(job: Job) -> None:
    """Listen to the recording of a job that is held, unless other long work takes all threads, or
    another recording is listened to.
    """
    with _long_task() as may_run, locks.hold(Lock.LISTENING) as is_alone:
        if may_run and is_alone:
            listening_work.listen(job, _goes_on)
        else:
            job.postpone(until=clock.now() + LISTENING_TURN, counts=False)


def _goes_on() -> bool:
    """Between two parts of a recording, do a step of each source that waits; return whether another
    thread does what comes meanwhile.
    """
    _give_way()
    if source := lanes.next_source():
        ingest_pipeline.advance(source, meanwhile=partial(_give_way, source))
    return bool(settings.WORKER_CONCURRENCY > 1)


def send(source: Source) -> None:
    """Send a source to the workers once its row is committed."""
    nudge(ingest_source, source)


def send_archive(archive: Archive) -> None:
    """Send an archive to the workers once its row is committed."""
    nudge(make_archive, archive)


def send_for_abstracts(source: Source) -> None:
    """Request the missing abstracts of a source whose outline is read."""
    if request := outline_storage.request_abstracts(source):
        own = AbstractsRequest.objects.filter(pk=request.pk)
        nudge_all(write_abstracts, own.due().unsent())


def send_opened(source: Source) -> None:
    """Have a source that somebody opened indexed, or its guide made, before others: once until that
    is done.
    """
    opened = Source.objects.filter(pk=source.pk, wanted_at=None)
    if lanes.put_first(opened):
        send(source)
    elif guide_storage.put_first(opened):
        nudge(make_guide, guide_storage.request(source))


def dispatch() -> None:
    """Send the migration that is under way, the next sources, and the next guide: only of what
    somebody opened while any source waits.
    """
    spaces = EmbeddingSpace.objects.building().due().unsent(after=LOST_AFTER + SLICE)
    nudge_all(advance_migration, spaces)
    nudge_all(make_archive, Archive.objects.unfinished().due().unsent())
    nudge_all(write_abstracts, AbstractsRequest.objects.due().unsent())
    sources = lanes.waiting().unsent()[: settings.WORKER_CONCURRENCY]
    nudge_all(ingest_source, sources)
    nudge_all(carry_out_deletion, Deletion.objects.due().unsent())
    is_busy = lanes.waiting().exists()
    guides = guide_storage.missing_of_opened() if is_busy else guide_storage.missing()
    if source := guides.first():
        guide = guide_storage.request(source)
        nudge_all(make_guide, Guide.objects.filter(pk=guide.pk).unsent())


@contextmanager
def _long_task() -> Iterator[bool]:
    may_run = _long_tasks.acquire(blocking=False)
    try:
        yield may_run
    finally:
        if may_run:
            _long_tasks.release()


def _give_way(source: Source | None = None) -> None:
    """Between the batches of long work, index new words, make a guide that somebody waits for, and
    do a step of a source that is shorter or was opened.
    """
    _index_words()
    if opened := guide_storage.missing_of_opened().first():
        guide_storage.make(opened, meanwhile=_index_words)
    if other := lanes.next_beside(source):
        ingest_pipeline.advance(other, meanwhile=partial(_give_way, other))


def _index_words() -> None:
    global _words_checked_at
    if time.monotonic() - _words_checked_at > WORDS_EVERY:
        _words_checked_at = time.monotonic()
        ingest_pipeline.index_words(most=20)
