"""Collections and videos as `kb` changes them: added, counted, deleted."""

from dataclasses import asdict, dataclass
from typing import Any

from django.db import IntegrityError, transaction
from django.utils.text import slugify

from transcripts import library
from transcripts.errors import Conflict, InvalidInput
from transcripts.models import Collection, Feed, Job, Membership, Transcript, Video
from transcripts.scope import Scope


@dataclass(frozen=True, slots=True)
class Shelf:
    """A collection, how many videos it has, and its members with their roles."""

    slug: str
    name: str
    videos: int
    members: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """Return it for programs; ``id`` is the slug."""
        return {"id": self.slug, **{name: value for name, value in asdict(self).items() if name != "slug"}}


def overview(scope: Scope) -> list[Shelf]:
    """Return the visible collections."""
    members: dict[int, list[str]] = {}
    for pk, user, role in Membership.objects.order_by("user__username").values_list("collection_id", "user__username", "role"):
        members.setdefault(pk, []).append(f"{user} ({role})")
    return [
        Shelf(slug=one.slug, name=one.name, videos=one.video_count, members=tuple(members.get(one.pk, ())))  # type: ignore[attr-defined]  # annotated
        for one in library.collections(scope)
    ]


def add(name: str) -> Collection:
    """Make a collection. Raises ``Conflict`` when there is one of that name, ``InvalidInput`` for a name without letters or digits."""
    wanted = " ".join(name.split())
    slug = slugify(wanted, allow_unicode=False)[:60] or slugify(wanted, allow_unicode=True).encode().hex()[:60]
    if not slug or len(wanted) > 120:
        raise InvalidInput("A collection's name has 1 to 120 characters, letters or digits among them.")
    try:
        with transaction.atomic():
            return Collection.objects.create(name=wanted, slug=slug)
    except IntegrityError:
        raise Conflict(f"There is a collection “{wanted}” ({slug}) already.", hint="`kb collections` lists them.") from None


def what_goes_with(thing: Video | Collection) -> str:
    """Count what deleting it deletes as well, in words."""
    if isinstance(thing, Video):
        return _counted(thing.transcripts.count(), "transcript")
    counts = (
        (thing.videos.count(), "video"),
        (Transcript.objects.filter(video__collection=thing).count(), "transcript"),
        (Feed.objects.filter(collection=thing).count(), "playlist or channel"),
        (Job.objects.filter(collection=thing).count(), "job"),
    )
    return ", ".join(_counted(count, noun) for count, noun in counts)


def delete_video(video: Video) -> None:
    """Delete it with its transcripts."""
    video.delete()


def delete_collection(collection: Collection) -> None:
    """Delete it with all that stands in it."""
    with transaction.atomic():
        collection.delete()


def _counted(count: int, noun: str) -> str:
    plural = {"playlist or channel": "playlists or channels"}.get(noun, f"{noun}s")
    return f"{count} {noun if count == 1 else plural}"
