"""A worker process: Celery with a pool of threads, and the clock that looks for due and lost jobs."""

import atexit
import contextlib
import os
import signal
import threading
import warnings
from typing import Any

from celery.beat import EmbeddedService, Scheduler
from celery.exceptions import SecurityWarning
from celery.signals import worker_ready
from django.conf import settings
from django.db import DatabaseError, connection

from citations import tasks as indexing
from kbsite.celery import app
from transcripts import tasks
from transcripts.models import WorkerPulse

PULSE_SECONDS = 15.0
GRACE_SECONDS = 6.0  # how long running jobs may go on when the parent is gone; they are taken up again by the next worker


def run(*, concurrency: int | None, beat: bool, with_parent: bool) -> int:
    """Work until a signal ends it; return the exit code."""
    if with_parent:
        threading.Thread(target=_end_with_parent, name="parent-watch", daemon=True).start()
    worker_ready.connect(_sweep_at_once)
    threading.Thread(target=_show_life, name="pulse", daemon=True).start()
    warnings.filterwarnings(
        "ignore", category=SecurityWarning
    )  # messages are JSON, which is safe to read as root (in a container)
    # The schedule is kept in memory: it is two fixed intervals, and a file would have to survive a kill.
    clock: Any = EmbeddedService(app, thread=True, scheduler_cls=Scheduler) if beat else None
    worker = app.Worker(
        pool="threads",
        concurrency=concurrency or settings.WORKER_CONCURRENCY,
        loglevel="WARNING",
        quiet=True,
        without_gossip=True,
        without_mingle=True,
    )
    try:
        if clock:
            clock.start()
        worker.start()
    finally:
        if clock and clock.is_alive():
            clock.stop()
    return int(worker.exitcode or 0)


def _sweep_at_once(**_: object) -> None:
    tasks.sweep.delay()
    indexing.wake.delay()


def _show_life() -> None:
    # In a thread of its own: while long jobs hold every thread of the pool, the sweep, which says so too, has to wait.
    pause = threading.Event()
    while not pause.wait(PULSE_SECONDS):
        with contextlib.suppress(
            DatabaseError
        ):  # the database may be away for a moment; the jobs will notice
            WorkerPulse.beat()
        connection.close()


def _end_with_parent() -> None:
    """End when the parent is gone: it holds the other end of the standard input, and the kernel closes that even for a killed process."""
    while os.read(0, 1):  # not through sys.stdin, whose lock Python wants when it ends
        continue
    os.kill(os.getpid(), signal.SIGTERM)
    threading.Event().wait(GRACE_SECONDS)
    # A job still holds a thread of the pool. Python would wait for it; the database server is left in order all the same.
    atexit._run_exitfuncs()
    os._exit(1)
