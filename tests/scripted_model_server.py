"""A model server that answers exactly as a test says, byte for byte, over real HTTP."""

import json
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from typing import Any, NamedTuple

from tests.loopback import StandIn


class Reply(NamedTuple):
    """An answer: its bytes or an object, its status and its type."""

    body: Any
    status: int = 200
    kind: str = "application/json"

    @property
    def data(self) -> bytes:
        if isinstance(self.body, bytes | str):
            return self.body if isinstance(self.body, bytes) else self.body.encode()
        return json.dumps(self.body).encode()


class ScriptedModelServer(StandIn):
    """Answers each request by ``reply``; ``bodies`` are what it was sent."""

    def __init__(self, reply: Callable[[dict[str, Any]], Reply], port: int = 0) -> None:
        self.bodies: list[dict[str, Any]] = []
        self.paths: list[str] = []
        self.reply = reply
        super().__init__(_handler(self), port)


def whole(content: Any, finish: str | None = "stop", **more: Any) -> dict[str, Any]:
    """Return a whole answer of OpenAI's API."""
    message = {"role": "assistant", "content": content, **more}
    return {"choices": [{"index": 0, "message": message, "finish_reason": finish}]}


def events(*deltas: Any, finish: str | None = "stop", usage: Any = None, done: bool = True) -> str:
    """Return a stream of OpenAI's API: texts, or deltas as they are."""
    parts: list[Any] = [
        {"choices": [{"delta": {"content": delta} if isinstance(delta, str) else delta}]}
        for delta in deltas
    ]
    if finish:
        parts.append({"choices": [{"delta": {}, "finish_reason": finish}], "usage": usage})
    end = "data: [DONE]\n\n" if done else ""
    return "".join(f"data: {json.dumps(part)}\n\n" for part in parts) + end


def _handler(server: ScriptedModelServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(length) or b"{}")
            server.bodies.append(body)
            server.paths.append(self.path)
            reply = server.reply(body)
            self.send_response(reply.status)
            self.send_header("Content-Type", reply.kind)
            self.send_header("Content-Length", str(len(reply.data)))
            self.end_headers()
            self.wfile.write(reply.data)

        def do_GET(self) -> None:
            self.do_POST()

        def log_message(self, format: str, *args: Any) -> None:
            """Keep quiet; ``bodies`` is the log."""

    return Handler
