"""A stand-in for the web on loopback: all addresses lead to it."""

from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.loopback import StandIn

Answer = Callable[[BaseHTTPRequestHandler], None]


class Web(StandIn):
    """Sites by address; each answer is a function of the request."""

    def __init__(self) -> None:
        self.answers: dict[str, Answer] = {}
        self.hosts: list[str] = []
        web = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                web.hosts.append(self.headers["Host"])
                web.answers[f"{self.headers['Host']}{self.path}"](self)

            def log_message(self, *_: Any) -> None:
                """Say nothing."""

        super().__init__(Handler)

    def give(self, address: str, body: bytes = b"", *, status: int = 200, **headers: str) -> None:
        """Answer an address, without its scheme, with a body."""

        def answer(request: BaseHTTPRequestHandler) -> None:
            request.send_response(status)
            for name, value in headers.items():
                request.send_header(name.replace("_", "-"), value)
            request.send_header("Content-Length", str(len(body)))
            request.end_headers()
            request.wfile.write(body)

        self.answers[address] = answer
