"""Archives: everything that a user may read, in one ZIP that a worker makes."""

import uuid
from datetime import timedelta
from typing import Any, Final

from django.contrib.auth.models import User
from django.db import models
from django.db.models import CheckConstraint, Q, UniqueConstraint
from django.utils.translation import gettext_lazy as _

from transcripts.core.errors import KnowledgeBaseError
from transcripts.core.locks import Lock
from transcripts.core.work.models import NO_ERROR, QueuedWork, QueuedWorkQuerySet, error_columns
from transcripts.models import Collection


class ArchiveState(models.TextChoices):
    QUEUED = "queued", _("waiting")
    RUNNING = "running", _("being made")
    DONE = "done", _("ready")
    FAILED = "failed", _("failed")


class ArchiveQuerySet(QueuedWorkQuerySet["Archive"]):
    def unfinished(self) -> "ArchiveQuerySet":
        """Keep those that are to be made."""
        return self.filter(state__in=(ArchiveState.QUEUED, ArchiveState.RUNNING))


class Archive(QueuedWork):
    """A ZIP of what its owner could read when it was asked for, in ``collections`` (ids): all of
    it, or what belongs to ``sources``.
    """

    LOCK = Lock.ARCHIVE
    KEPT: Final = timedelta(days=1)

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    owner = models.ForeignKey(User, models.CASCADE, related_name="archives")
    collection = models.ForeignKey(
        Collection, models.CASCADE, null=True, blank=True, related_name="archives"
    )
    collections = models.JSONField(default=list)
    sources = models.JSONField(
        default=list, blank=True, help_text="Primary keys of the only sources; empty: all."
    )
    with_media = models.BooleanField(
        default=False, help_text="Whether it has the audio and video files of recordings."
    )
    language = models.CharField(
        max_length=10, blank=True, help_text="Of its pages; empty: of this installation."
    )
    state = models.CharField(
        max_length=10, choices=ArchiveState.choices, default=ArchiveState.QUEUED
    )
    size = models.PositiveBigIntegerField(default=0, help_text="Bytes.")
    created_at = models.DateTimeField(auto_now_add=True)

    objects = ArchiveQuerySet.as_manager()

    class Meta:
        ordering = ("-pk",)
        constraints = (
            CheckConstraint(condition=Q(state__in=ArchiveState.values), name="archive_state"),
            UniqueConstraint(
                fields=("owner",),
                condition=Q(state__in=("queued", "running")),
                name="archive_unfinished_once",
            ),
        )

    def __str__(self) -> str:
        return f"{self.owner_id} · {self.uuid}"

    @property
    def file_name(self) -> str:
        return f"cuebase-{self.created_at:%Y-%m-%d}.zip"

    @property
    def is_unfinished(self) -> bool:
        return self.state in (ArchiveState.QUEUED, ArchiveState.RUNNING)

    def start(self, **values: Any) -> None:
        """Record that an attempt begins."""
        super().start(state=ArchiveState.RUNNING, **values)

    def succeed(self, size: int) -> None:
        """Record that the file is whole."""
        self.change(state=ArchiveState.DONE, size=size, done=self.total, **NO_ERROR)

    def fail(self, error: KnowledgeBaseError) -> None:
        """Record that it could not be made, and why."""
        self.change(state=ArchiveState.FAILED, **error_columns(error))


class ArchivePart(models.Model):
    """A piece of an archive's file."""

    archive = models.ForeignKey(Archive, models.CASCADE, related_name="parts")
    ordinal = models.PositiveIntegerField()
    data = models.BinaryField()

    class Meta:
        ordering = ("archive_id", "ordinal")
        constraints = (UniqueConstraint(fields=("archive", "ordinal"), name="archive_part_once"),)

    def __str__(self) -> str:
        return f"{self.archive_id} · {self.ordinal}"
