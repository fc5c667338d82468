"""Celery tasks, and the messages that send work to them.

A message carries only an id. Losing or repeating one does no harm: see docs/decisions/0013.
"""

import logging
from collections.abc import Iterable
from typing import Any

from celery import shared_task
from django.db import transaction
from kombu.exceptions import ChannelError, OperationalError

from transcripts.adding import acquisition
from transcripts.core.work.models import QueuedWork
from transcripts.models import Feed, Job, WorkerPulse, YouTubeGate

SENT_AT_ONCE = 50  # jobs that need not wait for YouTube

logger = logging.getLogger(__name__)


def nudge(task: Any, work: QueuedWork) -> None:
    """Send the work's id to a Celery task once the transaction commits."""

    def send() -> None:
        if not publish(task, work.pk):
            work.mark_unsent()

    work.mark_sent()
    transaction.on_commit(send)


def nudge_all(task: Any, works: Iterable[QueuedWork]) -> None:
    """Send each of these again: its message was lost, or its worker died."""
    for work in works:
        nudge(task, work)


def publish(task: Any, pk: int) -> bool:
    """Send an id to a Celery task; return False if the broker does not take it."""
    try:
        task.delay(pk)
    except (ChannelError, OperationalError, OSError) as error:  # OSError: the disk is full
        message = "The broker is away (%s); %s(%s) waits for the next sweep."
        logger.warning(message, type(error).__name__, task.name, pk)
        return False
    return True


@shared_task
def run_job(pk: int) -> None:
    """Run the job whose turn it is, then send the next ones.

    The job of the message was next when it was sent; meanwhile, it may be another's turn.
    """
    job = Job.objects.filter(pk=pk).first()
    if job is not None:
        job.mark_unsent()
        current: Job | None = job
        if not job.needs_youtube or (gate := YouTubeGate.current()).is_free:
            current = Job.objects.next_like(job)
        elif gate.state != "closed":
            current = None  # of a closed one, the job says until when the queue pauses
        if current:
            acquisition.perform(current.pk)
    dispatch()


@shared_task
def sweep() -> None:
    """Record that a worker lives, recover abandoned jobs, and send unsent ones."""
    WorkerPulse.beat()
    acquisition.recover_abandoned()
    dispatch()


@shared_task
def wake() -> None:
    """Sweep because a worker starts: the one before it may have taken messages with it."""
    Job.objects.unfinished().forget_messages()
    sweep()


@shared_task
def sync_due_feeds() -> None:
    """Queue the feeds that are due."""
    for feed in Feed.objects.due().select_related("collection"):
        feed.plan()
        send(acquisition.request_feed(feed))


def send(job: Job) -> None:
    """Send a job to the workers once its row is committed."""
    nudge(run_job, job)


def dispatch() -> None:
    """Send the jobs that are ready; of those that need YouTube, only the next."""
    ready = Job.objects.ready().unsent()
    due = list(ready.exclude(Job.NEEDS_YOUTUBE)[:SENT_AT_ONCE])
    if YouTubeGate.current().is_free:
        due += ready.filter(Job.NEEDS_YOUTUBE)[:1]
    nudge_all(run_job, due)
