"""Keep the embedded PostgreSQL running: start it again when its process was killed."""

import contextlib
import logging
import threading
from collections.abc import Iterator
from pathlib import Path

from kbsite import postgres
from kbsite.postgres.errors import EmbeddedPostgresError

CHECK_SECONDS = 1.0
MAX_PAUSE = 10.0  # seconds between two attempts to start a server that does not start

logger = logging.getLogger(__name__)


@contextlib.contextmanager
def watched(data_dir: Path) -> Iterator[None]:
    """Use the server of a data directory during the block, and start it again when it dies.

    Raises EmbeddedPostgresError if it does not start at first.
    """
    ending = threading.Event()
    with postgres.start(data_dir) as lease:
        watch = threading.Thread(
            target=_watch, args=(lease, ending), name="database-watch", daemon=True
        )
        watch.start()
        try:
            yield
        finally:
            ending.set()
            watch.join(CHECK_SECONDS)


def _watch(lease: postgres.ServerLease, ending: threading.Event) -> None:
    pause = CHECK_SECONDS
    while not ending.wait(pause):
        if lease.is_running():
            pause = CHECK_SECONDS
            continue
        logger.warning("The database ended; starting it again.")
        try:
            lease.revive()
        except EmbeddedPostgresError as error:
            pause = min(pause * 2, MAX_PAUSE)
            logger.warning("%s Trying again in %.0f s.", error, pause)
        else:
            logger.warning("The database runs again.")
