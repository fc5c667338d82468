"""The library of this machine over standard input and output, with a worker when there is work."""

import threading
from contextlib import ExitStack

from django.db import connection

from citations.providers import registry
from kbsite.cli.serve import Worker
from kbsite.cli.users import owner
from kbsite.library.database import open_database, watched_database
from kbsite.mcp.server import serve_over_stdio
from transcripts.models import Job, WorkerPulse

POLL_SECONDS = 2.0


def serve() -> None:
    """Serve the library to the program that started this one, until it ends the input."""
    open_database()
    user = owner()
    threading.Thread(target=registry.warm, daemon=True).start()
    ending = threading.Event()
    with watched_database(), ExitStack() as stack:
        stack.callback(ending.set)
        threading.Thread(target=_work, args=(stack, ending), daemon=True).start()
        serve_over_stdio(user)


def _work(stack: ExitStack, ending: threading.Event) -> None:
    """Start a worker once a job waits and none runs; it ends with this process."""
    while not ending.wait(POLL_SECONDS):
        waits = Job.objects.unfinished().exists() and not WorkerPulse.is_alive()
        connection.close()
        if waits and not ending.is_set():
            stack.enter_context(Worker())
            return
