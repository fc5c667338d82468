"""Live lectures: who speaks where, what was said, the windows it was cut into, and what happened, in order."""

import uuid
from datetime import timedelta

from django.contrib.auth.models import User
from django.db import models
from django.db.models import Q

from citations.models.sources import Source
from transcripts.models import Collection, Transcript, VisibleQuerySet
from transcripts.work.models import LeasedWork, LeasedWorkQuerySet


class WindowOutcome(models.TextChoices):
    """What became of a window."""

    WAITING = "waiting", "waiting"
    CITED = "cited", "cited"
    OFF_TOPIC = "off_topic", "off-topic"
    TOO_FAR = "too_far", "nothing is near enough"
    TOO_WEAK = "too_weak", "nothing is relevant enough"
    NO_DOCUMENTS = "no_documents", "there are no documents"
    FAILED = "failed", "failed"


class LectureQuerySet(VisibleQuerySet["LectureSession"]):
    pass


class LectureSession(models.Model):
    """One lecture that is listened to. It cites the sources it names, or every source of its collection when it never named any."""

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="lectures")
    owner = models.ForeignKey(
        User, on_delete=models.SET_NULL, null=True, blank=True, related_name="lectures"
    )
    title = models.CharField(max_length=300)
    language = models.CharField(max_length=35, blank=True)
    sources = models.ManyToManyField(Source, blank=True, related_name="lectures")
    names_sources = models.BooleanField(
        default=False, help_text="It cites nothing else, also when all of them are deleted."
    )
    transcript = models.ForeignKey(
        Transcript,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        help_text="What is replayed.",
    )
    position = models.PositiveIntegerField(
        "position (ms)", default=0, help_text="How far it has been replayed."
    )
    buffer = models.JSONField(
        default=dict,
        blank=True,
        help_text="What was said since the last window, as windows.py keeps it.",
    )
    window_count = models.PositiveIntegerField(default=0)
    event_count = models.PositiveIntegerField(default=0)
    ended_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = LectureQuerySet.as_manager()

    class Meta:
        ordering = ("-created_at", "-pk")
        indexes = (
            models.Index(fields=("collection", "-created_at", "-id"), name="lecture_newest"),
        )

    def __str__(self) -> str:
        return self.title


class Segment(models.Model):
    """A piece of speech as it was sent. ``number`` is the sender's, and orders them; one that is sent twice counts once."""

    session = models.ForeignKey(LectureSession, on_delete=models.CASCADE, related_name="segments")
    number = models.PositiveIntegerField()
    text = models.TextField()
    start = models.PositiveIntegerField("start (ms)", null=True, blank=True)
    end = models.PositiveIntegerField("end (ms)", null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("session_id", "number")
        constraints = (models.UniqueConstraint(fields=("session", "number"), name="segment_once"),)

    def __str__(self) -> str:
        return f"{self.session_id} · {self.number}"


class WindowQuerySet(LeasedWorkQuerySet["Window"]):
    """Windows, and those that wait."""

    def waiting(self) -> "WindowQuerySet":
        """Keep the windows that are not cited yet."""
        return self.filter(outcome=WindowOutcome.WAITING)


class Window(LeasedWork):
    """Two or three sentences that were looked up together, what came of it, and how long each stage took."""

    LEASE = timedelta(seconds=90)

    session = models.ForeignKey(LectureSession, on_delete=models.CASCADE, related_name="windows")
    index = models.PositiveIntegerField()
    text = models.TextField()
    first = models.PositiveIntegerField("first segment", null=True, blank=True)
    last = models.PositiveIntegerField("last segment", null=True, blank=True)
    start = models.PositiveIntegerField("start (ms)", null=True, blank=True)
    end = models.PositiveIntegerField("end (ms)", null=True, blank=True)
    outcome = models.CharField(
        max_length=14, choices=WindowOutcome.choices, default=WindowOutcome.WAITING
    )
    note = models.TextField(
        blank=True,
        help_text="What a reader of the citations should know: not re-ranked, failed for which reason.",
    )
    keywords = models.JSONField(default=list, blank=True)
    off_topic = models.FloatField(
        null=True, blank=True, help_text="How sure the gate is that it is off-topic, 0 to 1."
    )
    distance = models.FloatField(
        null=True, blank=True, help_text="Squared L2 distance to the nearest chunk, 0 to 4."
    )
    stages = models.JSONField(default=dict, blank=True, help_text="Milliseconds by stage.")
    milliseconds = models.FloatField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    objects = WindowQuerySet.as_manager()

    class Meta:
        ordering = ("session_id", "index")
        constraints = (
            models.UniqueConstraint(fields=("session", "index"), name="window_once"),
            models.CheckConstraint(
                condition=Q(outcome__in=WindowOutcome.values), name="window_outcome"
            ),
        )
        indexes = (
            models.Index(
                fields=("created_at",), condition=Q(outcome="waiting"), name="window_waiting"
            ),
        )

    def __str__(self) -> str:
        return f"{self.session_id} · window {self.index}"


class LectureEvent(models.Model):
    """Something that those who watch a session are told. Numbered within the session without gaps, in the order of their commits."""

    session = models.ForeignKey(LectureSession, on_delete=models.CASCADE, related_name="events")
    number = models.PositiveIntegerField()
    kind = models.CharField(max_length=20)
    data = models.JSONField(default=dict)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("session_id", "number")
        constraints = (
            models.UniqueConstraint(fields=("session", "number"), name="lecture_event_once"),
        )

    def __str__(self) -> str:
        return f"{self.session_id} · {self.number} {self.kind}"
