"""The first start: an owner to sign in as, a collection, the samples."""

from django.contrib.auth import get_user_model
from django.contrib.auth.models import AbstractBaseUser, User
from django.db import transaction

from kbsite import settings
from kbsite.models import SignInLink
from transcripts import samples
from transcripts.errors import NotFound
from transcripts.models import Collection, Membership, Role

OWNER = "owner"


def first_steps(*, sample: bool) -> User:
    """Make what a new library lacks, and return who signs in. The samples come with the first start only: deleted ones stay deleted."""
    users = get_user_model().objects.filter(is_superuser=True, is_active=True).order_by("pk")
    if found := users.filter(username=OWNER).first() or users.first():
        return found
    if sample:
        samples.load()
    return _make_owner()


def find_user(name: str) -> User:
    """Return a user by name, or for an empty one whoever runs this library. Raises ``NotFound``."""
    users = get_user_model().objects.filter(is_active=True).order_by("-is_superuser", "pk")
    found = users.filter(username=name).first() if name else users.filter(username=OWNER).first() or users.first()
    if found is None:
        raise NotFound(f"There is no user “{name}”." if name else "There are no users yet.", hint="`kb user list` lists them, `kb user add NAME` makes one.")
    return found


def sign_in_link(user: AbstractBaseUser, *, base: str = "") -> str:
    """Return an address that signs this user in, once, within a day."""
    return f"{(base or settings.PUBLIC_URL).rstrip('/')}/sign-in/{SignInLink.issue(user)}/"


@transaction.atomic
def _make_owner() -> User:
    owner = get_user_model().objects.create_superuser(OWNER, password=None)
    Membership.objects.create(collection=Collection.objects.default(), user=owner, role=Role.OWNER)
    return owner
