"""The columns and queries that all durable work shares.

``QueuedWork`` is done by one thread from start to end, which holds an advisory lock. ``LeasedWork``
is done by several threads in turn, or many rows at once; it is held by a lease in its own columns.
Times are those of the database, as the clocks of the machines may differ and jump.
"""

import logging
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from datetime import datetime, timedelta
from typing import Any, ClassVar, Final, Self, TypeVar
from uuid import UUID

from django.db import Error, InterfaceError, OperationalError, connection, models
from django.db.models import F, Q
from django.db.models.functions import Now
from django.utils import timezone

from transcripts.core import clock, locks
from transcripts.core.errors import (
    DatabaseLost,
    KnowledgeBaseError,
    ProcessKilled,
    Retry,
    UnexpectedError,
)
from transcripts.core.locks import Lock
from transcripts.core.work.disk import storage_full
from transcripts.core.work.retry import POLICIES, next_try

LOST_AFTER: Final = timedelta(seconds=30)  # a message that has no effect by then is sent again
NO_ERROR: Final[dict[str, Any]] = {"error_code": "", "error": "", "hint": "", "run_after": None}
RESTARTED: Final[dict[str, Any]] = {**NO_ERROR, "attempts": 0, "crashes": 0, "sent_at": None}
PROGRESS: Final = {"attempts": 1, "crashes": 1}  # of the attempt that makes it

logger = logging.getLogger(__name__)

_Queued = TypeVar("_Queued", bound="QueuedWork")
_Leased = TypeVar("_Leased", bound="LeasedWork")


def error_columns(error: KnowledgeBaseError) -> dict[str, Any]:
    """Return the columns that record an error."""
    return {"error_code": error.code, "error": error.message, "hint": error.hint}


class DurableWork(models.Model):
    """What every kind of durable work has."""

    MAX_CRASHES: ClassVar[int] = 5  # attempts that end with the death of their process

    # Since it was queued or last made progress.
    attempts = models.PositiveSmallIntegerField(default=0)

    class Meta:
        abstract = True


class QueuedWorkQuerySet(models.QuerySet[_Queued]):
    """Selects the work to send to the workers."""

    def due(self) -> Self:
        """Keep the work that need not wait any longer."""
        return self.filter(Q(run_after=None) | Q(run_after__lte=Now()))

    def unsent(self, *, after: timedelta = LOST_AFTER) -> Self:
        """Keep the work whose message was never sent, or was lost."""
        return self.filter(Q(sent_at=None) | Q(sent_at__lt=Now() - after))

    def forget_messages(self) -> int:
        """Count every message as lost; return how many. One that was not does no harm."""
        return self.exclude(sent_at=None).update(sent_at=None)


class QueuedWork(DurableWork):
    """Work that a message sends to a worker. The row alone says what is left to do."""

    LOCK: ClassVar[Lock]

    # Attempts since the last one that ended otherwise than with the death of its process.
    crashes = models.PositiveSmallIntegerField(default=0)
    done = models.PositiveIntegerField(default=0)
    total = models.PositiveIntegerField(default=0)
    error_code = models.CharField("error", max_length=40, blank=True)
    error = models.TextField(blank=True)
    hint = models.TextField(blank=True)
    run_after = models.DateTimeField(null=True, blank=True)
    sent_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        abstract = True

    @property
    def percent(self) -> int:
        """The progress of the current step, 0 to 100."""
        return min(100, 100 * self.done // self.total) if self.total else 0

    @property
    def waits_until(self) -> datetime | None:
        """The time of the next attempt, for people, if it is still to come."""
        return self.run_after if self.run_after and self.run_after > timezone.now() else None

    def hold(self) -> AbstractContextManager[bool]:
        """Hold the work during the block; it yields False if another process holds it.

        A PostgreSQL session lock ends with its process, so nothing has to time out.
        """
        return locks.hold(self.LOCK, self.pk)

    def is_held(self) -> bool:
        """Return whether a living process holds the work."""
        return locks.is_held(self.LOCK, self.pk)

    @contextmanager
    def attempt(self, works: "QueuedWorkQuerySet[Any]") -> Iterator[bool]:
        """Hold the work during the block, as one attempt; it yields whether there is one: not if
        another process holds the work, if it is none of ``works`` by now, or if it is given up.

        Errors that leave the block are recorded by ``settle``.
        """
        with self.hold() as is_held:
            if not is_held or not self._is_among(works):
                yield False
                return
            try:
                if is_begun := self.crashes < self.MAX_CRASHES:
                    self.start()
                else:
                    self.fail(ProcessKilled())
                yield is_begun
            except (OperationalError, InterfaceError) as error:
                logger.warning("%s lost the database: %s", self._label, error)
                if not connection.is_usable():
                    connection.close()  # the next statement opens another
                self.settle(error if storage_full(error) else DatabaseLost())
            except KnowledgeBaseError as error:
                self.settle(error)
            except Exception as error:
                logger.exception("%s failed unexpectedly", self._label)
                self.settle(error)
            finally:
                with suppress(Error):
                    QueuedWork.change(self, crashes=0)

    def _is_among(self, works: "QueuedWorkQuerySet[Any]") -> bool:
        """Read the row again: its last holder may have done the work."""
        try:
            self.refresh_from_db(from_queryset=works)
        except type(self).DoesNotExist:
            return False
        return True

    def start(self, **values: Any) -> None:
        """Record that an attempt begins. Call it while the work is held."""
        self.change(attempts=self.attempts + 1, crashes=self.crashes + 1, **values)

    def settle(self, error: Exception) -> None:
        """Queue the work again when the table of retries says, or end it."""
        if full := storage_full(error):  # it waits for as long as it takes
            self.postpone(until=next_try(full, self.attempts), error=full, counts=False)
            return
        expected = error if isinstance(error, KnowledgeBaseError) else UnexpectedError()
        if until := next_try(error, self.attempts):
            self.postpone(until=until, error=expected)
        else:
            self.fail(expected)

    def fail(self, error: KnowledgeBaseError) -> None:
        """Record that the work ended without success, and why. Work of a kind that has no such end
        waits until somebody changes something.
        """
        self.postpone(until=POLICIES[Retry.SETTINGS].next_try(self.attempts), error=error)

    @property
    def _label(self) -> str:
        return f"{self._meta.verbose_name} {self.pk}"

    def postpone(
        self,
        *,
        until: datetime | None = None,
        error: KnowledgeBaseError | None = None,
        counts: bool = True,
        **values: Any,
    ) -> None:
        """Queue the work again until a later time; ``counts=False`` takes the attempt back."""
        if error is not None:
            values |= error_columns(error)
        if not counts:
            values["attempts"] = max(0, self.attempts - 1)
        self.change(run_after=until, sent_at=None, **values)

    def restart(self, **values: Any) -> None:
        """Queue the work again as if it was never tried."""
        self.change(**RESTARTED, **values)

    def mark_sent(self) -> None:
        """Record that a message was sent."""
        QueuedWork.change(self, sent_at=clock.now())

    def mark_unsent(self) -> None:
        """Record that no message is on its way."""
        QueuedWork.change(self, sent_at=None)

    def change(self, **values: Any) -> None:
        """Write only these columns, in one statement: a row deleted meanwhile stays deleted."""
        if type(self)._default_manager.filter(pk=self.pk).update(**values):
            for name, value in values.items():
                setattr(self, name, value)


class LeasedWorkQuerySet(models.QuerySet[_Leased]):
    """Selects and takes leases."""

    def active(self) -> Self:
        """Keep the work that gave a sign of life within the length of a lease."""
        return self.filter(active_at__gte=Now() - self.model.LEASE)

    def leased(self) -> Self:
        """Keep the work whose holder is alive."""
        return self.active().exclude(holder=None)

    def free(self) -> Self:
        """Keep the work that nobody holds, or whose holder is dead."""
        return self.filter(Q(holder=None) | Q(active_at__lt=Now() - self.model.LEASE))

    def claim(self, holder: UUID) -> int:
        """Lease all of this work to a holder; return how many rows that were."""
        return self.update(holder=holder, active_at=Now(), attempts=F("attempts") + 1)

    def renew(self, holder: UUID) -> bool:
        """Record a sign of life; return False if the holder has lost its lease."""
        return bool(self.filter(holder=holder).update(active_at=Now()))


class LeasedWork(DurableWork):
    """Work that its holder leases. A lease ends when its holder gives no sign of life."""

    LEASE: ClassVar[timedelta]

    holder = models.UUIDField(null=True, blank=True, editable=False)
    active_at = models.DateTimeField(
        db_default=Now(), help_text="The last sign of life of the holder, or the creation."
    )

    class Meta:
        abstract = True

    @property
    def is_active(self) -> bool:
        """Whether there was a sign of life within the length of a lease."""
        return self.active_at >= clock.now() - self.LEASE
