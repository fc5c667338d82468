"""Deletions that wait, so that they can be taken back."""

import uuid
from datetime import timedelta
from typing import Final

from django.conf import settings
from django.db import models

from transcripts.core import clock
from transcripts.core.locks import Lock
from transcripts.core.work.models import QueuedWork, QueuedWorkQuerySet

TAKEN_BACK_WITHIN: Final = timedelta(seconds=30)


class DeletionQuerySet(QueuedWorkQuerySet["Deletion"]):
    pass


class Deletion(QueuedWork):
    """The deletion of ``total`` items by a person. Rows that have its ``uuid`` (``Deletable``) are
    hidden from everybody until it is carried out or taken back.
    """

    LOCK = Lock.DELETION

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    door = models.CharField(max_length=10)
    token = models.CharField(max_length=12, blank=True, help_text="How it begins.")
    address = models.GenericIPAddressField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = DeletionQuerySet.as_manager()

    class Meta:
        ordering = ("pk",)

    def __str__(self) -> str:
        return f"{self.total} items"

    @property
    def seconds_left(self) -> int:
        """How long it may still be taken back."""
        left = self.run_after - clock.now() if self.run_after else timedelta()
        return max(0, round(left.total_seconds()))
