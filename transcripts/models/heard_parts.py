"""What was heard of a recording so far."""

from django.db import models
from django.db.models import CheckConstraint, F, Q, UniqueConstraint

from transcripts.models.jobs import Job


class HeardPart(models.Model):
    """A part of a recording that its job has heard, in ms from the recording's beginning. They are
    deleted when all is heard.
    """

    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="heard_parts")
    start = models.PositiveIntegerField("start (ms)")
    end = models.PositiveIntegerField("end (ms)")
    language = models.CharField(max_length=35, blank=True)
    made_by = models.CharField(max_length=120, help_text="The model that recognised the speech.")
    seconds = models.FloatField(help_text="How long that took.")
    cues = models.JSONField(help_text="[[start, end, text], …]")
    word_times = models.JSONField(help_text="Per cue null or [[start, word], …].")

    class Meta:
        ordering = ("job_id", "start")
        constraints = (
            UniqueConstraint(fields=("job", "start"), name="heard_part_once"),
            CheckConstraint(condition=Q(end__gte=F("start")), name="heard_part_times"),
        )

    def __str__(self) -> str:
        return f"{self.job_id} · {self.start}"
