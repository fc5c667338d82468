"""The sound or the pictures of recordings, which play beside their transcripts."""

from django.db import models
from django.db.models import CheckConstraint, Q, UniqueConstraint

from transcripts.models.jobs import Job
from transcripts.models.videos import Video


class MediaFile(models.Model):
    """An audio or video file. The database holds its bytes, so backups and all servers have them.

    It belongs to its recording, or, until the captions beside it are read, to their job.
    """

    video = models.OneToOneField(
        Video, models.CASCADE, null=True, blank=True, related_name="media", verbose_name="recording"
    )
    job = models.ForeignKey(Job, models.CASCADE, null=True, blank=True, related_name="media")
    name = models.CharField(max_length=300, help_text="The original file name.")
    media_type = models.CharField(max_length=30)
    size = models.PositiveBigIntegerField(help_text="Bytes.")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = (
            CheckConstraint(
                condition=Q(video__isnull=False) ^ Q(job__isnull=False), name="media_of_something"
            ),
        )

    def __str__(self) -> str:
        return self.name

    @property
    def is_audio(self) -> bool:
        """Whether there is nothing to see."""
        return self.media_type.startswith("audio/")


class MediaPart(models.Model):
    """One megabyte of a media file; the last part may be shorter."""

    media = models.ForeignKey(MediaFile, models.CASCADE, related_name="parts")
    ordinal = models.PositiveIntegerField()
    data = models.BinaryField()

    class Meta:
        ordering = ("media_id", "ordinal")
        constraints = (UniqueConstraint(fields=("media", "ordinal"), name="media_part_once"),)

    def __str__(self) -> str:
        return f"{self.media_id} · {self.ordinal}"
