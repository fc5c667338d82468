"""The pulse of the workers: whether one reads the queue, and one runs the schedule."""

from datetime import timedelta
from typing import Final

from django.db import models
from django.db.models import F
from django.db.models.functions import Now

RECENT: Final = timedelta(seconds=45)


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
