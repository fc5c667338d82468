"""Where readers are in recordings and documents: theirs alone."""

from django.contrib.auth.models import User
from django.db import models
from django.db.models import CheckConstraint, Index, Q, UniqueConstraint

from citations.models.sources import Source
from transcripts.models import Video


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
