"""The gate to YouTube: one queue for all workers, paced, and closed for a while when YouTube refuses this address."""

import random
from datetime import datetime, timedelta

from django.db import models, transaction
from django.utils import timezone

from transcripts.errors import GateClosed, KnowledgeBaseError

COOL_DOWN_MINUTES = (15, 30, 60, 120)
OUTAGE_QUESTIONS, OUTAGE_MINUTES = 3, 5
PROBE_SECONDS = 120  # while a probe is out, nobody else goes through


class YouTubeGate(models.Model):
    """When the next question to YouTube may be asked: one row.

    A circuit breaker: a refusal closes the gate for 15 minutes; after that one probe goes through; each further refusal doubles the pause, up to
    two hours; the first success opens it again. When the network swallows several questions in a row, nobody else's tries are wasted on it either.
    """

    id = models.PositiveSmallIntegerField(primary_key=True, default=1)
    next_at = models.DateTimeField(default=timezone.now)
    closed_until = models.DateTimeField(null=True, blank=True)
    refusals = models.PositiveSmallIntegerField(default=0)
    unanswered = models.PositiveSmallIntegerField(
        default=0, help_text="Questions in a row that the network swallowed."
    )
    reason_code = models.CharField(max_length=40, blank=True)
    reason = models.TextField(blank=True)
    last_success_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name = "YouTube gate"
        constraints = (models.CheckConstraint(condition=models.Q(id=1), name="gate_one_row"),)

    def __str__(self) -> str:
        return f"YouTube gate: {self.state}"

    @classmethod
    def current(cls) -> "YouTubeGate":
        """Return the row, making it the first time."""
        return cls.objects.get_or_create(pk=1)[0]

    @property
    def state(self) -> str:
        """``open``, ``closed`` (cooling down) or ``probing`` (one question is allowed through to see)."""
        if self.closed_until and self.closed_until > timezone.now():
            return "closed"
        return "probing" if self.refusals else "open"

    @property
    def free_at(self) -> datetime:
        """The earliest moment of the next question."""
        return max(self.next_at, self.closed_until) if self.closed_until else self.next_at

    @property
    def is_free(self) -> bool:
        """Whether a question may be asked now."""
        return self.free_at <= timezone.now()

    @classmethod
    def pass_through(cls, *, pace: float) -> None:
        """Take the turn now, or raise ``GateClosed`` with the moment to come back; ``pace`` is the usual pause in seconds."""
        with transaction.atomic():
            gate = cls._locked()
            now = timezone.now()
            if gate.free_at > now:
                raise _closed(gate)
            pause = PROBE_SECONDS if gate.refusals else pace * random.uniform(0.75, 1.25)
            gate.next_at = now + timedelta(seconds=pause)
            gate.save(update_fields=["next_at"])

    @classmethod
    def succeeded(cls, *, pace: float) -> None:
        """Open the gate: YouTube answered."""
        with transaction.atomic():
            gate = cls._locked()
            if gate.refusals:
                gate.next_at = timezone.now() + timedelta(seconds=pace)
            gate.refusals, gate.unanswered, gate.closed_until, gate.reason_code, gate.reason = (
                0,
                0,
                None,
                "",
                "",
            )
            gate.last_success_at = timezone.now()
            gate.save()

    @classmethod
    def refused(cls, error: KnowledgeBaseError) -> datetime:
        """Close the gate: YouTube refuses this address. Returns until when."""
        with transaction.atomic():
            gate = cls._locked()
            minutes = COOL_DOWN_MINUTES[min(gate.refusals, len(COOL_DOWN_MINUTES) - 1)]
            gate.closed_until = timezone.now() + timedelta(minutes=minutes)
            gate.refusals = min(gate.refusals + 1, 1000)
            gate.reason_code, gate.reason = error.code, error.message
            gate.save()
            return gate.closed_until

    @classmethod
    def unreachable(cls, error: KnowledgeBaseError) -> datetime | None:
        """Note that no answer came. After several in a row the gate closes for some minutes; returns until when, else None."""
        with transaction.atomic():
            gate = cls._locked()
            gate.unanswered = min(gate.unanswered + 1, 1000)
            if gate.unanswered >= OUTAGE_QUESTIONS:
                gate.closed_until = timezone.now() + timedelta(minutes=OUTAGE_MINUTES)
                gate.reason_code, gate.reason = error.code, error.message
            gate.save()
            return gate.closed_until if gate.unanswered >= OUTAGE_QUESTIONS else None

    @classmethod
    def reopen(cls) -> None:
        """Forget the refusals: a person changed the proxy, or wants to try at once."""
        anew = {
            "next_at": timezone.now(),
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
    if gate.state == "closed":
        why = "YouTube is refusing this server" if gate.refusals else "YouTube cannot be reached"
        return GateClosed(
            f"{why}; the queue pauses until {when:%H:%M}.",
            retry_at=int(gate.free_at.timestamp()) + 1,
        )
    return GateClosed(
        f"One question at a time: the next goes to YouTube at {when:%H:%M:%S}.",
        retry_at=int(gate.free_at.timestamp()) + 1,
    )
