"""Who has which shelf: collections and their members are made and changed here, and things are taken off."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from django.contrib.auth import get_user_model
from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils.text import slugify

from transcripts.errors import CollectionNotFound, Conflict, Forbidden, InvalidInput, VideoNotFound
from transcripts.models import Collection, Feed, Job, Membership, Role, Transcript, Video
from transcripts.scope import Scope


@dataclass(frozen=True, slots=True)
class Contents:
    """How much is on a shelf."""

    videos: int
    transcripts: int
    feeds: int
    jobs: int


def find(scope: Scope, pk: int) -> Collection:
    """Return a visible collection. Raises ``CollectionNotFound``."""
    found = Collection.objects.visible(scope).filter(pk=pk).first()
    if found is None:
        raise CollectionNotFound(
            "There is no such collection.", hint="The Collections page lists those you can see."
        )
    return found


def find_video(scope: Scope, pk: int) -> Video:
    """Return a visible video by its number. Raises ``VideoNotFound``."""
    found = Video.objects.visible(scope).select_related("collection").filter(pk=pk).first()
    if found is None:
        raise VideoNotFound(
            "There is no such video in the collections you can see.",
            hint="It may have been deleted; the library lists what is there.",
        )
    return found


def contents(collection: Collection) -> Contents:
    """Count what a collection holds, and what deleting it would delete."""
    return Contents(
        videos=Video.objects.filter(collection=collection).count(),
        transcripts=Transcript.objects.filter(video__collection=collection).count(),
        feeds=Feed.objects.filter(collection=collection).count(),
        jobs=Job.objects.filter(collection=collection).count(),
    )


def role_in(collection: Collection, user: Any) -> str:
    """Return the user's role in a collection; whoever administers the server owns all of them. Empty: none."""
    return roles_of(user)(collection)


def roles_of(user: Any) -> Callable[[Collection], str]:
    """Return what tells the user's role in any collection, asking the database once."""
    if user.is_superuser:
        return lambda _: str(Role.OWNER)
    roles = dict(Membership.objects.filter(user=user).values_list("collection", "role"))
    return lambda collection: roles.get(collection.pk, "")


def require_owner(collection: Collection, user: Any) -> None:
    """Raise ``Forbidden`` for anyone but an owner."""
    if role_in(collection, user) != Role.OWNER:
        raise Forbidden(
            "Only an owner may change this collection or its members.",
            hint="Ask an owner of the collection.",
        )


def create(name: str, *, owner: Any) -> Collection:
    """Make a collection whose owner is the user. Raises ``Conflict`` when the name is taken."""
    wanted = _clean(name)
    with transaction.atomic():
        made = _saved(Collection(name=wanted, slug=_free_slug(wanted)))
        Membership.objects.create(collection=made, user=owner, role=Role.OWNER)
    return made


def rename(collection: Collection, name: str) -> None:
    """Give a collection another name; the short name in addresses stays. Raises ``Conflict`` when it is taken."""
    collection.name = _clean(name)
    _saved(collection)


def set_member(collection: Collection, username: str, *, role: str) -> None:
    """Make a user a member, or change the role. Raises ``InvalidInput`` for an unknown user, ``Conflict`` when no owner would be left."""
    user = get_user_model().objects.filter(username=username.strip()).first()
    if user is None:
        raise InvalidInput(
            f"There is no user “{username.strip()[:80]}”.", hint="`kb user add` makes one."
        )
    with _keeping_an_owner(collection):
        Membership.objects.update_or_create(
            collection=collection, user=user, defaults={"role": role}
        )


def remove_member(collection: Collection, user_pk: int) -> None:
    """Take a member off. Raises ``Conflict`` when no owner would be left."""
    with _keeping_an_owner(collection):
        Membership.objects.filter(collection=collection, user=user_pk).delete()


def delete(collection: Collection) -> None:
    """Delete a collection with everything in it, also while workers add to it: they find it gone."""
    with transaction.atomic():
        Collection.objects.select_for_update().filter(pk=collection.pk).first()
        _lock(Video.objects.filter(collection=collection))
        collection.delete()


def delete_video(video: Video) -> None:
    """Delete a video with its transcripts, also while a worker stores another one: it finds the video gone, and makes it anew."""
    with transaction.atomic():
        _lock(Video.objects.filter(pk=video.pk))
        video.delete()


def _lock(videos: QuerySet[Video]) -> None:
    for _ in videos.order_by("pk").select_for_update(of=("self",)).values_list("pk").iterator():
        pass


def _clean(name: str) -> str:
    wanted = " ".join(name.split())
    if not wanted:
        raise InvalidInput(
            "The collection has no name.", hint="Give it a short one, such as “Lectures”."
        )
    return wanted


def _free_slug(name: str) -> str:
    stem = slugify(name)[:50] or "collection"
    taken = set(Collection.objects.filter(slug__startswith=stem).values_list("slug", flat=True))
    return next(
        slug
        for number in range(1, len(taken) + 2)
        if (slug := stem if number == 1 else f"{stem}-{number}") not in taken
    )


def _saved(collection: Collection) -> Collection:
    try:
        with transaction.atomic():
            collection.save()
    except IntegrityError:
        raise Conflict(
            f"There is a collection “{collection.name}” already.", hint="Choose another name."
        ) from None
    return collection


@contextmanager
def _keeping_an_owner(collection: Collection) -> Iterator[None]:
    with transaction.atomic():
        Collection.objects.select_for_update().get(
            pk=collection.pk
        )  # of two owners who remove each other at once, one stays
        owners = Membership.objects.filter(collection=collection, role=Role.OWNER)
        had_one = owners.exists()
        yield
        if had_one and not owners.exists():
            raise Conflict(
                "A collection needs an owner.", hint="Make another member an owner first."
            )
