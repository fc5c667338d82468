"""The schedule of recurring tasks, which one of all workers runs."""

import contextlib
import logging
from typing import Any, Final

from celery.beat import Scheduler
from django.db import Error, connection

from transcripts.core import locks
from transcripts.core.locks import Lock
from transcripts.models import WorkerPulse

ELECTION_SECONDS: Final = 5.0

logger = logging.getLogger(__name__)


class ElectedScheduler(Scheduler):
    """Celery's scheduler while this process holds a lock in PostgreSQL; otherwise it waits.

    The lock ends with the connection of a killed worker, so another worker takes over at its next
    tick.
    """

    _is_elected = False

    def tick(self, *args: Any, **kwargs: Any) -> float:
        """Send the due tasks if this process is elected; return the seconds until the next tick."""
        if not self._elect():
            return ELECTION_SECONDS
        pause = min(float(super().tick(*args, **kwargs)), ELECTION_SECONDS)
        with contextlib.suppress(Error):  # the next election finds the database away
            WorkerPulse.record_schedule()
        return pause

    def _elect(self) -> bool:
        try:
            is_elected = locks.keep(Lock.SCHEDULE)
        except Error:  # the database is away for a moment, and the lock is gone
            connection.close()
            is_elected = False
        if is_elected != self._is_elected:
            logger.debug("This worker %s the schedule.", "runs" if is_elected else "no longer runs")
            self._is_elected = is_elected
        return is_elected
