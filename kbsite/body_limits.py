"""How much a request may bring along: told before it is taken in, because Django keeps a whole body on the disk before it looks at anything of it."""

from typing import Any, Final

from django.conf import settings

from kbsite.errors import API, PROBLEM, PROTOCOL, protocol_response
from transcripts.forms import ALL_FILES_FACTOR

DOCUMENTS_AT_ONCE: Final = 2  # of the largest size; of smaller ones as many as fit
CREDENTIALS: Final = (b"cookie", b"authorization")
HINT: Final = "Send the files in several parts, or add them on the server with kb add."


def most_bytes(*, is_stranger: bool = False) -> int:
    """Return how many bytes the body of one request may have: room for the largest files and a form; for who has nothing to sign in with, for a form alone."""
    files = max(
        DOCUMENTS_AT_ONCE * settings.MAX_DOCUMENT_BYTES,
        ALL_FILES_FACTOR * settings.MAX_UPLOAD_BYTES,
    )
    return int(settings.DATA_UPLOAD_MAX_MEMORY_SIZE) + (0 if is_stranger else int(files))


class BodyLimit:
    """An ASGI application that answers 413 to a body of more than ``most_bytes``: at once where the request says so, else as soon as it has come so far."""

    def __init__(self, application: Any) -> None:
        self._application = application

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serve, or refuse."""
        if scope["type"] != "http":
            await self._application(scope, receive, send)
            return
        headers = dict(scope["headers"])
        body = _Body(
            receive, send, most_bytes(is_stranger=not any(name in headers for name in CREDENTIALS))
        )
        if _number(headers.get(b"content-length", b"")) > body.most:
            await _refuse(scope["path"], send, body.most)
            return
        await self._application(scope, body.receive, body.send)
        if body.is_over and not body.is_answered:
            await _refuse(scope["path"], send, body.most)


class _Body:
    """What comes in is counted; of what goes out it is noted whether there was any."""

    def __init__(self, receive: Any, send: Any, most: int) -> None:
        self._receive, self._send = receive, send
        self.most = most  # bytes
        self.taken = 0
        self.is_answered = False

    @property
    def is_over(self) -> bool:
        return self.taken > self.most

    async def receive(self) -> Any:
        """Return the next event. Instead of the byte that is too many: that the client is gone, so that what was kept is let go."""
        event = await self._receive()
        self.taken += len(event.get("body", b""))
        return {"type": "http.disconnect"} if self.is_over else event

    async def send(self, event: Any) -> None:
        """Pass it on."""
        self.is_answered = True
        await self._send(event)


def _number(header: bytes) -> int:
    return (
        int(header) if header.isdigit() and len(header) < 20 else 0
    )  # what is no number the web server refuses, or it is counted


async def _refuse(path: str, send: Any, most: int) -> None:
    """Answer, and close the connection: what is still to come of the body is not wanted."""
    told = f"{PROTOCOL[413][1]} It has more than {most:,} bytes. {HINT}"
    answer = protocol_response(413, told).content if path.startswith(API) else told.encode()
    kind = PROBLEM if path.startswith(API) else "text/plain; charset=utf-8"
    headers = {
        "content-type": kind,
        "content-length": str(len(answer)),
        "connection": "close",
        "x-content-type-options": "nosniff",
    }
    await send(
        {
            "type": "http.response.start",
            "status": 413,
            "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
        }
    )
    await send({"type": "http.response.body", "body": answer})
