"""Callers and their requests: once a request, a user or a token becomes a Scope."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.contrib.auth import get_user
from django.contrib.auth.models import AnonymousUser, User
from django.contrib.sessions.backends.db import SessionStore
from django.http import HttpRequest
from django.utils import timezone

from kbsite.models import ApiToken
from transcripts.core.access import AccessLevel, InsufficientScope
from transcripts.core.errors import NotSignedIn
from transcripts.core.scope import NOTHING, Scope
from transcripts.core.views.requests import Caller, PageRequest
from transcripts.models import WRITING_ROLES, Collection, Membership


@dataclass(frozen=True, slots=True)
class SignedInCaller(Caller):
    """A caller by session, by token, or on this machine."""

    token: ApiToken | None = None
    session: str = ""  # its key

    @property
    def access(self) -> AccessLevel:
        """What their token allows; without one, all."""
        return AccessLevel.MANAGE if self.token is None else AccessLevel(self.token.access)

    def require(self, needed: AccessLevel) -> None:
        """Raise InsufficientScope for a token that does not allow as much."""
        if self.token is not None and not self.access.covers(needed):
            raise _refusal(needed, is_connection=bool(self.token.application_id))

    def renewed(self) -> "SignedInCaller | None":
        if self.token is not None:
            ends, token = self.token.expires_at, ApiToken.valid().filter(pk=self.token.pk).first()
            if token is None or (ends and ends <= timezone.now()):
                return None
            token.narrow(self.access)  # an access token's part
            return SignedInCaller(token.user, scope_of(token.user, token), token)
        request = HttpRequest()
        request.session = SessionStore(self.session)
        user = get_user(request)
        if not isinstance(user, User) or user.pk != self.user.pk:
            return None
        return SignedInCaller(user, scope_of(user), session=self.session)


class AnyRequest(HttpRequest):
    """A request after ``CallerMiddleware``; nobody need be signed in.

    Reading ``caller`` raises NotSignedIn for a token that is not valid.
    """

    caller: SignedInCaller | None
    access: Scope
    may_add: bool
    begun: UUID | None  # see ``transcripts.api.endpoints.Request``
    begin: Callable[[UUID | None], None]
    standings: dict[Any, Any]  # see ``CallLimitMiddleware``


class SignedInRequest(PageRequest):
    """A request of a page whose caller is signed in."""

    caller: SignedInCaller


def _refusal(needed: AccessLevel, *, is_connection: bool) -> InsufficientScope:
    manages = needed == AccessLevel.MANAGE
    if not is_connection:
        return InsufficientScope(
            "This token may not manage members, links and webhooks."
            if manages
            else "This token may only read.",
            hint=f"Create one with `kb token create --{needed}`.",
        )
    error = InsufficientScope(
        "This connection may not manage members, links and webhooks."
        if manages
        else "This connection may only read.",
        hint="Connect it again and allow it to manage them."
        if manages
        else "Connect it again and allow it to add and change.",
    )
    error.scope = " ".join(needed.scopes)
    return error


def everything() -> Scope:
    """Return the scope of whoever runs `kb` on this machine, and so owns the database."""
    ids = frozenset(Collection.objects.values_list("pk", flat=True))
    return Scope(readable=ids, writable=ids)


def scope_of(user: User | AnonymousUser, token: ApiToken | None = None) -> Scope:
    """Return what a user may see and change, at most what a given token allows."""
    if not user.is_authenticated or not user.is_active:
        return NOTHING
    if user.is_superuser:
        readable = writable = everything().readable
    else:
        roles = dict(Membership.objects.filter(user=user).values_list("collection_id", "role"))
        readable = frozenset(roles)
        writable = frozenset(pk for pk, role in roles.items() if role in WRITING_ROLES)
    if token is not None and token.limited:
        readable &= frozenset(token.collections.values_list("pk", flat=True))
    may_write = token is None or AccessLevel(token.access).covers(AccessLevel.WRITE)
    return Scope(readable=readable, writable=writable & readable if may_write else frozenset())


def caller_or_none(request: AnyRequest) -> SignedInCaller | None:
    """Return a request's caller; None for a stranger, and for a token that is not valid."""
    try:
        return request.caller or None  # which is lazy
    except NotSignedIn:
        return None


def is_superuser(request: AnyRequest) -> bool:
    """Return whether a request's caller, by session or token, is a superuser."""
    caller = caller_or_none(request)
    return bool(caller and caller.user.is_superuser)
