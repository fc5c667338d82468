"""A call: its caller, by bearer token, the head of its answer, and threads for the database."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar, copy_context
from functools import cache, partial
from typing import Any, ParamSpec, TypeVar

from django.conf import settings
from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.provider import AccessToken
from pydantic import Field, InstanceOf
from starlette.datastructures import MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import Message, Scope, Send

from kbsite.accounts.auth import caller_of_token
from kbsite.callers import SignedInCaller
from kbsite.errors import DATABASE_ERRORS
from kbsite.middleware.responses import NOT_KEPT
from kbsite.oauth import audience
from transcripts.core.access import AccessLevel, InsufficientScope
from transcripts.core.audit import Actor, acting
from transcripts.core.errors import DatabaseLost, NotSignedIn
from transcripts.core.locks import release_connection

ADDRESS: ContextVar[str | None] = ContextVar("address", default=None)  # of the client
LOCAL_CALLER: ContextVar[SignedInCaller | None] = ContextVar("local_caller", default=None)  # stdio
P = ParamSpec("P")
T = TypeVar("T")
_RESPONSE: ContextVar["McpResponse"] = ContextVar("response")


class CallerToken(AccessToken):
    """An access token with its caller."""

    caller: InstanceOf[SignedInCaller] = Field(exclude=True, repr=False)


class ApiTokenVerifier:
    """Verifies bearer tokens: personal ones, and those of OAuth for this endpoint."""

    async def verify_token(self, token: str) -> AccessToken | None:
        """Return the access token; None if it is unknown, expired or revoked."""
        try:
            identity = await in_thread(caller_of_token, token, resource=resource())
        except NotSignedIn:
            return None
        if identity.token is None:
            raise NotSignedIn("Only a token may call over MCP.")
        return CallerToken(
            token=identity.token.hint,
            client_id=f"token-{identity.token.pk}",
            scopes=list(AccessLevel(identity.token.access).scopes),
            subject=str(identity.user.pk),
            caller=identity,
        )


def caller() -> SignedInCaller:
    """Return the caller of the current call. Raises ``NotSignedIn`` outside of one."""
    if local := LOCAL_CALLER.get():
        return local
    token = get_access_token()
    if not isinstance(token, CallerToken):
        raise NotSignedIn("No token came with this call.")
    return token.caller


async def in_thread(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run code that uses the database in one of the threads; its exceptions rise here."""
    call = partial(_and_release, work, *args, **kwargs)
    return await asyncio.get_running_loop().run_in_executor(_threads(), copy_context().run, call)


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=max_threads(), thread_name_prefix="mcp")


def max_threads() -> int:
    """Return how many calls use the database at once: the pages need connections, too."""
    return max(1, min(8, int(settings.DB_POOL_SIZE) // 2))


def _and_release(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    token, by = get_access_token(), LOCAL_CALLER.get()
    hint = ""
    if isinstance(token, CallerToken):
        by, hint = token.caller, token.token
    name = by.user.get_username() if by else ""
    try:
        with acting(Actor(door="mcp", name=name, token=hint, address=ADDRESS.get())):
            return work(*args, **kwargs)
    except DATABASE_ERRORS as error:
        raise DatabaseLost from error
    finally:
        release_connection()  # Django does it after a request, and here there is none


class McpResponse:
    """Holds the head of an answer until its body begins, as a tool may then have been called.

    ``headers`` are added to it. With a ``refusal``, the answer is 403 `insufficient_scope`, on
    which a client asks its user for more.
    """

    def __init__(self, scope: Scope, send: Send, *, own: str) -> None:
        self.headers = {"Cache-Control": f"{NOT_KEPT}, no-transform"}
        self.refusal: InsufficientScope | None = None
        self.resource = f"{own}/mcp"
        self._scope, self._send, self._own = scope, send, own
        self._head: Message | None = None
        self._is_sent = False
        _RESPONSE.set(self)

    async def send(self, event: Message) -> None:
        """Send an event of the answer, or keep it."""
        if event["type"] == "http.response.start":
            self._head = event
        elif not self._is_sent and self.refusal:
            self._is_sent = True
            challenge = self._challenge(self.refusal.code, self.refusal.scope)
            refused = JSONResponse(
                {"error": self.refusal.code, "error_description": self.refusal.message},
                status_code=403,
                headers={**self.headers, "WWW-Authenticate": challenge},
            )
            await refused(self._scope, _nothing, self._send)
        elif self._head is not None:
            self._is_sent = True
            head, self._head = self._head, None
            headers = MutableHeaders(raw=list(head["headers"]))
            headers.update(self.headers)
            if head["status"] == 401:
                headers["WWW-Authenticate"] = self._challenge("invalid_token", audience.SCOPES)
            await self._send({**head, "headers": headers.raw})
            await self._send(event)
        elif not self.refusal:
            await self._send(event)

    def _challenge(self, error: str, scope: str) -> str:
        return audience.challenge(self._own, "/mcp", error=error, scope=scope)


def headers() -> dict[str, str]:
    """Return the headers that the answer to this request will get besides its own."""
    current = _RESPONSE.get(None)
    return current.headers if current else {}


def resource() -> str:
    """Return the address that is called."""
    current = _RESPONSE.get(None)
    return current.resource if current else ""


def refuse(error: InsufficientScope) -> None:
    """Answer 403 instead, if a connection was not allowed what it has called."""
    current = _RESPONSE.get(None)
    if current and error.scope:
        current.refusal = error


async def _nothing() -> Any:
    return {"type": "http.disconnect"}
