"""Lines of the log: whose work they belong to, and what people at a terminal see of them. None has
a secret.

A request is named by its route, never by its address, which may contain secrets and questions.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import Final, TextIO

from django.http import HttpRequest

from kbsite import secret_addresses

UNMATCHED: Final = "unmatched"  # the route of an address that leads nowhere
REQUEST_ID: Final[ContextVar[str | None]] = ContextVar("request_id", default=None)
TASK: Final[ContextVar[tuple[str | None, int | None]]] = ContextVar("task", default=(None, None))


@contextmanager
def working_on(task: str, job_id: int | None) -> Iterator[None]:
    """Mark the lines of a block as those of a task, and of the row that it works on."""
    token = TASK.set((task, job_id))
    try:
        yield
    finally:
        TASK.reset(token)


def route_of(request: HttpRequest) -> str:
    """Return the route that Django found for a request."""
    match = getattr(request, "resolver_match", None)
    return f"/{match.route.lstrip('^')}" if match else UNMATCHED


class OriginFilter(logging.Filter):
    """Adds the ids of the request and the task to each line, and names Django's request by its
    route.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        record.request_id = REQUEST_ID.get()
        record.task, record.job_id = TASK.get()
        request = record.__dict__.pop("request", None)
        path = getattr(request, "path", None)
        if path is not None and isinstance(record.args, tuple):
            written = path.encode("unicode_escape").decode()  # as Django does in its log
            route = route_of(request)
            record.args = tuple(route if arg == written else arg for arg in record.args)
        return True


class Redacted(logging.Handler):
    """Formats lines, tracebacks included, without the secrets of addresses."""

    def format(self, record: logging.LogRecord) -> str:
        return secret_addresses.redact(super().format(record))


class RedactedStream(Redacted, logging.StreamHandler[TextIO]):
    """Writes to the standard error."""


class MessageFormatter(logging.Formatter):
    """Shows the message alone, and where its traceback is."""

    def __init__(self, *, log: Path) -> None:
        super().__init__()
        self._log = log

    def format(self, record: logging.LogRecord) -> str:
        message = record.getMessage()
        return f"{message} ({self._log} has the details.)" if record.exc_info else message


class TracebackFile(Redacted, RotatingFileHandler):
    """Keeps the lines that have a traceback, up to two megabytes of them."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, maxBytes=1_000_000, backupCount=1, delay=True, encoding="utf-8")
        self.addFilter(lambda record: bool(record.exc_info))

    def _open(self) -> TextIOWrapper:
        Path(self.baseFilename).parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        return super()._open()
