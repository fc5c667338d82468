"""Deletions that wait, so that they can be taken back."""

import uuid
from datetime import timedelta
from typing import Final

from django.conf import settings
from django.db import models

from transcripts.locks import Lock
from transcripts.work.models import QueuedWork, QueuedWorkQuerySet

TAKEN_BACK_WITHIN: Final = timedelta(seconds=10)


class DeletionQuerySet(QueuedWorkQuerySet["Deletion"]):
    def hidden(self) -> dict[str, set[int]]:
        """Return the primary keys of what is about to be deleted, by table."""
        rows = list(self)
        return {
            "video": {key for row in rows for key in row.videos},
            "document": {key for row in rows for key in row.documents},
            "lecture": {key for row in rows for key in row.lectures},
        }


class Deletion(QueuedWork):
    """Items that a person deletes. Until it is carried out, the library hides them."""

    LOCK = Lock.DELETION

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    door = models.CharField(max_length=10)
    videos = models.JSONField(default=list, help_text="Primary keys.")
    documents = models.JSONField(default=list, help_text="Primary keys of sources.")
    lectures = models.JSONField(default=list, help_text="Primary keys.")
    created_at = models.DateTimeField(auto_now_add=True)

    objects = DeletionQuerySet.as_manager()

    class Meta:
        ordering = ("pk",)

    def __str__(self) -> str:
        return f"{self.count} items"

    @property
    def count(self) -> int:
        return len(self.videos) + len(self.documents) + len(self.lectures)
