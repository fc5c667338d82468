"""The gate to YouTube: it spaces the requests of all workers, and closes after a refusal."""

import random
from datetime import datetime, timedelta

from django.db import models, transaction
from django.db.models.functions import Now
from django.utils import timezone

from transcripts.core import clock
from transcripts.core.errors import GateClosed, KnowledgeBaseError

COOL_DOWN_MINUTES = (15, 30, 60, 120)
OUTAGE_REQUESTS, OUTAGE_MINUTES = 3, 5
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
                raise _closed(gate)
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
            "next_at": clock.now(),
            "closed_until": None,
            "refusals": 0,
            "unanswered": 0,
            "reason_code": "",
            "reason": "",
        }
        cls.objects.update_or_create(pk=1, defaults=anew)

    @classmethod
    def _locked(cls) -> "YouTubeGate":
        cls.current()
        return cls.objects.select_for_update().get(pk=1)


def _closed(gate: YouTubeGate) -> GateClosed:
    when = timezone.localtime(gate.free_at)
    message = f"Requests to YouTube are spaced; the next is at {when:%H:%M:%S}."
    if gate.state == "closed":
        reason = "YouTube is refusing this server" if gate.refusals else "YouTube cannot be reached"
        message = f"{reason}; the queue pauses until {when:%H:%M}."
    return GateClosed(message, retry_at=int(gate.free_at.timestamp()) + 1)
