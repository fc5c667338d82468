"""The guide to each source, made from its own sentences."""

from django.db import models

from citations.models.sources import Source


class Guide(models.Model):
    """The guide to a source; ``items`` are those of ``citations.guide.items``, by their kind.

    It belongs to the text with this ``digest``, and to the ``version`` of the rules by which it was
    made. ``made_at`` is empty until it is complete.
    """

    source = models.OneToOneField(Source, models.CASCADE, related_name="guide")
    digest = models.CharField(max_length=64, help_text="Of the text that it was made from.")
    version = models.PositiveSmallIntegerField(help_text="Of the rules that it was made by.")
    tries = models.PositiveSmallIntegerField(default=0)
    items = models.JSONField(default=dict)
    made_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("-pk",)

    def __str__(self) -> str:
        return f"{self.source_id} · guide"
