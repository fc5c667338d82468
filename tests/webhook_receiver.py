"""A receiver of webhooks on loopback, which answers as it is told."""

import time
from http.server import BaseHTTPRequestHandler
from typing import Any

from standardwebhooks import Webhook

from tests.loopback import StandIn


class WebhookReceiver(StandIn):
    """Keeps the bodies and headers that it gets; ``answer`` is the status, or what to do."""

    def __init__(self) -> None:
        self.got: list[tuple[str, dict[str, str]]] = []
        self.answer: int | str = 204
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                receiver.got.append((body, {k.lower(): v for k, v in self.headers.items()}))
                if receiver.answer == "trickle":
                    for _ in range(300):
                        self.wfile.write(b"H")
                        self.wfile.flush()
                        time.sleep(0.1)
                    return
                status = receiver.answer if isinstance(receiver.answer, int) else 200
                self.send_response(status)
                if status in (301, 307):
                    self.send_header("Location", receiver.url)
                if receiver.answer == "endless":
                    self.end_headers()
                    while True:
                        self.wfile.write(b"x" * 65_536)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                return

        super().__init__(Handler)

    def messages(self, secret: str) -> list[dict[str, Any]]:
        """Return what came, as a receiver that checks signatures reads it."""
        return [Webhook(secret).verify(body, headers) for body, headers in self.got]
