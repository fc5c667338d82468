"""Messages to the workers. A message carries only an id; a lost or repeated one does no harm."""

import logging
from collections.abc import Iterable
from typing import Any

from django.db import transaction
from kombu.exceptions import ChannelError, OperationalError

from transcripts.core.work.models import QueuedWork

logger = logging.getLogger(__name__)


def nudge(task: Any, work: QueuedWork) -> None:
    """Send the work's id to a Celery task once the transaction commits."""

    def send() -> None:
        if not publish(task, work.pk):
            work.mark_unsent()

    work.mark_sent()
    transaction.on_commit(send)


def sweep(task: Any, works: Iterable[QueuedWork]) -> None:
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
