"""Tasks of a worker, timed, and named in the lines of its log."""

import logging
from typing import TYPE_CHECKING, Any

from celery import Task

from kbsite.telemetry import logs
from transcripts.core.stages import timed

logger = logging.getLogger(__name__)

if TYPE_CHECKING:  # Celery's class cannot be subscripted at run time
    AnyTask = Task[Any, Any]
else:
    AnyTask = Task


class WatchedTask(AnyTask):
    """Celery's task; the first argument of ours is the id of a row, if there is one."""

    abstract = True

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        name = self.name.rpartition(".")[2] if self.name else ""
        row = args[0] if args else None
        with logs.working_on(name, row):
            try:
                with timed("task", name):
                    return super().__call__(*args, **kwargs)
            finally:
                if row is not None:  # the others come every few seconds
                    logger.info("%s %s ended", name, row)
