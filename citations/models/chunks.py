"""Chunks of sources, which a search finds, and what all rows with a place in a text have."""

from typing import Any

from django.db import models
from django.db.models import CheckConstraint, F, Q, UniqueConstraint

from citations.models.sources import Source
from citations.passages import Locator

LOCATION = ("span_start", "span_end", "start", "end", "page", "last_page")


class LocatedRow(models.Model):
    """A span of a source's text, with its time in a recording or its pages."""

    source: Any  # a field of each such row

    span_start = models.PositiveIntegerField()
    span_end = models.PositiveIntegerField()
    start = models.PositiveIntegerField("start (ms)", null=True, blank=True)
    end = models.PositiveIntegerField("end (ms)", null=True, blank=True)
    page = models.PositiveIntegerField(null=True, blank=True)
    last_page = models.PositiveIntegerField(null=True, blank=True)

    class Meta:
        abstract = True

    @property
    def locator(self) -> Locator:
        """The span, with its time or pages, as a value."""
        return Locator(
            span=(self.span_start, self.span_end),
            start=self.start,
            end=self.end,
            page=self.page,
            last_page=self.last_page,
            is_slide=self.is_slide,
        )

    @property
    def is_slide(self) -> bool:
        """Whether its pages are slides."""
        return self.page is not None and self.source.has_slides


def indexed_text(context: str, text: str) -> str:
    """Return the text to embed, index and re-rank: context, empty line, text."""
    return f"{context}\n\n{text}" if context else text


class Chunk(LocatedRow):
    """A passage of about 500 characters; ``position`` is its number in the lexicon."""

    source = models.ForeignKey(Source, models.CASCADE, related_name="chunks")
    ordinal = models.PositiveIntegerField()
    position = models.BigIntegerField(unique=True)
    text = models.TextField()
    context = models.TextField(blank=True, help_text="By a language model.")
    heading = models.CharField(max_length=300, blank=True)
    sentence_starts = models.JSONField(
        default=list, blank=True, help_text="Its character, and when it is said (ms)."
    )
    speaker = models.CharField(
        max_length=100,
        blank=True,
        db_default="",
        help_text="Who alone says it, where that is known.",
    )
    digest = models.BinaryField(max_length=32, help_text="SHA-256 of ``indexed_text``.")

    class Meta:
        ordering = ("source_id", "ordinal")
        constraints = (
            UniqueConstraint(
                fields=("source", "ordinal"),
                name="chunk_once",
                deferrable=models.Deferrable.DEFERRED,
            ),
            CheckConstraint(condition=Q(span_end__gt=F("span_start")), name="chunk_not_empty"),
        )
        indexes = (
            models.Index(
                fields=("speaker", "source"), condition=~Q(speaker=""), name="chunk_speaker"
            ),
        )

    def __str__(self) -> str:
        return f"{self.source_id} · {self.ordinal}"

    @property
    def indexed_text(self) -> str:
        """The text to embed, index and re-rank."""
        return indexed_text(self.context, self.text)
