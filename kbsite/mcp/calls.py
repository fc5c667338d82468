"""A call: its caller, by bearer token, the head of its answer, and threads for the database."""

import asyncio
import hashlib
import json
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar, copy_context
from functools import cache, partial
from typing import Any, Final, ParamSpec, TypeVar
from uuid import uuid4

from django.conf import settings
from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.provider import AccessToken
from pydantic import Field, InstanceOf
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import Message, Receive, Scope, Send

from kbsite.accounts.auth import caller_of_token
from kbsite.callers import SignedInCaller
from kbsite.errors import DATABASE_ERRORS
from kbsite.mcp.request_headers import JSON, STREAM, message_in, preferred
from kbsite.middleware import replica_reads
from kbsite.middleware.responses import NOT_KEPT
from kbsite.oauth import audience
from transcripts.core import announcements
from transcripts.core.access import AccessLevel, InsufficientScope
from transcripts.core.actors import Actor, acting
from transcripts.core.errors import DatabaseLost, NotSignedIn
from transcripts.core.locks import release_connection

ORDERS: Final[dict[str, asyncio.Event]] = {}  # to cancel calls of this process, by their topics
ADDRESS: ContextVar[str | None] = ContextVar("address", default=None)  # of the client
LOCAL_CALLER: ContextVar[SignedInCaller | None] = ContextVar("local_caller", default=None)  # stdio
SESSION: Final = "mcp-session-id"
MAX_SEEN: Final = 10_000  # bytes of a message that is read here, too
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
            identity = await in_thread(_find_caller, token, resource())
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


def _find_caller(token: str, resource: str) -> SignedInCaller:
    with replica_reads.spared():
        return caller_of_token(token, resource=resource)


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
    which a client asks its user for more. A client that does not read streams gets the last
    message of one as JSON.
    """

    def __init__(self, scope: Scope, receive: Receive, send: Send, *, own: str) -> None:
        self.headers = {"Cache-Control": f"{NOT_KEPT}, no-transform"}
        self.refusal: InsufficientScope | None = None
        self.resource = f"{own}/mcp"
        self._scope, self._receive, self._send, self._own = scope, receive, send, own
        self._request = Headers(scope=scope)
        self._reads_json = preferred(self._request.get("accept", "")) == JSON
        self._body = bytearray()
        self._head: Message | None = None
        self._stream: bytearray | None = None  # that is collected for a client that reads JSON
        self._is_refused = self._is_sent = False
        _RESPONSE.set(self)

    async def receive(self) -> Message:
        """Receive a part of the request."""
        event = await self._receive()
        if len(self._body) < MAX_SEEN:
            self._body += event.get("body", b"")
        return event

    async def send(self, event: Message) -> None:
        """Send an event of the answer, or keep it."""
        if event["type"] == "http.response.start":
            self._head = event
            is_stream = Headers(raw=event["headers"]).get("content-type", "").startswith(STREAM)
            self._stream = bytearray() if is_stream and self._reads_json else None
        elif self._is_refused:
            pass
        elif self._is_sent:
            await self._send(event)
        elif self._stream is not None and event.get("more_body"):
            self._stream += event["body"]
        elif self.refusal:
            self._is_refused = True
            challenge = self._challenge(self.refusal.code, self.refusal.scope)
            refused = JSONResponse(
                {"error": self.refusal.code, "error_description": self.refusal.message},
                status_code=403,
                headers={**self.headers, "WWW-Authenticate": challenge},
            )
            await refused(self._scope, _nothing, self._send)
        elif self._head is not None:
            self._is_sent = True
            await self._begin(self._head, event)

    async def _begin(self, head: Message, event: Message) -> None:
        headers = MutableHeaders(raw=list(head["headers"]))
        headers.update(self.headers)
        message = self._message()
        if head["status"] == 401:
            headers["WWW-Authenticate"] = self._challenge("invalid_token", audience.SCOPES)
        elif message.get("method") == "initialize" and SESSION not in headers:
            headers[SESSION] = uuid4().hex
        elif message.get("method") == "notifications/cancelled" and head["status"] == 202:
            params = message.get("params")
            topic = self.topic_of(params.get("requestId") if params else None)
            if order := ORDERS.get(topic):
                order.set()
            else:  # a call of another process
                await in_thread(announcements.announce, topic)
        if self._stream is not None:
            answers = re.findall(rb"^data: ?(.*)$", self._stream + event["body"], re.MULTILINE)
            event = {"type": "http.response.body", "body": answers[-1].strip() if answers else b""}
            headers.update({"content-type": JSON, "content-length": str(len(event["body"]))})
        await self._send({**head, "headers": headers.raw})
        await self._send(event)

    def topic_of(self, request: object) -> str:
        """Return the topic of an order to cancel a request of this client: with a session, it is
        told by that, else by what program it is and where.
        """
        session = self._request.get(SESSION)
        where = [] if session else [self._request.get("user-agent"), ADDRESS.get()]
        text = json.dumps([self._request.get("authorization"), session, *where, str(request)])
        return f"cancel {hashlib.sha256(text.encode()).hexdigest()}"

    def _message(self) -> dict[str, Any]:
        """Return the message that was sent, if it is a short one: those are that matter here."""
        return message_in(bytes(self._body)) if len(self._body) < MAX_SEEN else {}

    def _challenge(self, error: str, scope: str) -> str:
        return audience.challenge(self._own, "/mcp", error=error, scope=scope)


def headers() -> dict[str, str]:
    """Return the headers that the answer to this request will get besides its own."""
    current = _RESPONSE.get(None)
    return current.headers if current else {}


def topic_of(request: object) -> str:
    """Return the topic of an order to cancel a request of the current client; "" over stdio, where
    the connection knows its requests.
    """
    current = _RESPONSE.get(None)
    return current.topic_of(request) if current else ""


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
