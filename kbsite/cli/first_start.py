"""The first start: an owner who can sign in, a collection, the samples."""

from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.auth.models import AbstractBaseUser, User
from django.db import transaction

from citations import samples
from kbsite.models import SignInLink
from transcripts.errors import Conflict, NotFound
from transcripts.models import Collection, Membership, Role

OWNER = "owner"


def prepare(*, sample: bool) -> User:
    """Create what a new library lacks; return its owner. Samples come with the first start only."""
    is_new = not get_user_model().objects.exists()
    user = owner()
    if sample and is_new:
        samples.load(owner=user)
    return user


def owner() -> User:
    """Return the library's owner, or create one: a superuser without a password."""
    users = get_user_model().objects.filter(is_superuser=True, is_active=True).order_by("pk")
    return users.filter(username=OWNER).first() or users.first() or _create_owner()


def find_user(name: str) -> User:
    """Return a user by name, or the owner if it is empty. Raises ``NotFound``."""
    if not name:
        return owner()
    user = get_user_model().objects.filter(username=name, is_active=True).first()
    if user is None:
        raise NotFound(
            f"There is no user “{name}”.",
            hint="`kb user list` lists the users, `kb user add NAME` adds one.",
        )
    return user


def sign_in_link(user: AbstractBaseUser, *, base: str = "") -> str:
    """Return an address that signs this user in, once, within a day."""
    return f"{(base or settings.PUBLIC_URL).rstrip('/')}/sign-in/{SignInLink.issue(user)}/"


@transaction.atomic
def _create_owner() -> User:
    user, created = get_user_model().objects.get_or_create(
        username=OWNER, defaults={"is_superuser": True, "is_staff": True}
    )
    if created:
        user.set_unusable_password()
        user.save(update_fields=["password"])
    elif not (user.is_superuser and user.is_active):
        raise Conflict(
            f"The user “{OWNER}” is not an active superuser, and there is no other.",
            hint="Add one: kb user add NAME --admin",
        )
    Membership.objects.get_or_create(
        collection=Collection.objects.default(), user=user, defaults={"role": Role.OWNER}
    )
    return user
