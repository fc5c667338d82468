"""Whose work a line of the log belongs to: a request, or a task of a worker."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

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


class OriginFilter(logging.Filter):
    """Adds the ids of the request and the task to each line."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.request_id = REQUEST_ID.get()
        record.task, record.job_id = TASK.get()
        return True
