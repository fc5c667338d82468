"""Videos, their transcripts, and the sound or the pictures that play beside them."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Final, Self

from django.conf import settings
from django.db import models
from django.db.models import CheckConstraint, Q, UniqueConstraint, Value
from django.db.models.functions import Coalesce, Now, NullIf, Upper
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from transcripts.core.player import Player, player_of
from transcripts.core.sanitize import is_uuid
from transcripts.core.scope import Scope
from transcripts.core.site_path import site_path
from transcripts.models.collections import Collection, Deletable, DeletableQuerySet, VisibleQuerySet
from transcripts.text.language_tags import distance
from transcripts.text.timecodes import watch_url

KEY_LENGTH = 200
# Videos of which nothing plays, as ``Video.player`` says of one.
SILENT: Final = models.Q(youtube_id="", media__isnull=True)


def clean_key(text: str) -> str:
    """Return an id of printable characters with hyphens for slashes, at most 200 long."""
    printable = "".join(character if character.isprintable() else " " for character in text)
    return (
        " ".join(printable.replace("/", "-").replace("\\", "-").split())[:KEY_LENGTH] or "untitled"
    )


def video_path(pk: int) -> str:
    """Return the path of a video's page."""
    return site_path(f"/videos/{pk}/")


class Video(Deletable):
    """A recording from YouTube or from a file. ``key`` is its public id."""

    audit_kind = "video"  # in the audit trail, as on every door

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="videos")
    key = models.CharField("id", max_length=KEY_LENGTH)
    youtube_id = models.CharField(max_length=11, blank=True, db_index=True)
    title = models.CharField(max_length=300)
    channel = models.CharField(max_length=200, blank=True)
    channel_id = models.CharField(max_length=64, blank=True)
    description = models.TextField(blank=True)
    duration = models.PositiveIntegerField("duration (ms)", default=0)
    published_at = models.DateTimeField(null=True, blank=True)
    chapters = models.JSONField(default=list, blank=True, help_text="[[start in ms, title], …]")
    tags = models.JSONField(default=list, blank=True)
    edited = models.JSONField(
        default=list, blank=True, help_text="Fields that a person changed: fetching keeps them."
    )
    languages = models.JSONField(
        default=list, blank=True, help_text="Languages that YouTube has captions in."
    )
    sound = models.URLField(
        max_length=2048, blank=True, db_default="", help_text="Where the sound of an episode is."
    )
    partial = models.BooleanField(
        "incomplete", default=False, help_text="Fetched while live: the end is missing."
    )
    added_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    objects = DeletableQuerySet["Video"].as_manager()

    class Meta:
        verbose_name = "recording"
        ordering = ("-created_at", "-pk")
        constraints = (
            models.UniqueConstraint(fields=("collection", "key"), name="video_once_a_collection"),
        )
        indexes = (
            models.Index(fields=("collection", "-created_at", "-id"), name="video_newest"),
            models.Index(Upper("title"), name="video_title"),
            models.Index(
                fields=("deletion",),
                condition=models.Q(deletion__isnull=False),
                name="video_deletion",
            ),
        )

    def __str__(self) -> str:
        return self.title or self.key

    @property
    def url(self) -> str:
        """The video's address on YouTube, or nothing for a file."""
        return watch_url(self.youtube_id) if self.youtube_id else ""

    @property
    def path(self) -> str:
        """The path of its page."""
        return video_path(self.pk)

    @property
    def known_id(self) -> str:
        """Its id where that tells people anything: it is not its title, and was not generated."""
        return "" if self.key == str(self) or is_uuid(self.key) else self.key

    @property
    def player(self) -> Player:
        """What plays it; fetch its ``media`` with it."""
        return player_of(has_file=hasattr(self, "media"), youtube_id=self.youtube_id)


class Thumbnail(models.Model):
    """A small picture of a video, so that pages load nothing from another host."""

    video = models.OneToOneField(
        Video,
        on_delete=models.CASCADE,
        primary_key=True,
        related_name="thumbnail",
        verbose_name="recording",
    )
    data = models.BinaryField()
    content_type = models.CharField(max_length=30)

    def __str__(self) -> str:
        return f"thumbnail of {self.video_id}"


class CaptionOrigin(models.TextChoices):
    """Who made the text, best first."""

    MANUAL = "manual", _("manual")
    UPLOAD = "upload", _("upload")
    AUTO = "auto", _("automatic")
    HEARD = "heard", _("heard")
    TRANSLATED = "translated", _("machine-translated")


READ_DIGEST: Final = Coalesce(NullIf("original_digest", Value("")), "digest")


class TranscriptQuerySet(VisibleQuerySet["Transcript"]):
    collection_path = "video__collection"

    def visible(self, scope: Scope) -> Self:
        """Keep the transcripts of the videos that are visible."""
        return super().visible(scope).filter(video__deletion=None)

    def with_text(self, digest: str) -> "TranscriptQuerySet":
        """Keep the transcripts whose cues, as they were read, have this digest."""
        return self.light().alias(read_digest=READ_DIGEST).filter(read_digest=digest)

    def light(self) -> "TranscriptQuerySet":
        """Defer the long columns."""
        return self.defer("cues", "word_times")

    def best_first(self, languages: Iterable[str]) -> "list[Transcript]":
        """Sort by language, in this order (``en`` matches ``en-GB``), then by origin."""
        order = [language.casefold() for language in languages]
        return sorted(self, key=lambda transcript: transcript.preference(order))


class Transcript(models.Model):
    """The text of a video in one language and from one origin. Times are milliseconds."""

    video = models.ForeignKey(
        Video, on_delete=models.CASCADE, related_name="transcripts", verbose_name="recording"
    )
    language = models.CharField(max_length=35, blank=True)
    origin = models.CharField(max_length=12, choices=CaptionOrigin.choices)
    cues = models.JSONField(help_text="[[start, end, text], …]")
    word_times = models.JSONField(
        null=True, blank=True, help_text="Per cue null or [[start, word], …]."
    )
    digest = models.CharField(max_length=64, help_text="SHA-256 of the cues.")
    original_digest = models.CharField(
        max_length=64,
        blank=True,
        help_text="SHA-256 of the cues as they were read; empty if they are stored like that.",
    )
    has_added_stops = models.BooleanField(
        default=False, help_text="Full stops were added to captions with few or none."
    )
    speaker_names = models.JSONField(
        default=dict, blank=True, help_text="{name in the captions: name that a person gave}"
    )
    made_by = models.CharField(
        max_length=120, blank=True, help_text="The model that recognised the speech."
    )
    made_at = models.DateTimeField(null=True, blank=True, help_text="When it did.")
    cue_count = models.PositiveIntegerField()
    characters = models.PositiveIntegerField()
    duration = models.PositiveIntegerField("duration (ms)")
    created_at = models.DateTimeField(db_default=Now(), editable=False)
    updated_at = models.DateTimeField(default=timezone.now)

    objects = TranscriptQuerySet.as_manager()

    class Meta:
        ordering = ("video", "language", "origin")
        indexes = (models.Index(READ_DIGEST, name="transcript_read_digest"),)
        constraints = (
            models.UniqueConstraint(fields=("video", "language", "origin"), name="transcript_once"),
            models.CheckConstraint(
                condition=models.Q(origin__in=CaptionOrigin.values), name="transcript_origin"
            ),
        )

    def __str__(self) -> str:
        return (
            f"{self.video_id} · {self.language or 'unknown language'} · {self.get_origin_display()}"
        )

    @property
    def track(self) -> str:
        """The name of this transcript among those of the video, such as ``en.auto``."""
        return f"{self.language}.{self.origin}"

    def preference(self, languages: list[str]) -> tuple[int, int, int, int]:
        """Return a sort key: ranks of the language and the origin, distance of the tag, age."""
        ranks = [
            (rank, away)
            for rank, preferred in enumerate(languages)
            if (away := distance(preferred, self.language)) is not None
        ]
        rank, away = min(ranks, default=(len(languages), 0))
        return rank, CaptionOrigin.values.index(self.origin), away, self.pk


class TranscriptIndex(models.Model):
    """The BM25 index of a transcript (``bm25.Index.to_bytes``). It may be deleted at any time."""

    transcript = models.OneToOneField(
        Transcript, on_delete=models.CASCADE, primary_key=True, related_name="index"
    )
    segment_seconds = models.PositiveIntegerField("seconds of a segment")
    tokenizer_version = models.PositiveIntegerField()
    digest = models.CharField(max_length=64)
    data = models.BinaryField()

    class Meta:
        verbose_name_plural = "transcript indexes"

    def __str__(self) -> str:
        return f"index of {self.transcript_id}"


class RawCaptions(models.Model):
    """The bytes that a transcript was parsed from, so that it can be parsed again."""

    transcript = models.OneToOneField(
        Transcript, on_delete=models.CASCADE, primary_key=True, related_name="raw"
    )
    name = models.CharField(max_length=300)
    data = models.BinaryField()

    class Meta:
        verbose_name_plural = "raw captions"

    def __str__(self) -> str:
        return self.name


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
    job = models.ForeignKey(
        "transcripts.Job", models.CASCADE, null=True, blank=True, related_name="media"
    )

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
