"""`kb serve`: one process group that holds the web server, a worker and, where it is the embedded one, the database."""

import contextlib
import os
import signal
import socket
import webbrowser
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType

import uvicorn
from rich.text import Text

from kbsite import settings
from kbsite.cli import server_lock
from kbsite.cli.terminal import note, open_database, out, say
from kbsite.cli.worker_supervisor import Worker
from transcripts.errors import InvalidInput, Unavailable

EVERYWHERE = ("0.0.0.0", "::")
GRACE_SECONDS = 3


def run(*, sample: bool, with_worker: bool, open_browser: bool) -> None:
    """Serve until a signal ends it. Raises ``Conflict`` when a server runs on this data directory, ``Unavailable`` when the port is taken."""
    data_dir = Path(settings.DATA_DIR)
    _end_on_signals()
    with (
        contextlib.suppress(KeyboardInterrupt),
        server_lock.only_server(data_dir) as lock,
        _listening(settings.HOST, settings.PORT) as listener,
    ):
        _publish(listener)
        lock.tell(settings.PUBLIC_URL)
        open_database()
        from citations.vectors.space import check  # models can be imported only from here on
        from kbsite.cli import db_contexts, first_start

        check()
        owner = first_start.first_steps(sample=sample)
        db_contexts.announce()
        worker = Worker() if with_worker else None
        with worker or contextlib.nullcontext():
            link = first_start.sign_in_link(owner)
            _serve(listener, lambda: _say_hello(link, data_dir, open_browser=open_browser))
    say("Cuebase has stopped.")


class _Server(uvicorn.Server):
    """A web server that says when it can be reached."""

    def __init__(self, config: uvicorn.Config, *, on_ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_ready = on_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, then call."""
        await super().startup(sockets=sockets)
        if self.started:
            self._on_ready()


def _serve(listener: socket.socket, on_ready: Callable[[], None]) -> None:
    config = uvicorn.Config(
        "kbsite.asgi:application",
        log_level="warning",
        lifespan="on",
        http="httptools",
        server_header=False,
        timeout_graceful_shutdown=GRACE_SECONDS,
    )
    server = _Server(config, on_ready=on_ready)
    signal.signal(signal.SIGHUP, server.handle_exit)  # the terminal was closed
    server.run(sockets=[listener])
    if not server.started:
        raise Unavailable("The web server could not start.", hint="What is printed above says why.")


def _end_on_signals() -> None:
    # uvicorn raises the signal that ended it once more, and by default SIGTERM would then end this process before it cleaned up.
    def stop(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, stop)


# The address


@contextlib.contextmanager
def _listening(host: str, port: int) -> Iterator[socket.socket]:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, port))
            listener.listen(2048)
        except socket.gaierror:
            raise InvalidInput(
                f"“{host}” is no address of this machine.",
                hint="Use 127.0.0.1, or 0.0.0.0 to be reached from others.",
            ) from None
        except OSError as error:
            raise Unavailable(
                _why_not(host, port, error),
                hint=f"Choose another one: kb serve --port {port + 1 if 0 < port < 65_535 else 8000}",
            ) from None
        yield listener


def _why_not(host: str, port: int, error: OSError) -> str:
    if isinstance(error, PermissionError):
        return f"This user may not listen on port {port} of {host}."
    return f"Port {port} of {host} is taken by another program, or cannot be listened on ({error.strerror})."


def _publish(listener: socket.socket) -> None:
    """Let the links follow the address that is listened on, unless the settings name a public one."""
    host, port = listener.getsockname()[:2]
    os.environ["PORT"] = str(port)
    settings.PORT = port
    if host not in EVERYWHERE and not settings.OPTIONS["ALLOWED_HOSTS"].is_set:
        settings.ALLOWED_HOSTS = [*settings.ALLOWED_HOSTS, f"[{host}]" if ":" in host else host]
    if not settings.OPTIONS["PUBLIC_URL"].is_set:
        named = "127.0.0.1" if host in EVERYWHERE else host
        settings.PUBLIC_URL = os.environ["PUBLIC_URL"] = (
            f"http://{f'[{named}]' if ':' in named else named}:{port}"
        )


# The greeting


def _say_hello(link: str, data_dir: Path, *, open_browser: bool) -> None:
    rows: list[tuple[str, str, str]] = [
        ("Open", link, "bold green"),
        ("", "This link signs you in, once. `kb user link` makes another.", "dim"),
        ("MCP", f"{settings.PUBLIC_URL.rstrip('/')}/mcp", "bold"),
        ("", "`kb mcp-config` prints what Claude, Cursor and VS Code want.", "dim"),
        ("Data", str(data_dir), ""),
        ("Stop", "Ctrl-C", ""),
    ]
    console = out()
    console.print(Text("Cuebase is running", style="bold green"))
    for name, value, style in rows:
        # Soft wrapped, never boxed: a link that was broken to fit a frame cannot be clicked or copied.
        console.print(Text(f"{name:<6}", style="dim") + Text(value, style=style), soft_wrap=True)
    console.file.flush()
    if settings.HOST in EVERYWHERE:
        note(
            "Other machines can reach this. Set ALLOWED_HOSTS and PUBLIC_URL to the name that they use.",
            "yellow",
        )
    if open_browser:
        webbrowser.open(link)
