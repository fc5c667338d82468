"""What readers keep: highlights, judgments of hits, and how far they have read."""

import uuid

from django.conf import settings
from django.contrib.auth.models import User
from django.db import models
from django.db.models import CheckConstraint, F, Index, Q, UniqueConstraint
from django.utils.translation import gettext_lazy as _

from citations.models.chunks import LocatedRow
from citations.models.sources import Source
from citations.text.speakers import label_length
from transcripts.core.scope import Scope
from transcripts.models import Deletable, Video


class HighlightColor(models.TextChoices):
    YELLOW = "yellow", _("yellow")
    GREEN = "green", _("green")
    BLUE = "blue", _("blue")
    PINK = "pink", _("pink")


class HighlightQuerySet(models.QuerySet["Highlight"]):
    def readable(self, scope: Scope, user: User | None) -> "HighlightQuerySet":
        """Keep a user's own (None: the local user), and shared ones, in sources of the scope."""
        readable = self.kept().filter(source__in=Source.objects.visible(scope))
        return readable.filter(Q(author=user) | Q(is_shared=True))

    def hidden(self, scope: Scope, user: User | None) -> "HighlightQuerySet":
        """Keep a user's own in collections that the user may not read any more."""
        return self.kept().filter(author=user).exclude(source__collection__in=scope.readable)

    def kept(self) -> "HighlightQuerySet":
        """Leave out highlights that are about to be deleted."""
        return self.filter(deletion=None)


class Highlight(Deletable, LocatedRow):
    """A passage of a source, anchored as a citation is: ``quote`` is the text with that ``digest``
    in the span, between ``prefix`` and ``suffix``.

    A private one is its author's alone; a shared one is seen by all readers of the source.
    """

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    source = models.ForeignKey(Source, models.CASCADE, related_name="highlights")
    author = models.ForeignKey(
        User, models.CASCADE, null=True, blank=True, related_name="highlights"
    )
    color = models.CharField(
        max_length=10, choices=HighlightColor.choices, default=HighlightColor.YELLOW
    )
    quote = models.TextField()
    prefix = models.CharField(max_length=100, blank=True)
    suffix = models.CharField(max_length=100, blank=True)
    digest = models.CharField(max_length=64, help_text="Of the text that the span refers to.")
    section_heading = models.CharField(max_length=300, blank=True)
    speaker = models.CharField(
        max_length=100, blank=True, help_text="Who says it, if captions name speakers."
    )
    note = models.TextField(blank=True)
    tags = models.JSONField(default=list, blank=True)
    is_shared = models.BooleanField("shared", default=False)
    is_card = models.BooleanField("card", default=False, help_text="To be learnt by heart.")
    hidden_words = models.CharField(
        max_length=200, blank=True, help_text="By its card; empty: chosen automatically."
    )
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    objects = HighlightQuerySet.as_manager()

    class Meta:
        ordering = ("-created_at", "-pk")
        indexes = (
            Index(fields=("author", "-created_at", "-id"), name="highlight_latest"),
            Index(fields=("source", "span_start"), name="highlight_in_source"),
        )
        constraints = (
            CheckConstraint(condition=Q(color__in=HighlightColor.values), name="highlight_color"),
            CheckConstraint(condition=Q(span_end__gt=F("span_start")), name="highlight_not_empty"),
        )

    def __str__(self) -> str:
        return self.quote[:80]

    @property
    def attribution(self) -> str:
        """Who says the quote; "" where it is not known, or the quote begins with the name."""
        return "" if label_length(self.quote, self.speaker) else self.speaker


class Mark(models.Model):
    """One user's judgment of a passage for a query, anchored to the text, not to a chunk."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="marks")
    query = models.CharField(max_length=1000)
    source = models.ForeignKey(Source, models.CASCADE, related_name="marks")
    span_start = models.PositiveIntegerField()
    span_end = models.PositiveIntegerField()
    start = models.PositiveIntegerField("start (ms)", null=True, blank=True)
    end = models.PositiveIntegerField("end (ms)", null=True, blank=True)
    page = models.PositiveIntegerField(null=True, blank=True)
    right = models.BooleanField("judged right")
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ("-pk",)
        constraints = (
            UniqueConstraint(
                fields=("user", "query", "source", "span_start", "span_end"), name="mark_once"
            ),
            CheckConstraint(condition=Q(span_end__gt=F("span_start")), name="mark_not_empty"),
        )

    def __str__(self) -> str:
        return f"{'right' if self.right else 'wrong'}: {self.query[:60]}"


class ReadingProgress(models.Model):
    """One user's place in a recording, whatever the language, or in a document."""

    user = models.ForeignKey(User, models.CASCADE, related_name="reading_progress")
    video = models.ForeignKey(
        Video,
        models.CASCADE,
        null=True,
        blank=True,
        related_name="reading_progress",
        verbose_name="recording",
    )
    document = models.ForeignKey(
        Source, models.CASCADE, null=True, blank=True, related_name="reading_progress"
    )
    position = models.PositiveIntegerField(
        default=0, help_text="Milliseconds of a recording, or the page of a document."
    )
    is_finished = models.BooleanField("read", default=False, help_text="The end was reached once.")
    read_at = models.DateTimeField("last read")

    class Meta:
        verbose_name_plural = "reading progress"
        ordering = ("-read_at", "-pk")
        constraints = (
            UniqueConstraint(fields=("user", "video"), name="reading_of_video_once"),
            UniqueConstraint(fields=("user", "document"), name="reading_of_document_once"),
            CheckConstraint(
                condition=Q(video__isnull=True) ^ Q(document__isnull=True), name="reading_of_one"
            ),
        )
        indexes = (Index(fields=("user", "-read_at"), name="reading_latest"),)

    def __str__(self) -> str:
        return f"{self.user_id} · {self.video or self.document}"
