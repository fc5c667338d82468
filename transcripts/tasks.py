"""Celery tasks: each loads by id and makes one call. A message is a nudge; losing one, or doing it twice, changes nothing."""

from celery import shared_task

from transcripts import acquisition
from transcripts.models import Feed, Job, WorkerPulse, YouTubeGate
from transcripts.work import messages

SENT_AT_ONCE = 50  # how many messages may be out for jobs that need no turn at YouTube


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
    """Send a job to the workers once its row is committed."""
    messages.nudge(run_job, job)


def dispatch() -> None:
    """Send what is ready: files at once, for YouTube only the one whose turn it is."""
    ready = Job.objects.ready().unsent()
    due = list(ready.filter(kind=Job.Kind.FILES)[:SENT_AT_ONCE])
    if YouTubeGate.current().is_free:
        due += ready.exclude(kind=Job.Kind.FILES)[:1]
    messages.sweep(run_job, due)
