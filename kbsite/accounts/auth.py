"""Authorization: once a request, a user or a token becomes a Scope."""

from dataclasses import dataclass
from typing import Any

from django.contrib.auth import get_user
from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.contrib.auth.models import AnonymousUser, User
from django.contrib.auth.views import redirect_to_login
from django.contrib.sessions.backends.db import SessionStore
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.deprecation import MiddlewareMixin
from django.utils.functional import SimpleLazyObject

from kbsite import openapi
from kbsite.models import ApiToken
from kbsite.oauth import audience, connections
from transcripts.core import actors
from transcripts.core.access import AccessLevel, InsufficientScope
from transcripts.core.actors import Actor
from transcripts.core.errors import NotSignedIn
from transcripts.core.headers import header
from transcripts.core.scope import NOTHING, Scope
from transcripts.core.views.form_pages import SAFE, page_above, page_of_form, takes_get
from transcripts.models import WRITING_ROLES, Collection, Membership


@dataclass(frozen=True, slots=True)
class Caller:
    """A user, perhaps with a token, and what they may see and change."""

    user: User
    scope: Scope
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

    def renewed(self) -> "Caller | None":
        """Return them with what they may see and change now; None if they are signed out.

        A long request may outlive a membership, a token, a session or an account.
        """
        if self.token is not None:
            ends, token = self.token.expires_at, ApiToken.valid().filter(pk=self.token.pk).first()
            if token is None or (ends and ends <= timezone.now()):
                return None
            token.narrow(self.access)  # an access token's part
            return Caller(token.user, scope_of(token.user, token), token)
        request = HttpRequest()
        request.session = SessionStore(self.session)
        user = get_user(request)
        if not isinstance(user, User) or user.pk != self.user.pk:
            return None
        return Caller(user, scope_of(user), session=self.session)

    def still_reads(self, collection_id: int) -> bool:
        """Check again that they may read a collection."""
        renewed = self.renewed()
        return renewed is not None and collection_id in renewed.scope.readable


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


def caller_of_token(text: str, *, resource: str = "") -> Caller:
    """Return the caller of a bearer token, a personal one or one of OAuth.

    ``resource`` is the address that is called, without its query. Raises NotSignedIn.
    """
    token = ApiToken.find(text) or connections.find(text, resource=resource)
    if token is None:
        raise NotSignedIn("This token is unknown, expired or revoked.")
    return Caller(user=token.user, scope=scope_of(token.user, token), token=token)


def caller_of_request(request: HttpRequest) -> Caller | None:
    """Return the caller by bearer token if one is sent, else by session. Raises NotSignedIn."""
    scheme, _, text = request.headers.get("Authorization", "").partition(" ")
    if scheme.casefold() == "bearer":
        resource = audience.origin_of(request) + request.path
        return caller_of_token(text.strip(), resource=resource)
    if request.user.is_authenticated:
        key = request.session.session_key or ""
        return Caller(user=request.user, scope=scope_of(request.user), session=key)
    return None


def is_superuser(request: Any) -> bool:
    """Return whether a request's caller, by session or token, is a superuser."""
    try:
        return bool(request.caller and request.caller.user.is_superuser)
    except NotSignedIn:
        return False


def actor_of(request: Any) -> Actor:
    """Return who a request comes from, and by which door, for the audit trail."""
    try:
        caller = request.caller
    except NotSignedIn:
        caller = None
    part = request.path_info.split("/")[1]
    return Actor(
        door={"api": "rest", "admin": "admin"}.get(part, "web"),
        name=caller.user.get_username() if caller else "",
        token=caller.token.hint if caller and caller.token else "",
        address=request.META.get("REMOTE_ADDR"),
    )


class CallerMiddleware(MiddlewareMixin):
    """Give every request a lazy ``caller`` and ``access``, its Scope.

    The apps never look at users or tokens. ``scope`` is taken: an ASGI request has one of its own.
    """

    def process_request(self, request: Any) -> None:
        actors.resolve_with(lambda: actor_of(request))
        session = getattr(request, "session", None)
        # A quoted cookie can carry NUL, which PostgreSQL refuses in a query.
        if session is not None and "\0" in (session.session_key or ""):
            request.session = type(session)()
        request.caller = SimpleLazyObject(lambda: caller_of_request(request))
        request.access = SimpleLazyObject(
            lambda: request.caller.scope if request.caller else NOTHING
        )
        request.may_add = SimpleLazyObject(lambda: _may_add(request))

    def process_response(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        if request.path_info.startswith("/api/") and response.status_code == 401:
            challenge = audience.challenge(audience.origin_of(request), request.path_info)
            response["WWW-Authenticate"] = challenge
        actors.resolve_with(Actor)  # the thread goes on to others
        return response


def _may_add(request: Any) -> bool:
    """Tell pages, those of errors too, whether to offer adding."""
    try:
        return bool(request.access.writable)
    except NotSignedIn:
        return False


def describe(methods: openapi.Methods) -> None:
    """Describe the challenges in the OpenAPI document."""
    missing = header("Where tokens come from.", is_always=True)
    narrow = header("The scope that a connected application lacks.")
    for operation in methods.values():
        openapi.send(operation, "WWW-Authenticate", missing, lambda status: status == "401")
        openapi.send(operation, "WWW-Authenticate", narrow, lambda status: status == "403")


class SignInRequiredMiddleware(LoginRequiredMiddleware):
    """Require a session for pages; an htmx request redirects the whole page to the sign-in.

    Whoever signs in comes to the page that was asked for, or to that of the form that was sent.
    """

    def process_view(
        self, request: HttpRequest, view_func: Any, view_args: Any, view_kwargs: Any
    ) -> Any:
        if request.path_info.startswith("/api/"):  # the APIs authenticate by themselves
            return None
        return super().process_view(request, view_func, view_args, view_kwargs)

    def handle_no_permission(self, request: HttpRequest, view_func: Any) -> Any:
        if getattr(request, "htmx", False):
            return HttpResponse(status=204, headers={"HX-Redirect": reverse("sign-in")})
        if request.method not in SAFE:
            page = page_of_form(request)
        elif not takes_get(view_func):
            page = page_above(request.path_info)
        else:
            return super().handle_no_permission(request, view_func)
        return redirect_to_login(page or reverse("library"), self.get_login_url(view_func))
