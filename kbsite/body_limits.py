"""Limits on request bodies, checked before Django stores a whole body on the disk."""

import tempfile
from contextlib import suppress
from typing import Any, Final

from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.core.files.uploadhandler import FileUploadHandler

from kbsite import error_page
from kbsite.errors import API, PROBLEM, protocol_response
from transcripts.errors import TooLarge
from transcripts.forms import ALL_FILES_FACTOR

DOCUMENTS_AT_ONCE: Final = 2  # of the largest size
CREDENTIALS: Final = (b"cookie", b"authorization")


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
        file = tempfile.TemporaryFile()  # noqa: SIM115  # the request closes it
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
        is_stranger = not any(name in headers for name in CREDENTIALS)
        body = _Body(receive, send, most_bytes(is_stranger=is_stranger))
        length = headers.get(b"content-length", b"")
        # The web server refuses any other text, or its bytes are counted.
        if length.isdigit() and len(length) < 20 and int(length) > body.most:
            await _refuse(scope, send, body.most)
            return
        await self._application(scope, body.receive, body.send)
        if body.is_over and not body.is_answered:
            await _refuse(scope, send, body.most)


class _Body:
    """A request's body, whose bytes are counted, and whether a response has begun."""

    def __init__(self, receive: Any, send: Any, most: int) -> None:
        self._receive, self._send = receive, send
        self.most = most  # bytes
        self.taken = 0
        self.is_answered = False

    @property
    def is_over(self) -> bool:
        return self.taken > self.most

    async def receive(self) -> Any:
        event = await self._receive()
        self.taken += len(event.get("body", b""))
        # Over the limit, the client counts as gone: Django drops what it has stored.
        return {"type": "http.disconnect"} if self.is_over else event

    async def send(self, event: Any) -> None:
        self.is_answered = True
        await self._send(event)


async def _refuse(scope: Any, send: Any, most: int) -> None:
    """Answer 413 and close the connection, which ends the rest of the body."""
    error = TooLarge(
        f"This is more than {most:,} bytes, and too large for one request.",
        hint="Send the files in several parts, or add them on the server with `kb add`.",
    )
    if scope["path"].startswith(API):
        kind, answer = PROBLEM, protocol_response(413, error.text).content
    else:
        kind, answer = error_page.describe(error, scope["headers"])
    headers = {
        "content-type": kind,
        "content-length": str(len(answer)),
        "connection": "close",
        "x-content-type-options": "nosniff",
    }
    encoded = [(name.encode(), value.encode()) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": 413, "headers": encoded})
    await send({"type": "http.response.body", "body": answer})
