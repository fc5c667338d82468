"""Relevance judgments: the gold data to evaluate a library with."""

from django.conf import settings
from django.db import models
from django.db.models import CheckConstraint, F, Q, UniqueConstraint

from citations.models.sources import Source


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
