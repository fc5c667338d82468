"""The guide to each source, made from its own sentences."""

from typing import Self

from django.db import models

from citations.models.sources import Source
from transcripts.core import clock
from transcripts.core.errors import KnowledgeBaseError
from transcripts.core.locks import Lock
from transcripts.core.work.models import NO_ERROR, QueuedWork, QueuedWorkQuerySet, error_columns


class GuideQuerySet(QueuedWorkQuerySet["Guide"]):
    def made(self) -> Self:
        """Keep those that are complete."""
        return self.exclude(made_at=None)

    def to_make(self) -> Self:
        """Keep those that are neither complete nor given up."""
        return self.filter(made_at=None, failed_at=None)


class Guide(QueuedWork):
    """The guide to a source; ``items`` are those of ``citations.guide.items``, by their kind.

    It belongs to the text with this ``digest``, and to the ``version`` of the rules by which it was
    made. ``made_at`` is empty until it is complete, ``failed_at`` unless it is given up.
    """

    LOCK = Lock.GUIDE
    MAX_CRASHES = 3

    source = models.OneToOneField(Source, models.CASCADE, related_name="guide")
    digest = models.CharField(max_length=64, help_text="Of the text that it was made from.")
    version = models.PositiveSmallIntegerField(help_text="Of the rules that it was made by.")
    items = models.JSONField(default=dict)
    made_at = models.DateTimeField(null=True, blank=True)
    failed_at = models.DateTimeField(null=True, blank=True)

    objects = GuideQuerySet.as_manager()

    class Meta:
        ordering = ("-pk",)

    def __str__(self) -> str:
        return f"{self.source_id} · guide"

    def finish(self, items: object) -> None:
        """Record that it is complete, unless its text changed meanwhile."""
        values = {"items": items, "made_at": clock.now(), **NO_ERROR}
        same = Guide.objects.filter(pk=self.pk, digest=self.digest, version=self.version)
        if same.update(**values):
            self.made_at = values["made_at"]

    def fail(self, error: KnowledgeBaseError) -> None:
        """Record that it is given up until the text or the rules change, and why."""
        self.change(failed_at=clock.now(), run_after=None, **error_columns(error))


class AbstractsRequest(QueuedWork):
    """The request for the abstracts that the outline of a source lacks, until they are written."""

    LOCK = Lock.ABSTRACTS

    source = models.OneToOneField(Source, models.CASCADE, related_name="+")

    objects = QueuedWorkQuerySet["AbstractsRequest"].as_manager()

    class Meta:
        ordering = ("pk",)

    def __str__(self) -> str:
        return f"{self.source_id} · abstracts"
