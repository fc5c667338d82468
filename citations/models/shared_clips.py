"""What links play: clips, cut out of the audio and video files of recordings."""

import uuid

from django.db import models
from django.db.models import CheckConstraint, F, Q, UniqueConstraint

from citations.models.shared_links import SharedLink
from transcripts.models import FilePart, MediaFile, PlayableFile


class SharedClip(PlayableFile):
    """The part of a file that a link plays, from ``start`` until ``end`` (ms of the file).

    ``media_type`` is empty if it cannot be cut.
    """

    name = models.CharField(max_length=20, blank=True)
    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    link = models.ForeignKey(SharedLink, models.CASCADE, related_name="clips")
    media = models.ForeignKey(MediaFile, models.CASCADE, related_name="shared_clips")
    start = models.PositiveBigIntegerField("start (ms)")
    end = models.PositiveBigIntegerField("end (ms)")
    lead = models.PositiveIntegerField(
        "lead (ms)", default=0, help_text="Pictures before the start, which are not to be shown."
    )

    class Meta:
        constraints = (
            UniqueConstraint(fields=("link", "media", "start", "end"), name="shared_clip_once"),
            CheckConstraint(condition=Q(end__gt=F("start")), name="shared_clip_ends_later"),
        )


class SharedClipPart(FilePart):
    """One megabyte of a clip; the last part may be shorter."""

    clip = models.ForeignKey(SharedClip, models.CASCADE, related_name="parts")

    class Meta:
        ordering = ("clip_id", "ordinal")
        constraints = (UniqueConstraint(fields=("clip", "ordinal"), name="shared_clip_part_once"),)

    def __str__(self) -> str:
        return f"{self.clip_id} · {self.ordinal}"
