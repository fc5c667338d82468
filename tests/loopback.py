"""Servers on this machine that stand in for others."""

import socket
import ssl
import struct
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Final, Self

# For clients that speak HTTP to this machine: the usual one reads all certificates of all
# authorities, which takes longer than a request.
NO_TLS: Final = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
RESET: Final = struct.pack("ii", 1, 0)  # SO_LINGER of a connection that is to be reset
POLL: Final = 0.02  # seconds until the server sees that it is to stop


class LoopbackServer(ThreadingHTTPServer):
    """Says nothing of clients that hang up: they are meant to."""

    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def shutdown_request(self, request: Any) -> None:
        """End a connection, politely unless it is to be reset."""
        if request.fileno() == -1:  # closed already
            return
        if request.getsockopt(socket.SOL_SOCKET, socket.SO_LINGER, len(RESET)) == RESET:
            self.close_request(request)
        else:
            super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class StandIn:
    """A service that is not here, as a context manager. ``released`` ends waiting answers."""

    def __init__(self, handler: type[BaseHTTPRequestHandler], port: int = 0) -> None:
        self.released = threading.Event()
        self._server = LoopbackServer(("127.0.0.1", port), handler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def start(self) -> Self:
        """Serve in a thread."""
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def stop(self) -> None:
        """Stop serving, also slow answers."""
        self.released.set()
        self._server.shutdown()
        self._server.server_close()

    def serve_forever(self) -> None:
        """Serve until interrupted."""
        self._server.serve_forever(POLL)

    def hold(self, seconds: float) -> bool:
        """Keep an answer back, but no longer than the server lives; tell whether it ended."""
        return self.released.wait(seconds)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()
