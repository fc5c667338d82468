"""An ASGI application behind the web server of `kb serve`, in a thread, and clients of bytes."""

import contextlib
import socket
import threading
from collections.abc import Iterator
from typing import Any, Literal

import uvicorn

from kbsite.middleware.request_limits import TimedHttpProtocol

Lifespan = Literal["auto", "off", "on"]
PATIENCE = 30.0  # seconds until a test gives up; machines are noisy


@contextlib.contextmanager
def served(application: Any, *, lifespan: Lifespan = "off", keep_alive: int = 5) -> Iterator[int]:
    """Serve an application while the block runs; yield its port."""
    server = uvicorn.Server(
        uvicorn.Config(
            application,
            port=0,
            http=TimedHttpProtocol,
            ws="none",
            lifespan=lifespan,
            log_level="warning",
            timeout_keep_alive=keep_alive,
        )
    )
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        yield _port(server, thread)
    finally:
        server.should_exit = True
        thread.join(timeout=20)


def connect(port: int, *, sends: bytes = b"") -> socket.socket:
    """Open a connection and send bytes."""
    client = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE)
    client.sendall(sends)
    return client


def heard(client: socket.socket) -> bytes:
    """Return everything that is sent until the server closes the connection."""
    parts = []
    with contextlib.suppress(ConnectionResetError):
        while part := client.recv(65_536):
            parts.append(part)
    return b"".join(parts)


def _port(server: uvicorn.Server, thread: threading.Thread) -> int:
    pause = threading.Event()
    while not server.started:
        assert thread.is_alive(), "the server did not start"
        pause.wait(0.01)
    port: int = server.servers[0].sockets[0].getsockname()[1]
    return port
