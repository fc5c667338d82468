"""Celery tasks. Losing or repeating a message does no harm: see docs/decisions/0013."""

from celery import shared_task

from transcripts.adding import acquisition
from transcripts.core.work import messages
from transcripts.models import Feed, Job, WorkerPulse, YouTubeGate

SENT_AT_ONCE = 50  # jobs that need not wait for YouTube


@shared_task
def run_job(pk: int) -> None:
    """Run the job whose turn it is, then send the next ones.

    The job of the message was next when it was sent; meanwhile, it may be another's turn.
    """
    job = Job.objects.filter(pk=pk).first()
    if job is not None:
        job.mark_unsent()
        if current := _whose_turn(job):
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
    messages.nudge(run_job, job)


def dispatch() -> None:
    """Send the jobs that are ready; of those that need YouTube, only the next."""
    ready = Job.objects.ready().unsent()
    due = list(ready.exclude(Job.NEEDS_YOUTUBE)[:SENT_AT_ONCE])
    if YouTubeGate.current().is_free:
        due += ready.filter(Job.NEEDS_YOUTUBE)[:1]
    messages.sweep(run_job, due)


def _whose_turn(job: Job) -> Job | None:
    if job.needs_youtube and not (gate := YouTubeGate.current()).is_free:
        return job if gate.state == "closed" else None  # the job says until when the queue pauses
    return Job.objects.next_like(job)
