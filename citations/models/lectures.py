"""Live lectures: sessions, segments, windows and the events sent to viewers."""

import uuid
from datetime import timedelta

from django.contrib.auth.models import User
from django.db import models
from django.db.models import CheckConstraint, Index, Q, UniqueConstraint
from django.utils.translation import gettext_lazy as _

from citations.models.sources import Source
from transcripts.core.work.models import LeasedWork, LeasedWorkQuerySet
from transcripts.models import Collection, Deletable, DeletableQuerySet, Transcript


class WindowOutcome(models.TextChoices):
    WAITING = "waiting", _("waiting")
    CITED = "cited", _("cited")
    OFF_TOPIC = "off_topic", _("off-topic")
    TOO_FAR = "too_far", _("nothing is near enough")
    TOO_WEAK = "too_weak", _("nothing is relevant enough")
    NO_DOCUMENTS = "no_documents", _("there are no documents")
    NOT_INDEXED = "not_indexed_yet", _("the documents are not indexed yet")
    FAILED = "failed", _("failed")


class LectureState(models.TextChoices):
    NOT_BEGUN = "not_begun", _("not begun")
    IN_PROGRESS = "in_progress", _("in progress")
    ENDED = "ended", _("ended")


class LectureSession(Deletable):
    """A lecture. It cites the sources it names; if it never named any, its collection's.

    ``transcript`` is the recording that it replays, or as which it was kept.
    """

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    collection = models.ForeignKey(Collection, models.CASCADE, related_name="lectures")
    owner = models.ForeignKey(User, models.SET_NULL, null=True, blank=True, related_name="lectures")
    title = models.CharField(max_length=300)
    language = models.CharField(max_length=35, blank=True)
    sources = models.ManyToManyField(Source, blank=True, related_name="lectures")
    names_sources = models.BooleanField(default=False, help_text="It cites no others.")
    transcript = models.ForeignKey(
        Transcript, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    position = models.PositiveIntegerField("position (ms)", default=0)
    buffer = models.JSONField(default=dict, blank=True, help_text="windows.Buffer as JSON.")
    window_count = models.PositiveIntegerField(default=0)
    event_count = models.PositiveIntegerField(default=0)
    ended_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = DeletableQuerySet["LectureSession"].as_manager()

    class Meta:
        ordering = ("-created_at", "-pk")
        verbose_name = "lecture"
        indexes = (
            Index(fields=("collection", "-created_at", "-id"), name="lecture_newest"),
            Index(
                fields=("deletion",), condition=Q(deletion__isnull=False), name="lecture_deletion"
            ),
        )

    def __str__(self) -> str:
        return self.title

    @property
    def state(self) -> LectureState:
        """It begins with its first event: speech, or a window that was sent."""
        if self.ended_at is not None:
            return LectureState.ENDED
        return LectureState.IN_PROGRESS if self.event_count else LectureState.NOT_BEGUN


class Segment(models.Model):
    """A piece of speech as it was sent. The sender numbers it; a repeated number is ignored."""

    session = models.ForeignKey(LectureSession, models.CASCADE, related_name="segments")
    number = models.PositiveIntegerField()
    text = models.TextField()
    start = models.PositiveIntegerField("start (ms)", null=True, blank=True)
    end = models.PositiveIntegerField("end (ms)", null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("session_id", "number")
        constraints = (UniqueConstraint(fields=("session", "number"), name="segment_once"),)

    def __str__(self) -> str:
        return f"{self.session_id} · {self.number}"


class WindowQuerySet(LeasedWorkQuerySet["Window"]):
    def waiting(self) -> "WindowQuerySet":
        """Keep the windows that are not cited yet."""
        return self.filter(outcome=WindowOutcome.WAITING)


class Window(LeasedWork):
    """Two or three sentences that are looked up together, and the result."""

    LEASE = timedelta(seconds=30)

    session = models.ForeignKey(LectureSession, models.CASCADE, related_name="windows")
    index = models.PositiveIntegerField()
    text = models.TextField()
    first = models.PositiveIntegerField("first segment", null=True, blank=True)
    last = models.PositiveIntegerField("last segment", null=True, blank=True)
    start = models.PositiveIntegerField("start (ms)", null=True, blank=True)
    end = models.PositiveIntegerField("end (ms)", null=True, blank=True)
    outcome = models.CharField(
        max_length=15, choices=WindowOutcome.choices, default=WindowOutcome.WAITING
    )
    note = models.TextField(blank=True, help_text="A remark for the reader.")
    keywords = models.JSONField(default=list, blank=True)
    off_topic = models.FloatField(null=True, blank=True, help_text="Probability.")
    distance = models.FloatField(null=True, blank=True, help_text="Squared L2, 0 to 4.")
    stages = models.JSONField(default=dict, blank=True, help_text="Milliseconds by stage.")
    milliseconds = models.FloatField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    objects = WindowQuerySet.as_manager()

    class Meta:
        ordering = ("session_id", "index")
        constraints = (
            UniqueConstraint(fields=("session", "index"), name="window_once"),
            CheckConstraint(condition=Q(outcome__in=WindowOutcome.values), name="window_outcome"),
        )
        indexes = (
            Index(fields=("created_at",), condition=Q(outcome="waiting"), name="window_waiting"),
        )

    def __str__(self) -> str:
        return f"{self.session_id} · window {self.index}"


class LectureEvent(models.Model):
    """An event for the viewers of a session, numbered without gaps in commit order."""

    session = models.ForeignKey(LectureSession, models.CASCADE, related_name="events")
    number = models.PositiveIntegerField()
    kind = models.CharField(max_length=20)
    data = models.JSONField(default=dict)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("session_id", "number")
        constraints = (UniqueConstraint(fields=("session", "number"), name="lecture_event_once"),)

    def __str__(self) -> str:
        return f"{self.session_id} · {self.number} {self.kind}"
