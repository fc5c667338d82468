"""A stand-in for servers that recognise speech, over real HTTP on loopback: it answers each request
with the next of its ``replies``, and keeps what it was sent.
"""

import json
from email import message_from_bytes
from email.message import Message
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.loopback import StandIn

Reply = dict[str, Any] | tuple[int, dict[str, Any]]  # a JSON object, with a status if not 200


class SpeechStandIn(StandIn):
    """Keeps ``requests``: each a dictionary of its fields, whose lists hold several values."""

    def __init__(self) -> None:
        self.replies: list[Reply] = []
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str] = []
        super().__init__(_handler(self))

    @property
    def url(self) -> str:
        return f"{super().url}/v1"


def _fields(headers: Message, body: bytes) -> dict[str, Any]:
    kind = f"Content-Type: {headers['Content-Type']}\r\n\r\n".encode()
    fields: dict[str, Any] = {}
    for part in message_from_bytes(kind + body).walk():
        if part.is_multipart():
            continue
        name = str(part.get_param("name", header="content-disposition"))
        data = part.get_payload(decode=True)
        value = data if part.get_filename() else bytes(data or b"").decode()
        fields[name] = [*fields[name], value] if name in fields else [value]
    return fields


def _handler(standin: SpeechStandIn) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            assert self.path == "/v1/audio/transcriptions"
            standin.requests.append(_fields(self.headers, body))
            standin.keys.append(self.headers.get("Authorization", ""))
            reply = standin.replies.pop(0)
            status, answer = reply if isinstance(reply, tuple) else (200, reply)
            data = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: Any) -> None:
            """Keep quiet; ``requests`` is the log."""

    return Handler
