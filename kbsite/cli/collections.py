"""Collections as `kb` shows and makes them, and what goes with something that is deleted."""

from dataclasses import asdict, dataclass
from typing import Any

from citations.models import Source
from kbsite.cli import first_start
from transcripts import collections, library
from transcripts.models import Collection, Membership, Video
from transcripts.sanitize import is_uuid
from transcripts.scope import Scope


@dataclass(frozen=True, slots=True)
class CollectionSummary:
    """A collection, how many videos it has, and its members with their roles."""

    slug: str
    name: str
    videos: int
    members: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """Return it for programs; ``id`` is the slug."""
        return {
            "id": self.slug,
            **{name: value for name, value in asdict(self).items() if name != "slug"},
        }


def overview(scope: Scope) -> list[CollectionSummary]:
    """Return the visible collections."""
    members: dict[int, list[str]] = {}
    for pk, user, role in Membership.objects.order_by("user__username").values_list(
        "collection_id", "user__username", "role"
    ):
        members.setdefault(pk, []).append(f"{user} ({role})")
    return [
        CollectionSummary(
            slug=one.slug,
            name=one.name,
            videos=one.video_count,  # type: ignore[attr-defined]  # annotated
            members=tuple(members.get(one.pk, ())),
        )
        for one in library.collections(scope)
    ]


def add(name: str) -> Collection:
    """Make a collection that belongs to the owner of this library. Raises ``Conflict`` when the name is taken."""
    return collections.create(name, owner=first_start.owner())


def what_goes_with(thing: Video | Collection) -> str:
    """Count what deleting it deletes as well, in words."""
    if isinstance(thing, Video):
        return counted(thing.transcripts.count(), "transcript")
    found = collections.contents(thing)
    counts = (
        (found.videos, "video"),
        (found.transcripts, "transcript"),
        (found.feeds, "playlist or channel"),
        (found.jobs, "job"),
    )
    return ", ".join(counted(count, noun) for count, noun in counts)


def video_key(scope: Scope, reference: str) -> str:
    """Return the id of the video whose transcript is the source of this id; else the reference as it is."""
    found = (
        Source.objects.visible(scope)
        .filter(uuid=reference, video__isnull=False)
        .values_list("video__key", flat=True)
        if is_uuid(reference)
        else ()
    )
    return next(iter(found), reference)


def counted(count: int, noun: str) -> str:
    """Say how many of what there are."""
    plural = {"playlist or channel": "playlists or channels"}.get(noun, f"{noun}s")
    return f"{count} {noun if count == 1 else plural}"
