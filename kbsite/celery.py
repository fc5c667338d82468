"""The Celery application and its schedule. Without a broker, messages are files in the data
directory.

Only what sends or runs tasks imports it: it takes longer to load than a reading command to run.
"""

import contextlib
import logging
import os
import uuid
from pathlib import Path
from time import monotonic
from typing import Any, Final

from celery import Celery
from celery.beat import Scheduler
from celery.signals import before_task_publish, celeryd_init, setup_logging
from django.conf import settings
from django.db import Error, connection
from django.utils.log import configure_logging
from kombu.exceptions import ChannelError
from kombu.transport import TRANSPORT_ALIASES, filesystem
from kombu.utils.json import dumps

from kbsite import boot
from transcripts.core import locks
from transcripts.core.locks import Lock
from transcripts.core.work.disk import make_private_folder, write_whole
from transcripts.models import WorkerPulse
from transcripts.tasks import dispatch, send

__all__ = ["app", "dispatch", "make_queue_folders", "send"]  # what sends has imported the app

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "kbsite.settings.django")
# Django's checks import every page, half of what a worker loads; `make lint` runs them.
os.environ.setdefault("CELERY_SKIP_CHECKS", "true")

PROMPT_SECONDS: Final = 0.2
ELECTION_SECONDS: Final = 5.0

logger = logging.getLogger(__name__)

TRANSPORT_ALIASES["filesystem"] = "kbsite.celery:Transport"

app = Celery("cuebase", task_cls="kbsite.telemetry.tasks:WatchedTask")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["transcripts", "citations"])


def make_queue_folders() -> None:
    """Create the folders that the transport of the file queue needs."""
    for name in ("data_folder_in", "control_folder"):
        if folder := settings.CELERY_BROKER_TRANSPORT_OPTIONS.get(name):
            make_private_folder(Path(folder))


class Channel(filesystem.Channel):
    def _put(self, queue: str, payload: Any, **kwargs: Any) -> None:  # type: ignore[override]
        # A worker that takes an empty message fails, so it is written under another name first.
        name = f"{round(monotonic() * 1000)}_{uuid.uuid4()}.{queue}.msg"
        message = Path(self.data_folder_out, name)
        try:
            write_whole(message, dumps(payload).encode())
        except OSError as error:
            raise ChannelError(f"Cannot add file {str(message)!r} to directory") from error


class Transport(filesystem.Transport):
    """Kombu's file queue, with messages that appear in one step."""

    Channel = Channel

    def drain_events(self, connection: Any, timeout: float | None = None, **_: Any) -> None:
        """Handle one message, or raise ``TimeoutError`` soon: a worker sees only between two calls
        that it shall end, and Celery's timeout is two seconds.
        """
        super().drain_events(connection, timeout=min(timeout or PROMPT_SECONDS, PROMPT_SECONDS))


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


@celeryd_init.connect
def _prepare(**_: object) -> None:
    boot.join_database()
    make_queue_folders()


@before_task_publish.connect
def _prepare_to_send(**_: object) -> None:
    make_queue_folders()


@setup_logging.connect
def _use_django_logging(**_: object) -> None:
    configure_logging(settings.LOGGING_CONFIG, settings.LOGGING)
