"""Users: new ones, as members of one collection, and those who were invited and have not come."""

import re
from dataclasses import dataclass
from typing import Final, Self
from urllib.parse import urlencode

from django.contrib.auth.models import User
from django.core import signing
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.http import HttpRequest

from transcripts.core import audit
from transcripts.core.audit import Action
from transcripts.core.errors import Conflict, InvalidInput
from transcripts.models import Collection, Membership, Role

FIELD: Final = "invitation"  # of an address
_REFUSED: Final = re.compile(r"[^\w.@+-]+")  # characters that a user name cannot have


def add(user: User, collection: Collection, *, role: Role | str) -> None:
    """Store a new user as a member of a collection, and of nothing else.

    Raises ``InvalidInput`` for a name that cannot be used, and ``Conflict`` for one that is taken.
    """
    user.username = User.normalize_username(user.username)
    try:
        User._meta.get_field("username").clean(user.username, user)
    except ValidationError as error:
        raise InvalidInput(" ".join(error.messages), hint=_advice(user.username)) from None
    try:
        with transaction.atomic():
            user.save(force_insert=True)
            Membership.objects.create(collection=collection, user=user, role=role)
            audit.record(Action.ADD, "user", user.username, collection=collection, role=str(role))
    except IntegrityError:
        raise Conflict(
            f"There is already a user “{user.username}”.", hint="`kb user list` lists them."
        ) from None


def _advice(name: str) -> str:
    """Say what to do about a name that is refused: “Ada Byron” can be “Ada.Byron”."""
    possible = _REFUSED.sub(".", name.strip()).strip(".")
    try:
        User._meta.get_field("username").clean(possible, None)
    except ValidationError:
        return "Choose another name."
    return f"Write it as “{possible}”."


def guests(collection: Collection, *, of: User) -> dict[int, User]:
    """Return the invited members, by primary key, who have never signed in.

    Left out are those with a password or a token, whose account is their own though they never
    signed in, staff, and members of what the user ``of`` does not own: a link that signs them in
    would be a way into it.
    """
    users = User.objects.filter(
        memberships__collection=collection,
        last_login=None,
        is_active=True,
        is_staff=False,
        api_tokens=None,
    )
    if not of.is_superuser:
        owned = Membership.objects.filter(user=of, role=Role.OWNER).values("collection")
        elsewhere = Membership.objects.exclude(collection__in=owned).values("user")
        users = users.filter(is_superuser=False).exclude(pk__in=elsewhere)
    return {user.pk: user for user in users if not user.has_usable_password()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Invitation:
    """Who invites to which collection, signed in the address of an invitation.

    It is in the address, as it is still needed when the link is used up, and forgotten.
    """

    by: str
    collection: int

    @classmethod
    def read(cls, request: HttpRequest) -> Self | None:
        """Return what the address of a request says; None if it is of no invitation."""
        try:
            by, collection = signing.loads(request.GET.get(FIELD, ""), salt=FIELD)
        except signing.BadSignature:
            return None
        return cls(by=by, collection=collection)

    @property
    def query(self) -> str:
        return urlencode({FIELD: signing.dumps([self.by, self.collection], salt=FIELD)})
