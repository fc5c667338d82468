"""Limits on the time of request heads, which uvicorn lacks, and on the size and the time of request
bodies, checked before Django stores a whole body on the disk.
"""

import asyncio
import tempfile
from contextlib import suppress
from typing import Any, Final

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.core.files.uploadhandler import FileUploadHandler
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from kbsite import error_page, openapi
from kbsite.errors import TooSlow
from transcripts.core.errors import TooLarge
from transcripts.forms import ALL_FILES_FACTOR

DOCUMENTS_AT_ONCE: Final = 2  # of the largest size
CREDENTIALS: Final = (b"cookie", b"authorization")
HEAD_SECONDS: Final = 20.0
STILL_SECONDS: Final = 30.0  # that may pass without a byte
LEAST_RATE: Final = 500  # bytes a second after the first ``STILL_SECONDS``, on average


class TimedHttpProtocol(HttpToolsProtocol):
    """uvicorn's protocol, which closes a connection if a request head is not whole in time.

    The time starts with the connection and, after a response, with the next byte. Until that comes,
    uvicorn's ``timeout_keep_alive`` applies.
    """

    _head_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._expect_head()

    def data_received(self, data: bytes) -> None:
        if self.cycle is not None and self.cycle.response_complete:
            self._expect_head()
        super().data_received(data)

    def on_headers_complete(self) -> None:
        self._stop_timer()
        super().on_headers_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        super().connection_lost(exc)

    def _expect_head(self) -> None:
        if self._head_timer is None:
            self._head_timer = self.loop.call_later(HEAD_SECONDS, self.transport.close)

    def _stop_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None


def most_bytes(*, is_stranger: bool = False) -> int:
    """Return the size limit of a body in bytes: the largest files and a form.

    Without credentials, a form alone.
    """
    files = max(
        DOCUMENTS_AT_ONCE * settings.MAX_DOCUMENT_BYTES,
        ALL_FILES_FACTOR * settings.MAX_UPLOAD_BYTES,
        settings.MAX_MEDIA_BYTES,
    )
    return int(settings.DATA_UPLOAD_MAX_MEMORY_SIZE) + (0 if is_stranger else int(files))


class TemporaryUpload(FileUploadHandler):
    """Stores an upload in a temporary file without a name: nothing of it stays when the process is
    killed. It is closed at once if the disk is full.
    """

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        super().new_file(*args, **kwargs)
        about = (self.file_name, self.content_type, 0, self.charset, self.content_type_extra)
        folder = settings.FILE_UPLOAD_TEMP_DIR
        file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115  # the request closes it
        self.file = UploadedFile(file, *about)

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        try:
            self.file.write(raw_data)
        except OSError:
            with suppress(OSError):  # to close the file would write the rest of it
                self.upload_interrupted()
            raise

    def file_complete(self, file_size: int) -> "UploadedFile[bytes]":
        self.file.seek(0)
        self.file.size = file_size
        return self.file

    def upload_interrupted(self) -> None:
        if hasattr(self, "file"):
            self.file.close()


class BodyLimit:
    """An ASGI application that answers 413 to a body of more than ``most_bytes``.

    It answers at once if Content-Length says so, else as soon as that much has arrived.
    """

    def __init__(self, application: Any) -> None:
        self._application = application

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self._application(scope, receive, send)
            return
        headers = dict(scope["headers"])
        most = most_bytes(is_stranger=not any(name in headers for name in CREDENTIALS))
        taken, is_answered = 0, False

        async def receive_some() -> Any:
            nonlocal taken
            event = await receive()
            taken += len(event.get("body", b""))
            # Over the limit, the client counts as gone: Django drops what it has stored.
            return {"type": "http.disconnect"} if taken > most else event

        async def send_and_note(event: Any) -> None:
            nonlocal is_answered
            is_answered = True
            await send(event)

        length = headers.get(b"content-length", b"")
        # The web server refuses any other text, or its bytes are counted.
        is_long = length.isdigit() and len(length) < 20 and int(length) > most
        if not is_long:
            await self._application(scope, receive_some, send_and_note)
        if is_long or (taken > most and not is_answered):
            await error_page.refuse(_too_large(most), scope, send)


def _too_large(most: int) -> TooLarge:
    return TooLarge(
        f"This is more than {most:,} bytes, and too large for one request.",
        hint="Send the files in several parts, or add them on the server with `kb add`.",
    )


class BodyTimeLimit:
    """An ASGI application that answers 408 to a body that pauses for ``STILL_SECONDS``, or whose
    bytes arrive at less than ``LEAST_RATE``. Only the time in which the server waits is counted.
    """

    def __init__(self, application: Any) -> None:
        self._application = application

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self._application(scope, receive, send)
            return
        body = _TimedBody(receive, send)
        try:
            await self._application(scope, body.receive, body.send)
        except Exception:
            if not body.is_late:  # else it was told that the client is gone
                raise
        if body.is_late:
            await error_page.refuse(TooSlow(), scope, send)


class _TimedBody:
    """A request's body, with the seconds that the server has waited for it."""

    def __init__(self, receive: Any, send: Any) -> None:
        self._receive, self._send = receive, send
        self._taken, self._waited = 0, 0.0
        self._is_whole = self._is_answered = False
        self.is_late = False

    async def receive(self) -> Any:
        if self._is_whole:
            return await self._receive()
        clock = asyncio.get_running_loop().time
        started, left = clock(), STILL_SECONDS + self._taken / LEAST_RATE - self._waited
        try:
            async with asyncio.timeout(min(left, STILL_SECONDS)):
                event = await self._receive()
        except TimeoutError:
            self.is_late = self._is_whole = not self._is_answered
            return {"type": "http.disconnect"}
        self._waited += clock() - started
        self._taken += len(event.get("body", b""))
        self._is_whole = not event.get("more_body")
        return event

    async def send(self, event: Any) -> None:
        if not self.is_late:  # else 408 is the answer
            self._is_answered = True
            await self._send(event)


def describe(methods: openapi.Methods) -> None:
    """Describe this in the OpenAPI document."""
    for operation in methods.values():
        if "requestBody" in operation:
            openapi.answer(operation, 408, 413)
