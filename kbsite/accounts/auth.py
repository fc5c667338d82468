"""Authentication: whose request this is, by bearer token or session."""

from typing import Any

from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.deprecation import MiddlewareMixin
from django.utils.functional import SimpleLazyObject

from kbsite import openapi
from kbsite.callers import AnyRequest, SignedInCaller, caller_or_none, scope_of
from kbsite.models import ApiToken
from kbsite.oauth import audience, connections
from transcripts.core import actors
from transcripts.core.actors import Actor
from transcripts.core.errors import NotSignedIn
from transcripts.core.headers import header
from transcripts.core.scope import NOTHING
from transcripts.core.views.requests import SAFE, page_above, page_of_form, takes_get


def caller_of_token(text: str, *, resource: str = "") -> SignedInCaller:
    """Return the caller of a bearer token, a personal one or one of OAuth.

    ``resource`` is the address that is called, without its query. Raises NotSignedIn.
    """
    token = ApiToken.find(text) or connections.find(text, resource=resource)
    if token is None:
        raise NotSignedIn("This token is unknown, expired or revoked.")
    return SignedInCaller(user=token.user, scope=scope_of(token.user, token), token=token)


def caller_of_request(request: HttpRequest) -> SignedInCaller | None:
    """Return the caller by bearer token if one is sent, else by session. Raises NotSignedIn."""
    scheme, _, text = request.headers.get("Authorization", "").partition(" ")
    if scheme.casefold() == "bearer":
        resource = audience.origin_of(request) + request.path_info
        return caller_of_token(text.strip(), resource=resource)
    if request.user.is_authenticated:
        key = request.session.session_key or ""
        return SignedInCaller(user=request.user, scope=scope_of(request.user), session=key)
    return None


def actor_of(request: AnyRequest) -> Actor:
    """Return who a request comes from, and by which door, for the audit trail."""
    caller = caller_or_none(request)
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

    def process_request(self, request: AnyRequest) -> None:
        actors.resolve_with(lambda: actor_of(request))
        session = getattr(request, "session", None)
        # A quoted cookie can carry NUL, which PostgreSQL refuses in a query.
        if session is not None and "\0" in (session.session_key or ""):
            request.session = type(session)()
        lazy: Any = SimpleLazyObject
        request.caller = lazy(lambda: caller_of_request(request))
        request.access = lazy(lambda: request.caller.scope if request.caller else NOTHING)
        request.may_add = lazy(
            lambda: bool((caller := caller_or_none(request)) and caller.scope.writable)
        )

    def process_response(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        if request.path_info.startswith("/api/") and response.status_code == 401:
            challenge = audience.challenge(audience.origin_of(request), request.path_info)
            response["WWW-Authenticate"] = challenge
        actors.resolve_with(Actor)  # the thread goes on to others
        return response


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
            page = page_above(request.path)
        else:
            return super().handle_no_permission(request, view_func)
        return redirect_to_login(page or reverse("library"), self.get_login_url(view_func))
