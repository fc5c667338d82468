"""Collections, what their members may do, and the playlists and channels that fill them."""

from datetime import timedelta
from typing import Any, ClassVar, Final, Self, TypeVar

from django.conf import settings
from django.db import models
from django.db.models.functions import Now
from django.utils.translation import gettext, gettext_noop
from django.utils.translation import gettext_lazy as _

from transcripts.core import clock
from transcripts.core.alphabet import alphabetical
from transcripts.core.errors import CollectionNotFound
from transcripts.core.sanitize import clean
from transcripts.core.scope import Scope
from transcripts.text.timecodes import Target

FIRST_NAME: Final = gettext_noop("My collection")  # until somebody gives it another
SAMPLES_NAME: Final = gettext_noop("Sample library")

_Row = TypeVar("_Row", bound=models.Model)
_QuerySet = TypeVar("_QuerySet", bound=models.QuerySet[Any])


def readable(rows: _QuerySet, scope: Scope, collection_path: str = "collection") -> _QuerySet:
    """Keep the rows whose collection, to which the path leads, the scope may read."""
    return rows.filter(**{f"{collection_path}__in": scope.readable})


class VisibleQuerySet(models.QuerySet[_Row]):
    collection_path: ClassVar[str] = "collection"

    def visible(self, scope: Scope) -> Self:
        """Keep the rows that the scope may read."""
        return readable(self, scope, self.collection_path)


class DeletableQuerySet(VisibleQuerySet[_Row]):
    def visible(self, scope: Scope) -> Self:
        """Keep the rows that the scope may read and that are not being deleted."""
        return super().visible(scope).filter(deletion=None)


class Role(models.TextChoices):
    """A viewer reads, an editor changes the content, an owner changes the collection."""

    VIEWER = "viewer", _("viewer")
    EDITOR = "editor", _("editor")
    OWNER = "owner", _("owner")


WRITING_ROLES = (Role.EDITOR, Role.OWNER)


class Listening(models.TextChoices):
    """Whether what has no captions is listened to."""

    NEVER = "never", _("never")
    ASK = "ask", _("if somebody asks for it")
    ALWAYS = "always", _("always")


class CollectionQuerySet(VisibleQuerySet["Collection"]):
    collection_path = "pk"

    def named(self, name: str) -> "Collection":
        """Return the collection with this slug, else with this name.

        Raises ``CollectionNotFound``.
        """
        name = clean(name, 120)
        match = self.filter(slug=name).first() or self.filter(name=name).first()
        if match is None:
            slugs = ", ".join(self.order_by("slug").values_list("slug", flat=True)[:20]) or "none"
            raise CollectionNotFound(
                f"There is no collection “{name}”.", hint=f"Collections you can see: {slugs}."
            )
        return match

    def default(self) -> "Collection":
        """Return the collection to use if none is named; create it the first time."""
        return self.get_or_create(slug="library", defaults={"name": FIRST_NAME})[0]


class Collection(models.Model):
    """A set of videos and documents with members. Each video belongs to one collection."""

    name = models.CharField(max_length=120, unique=True)
    slug = models.SlugField(max_length=60, unique=True)
    description = models.CharField(
        max_length=1_000, blank=True, db_default="", help_text="What it is about, for its readers."
    )
    members: "models.ManyToManyField[Any, Any]" = models.ManyToManyField(
        settings.AUTH_USER_MODEL, through="Membership", related_name="collections"
    )
    allows_links = models.BooleanField(
        default=False,
        db_default=False,
        help_text="Editors may share passages with people without an account.",
    )
    listening = models.CharField(
        max_length=6,
        choices=Listening.choices,
        blank=True,
        db_default="",
        help_text="Whether its recordings without captions are listened to; empty: as LISTEN says.",
    )
    created_at = models.DateTimeField(auto_now_add=True)

    objects = CollectionQuerySet.as_manager()

    class Meta:
        ordering = (alphabetical("name"), "pk")
        constraints = (
            models.CheckConstraint(
                condition=models.Q(listening__in=["", *Listening.values]),
                name="collection_listening",
            ),
        )

    def __str__(self) -> str:
        return self.title

    @property
    def listens(self) -> Listening:
        """Whether its recordings without captions are listened to: as it says, or the server."""
        return Listening(self.listening or settings.LISTEN)

    @property
    def title(self) -> str:
        """Its name as people read it: one that nobody chose is in the language of the page."""
        return gettext(self.name) if self.name in (FIRST_NAME, SAMPLES_NAME) else self.name


class MembershipQuerySet(VisibleQuerySet["Membership"]):
    pass


class Membership(models.Model):
    collection = models.ForeignKey(Collection, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships"
    )
    role = models.CharField(max_length=10, choices=Role.choices, default=Role.VIEWER)

    objects = MembershipQuerySet.as_manager()

    class Meta:
        ordering = ("collection", "user")
        constraints = (
            models.UniqueConstraint(fields=("collection", "user"), name="membership_once"),
            models.CheckConstraint(
                condition=models.Q(role__in=Role.values), name="membership_role"
            ),
        )

    def __str__(self) -> str:
        return f"{self.user}: {self.role} of {self.collection}"


class Deletable(models.Model):
    """A row that may be about to be deleted: ``visible`` leaves it out then."""

    deletion = models.UUIDField(
        null=True, blank=True, editable=False, help_text="Of the deletion that hides it for now."
    )

    class Meta:
        abstract = True


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
