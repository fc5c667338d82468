"""Playlists and channels, from which videos come, and their entries."""

from datetime import timedelta

from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from transcripts.core import clock
from transcripts.core.alphabet import alphabetical
from transcripts.models.collections import Collection, VisibleQuerySet
from transcripts.text.timecodes import Target


class FeedQuerySet(VisibleQuerySet["Feed"]):
    def due(self) -> "FeedQuerySet":
        """Keep the feeds that are scheduled to be read now."""
        return self.filter(next_sync_at__lte=Now())


class Feed(models.Model):
    """A playlist or channel whose videos are added to a collection."""

    class Kind(models.TextChoices):
        PLAYLIST = "playlist", _("playlist")
        CHANNEL = "channel", _("channel")

    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="feeds")
    kind = models.CharField(max_length=10, choices=Kind.choices)
    youtube_id = models.CharField(max_length=100)
    title = models.CharField(max_length=300, blank=True)
    newest = models.PositiveIntegerField(
        null=True, blank=True, help_text="Add only the newest N videos; empty: all."
    )
    every_hours = models.PositiveIntegerField(
        null=True,
        blank=True,
        help_text="Hours between checks for new videos; empty: check only on request.",
    )
    last_synced_at = models.DateTimeField(null=True, blank=True)
    new_count = models.PositiveIntegerField(
        null=True, blank=True, help_text="Videos that were new when it was last read."
    )
    next_sync_at = models.DateTimeField(null=True, blank=True, db_index=True)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = FeedQuerySet.as_manager()

    class Meta:
        ordering = (alphabetical("title"), "youtube_id")
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
        return Target(
            kind="playlist" if self.kind == self.Kind.PLAYLIST else "channel", id=self.youtube_id
        )

    def plan(self) -> None:
        """Schedule the next check, counted from now."""
        self.next_sync_at = (
            clock.now() + timedelta(hours=self.every_hours) if self.every_hours else None
        )
        self.save(update_fields=["next_sync_at"])

    def synced(self, *, title: str, new_count: int) -> None:
        """Record that the list was read, and schedule the next check."""
        self.title = title[:300] or self.title
        self.last_synced_at, self.new_count = clock.now(), new_count
        self.save(update_fields=["title", "last_synced_at", "new_count"])
        self.plan()


class FeedEntry(models.Model):
    """A video of a playlist or channel, whether or not it is in the library."""

    feed = models.ForeignKey(Feed, on_delete=models.CASCADE, related_name="entries")
    youtube_id = models.CharField(max_length=11, db_index=True)
    position = models.PositiveIntegerField(help_text="In the order of YouTube's list.")
    title = models.CharField(max_length=300, blank=True)
    refusal = models.CharField(
        max_length=200, blank=True, help_text="Why YouTube does not show it, such as “private”."
    )
    seen_at = models.DateTimeField(db_default=Now(), help_text="When it was first in the list.")

    class Meta:
        ordering = ("feed", "position", "pk")
        verbose_name_plural = "feed entries"
        constraints = (
            models.UniqueConstraint(fields=("feed", "youtube_id"), name="feed_entry_once"),
        )
        indexes = (models.Index(fields=("feed", "position", "id"), name="feed_entry_order"),)

    def __str__(self) -> str:
        return self.title or self.youtube_id
