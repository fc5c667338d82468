"""A stand-in for the Hugging Face hub on loopback, over real HTTP: what a model consists of, and
its files, the large ones behind a redirect.

``HF_ENDPOINT`` points to it. What goes wrong is decided by ``fail``. On its own: ``python -m
tests.hub_standin FOLDER [PORT]`` gives the model in a folder under the name ``somebody/FOLDER``.
"""

import hashlib
import json
import re
import socket
import sys
import threading
from collections import deque
from dataclasses import dataclass, field
from enum import StrEnum
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from tests.loopback import RESET, StandIn

LARGE = (".safetensors", ".bin")  # what the hub keeps apart from git
TOKEN = "hf_standin0123456789"
CHUNK = 1_000  # bytes that the hub's library writes at once in tests


class Fault(StrEnum):
    """What can go wrong with one request."""

    UNKNOWN = "unknown"  # 404
    UNAUTHORIZED = (
        "unauthorized"  # 401, as the hub says of what does not exist to those who have no token
    )
    BAD_TOKEN = "bad-token"  # 401, as it says of a token that it does not know
    GATED = "gated"  # 403
    FAILING = "failing"  # 500
    OVERLOADED = "overloaded"  # 503
    OTHER = "other"  # 200 with the page of some portal
    CUT = "cut"  # half of the answer, and the end of the connection
    RESET = "reset"  # half of the answer, and the connection is reset
    SLOW = "slow"  # nothing for ``delay`` seconds
    DAMAGED = "damaged"  # as many bytes, but others
    WHOLE = "whole"  # all of it, whatever part was asked for


_REFUSALS: dict[Fault | None, tuple[int, dict[str, str]]] = {
    Fault.UNKNOWN: (
        404,
        {"X-Error-Code": "RepoNotFound", "X-Error-Message": "Repository not found"},
    ),
    Fault.UNAUTHORIZED: (
        401,
        {"X-Error-Code": "RepoNotFound", "X-Error-Message": "Invalid username or password."},
    ),
    Fault.BAD_TOKEN: (401, {"X-Error-Message": "Invalid credentials in Authorization header"}),
    Fault.GATED: (
        403,
        {"X-Error-Code": "GatedRepo", "X-Error-Message": "Access to this model is restricted."},
    ),
    Fault.FAILING: (500, {}),
    Fault.OVERLOADED: (503, {}),
}
_NO_FILE = (404, {"X-Error-Code": "EntryNotFound", "X-Error-Message": "Entry not found"})


@dataclass
class HubRequest:
    """One request that came in, and how many bytes of a file it was sent."""

    method: str
    path: str
    headers: dict[str, str]
    sent: int = 0


@dataclass(frozen=True)
class Model:
    """A model's files by their names, and the commit that has them.

    ``sizes``: what the hub says of files, in place of the truth.
    """

    files: dict[str, bytes]
    sizes: dict[str, int] = field(default_factory=dict)

    @property
    def commit(self) -> str:
        """A hash of all of it."""
        return hashlib.sha1(
            "".join(
                f"{name}{_sha256(content)}" for name, content in sorted(self.files.items())
            ).encode()
        ).hexdigest()


class HubStandIn(StandIn):
    """The hub, as a context manager. ``requests`` is its log."""

    def __init__(self, port: int = 0) -> None:
        self.requests: list[HubRequest] = []
        self.delay = 1.0
        self._models: dict[str, Model] = {}
        self._faults: deque[tuple[str, Fault]] = deque()
        self._lock = threading.Lock()
        super().__init__(_handler(self), port)

    @property
    def store(self) -> str:
        """Where large files are: another host, which must not see the token."""
        return f"http://localhost:{self._server.server_port}"

    def publish(
        self, name: str, files: Path | dict[str, bytes], *, sizes: dict[str, int] | None = None
    ) -> Model:
        """Give the files of a folder, or these ones, as a model."""
        if isinstance(files, Path):
            files = {
                path.relative_to(files).as_posix(): path.read_bytes()
                for path in files.rglob("*")
                if path.is_file()
            }
        self._models[name] = Model(files, sizes or {})
        return self._models[name]

    def fail(self, *faults: Fault, at: str = "") -> None:
        """Let the next requests whose paths hold ``at`` fail, each in its way."""
        self._faults.extend((at, fault) for fault in faults)

    def sent(self, path: str = "") -> int:
        """Count the bytes of files that were sent for paths that contain ``path``."""
        return sum(request.sent for request in self.requests if path in request.path)

    def handle(self, handler: BaseHTTPRequestHandler) -> None:
        """Answer one request."""
        request = HubRequest(
            handler.command,
            unquote(urlsplit(handler.path).path),
            {name.lower(): value for name, value in handler.headers.items()},
        )
        with self._lock:
            self.requests.append(request)
            fault = self._fault(request.path)
        if fault is Fault.SLOW:
            self.hold(self.delay)
        answer = _Answer(handler, request, fault)
        if fault in _REFUSALS:
            answer.refuse(*_REFUSALS[fault])
        elif fault is Fault.OTHER:
            answer.send(
                b"<html>Please sign in to this network.</html>", {"Content-Type": "text/html"}
            )
        else:
            self._route(answer)

    def _fault(self, path: str) -> Fault | None:
        entry = next((entry for entry in self._faults if entry[0] in path), None)
        if entry is None:
            return None
        self._faults.remove(entry)
        return entry[1]

    def _route(self, answer: "_Answer") -> None:
        path = answer.request.path
        if about := re.fullmatch(r"/api/models/(.+)", path):
            self._describe(answer, about[1])
        elif file := re.fullmatch(r"/(.+)/resolve/[^/]+/(.+)", path):
            self._resolve(answer, file[1], file[2])
        elif stored := re.fullmatch(r"/store/(\w+)/.+", path):
            contents = (
                content for model in self._models.values() for content in model.files.values()
            )
            answer.send(
                next(content for content in contents if _sha256(content) == stored[1]),
                {"ETag": f'"{stored[1]}"'},
            )
        else:
            answer.refuse(404, {})

    def _describe(self, answer: "_Answer", name: str) -> None:
        if name not in self._models:
            answer.refuse(*_REFUSALS[Fault.UNKNOWN])
            return
        model = self._models[name]
        siblings = [
            _sibling(file, content, model.sizes.get(file, len(content)))
            for file, content in model.files.items()
        ]
        answer.send(
            json.dumps(
                {"id": name, "modelId": name, "sha": model.commit, "siblings": siblings}
            ).encode(),
            {"Content-Type": "application/json"},
        )

    def _resolve(self, answer: "_Answer", name: str, file: str) -> None:
        model = self._models.get(name)
        if model is None or file not in model.files:
            answer.refuse(*(_NO_FILE if model else _REFUSALS[Fault.UNKNOWN]))
            return
        content = model.files[file]
        headers = {"X-Repo-Commit": model.commit}
        if not file.endswith(LARGE):
            answer.send(content, {**headers, "ETag": f'"{_git(content)}"'})
            return
        headers |= {"X-Linked-Size": str(len(content)), "X-Linked-Etag": f'"{_sha256(content)}"'}
        answer.send(
            b"",
            {**headers, "Location": f"{self.store}/store/{_sha256(content)}/{file}"},
            status=302,
        )


class _Answer:
    """One request and the connection it came over."""

    def __init__(
        self, handler: BaseHTTPRequestHandler, request: HubRequest, fault: Fault | None
    ) -> None:
        self.request = request
        self._handler = handler
        self._fault = fault

    def refuse(self, status: int, headers: dict[str, str]) -> None:
        """Answer with an error."""
        self.send(b"", headers, status=status)

    def send(self, body: bytes, headers: dict[str, str], *, status: int = 200) -> None:
        """Answer with a body, or with the end of it that was asked for."""
        start = self._start(len(body)) if status == 200 else 0
        if start is None:
            self.refuse(416, {})
            return
        if start:
            headers, status = (
                {**headers, "Content-Range": f"bytes {start}-{len(body) - 1}/{len(body)}"},
                206,
            )
        self._begin(status, {"Content-Length": str(len(body) - start), **headers})
        if self.request.method != "HEAD":
            self._write(
                body[start:] if self._fault is not Fault.DAMAGED else bytes(len(body) - start)
            )

    def _start(self, size: int) -> int | None:
        wanted = re.fullmatch(r"bytes=(\d+)-", self.request.headers.get("range", ""))
        if wanted is None or self._fault is Fault.WHOLE:
            return 0
        return int(wanted[1]) if int(wanted[1]) < size else None

    def _begin(self, status: int, headers: dict[str, str]) -> None:
        self._handler.send_response(status)
        for name, value in headers.items():
            self._handler.send_header(name, value)
        self._handler.end_headers()

    def _write(self, body: bytes) -> None:
        breaks = self._fault in (Fault.CUT, Fault.RESET)
        given = body[: len(body) // 2] if breaks else body
        self.request.sent += (
            len(given) if "/api/" not in self.request.path else 0
        )  # before it is sent: who has all of it may ask at once
        self._handler.wfile.write(given)
        if breaks:
            self._break_off()

    def _break_off(self) -> None:
        self._handler.wfile.flush()
        self._handler.close_connection = True
        if self._fault is Fault.RESET:
            threading.Event().wait(0.2)  # or what was sent would be lost with the connection
            self._handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)


def _sibling(file: str, content: bytes, size: int) -> dict[str, Any]:
    entry: dict[str, Any] = {"rfilename": file, "size": size, "blobId": _git(content)}
    return (
        {**entry, "lfs": {"sha256": _sha256(content), "size": size, "pointerSize": 130}}
        if file.endswith(LARGE)
        else entry
    )


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _git(content: bytes) -> str:
    """Name content as git does."""
    return hashlib.sha1(f"blob {len(content)}\0".encode() + content).hexdigest()


def _handler(standin: HubStandIn) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = (
            True  # head and body are two writes; the second would wait for the first
        )

        def do_GET(self) -> None:
            standin.handle(self)

        def do_HEAD(self) -> None:
            standin.handle(self)

        def log_message(self, format: str, *args: Any) -> None:
            """Keep quiet; ``requests`` is the log."""

    return Handler


def main(folder: str, port: str = "0") -> None:
    """Serve until interrupted, and say how to use it."""
    standin = HubStandIn(int(port))
    standin.publish(f"somebody/{Path(folder).name}", Path(folder))
    print(f"HF_ENDPOINT={standin.url}", flush=True)
    try:
        standin.serve_forever()
    except KeyboardInterrupt:
        standin.stop()


if __name__ == "__main__":
    main(*sys.argv[1:3])
