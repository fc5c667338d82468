"""Collections and their members: create, change and delete."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from shlex import quote
from typing import Any, Final

from django.contrib.auth import get_user_model
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import Case, IntegerField, QuerySet, Value, When
from django.utils.text import slugify
from django.utils.translation import gettext

from transcripts.core import audit, deleting
from transcripts.core.audit import Action
from transcripts.core.errors import (
    CollectionNotFound,
    Conflict,
    Forbidden,
    InvalidInput,
    VideoNotFound,
)
from transcripts.core.scope import Scope
from transcripts.models import Collection, Membership, Role, Video
from transcripts.models.collections import FIRST_NAME, SAMPLES_NAME

MAX_NAME: Final = 120  # characters


def find(scope: Scope, pk: int) -> Collection:
    """Return a visible collection. Raises ``CollectionNotFound``."""
    collection = Collection.objects.visible(scope).filter(pk=pk).first()
    if collection is None:
        raise CollectionNotFound(
            "There is no such collection.", hint="The Collections page lists those you can see."
        )
    return collection


def find_video(scope: Scope, pk: int) -> Video:
    """Return a visible video by its primary key. Raises ``VideoNotFound``."""
    video = Video.objects.visible(scope).select_related("collection").filter(pk=pk).first()
    if video is None:
        raise VideoNotFound(
            "There is no such recording in the collections you can see.",
            hint="It may have been deleted. Search finds what is in the library.",
        )
    return video


def role_in(collection: Collection, user: User) -> str:
    """Return the user's role in a collection, or "". A superuser owns every collection."""
    return roles_of(user)(collection)


def roles_of(user: User) -> Callable[[Collection], str]:
    """Return a function from a collection to the user's role, after one query."""
    if user.is_superuser:
        return lambda _: str(Role.OWNER)
    roles = dict(Membership.objects.filter(user=user).values_list("collection", "role"))
    return lambda collection: roles.get(collection.pk, "")


def members(collection: Collection) -> QuerySet[Membership]:
    """Return who may read a collection, owners first."""
    order = {role: number for number, role in enumerate(reversed(Role.values))}
    ranks = (When(role=role, then=Value(number)) for role, number in order.items())
    rows = collection.memberships.select_related("user")
    return rows.order_by(Case(*ranks, output_field=IntegerField()), "user__username")


def owners_of(rows: Iterable[Collection]) -> dict[int, list[str]]:
    """Return the names of the owners of each collection, by its primary key; empty for none."""
    names: dict[int, list[str]] = {row.pk: [] for row in rows}
    own = Membership.objects.filter(collection__in=names, role=Role.OWNER)
    for key, name in own.order_by("user__username").values_list("collection", "user__username"):
        names[key].append(name)
    return names


def require_owner(collection: Collection, user: User) -> None:
    """Raise ``Forbidden`` unless the user is an owner."""
    if role_in(collection, user) != Role.OWNER:
        raise Forbidden(
            "Only an owner may change this collection or its members.",
            hint="Ask an owner of the collection.",
        )


def create(name: str, *, owner: Any) -> Collection:
    """Create a collection with this owner. Raises ``Conflict`` if the name is taken."""
    name = _clean(name)
    stem = slugify(name)[:50] or "collection"
    taken = set(Collection.objects.filter(slug__startswith=stem).values_list("slug", flat=True))
    slugs = (stem, *(f"{stem}-{number}" for number in range(2, len(taken) + 2)))
    slug = next(slug for slug in slugs if slug not in taken)
    with transaction.atomic():
        collection = _saved(Collection(name=name, slug=slug))
        Membership.objects.create(collection=collection, user=owner, role=Role.OWNER)
        audit.record(Action.ADD, "collection", collection.slug, collection=collection)
    return collection


def describe(
    collection: Collection,
    *,
    name: str,
    description: str | None = None,
    listening: str | None = None,
) -> None:
    """Rename a collection, and say what it is about and whether it is listened to (None: as
    before); its slug stays.

    Raises ``Conflict`` if the name is taken.
    """
    collection.name = _clean(name)
    if description is not None:
        collection.description = " ".join(description.split())
    if listening is not None:
        collection.listening = listening
    with transaction.atomic():
        _saved(collection)
        audit.record(Action.CHANGE, "collection", collection.slug, collection=collection)


def find_user(username: str) -> Any | None:
    """Return a user by the exact name; None if there is none."""
    return get_user_model().objects.filter(username=username.strip()).first()


def set_member(collection: Collection, username: str, *, role: str) -> None:
    """Add a member or change a role.

    Raises ``InvalidInput`` for an unknown user, and ``Conflict`` if no owner would be left.
    """
    alike = get_user_model().objects.filter(username__iexact=username.strip())
    user = find_user(username) or (alike.first() if alike.count() == 1 else None)
    if user is None:
        name = username.strip()[:80]
        raise InvalidInput(
            f"There is no user “{name}”.",
            hint=f"On the server, `kb user add {quote(name)} --role {role} -c {collection.slug}` "
            "makes the account.",
        )
    with _keeping_an_owner(collection):
        Membership.objects.update_or_create(
            collection=collection, user=user, defaults={"role": role}
        )
        audit.record(Action.CHANGE, "member", user.username, collection=collection, role=role)


def remove_member(collection: Collection, user_pk: int) -> None:
    """Remove a member. Raises ``Conflict`` if no owner would be left."""
    with _keeping_an_owner(collection):
        for member in Membership.objects.filter(collection=collection, user=user_pk):
            audit.record(Action.DELETE, "member", member.user, collection=collection)
            member.delete()


def may_leave(collection: Collection, user: User) -> bool:
    """Tell whether a user is a member, and not the last owner."""
    roles = dict(collection.memberships.values_list("user", "role"))
    role = roles.pop(user.pk, None)
    return role is not None and (role != Role.OWNER or Role.OWNER in roles.values())


def require_leave(collection: Collection, user: User) -> None:
    """Raise ``Conflict`` unless the user may leave."""
    if not may_leave(collection, user):
        raise Conflict(
            "Only a member can leave a collection, and its last owner stays.",
            hint="Make another member an owner first.",
        )


def delete(collection: Collection) -> None:
    """Delete a collection and its content, even while workers add to it."""
    with transaction.atomic():
        audit.record(Action.DELETE, "collection", collection.slug, collection=collection)
        deleting.delete_row(collection)


def delete_video(video: Video) -> None:
    """Delete a video and its transcripts.

    A worker that stores a transcript meanwhile creates the video again.
    """
    with transaction.atomic():
        audit.record(Action.DELETE, "video", video.key, collection=video.collection)
        deleting.delete_row(video)


def _clean(name: str) -> str:
    name = " ".join(name.split())
    if not name:
        raise InvalidInput("The name is empty.", hint="Enter a short name, such as “Lectures”.")
    if len(name) > MAX_NAME:
        raise InvalidInput(f"A name has at most {MAX_NAME} characters.", hint="Shorten it.")
    ours = {gettext(title): title for title in (FIRST_NAME, SAMPLES_NAME)}
    return ours.get(name, name)


def _saved(collection: Collection) -> Collection:
    try:
        with transaction.atomic():
            collection.save()
    except IntegrityError:
        raise Conflict(
            f"There is a collection “{collection.title}” already.", hint="Choose another name."
        ) from None
    return collection


@contextmanager
def _keeping_an_owner(collection: Collection) -> Iterator[None]:
    with transaction.atomic():
        # The lock keeps two owners from removing each other at the same time.
        Collection.objects.select_for_update().get(pk=collection.pk)
        owners = Membership.objects.filter(collection=collection, role=Role.OWNER)
        had_owner = owners.exists()
        yield
        if had_owner and not owners.exists():
            raise Conflict(
                "A collection needs an owner.", hint="Make another member an owner first."
            )
