"""`kb worker`: Celery with a thread pool, and the schedule that finds due and lost jobs."""

import atexit
import contextlib
import os
import signal
import threading
import warnings
from typing import Annotated, Any

import typer
from celery.beat import EmbeddedService
from celery.exceptions import SecurityWarning
from celery.signals import worker_ready
from django.conf import settings
from django.db import Error, connection
from prometheus_client import start_http_server

from citations import tasks as indexing
from citations.providers import encoders
from kbsite.celery import ElectedScheduler, app
from kbsite.cli.options import option
from kbsite.library.database import open_database, watched_database
from kbsite.telemetry import metrics
from transcripts import tasks
from transcripts.models import WorkerPulse

PULSE_SECONDS = 15.0
GRACE_SECONDS = 6.0  # for running jobs when the parent is gone; the next worker resumes them


def worker(
    concurrency: Annotated[
        int | None,
        option(
            "--concurrency", min=1, max=64, help="Number of concurrent jobs (WORKER_CONCURRENCY)."
        ),
    ] = None,
    with_parent: Annotated[
        bool, typer.Option("--with-parent", hidden=True, help="End when the standard input ends.")
    ] = False,
) -> None:
    """Start a separate worker, for a team's server; `kb serve` already starts one."""
    metrics.watch("worker")
    open_database()
    if settings.WORKER_METRICS_PORT and not with_parent:
        start_http_server(
            settings.WORKER_METRICS_PORT, addr=settings.HOST, registry=metrics.counted()
        )
    if with_parent:
        threading.Thread(target=_end_with_parent, name="parent-watch", daemon=True).start()
        threading.Thread(target=_end_with_models, name="memory-watch", daemon=True).start()
    worker_ready.connect(_sweep_at_once)
    threading.Thread(target=_send_pulses, name="pulse", daemon=True).start()
    # Messages are JSON, which is safe to read as root (in a container).
    warnings.filterwarnings("ignore", category=SecurityWarning)
    clock: Any = EmbeddedService(app, thread=True, scheduler_cls=ElectedScheduler)
    pool = app.Worker(
        pool="threads",
        concurrency=concurrency or settings.WORKER_CONCURRENCY,
        loglevel="WARNING",
        quiet=True,
        without_gossip=True,
        without_mingle=True,
    )
    try:
        clock.start()
        with watched_database():
            pool.start()
    finally:
        # The scheduler sleeps for seconds between ticks: it ends with this process.
        clock.service.stop(wait=False)
    raise typer.Exit(int(pool.exitcode or 0))


def _sweep_at_once(**_: object) -> None:
    tasks.wake.delay()
    indexing.wake.delay()


def _send_pulses() -> None:
    # Long jobs may hold every thread of the pool, where the sweep's pulse would have to wait.
    pause = threading.Event()
    while not pause.wait(PULSE_SECONDS):
        with contextlib.suppress(Error):  # the database may be away for a moment
            WorkerPulse.beat()
        connection.close()


def _end_with_models() -> None:
    """End when unused models have left memory: the libraries that ran them keep 130 MB.

    Celery finishes its running jobs first; the parent starts another worker.
    """
    encoders.released.wait()
    os.kill(os.getpid(), signal.SIGTERM)


def _end_with_parent() -> None:
    """End when the parent is gone: the kernel closes its end of our standard input."""
    while os.read(0, 1):  # sys.stdin has a lock that Python needs when it exits
        continue
    os.kill(os.getpid(), signal.SIGTERM)
    threading.Event().wait(GRACE_SECONDS)
    # A job still holds a thread that Python would wait for. Release the database server and end.
    atexit._run_exitfuncs()
    os._exit(1)
