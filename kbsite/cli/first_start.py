"""The first start: an owner to sign in as, a collection, the samples."""

from django.contrib.auth import get_user_model
from django.contrib.auth.models import AbstractBaseUser, User
from django.db import transaction

from citations import samples
from kbsite import settings
from kbsite.models import SignInLink
from transcripts.errors import Conflict, NotFound
from transcripts.models import Collection, Membership, Role

OWNER = "owner"


def first_steps(*, sample: bool) -> User:
    """Make what a new library lacks, and return who signs in. The samples come with the first start only: deleted ones stay deleted."""
    is_new = not get_user_model().objects.exists()
    first = owner()
    if sample and is_new:
        samples.load(owner=first)
    return first


def owner() -> User:
    """Return whoever this library belongs to, made if there is nobody: a superuser without a password, who signs in by link."""
    users = get_user_model().objects.filter(is_superuser=True, is_active=True).order_by("pk")
    return users.filter(username=OWNER).first() or users.first() or _make_owner()


def find_user(name: str) -> User:
    """Return a user by name, or for an empty one the owner. Raises ``NotFound``."""
    if not name:
        return owner()
    found = get_user_model().objects.filter(username=name, is_active=True).first()
    if found is None:
        raise NotFound(
            f"There is no user “{name}”.",
            hint="`kb user list` lists them, `kb user add NAME` makes one.",
        )
    return found


def sign_in_link(user: AbstractBaseUser, *, base: str = "") -> str:
    """Return an address that signs this user in, once, within a day."""
    return f"{(base or settings.PUBLIC_URL).rstrip('/')}/sign-in/{SignInLink.issue(user)}/"


@transaction.atomic
def _make_owner() -> User:
    made, created = get_user_model().objects.get_or_create(
        username=OWNER, defaults={"is_superuser": True, "is_staff": True}
    )
    if created:
        made.set_unusable_password()
        made.save(update_fields=["password"])
    elif not (made.is_superuser and made.is_active):
        raise Conflict(
            f"The user “{OWNER}” is no active superuser, and there is no other.",
            hint="Make one: kb user add NAME --admin",
        )
    Membership.objects.get_or_create(
        collection=Collection.objects.default(), user=made, defaults={"role": Role.OWNER}
    )
    return made
