"""What jobs wait for: the gate to YouTube, and the workers.

The gate spaces the requests of all workers, and closes after a refusal.
"""

import random
from datetime import datetime, timedelta
from typing import Final

from django.db import models, transaction
from django.db.models import F
from django.db.models.functions import Now
from django.utils import timezone

from transcripts.core import clock
from transcripts.core.errors import GateClosed, KnowledgeBaseError

COOL_DOWN_MINUTES = (15, 30, 60, 120)
OUTAGE_REQUESTS, OUTAGE_MINUTES = 3, 5
RECENT: Final = timedelta(seconds=45)
PROBE_SECONDS = 120  # the time that a probe has before the next request


class YouTubeGate(models.Model):
    """When the next request to YouTube may be sent. There is one row.

    This is a circuit breaker. A refusal closes the gate for 15 minutes; then one probe passes. Each
    further refusal doubles the pause, up to two hours, and the first success opens the gate. It
    also closes for a few minutes when several requests in a row get no answer.
    """

    id = models.PositiveSmallIntegerField(primary_key=True, default=1)
    next_at = models.DateTimeField(db_default=Now())
    closed_until = models.DateTimeField(null=True, blank=True)
    refusals = models.PositiveSmallIntegerField(default=0)
    unanswered = models.PositiveSmallIntegerField(
        default=0, help_text="Requests in a row that got no answer."
    )
    reason_code = models.CharField("reason", max_length=40, blank=True)
    reason = models.TextField(blank=True)
    last_success_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name = "YouTube gate"
        constraints = (models.CheckConstraint(condition=models.Q(id=1), name="gate_one_row"),)

    def __str__(self) -> str:
        return f"YouTube gate: {self.state}"

    @classmethod
    def current(cls) -> "YouTubeGate":
        """Return the row; create it the first time."""
        return cls.objects.get_or_create(pk=1)[0]

    @property
    def state(self) -> str:
        """``open``, ``closed``, or ``probing`` if one request may pass as a test."""
        if self.closed_until and self.closed_until > clock.now():
            return "closed"
        return "probing" if self.refusals else "open"

    @property
    def free_at(self) -> datetime:
        """The earliest time of the next request."""
        return max(self.next_at, self.closed_until) if self.closed_until else self.next_at

    @property
    def is_free(self) -> bool:
        return self.free_at <= clock.now()

    @classmethod
    def pass_through(cls, *, pace: float) -> None:
        """Reserve a request now; ``pace`` is the usual pause in seconds. Raises ``GateClosed``."""
        with transaction.atomic():
            gate = cls._locked()
            now = clock.now()
            if gate.free_at > now:
                raise gate.closed()
            pause = PROBE_SECONDS if gate.refusals else pace * random.uniform(0.75, 1.25)
            gate.next_at = now + timedelta(seconds=pause)
            gate.save(update_fields=["next_at"])

    @classmethod
    def succeeded(cls, *, pace: float) -> None:
        """Open the gate, because YouTube answered."""
        with transaction.atomic():
            gate = cls._locked()
            if gate.refusals:
                gate.next_at = clock.now() + timedelta(seconds=pace)
            gate.refusals = gate.unanswered = 0
            gate.reason_code = gate.reason = ""
            gate.closed_until = None
            gate.last_success_at = clock.now()
            gate.save()

    @classmethod
    def refused(cls, error: KnowledgeBaseError) -> datetime:
        """Close the gate, because YouTube refuses this server; return until when."""
        with transaction.atomic():
            gate = cls._locked()
            minutes = COOL_DOWN_MINUTES[min(gate.refusals, len(COOL_DOWN_MINUTES) - 1)]
            gate.closed_until = clock.now() + timedelta(minutes=minutes)
            gate.refusals = min(gate.refusals + 1, 1000)
            gate.reason_code, gate.reason = error.code, error.message
            gate.save()
            return gate.closed_until

    @classmethod
    def unreachable(cls, error: KnowledgeBaseError) -> datetime | None:
        """Count an unanswered request; return until when the gate is closed, if it is."""
        with transaction.atomic():
            gate = cls._locked()
            gate.unanswered = min(gate.unanswered + 1, 1000)
            if gate.unanswered >= OUTAGE_REQUESTS:
                gate.closed_until = clock.now() + timedelta(minutes=OUTAGE_MINUTES)
                gate.reason_code, gate.reason = error.code, error.message
            gate.save()
            return gate.closed_until if gate.unanswered >= OUTAGE_REQUESTS else None

    @classmethod
    def answered_since(cls, moment: datetime | None) -> bool:
        """Return whether YouTube answered a request after this moment."""
        success = cls.current().last_success_at
        return bool(moment and success and success > moment)

    @classmethod
    def reopen(cls) -> None:
        """Forget the refusals, because the proxy was changed, or to try now."""
        anew = {
            "closed_until": None,
            "refusals": 0,
            "unanswered": 0,
            "reason_code": "",
            "reason": "",
        }
        cls.objects.update_or_create(pk=1, defaults={"next_at": clock.now(), **anew})

    def closed(self) -> GateClosed:
        """Return the error that says until when to wait, and why."""
        when = timezone.localtime(self.free_at)
        text = f"Requests to YouTube are spaced; the next is at {when:%H:%M:%S}."
        if self.state == "closed":
            reason = (
                "YouTube is refusing this server" if self.refusals else "YouTube cannot be reached"
            )
            text = f"{reason}; the queue pauses until {when:%H:%M}."
        return GateClosed(text, retry_at=int(self.free_at.timestamp()) + 1)

    @classmethod
    def _locked(cls) -> "YouTubeGate":
        cls.current()
        return cls.objects.select_for_update().get(pk=1)


class WorkerPulse(models.Model):
    """When a worker last read the queue, and one last ran the schedule. There is one row."""

    id = models.PositiveSmallIntegerField(primary_key=True, default=1)
    seen_at = models.DateTimeField()
    schedule_ran_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"worker seen {self.seen_at}"

    @classmethod
    def beat(cls) -> None:
        """Record that a worker is alive."""
        cls.objects.update_or_create(pk=1, defaults={"seen_at": Now()})

    @classmethod
    def record_schedule(cls) -> None:
        """Record that the schedule runs."""
        cls.objects.update_or_create(
            pk=1,
            defaults={"schedule_ran_at": Now()},
            create_defaults={"seen_at": Now(), "schedule_ran_at": Now()},
        )

    @classmethod
    def schedule_age(cls) -> float | None:
        """Return the seconds since the schedule last ran; None: it never did."""
        ages = cls.objects.annotate(age=Now() - F("schedule_ran_at")).values_list("age", flat=True)
        age = ages.first()
        return age.total_seconds() if age is not None else None

    @classmethod
    def is_alive(cls) -> bool:
        """Return whether a worker read the queue recently."""
        return cls.objects.filter(seen_at__gte=Now() - RECENT).exists()
