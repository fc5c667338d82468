"""The columns and queries that all durable work shares, when it is tried again, and its turns.

``QueuedWork`` is done by one thread from start to end, which holds an advisory lock. ``LeasedWork``
is done by several threads in turn, or many rows at once; it is held by a lease in its own columns.
Times are those of the database, as the clocks of the machines may differ and jump.
"""

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from threading import Event, Thread
from typing import Any, ClassVar, Final, Self, TypeVar
from uuid import UUID

from django.db import DatabaseError, Error, InterfaceError, OperationalError, connection, models
from django.db.models import Case, F, OuterRef, Q, QuerySet, Subquery, When, Window
from django.db.models.functions import FirstValue, Now, RowNumber
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

LOST_AFTER: Final = timedelta(seconds=30)  # a message that has no effect by then is sent again
NO_ERROR: Final[dict[str, Any]] = {"error_code": "", "error": "", "hint": "", "run_after": None}
RESTARTED: Final[dict[str, Any]] = {**NO_ERROR, "attempts": 0, "crashes": 0, "sent_at": None}
PROGRESS: Final = {"attempts": 1, "crashes": 1}  # of the attempt that makes it
BEATS: Final = 6  # in the length of a lease: some may be late or lost

logger = logging.getLogger(__name__)

_Queued = TypeVar("_Queued", bound="QueuedWork")
_Leased = TypeVar("_Leased", bound="LeasedWork")
_Works = TypeVar("_Works", bound="QuerySet[Any]")


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """Attempt ``n`` is followed by a pause of ``pause * factor**n``, at most ``longest``."""

    pause: timedelta
    factor: int = 1
    longest: timedelta = timedelta(hours=1)
    attempts: int | None = None  # the last of which is final; None: no limit

    def next_try(self, attempts: int) -> datetime | None:
        """Return when to try again after this many attempts, or None to give up."""
        if self.attempts is not None and attempts >= self.attempts:
            return None
        growth: int = self.factor ** min(attempts, 8)
        return clock.now() + min(self.pause * growth, self.longest)


_LATER = RetryPolicy(pause=timedelta(minutes=10), factor=6, longest=timedelta(days=1), attempts=4)
POLICIES: Mapping[Retry, RetryPolicy] = {
    Retry.ONCE: RetryPolicy(pause=timedelta(minutes=1), attempts=2),
    Retry.NETWORK: RetryPolicy(pause=timedelta(seconds=15), factor=4, attempts=3),
    Retry.UNEXPECTED: RetryPolicy(pause=timedelta(seconds=15), factor=4, attempts=3),
    Retry.COOL_DOWN: RetryPolicy(pause=timedelta(minutes=15), factor=2, attempts=3),
    Retry.RESTART: RetryPolicy(pause=timedelta(milliseconds=500), factor=2),
    Retry.SERVER: RetryPolicy(pause=timedelta(seconds=15), factor=4),
    Retry.LATER: _LATER,
    Retry.AT_TIME: _LATER,  # for a time that is unknown
    Retry.RECEIVER: RetryPolicy(
        pause=timedelta(seconds=10), factor=4, longest=timedelta(hours=6), attempts=10
    ),
    Retry.SPACE: RetryPolicy(pause=timedelta(seconds=10)),
    Retry.SETTINGS: RetryPolicy(pause=timedelta(minutes=10)),
}


def next_try(error: Exception, attempts: int) -> datetime | None:
    """Return when to try again after this error, or None to give up."""
    retry = error.retry if isinstance(error, KnowledgeBaseError) else Retry.UNEXPECTED
    policy = POLICIES.get(retry)
    return policy.next_try(attempts) if policy else None


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
        label = f"{self._meta.verbose_name} {self.pk}"
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
                logger.warning("%s lost the database: %s", label, error)
                if not connection.is_usable():
                    connection.close()  # the next statement opens another
                self.settle(error if storage_full(error) else DatabaseLost())
            except KnowledgeBaseError as error:
                self.settle(error)
            except Exception as error:
                logger.exception("%s failed unexpectedly", label)
                self.settle(error)
            finally:
                if self.crashes:
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


@contextmanager
def keep_alive(work: "LeasedWorkQuerySet[Any]", holder: UUID | None) -> Iterator[None]:
    """Renew the lease of this work in a thread during the block, or until it is lost, while its
    holder waits, for example for a language model.

    The thread dies with its process, so the work of a killed one is soon free.
    """
    ended = Event()

    def renew(holder: UUID) -> None:
        while not ended.wait(work.model.LEASE.total_seconds() / BEATS):
            try:
                if not work.all().renew(holder):
                    return
            except (DatabaseError, InterfaceError) as error:
                logger.warning("A lease could not be renewed: %s", error)
            finally:
                connection.close()

    if holder is not None:
        Thread(target=renew, args=(holder,), name="lease", daemon=True).start()
    try:
        yield
    finally:
        ended.set()


def in_turn(
    works: _Works,
    *,
    classes: Sequence[str],
    started: "QuerySet[Any]",
    names: tuple[str, str],
    within: Sequence[Any] = ("pk",),
) -> _Works:
    """Order work: the first of each lane, beginning with the lane that was served longest ago;
    then the second of each lane, and so on (docs/decisions/0013).

    A lane is the work of one collection that one person added. ``classes`` go before turns ("-":
    descending); ``within`` is the order within a lane. ``started`` is all work that was begun ever.
    ``names`` are those of the columns of who added it and of when it was begun.
    """
    person, begun_at = names
    lane = started.filter(**{"collection": OuterRef("collection"), f"{begun_at}__isnull": False})
    own, nobodys = (
        Subquery(lane.filter(**{person: owner}).order_by(f"-{begun_at}").values(begun_at)[:1])
        for owner in (OuterRef(person), None)
    )
    window: dict[str, Any] = {
        "partition_by": [*(name.removeprefix("-") for name in classes), "collection", person],
        "order_by": list(within),
    }
    turned = works.annotate(
        turn=Window(RowNumber(), **window),
        served_at=Case(When(**{person: None}, then=nobodys), default=own),
        head=Window(FirstValue("pk"), **window),  # lanes that were never served, in this order
    )
    return turned.order_by(*classes, "turn", F("served_at").asc(nulls_first=True), "head")
