"""Celery tasks: each loads by id and makes one call. A message is a nudge; losing one, or doing it twice, changes nothing."""

import logging
from datetime import timedelta
from functools import partial

from celery import shared_task
from django.db import transaction
from kombu.exceptions import ChannelError, OperationalError

from transcripts import acquisition
from transcripts.models import Feed, Job, WorkerPulse, YouTubeGate

logger = logging.getLogger(__name__)

SENT_AT_ONCE = 50  # how many messages may be out for jobs that need no turn at YouTube
LOST_AFTER = timedelta(
    seconds=30
)  # sending a message again does no harm; a killed worker's messages should not wait long


@shared_task
def run_job(pk: int) -> None:
    """Do one job, then say what can be done next."""
    acquisition.perform(pk)
    dispatch()


@shared_task
def sweep() -> None:
    """Show that a worker lives, take up what killed workers left, and send what was not sent or got lost."""
    WorkerPulse.beat()
    acquisition.recover_abandoned()
    dispatch()


@shared_task
def sync_due_feeds() -> None:
    """Queue the playlists and channels whose schedule says so."""
    for feed in Feed.objects.due().select_related("collection"):
        feed.plan()
        send(acquisition.request_feed(feed))


def send(job: Job) -> None:
    """Tell the workers of a job, once its row is committed."""
    job.mark_sent()
    transaction.on_commit(partial(_publish, job))


def dispatch() -> None:
    """Send what is ready: files at once, for YouTube only the one whose turn it is."""
    ready = Job.objects.ready().unsent(after=LOST_AFTER)
    due = list(ready.filter(kind=Job.Kind.FILES)[:SENT_AT_ONCE])
    if YouTubeGate.current().is_free:
        due += ready.exclude(kind=Job.Kind.FILES)[:1]
    for job in due:
        send(job)


def _publish(job: Job) -> None:
    try:
        run_job.delay(job.pk)
    except (
        OperationalError,
        ChannelError,
        OSError,
    ) as error:  # the last two: a queue of files on a full disk
        logger.warning(
            "the broker is away (%s); job %s waits for the next sweep", type(error).__name__, job.pk
        )
        job.mark_unsent()
