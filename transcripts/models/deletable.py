"""Rows that can be taken back for a while after they were deleted."""

from django.db import models


class Deletable(models.Model):
    """A row that may be about to be deleted: ``visible`` leaves it out then."""

    deletion = models.UUIDField(
        null=True, blank=True, editable=False, help_text="Of the deletion that hides it for now."
    )

    class Meta:
        abstract = True
