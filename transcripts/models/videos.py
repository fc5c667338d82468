"""Videos, their transcripts, and the playlists and channels that videos come from."""

from collections.abc import Iterable
from datetime import timedelta

from django.db import models
from django.db.models.functions import Upper
from django.utils import timezone

from transcripts.models.collections import Collection
from transcripts.models.visibility import VisibleQuerySet
from transcripts.timecodes import Target, watch_url

KEY_LENGTH = 200


class VideoQuerySet(VisibleQuerySet["Video"]):
    def matching(self, words: str) -> "VideoQuerySet":
        """Keep those in whose title, channel or id every one of the words occurs."""
        found = self
        for word in words.split()[:10]:
            found = found.filter(
                models.Q(title__icontains=word)
                | models.Q(channel__icontains=word)
                | models.Q(key__icontains=word)
            )
        return found


class Video(models.Model):
    """A recording, of YouTube or of a file; ``key`` is the id that people and programs call it by."""

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
    languages = models.JSONField(
        default=list, blank=True, help_text="Languages that YouTube has captions in."
    )
    partial = models.BooleanField(
        default=False, help_text="Fetched while live: the end is missing."
    )
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    objects = VideoQuerySet.as_manager()

    class Meta:
        ordering = ("-created_at", "-pk")
        constraints = (
            models.UniqueConstraint(fields=("collection", "key"), name="video_once_a_collection"),
        )
        indexes = (
            models.Index(fields=("collection", "-created_at", "-id"), name="video_newest"),
            models.Index(Upper("title"), name="video_title"),
        )

    def __str__(self) -> str:
        return self.title or self.key

    @property
    def url(self) -> str:
        """The video's address on YouTube, or nothing for a file."""
        return watch_url(self.youtube_id) if self.youtube_id else ""


class Thumbnail(models.Model):
    """A small picture of a video, kept here so that no page asks another host for it."""

    video = models.OneToOneField(
        Video, on_delete=models.CASCADE, primary_key=True, related_name="thumbnail"
    )
    data = models.BinaryField()
    content_type = models.CharField(max_length=30)

    def __str__(self) -> str:
        return f"thumbnail of {self.video_id}"


class CaptionOrigin(models.TextChoices):
    """Who made the text: a person, YouTube's speech recognition, a file, a translating machine."""

    MANUAL = "manual", "manual"
    UPLOAD = "upload", "upload"
    AUTO = "auto", "automatic"
    TRANSLATED = "translated", "machine-translated"


class TranscriptQuerySet(VisibleQuerySet["Transcript"]):
    collection_path = "video__collection"

    def light(self) -> "TranscriptQuerySet":
        """Leave the long columns in the database until they are asked for."""
        return self.defer("cues", "word_times")

    def best_first(self, languages: Iterable[str]) -> "list[Transcript]":
        """Return them by preference: the languages in order (``en`` matches ``en-GB``), then a person's text before a machine's."""
        order = [language.casefold() for language in languages]
        return sorted(self, key=lambda transcript: transcript.preference(order))


class Transcript(models.Model):
    """What is said in a video, in one language, by one origin: cues in milliseconds."""

    video = models.ForeignKey(Video, on_delete=models.CASCADE, related_name="transcripts")
    language = models.CharField(max_length=35, blank=True)
    origin = models.CharField(max_length=12, choices=CaptionOrigin.choices)
    cues = models.JSONField(help_text="[[start, end, text], …]")
    word_times = models.JSONField(
        null=True, blank=True, help_text="Per cue null or [[start, word], …]."
    )
    digest = models.CharField(max_length=64, help_text="SHA-256 of the cues.")
    cue_count = models.PositiveIntegerField()
    characters = models.PositiveIntegerField()
    duration = models.PositiveIntegerField("duration (ms)")
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(default=timezone.now)

    objects = TranscriptQuerySet.as_manager()

    class Meta:
        ordering = ("video", "language", "origin")
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
        """What asks for exactly this transcript of the video, where a language is asked for: the language, a dot and the origin."""
        return f"{self.language}.{self.origin}"

    def preference(self, languages: list[str]) -> tuple[int, int, int]:
        """Return a sort key: how far down the language preference, how far from a person's text, how old."""
        language = self.language.casefold()
        ranks = [
            rank
            for rank, wanted in enumerate(languages)
            if language == wanted or language.startswith(f"{wanted}-")
        ]
        return (
            min(ranks, default=len(languages)),
            CaptionOrigin.values.index(self.origin),
            self.pk,
        )


class TranscriptIndex(models.Model):
    """The BM25 index of one transcript (``bm25.Index.to_bytes``): derived, may be deleted at any time."""

    transcript = models.OneToOneField(
        Transcript, on_delete=models.CASCADE, primary_key=True, related_name="index"
    )
    segment_seconds = models.PositiveIntegerField()
    tokenizer_version = models.PositiveIntegerField()
    digest = models.CharField(max_length=64)
    data = models.BinaryField()

    class Meta:
        verbose_name_plural = "transcript indexes"

    def __str__(self) -> str:
        return f"index of {self.transcript_id}"


class RawCaptions(models.Model):
    """The bytes a transcript was parsed from, kept so that a better parser can read them again."""

    transcript = models.OneToOneField(
        Transcript, on_delete=models.CASCADE, primary_key=True, related_name="raw"
    )
    name = models.CharField(max_length=300)
    data = models.BinaryField()

    class Meta:
        verbose_name_plural = "raw captions"

    def __str__(self) -> str:
        return self.name


class FeedQuerySet(VisibleQuerySet["Feed"]):
    def due(self) -> "FeedQuerySet":
        """Keep those whose time to be looked at again has come."""
        return self.filter(next_sync_at__lte=timezone.now())


class Feed(models.Model):
    """A playlist or channel whose videos are taken into a collection; on a schedule when ``every_hours`` is set."""

    class Kind(models.TextChoices):
        PLAYLIST = "playlist", "playlist"
        CHANNEL = "channel", "channel"

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="feeds")
    kind = models.CharField(max_length=10, choices=Kind.choices)
    youtube_id = models.CharField(max_length=100)
    title = models.CharField(max_length=300, blank=True)
    newest = models.PositiveIntegerField(
        null=True, blank=True, help_text="Take only the newest N videos; empty: all."
    )
    every_hours = models.PositiveIntegerField(
        null=True,
        blank=True,
        help_text="Look for new videos every so many hours; empty: only when asked.",
    )
    last_synced_at = models.DateTimeField(null=True, blank=True)
    next_sync_at = models.DateTimeField(null=True, blank=True, db_index=True)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = FeedQuerySet.as_manager()

    class Meta:
        ordering = ("title", "youtube_id")
        constraints = (
            models.UniqueConstraint(
                fields=("collection", "youtube_id"), name="feed_once_a_collection"
            ),
            models.CheckConstraint(
                condition=models.Q(kind__in=["playlist", "channel"]), name="feed_kind"
            ),
        )

    def __str__(self) -> str:
        return self.title or self.youtube_id

    @property
    def target(self) -> Target:
        """What YouTube is asked for."""
        return Target(
            kind="playlist" if self.kind == self.Kind.PLAYLIST else "channel", id=self.youtube_id
        )

    def plan(self) -> None:
        """Set when it is looked at next, from now."""
        self.next_sync_at = (
            timezone.now() + timedelta(hours=self.every_hours) if self.every_hours else None
        )
        self.save(update_fields=["next_sync_at"])

    def synced(self, *, title: str) -> None:
        """Note that its list was just read."""
        self.title = title[:300] or self.title
        self.last_synced_at = timezone.now()
        self.save(update_fields=["title", "last_synced_at"])
        self.plan()
