"""Highlights: passages that readers keep, each with a colour, a note and tags."""

import uuid

from django.contrib.auth.models import User
from django.db import models
from django.db.models import CheckConstraint, F, Index, Q
from django.utils.translation import gettext_lazy as _

from citations.models.sources import LocatedRow, Source
from citations.text.speakers import label_length
from transcripts.core.scope import Scope
from transcripts.models import Deletable


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
