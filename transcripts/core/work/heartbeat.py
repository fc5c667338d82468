"""Signs of life of leased work while its holder waits, for example for a language model."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread
from typing import Any, Final
from uuid import UUID

from django.db import DatabaseError, InterfaceError, connection

from transcripts.core.work.models import LeasedWorkQuerySet

BEATS: Final = 6  # in the length of a lease: some may be late or lost

logger = logging.getLogger(__name__)


@contextmanager
def keep_alive(work: "LeasedWorkQuerySet[Any]", holder: UUID | None) -> Iterator[None]:
    """Renew the lease of this work in a thread during the block, or until it is lost.

    The thread dies with its process, so the work of a killed one is soon free.
    """
    ended = Event()
    if holder is not None:
        Thread(target=_renew, args=(work, holder, ended), name="lease", daemon=True).start()
    try:
        yield
    finally:
        ended.set()


def _renew(work: "LeasedWorkQuerySet[Any]", holder: UUID, ended: Event) -> None:
    while not ended.wait(work.model.LEASE.total_seconds() / BEATS):
        try:
            if not work.all().renew(holder):
                return
        except (DatabaseError, InterfaceError) as error:
            logger.warning("A lease could not be renewed: %s", error)
        finally:
            connection.close()
