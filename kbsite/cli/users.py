"""People and their tokens, as `kb` adds, lists and revokes them."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.models import User
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils import timezone

from kbsite.cli import first_start
from kbsite.models import ApiToken
from transcripts import library
from transcripts.errors import Conflict, InvalidInput, NotFound
from transcripts.models import Collection, Membership
from transcripts.sanitize import clean
from transcripts.scope import Scope


@dataclass(frozen=True, slots=True)
class Person:
    """A user, and the roles by collection."""

    name: str
    admin: bool
    active: bool
    roles: dict[str, str]
    last_login: str | None

    @property
    def what(self) -> str:
        """What the person may do, in words."""
        parts = (
            ["everything"]
            if self.admin
            else [f"{role} of {slug}" for slug, role in self.roles.items()]
        )
        return ", ".join(parts or ["nothing yet"]) + ("" if self.active else " (not active)")

    def as_json(self) -> dict[str, Any]:
        """Return it for programs."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class TokenSummary:
    """A token without its secret."""

    id: int
    name: str
    hint: str
    user: str
    can_write: bool
    collections: tuple[str, ...] | None
    state: str
    last_used_at: str | None
    expires_at: str | None

    def as_json(self) -> dict[str, Any]:
        """Return it for programs; ``collections`` is null for one that reaches as far as its user."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class NewToken:
    """A token with its secret, for the one time that it is shown."""

    token: TokenSummary
    text: str

    def as_json(self) -> dict[str, Any]:
        """Return it for programs."""
        return {"token": self.text, **self.token.as_json()}


def add(
    scope: Scope, name: str, *, password: str, admin: bool, role: str, collection: str
) -> Person:
    """Add a user. Raises ``InvalidInput`` for a bad name or a weak password, ``Conflict`` for a name in use, ``CollectionNotFound``."""
    shelf = (
        library.find_collection(scope, collection) if collection else Collection.objects.default()
    )
    user = User(username=name, is_superuser=admin, is_staff=admin)
    try:
        User._meta.get_field("username").clean(name, user)
        validate_password(password, user)
    except ValidationError as error:
        raise InvalidInput(
            " ".join(error.messages),
            hint="A password has at least 8 characters and is not a common one.",
        ) from None
    user.set_password(password)
    try:
        with transaction.atomic():
            user.save()
            Membership.objects.create(collection=shelf, user=user, role=role)
    except IntegrityError:
        raise Conflict(
            f"There is a user “{name}” already.", hint="`kb user list` lists them."
        ) from None
    return _person(user)


def everyone() -> list[Person]:
    """Return all users."""
    return [_person(user) for user in get_user_model().objects.order_by("username")]


def create_token(
    scope: Scope, name: str, *, user: str, write: bool, collections: Sequence[str], days: int | None
) -> NewToken:
    """Make a token. Raises ``InvalidInput`` without a name, ``NotFound`` for an unknown user or collection."""
    name = clean(name, 80)
    if not name:
        raise InvalidInput(
            "The token has no name.",
            hint="Name it after what it is for, such as “Claude on my laptop”.",
        )
    shelves = tuple(library.find_collection(scope, one) for one in collections)
    token, text = ApiToken.issue(
        first_start.find_user(user), name=name, can_write=write, collections=shelves, days=days
    )
    return NewToken(token=_token(token), text=text)


def tokens() -> list[TokenSummary]:
    """Return all tokens, newest first."""
    return [
        _token(one)
        for one in ApiToken.objects.select_related("user").prefetch_related("collections")
    ]


def revoke(which: str) -> TokenSummary:
    """Revoke the token of a number, a name, or a beginning. Raises ``NotFound``, and ``Conflict`` when several are meant."""
    wanted = Q(name=which) | Q(hint=which[:9]) if len(which) >= 9 else Q(name=which)
    if which.isdecimal():
        wanted |= Q(pk=int(which))
    found = list(ApiToken.objects.filter(wanted, revoked_at=None).select_related("user")[:2])
    if not found:
        raise NotFound(
            f"There is no valid token “{which[:9]}”.", hint="`kb token list` lists them."
        )
    if len(found) > 1:
        raise Conflict(
            f"Several tokens are named “{which[:9]}”.",
            hint="Give the number that `kb token list` shows.",
        )
    found[0].revoke()
    return _token(found[0])


def _person(user: User) -> Person:
    roles = dict(
        Membership.objects.filter(user=user)
        .order_by("collection__slug")
        .values_list("collection__slug", "role")
    )
    last = user.last_login.isoformat(timespec="minutes") if user.last_login else None
    return Person(
        name=user.get_username(),
        admin=user.is_superuser,
        active=user.is_active,
        roles=roles,
        last_login=last,
    )


def _token(one: ApiToken) -> TokenSummary:
    return TokenSummary(
        id=one.pk,
        name=one.name,
        hint=one.hint,
        user=one.user.get_username(),
        can_write=one.can_write,
        collections=tuple(shelf.slug for shelf in one.collections.all()) if one.limited else None,
        state=_state(one),
        last_used_at=one.last_used_at.isoformat(timespec="minutes") if one.last_used_at else None,
        expires_at=one.expires_at.isoformat(timespec="minutes") if one.expires_at else None,
    )


def _state(one: ApiToken) -> str:
    if one.revoked_at:
        return "revoked"
    return "expired" if one.expires_at and one.expires_at <= timezone.now() else "valid"
