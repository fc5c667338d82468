"""Celery tasks of webhooks. Losing or repeating a message does no harm: docs/decisions/0013."""

import threading

from celery import shared_task
from django.conf import settings

from kbsite.models import WebhookDelivery
from kbsite.webhooks import delivery, messages
from transcripts.tasks import nudge, nudge_all

# Receivers may be slow, so threads of the worker are left for other work.
_sending = threading.BoundedSemaphore(max(1, settings.WORKER_CONCURRENCY // 2))


@shared_task
def deliver(pk: int) -> None:
    """Send a delivery, then the next ones."""
    if not _sending.acquire(blocking=False):
        WebhookDelivery.objects.filter(pk=pk).update(sent_at=None)
        return
    try:
        delivery.perform(pk)
    finally:
        _sending.release()
    dispatch()


@shared_task
def sweep() -> None:
    """Distribute what happened, and send what waits."""
    messages.distribute()
    dispatch()


def send(row: WebhookDelivery) -> None:
    """Send a delivery to the workers once its row is committed."""
    nudge(deliver, row)


def dispatch() -> None:
    """Send the next deliveries to the workers."""
    nudge_all(deliver, delivery.next_ones().unsent()[: settings.WORKER_CONCURRENCY])
