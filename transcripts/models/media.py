"""The sound or the pictures of recordings, which play beside their transcripts."""

from typing import TYPE_CHECKING

from django.db import models
from django.db.models import CheckConstraint, Q, UniqueConstraint

from transcripts.models.jobs import Job
from transcripts.models.videos import Video

if TYPE_CHECKING:
    from django.db.models.fields.related_descriptors import RelatedManager


class PlayableFile(models.Model):
    """An audio or video file. The database holds its bytes, so backups and all servers have them.

    They are in ``parts``, a relation of each subclass.
    """

    name = models.CharField(max_length=300, help_text="The original file name.")
    media_type = models.CharField(max_length=30)
    size = models.PositiveBigIntegerField(help_text="Bytes.")
    created_at = models.DateTimeField(auto_now_add=True)

    if TYPE_CHECKING:
        parts: RelatedManager["FilePart"]

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return self.name

    @property
    def is_audio(self) -> bool:
        """Whether there is nothing to see."""
        return self.media_type.startswith("audio/")


class FilePart(models.Model):
    """One megabyte of a file; the last part may be shorter."""

    ordinal = models.PositiveIntegerField()
    data = models.BinaryField()

    class Meta:
        abstract = True


class MediaFile(PlayableFile):
    """The file of a recording, or, until the captions beside it are read, of their job."""

    video = models.OneToOneField(
        Video, models.CASCADE, null=True, blank=True, related_name="media", verbose_name="recording"
    )
    job = models.ForeignKey(Job, models.CASCADE, null=True, blank=True, related_name="media")

    class Meta:
        constraints = (
            CheckConstraint(
                condition=Q(video__isnull=False) ^ Q(job__isnull=False), name="media_of_something"
            ),
        )


class MediaPart(FilePart):
    """One megabyte of a media file; the last part may be shorter."""

    media = models.ForeignKey(MediaFile, models.CASCADE, related_name="parts")

    class Meta:
        ordering = ("media_id", "ordinal")
        constraints = (UniqueConstraint(fields=("media", "ordinal"), name="media_part_once"),)

    def __str__(self) -> str:
        return f"{self.media_id} · {self.ordinal}"
