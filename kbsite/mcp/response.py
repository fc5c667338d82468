"""The answer to a request on its way out: what is known when it begins, and challenges."""

from contextvars import ContextVar
from typing import Any

from starlette.datastructures import MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import Message, Scope, Send

from kbsite.middleware.responses import NOT_KEPT
from kbsite.oauth import audience
from transcripts.core.access import InsufficientScope

_RESPONSE: ContextVar["McpResponse"] = ContextVar("response")


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
            await self._refuse(self.refusal)
        elif self._head is not None:
            self._is_sent = True
            head, self._head = self._head, None
            await self._send(self._completed(head))
            await self._send(event)
        elif not self.refusal:
            await self._send(event)

    def _completed(self, head: Message) -> Message:
        headers = MutableHeaders(raw=list(head["headers"]))
        for name, value in self.headers.items():
            headers[name] = value
        if head["status"] == 401:
            headers["WWW-Authenticate"] = self._challenge("invalid_token", audience.SCOPES)
        return {**head, "headers": headers.raw}

    async def _refuse(self, error: InsufficientScope) -> None:
        challenge = self._challenge(error.code, error.scope)
        response = JSONResponse(
            {"error": error.code, "error_description": error.message},
            status_code=403,
            headers={**self.headers, "WWW-Authenticate": challenge},
        )
        await response(self._scope, _nothing, self._send)

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
