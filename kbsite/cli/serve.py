"""`kb serve`: the web server, a worker and the embedded database in one process group."""

import contextlib
import os
import signal
import socket
import webbrowser
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Annotated

import typer
import uvicorn
from django.conf import settings
from rich.text import Text

from citations.vectors import space as vector_space
from kbsite.cli import db_contexts, first_start, server_lock
from kbsite.cli.database import open_database
from kbsite.cli.options import option
from kbsite.cli.terminal import note, out, say
from kbsite.cli.worker_supervisor import Worker
from transcripts.errors import InvalidInput, Unavailable

ALL_INTERFACES = ("0.0.0.0", "::")
GRACE_SECONDS = 3


def serve(
    host: Annotated[
        str, option(help="Listen on this address; unset: HOST, only this machine by default.")
    ] = "",
    port: Annotated[
        int | None,
        option("--port", "-p", min=0, max=65_535, help="The port; 0: any free one; unset: PORT."),
    ] = None,
    sample: Annotated[
        bool, typer.Option("--sample", help="On the first start, load the sample library.")
    ] = False,
    no_worker: Annotated[
        bool, typer.Option("--no-worker", help="Start no worker: `kb worker` runs elsewhere.")
    ] = False,
    open_browser: Annotated[
        bool, typer.Option("--open", help="Open the browser, signed in.")
    ] = False,
) -> None:
    """Start Cuebase: database, web, API, MCP and a worker. Ctrl-C stops all of it.

    Prints the address with a link that signs you in once. A data directory has one server; a
    second one says where the first runs.
    """
    if host:
        settings.HOST = os.environ["HOST"] = host
    if port is not None:
        settings.PORT = port
    _end_on_signals()
    data_dir = Path(settings.DATA_DIR)
    with (
        contextlib.suppress(KeyboardInterrupt),
        server_lock.only_server(data_dir) as lock,
        _listen(settings.HOST, settings.PORT) as listener,
    ):
        _publish(listener)
        lock.write_url(settings.PUBLIC_URL)
        open_database()
        vector_space.check()
        owner = first_start.prepare(sample=sample)
        db_contexts.announce()
        with contextlib.nullcontext() if no_worker else Worker():
            link = first_start.sign_in_link(owner)
            _run(listener, lambda: _greet(link, data_dir, open_browser=open_browser))
    say("Cuebase has stopped.")


class _Server(uvicorn.Server):
    """A web server that calls back when it is ready."""

    def __init__(self, config: uvicorn.Config, *, on_ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_ready = on_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        if self.started:
            self._on_ready()


def _run(listener: socket.socket, on_ready: Callable[[], None]) -> None:
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
        raise Unavailable("The web server did not start.", hint="The lines above say why.")


def _end_on_signals() -> None:
    # uvicorn raises the signal that stopped it again. By default, SIGTERM would then end this
    # process before its cleanup.
    def stop(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, stop)


@contextlib.contextmanager
def _listen(host: str, port: int) -> Iterator[socket.socket]:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio sets TCP_NODELAY only where the protocol is named: without it, the body of a response
    # waits for the acknowledgement of its head, about 40 ms.
    with socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, port))
            listener.listen(2048)
        except socket.gaierror:
            raise InvalidInput(
                f"“{host}” is not an address of this machine.",
                hint="Use 127.0.0.1, or 0.0.0.0 to be reachable from other machines.",
            ) from None
        except OSError as error:
            other = port + 1 if 0 < port < 65_535 else 8000
            raise Unavailable(
                _bind_problem(host, port, error),
                hint=f"Choose another port: kb serve --port {other}",
            ) from None
        yield listener


def _bind_problem(host: str, port: int, error: OSError) -> str:
    if isinstance(error, PermissionError):
        return f"This user may not listen on port {port} of {host}."
    return f"Port {port} of {host} is in use or unavailable ({error.strerror})."


def _publish(listener: socket.socket) -> None:
    """Derive links from the listening address, unless the settings name a public one."""
    host, port = listener.getsockname()[:2]
    os.environ["PORT"] = str(port)
    settings.PORT = port
    if host not in ALL_INTERFACES and not settings.OPTIONS["ALLOWED_HOSTS"].is_set:
        settings.ALLOWED_HOSTS = [*settings.ALLOWED_HOSTS, _bracketed(host)]
    if not settings.OPTIONS["PUBLIC_URL"].is_set:
        name = "127.0.0.1" if host in ALL_INTERFACES else host
        settings.PUBLIC_URL = os.environ["PUBLIC_URL"] = f"http://{_bracketed(name)}:{port}"


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _greet(link: str, data_dir: Path, *, open_browser: bool) -> None:
    rows: list[tuple[str, str, str]] = [
        ("Open", link, "bold green"),
        ("", "This link signs you in, once. `kb user link` makes another.", "dim"),
        ("MCP", f"{settings.PUBLIC_URL.rstrip('/')}/mcp", "bold"),
        ("", "`kb mcp-config` prints the configuration of Claude, Cursor and VS Code.", "dim"),
        ("Data", str(data_dir), ""),
        ("Stop", "Ctrl-C", ""),
    ]
    console = out()
    console.print(Text("Cuebase is running", style="bold green"))
    for name, value, style in rows:
        # Soft wrap: a link that is broken by a line end cannot be clicked or copied.
        console.print(Text(f"{name:<6}", style="dim") + Text(value, style=style), soft_wrap=True)
    console.file.flush()
    if settings.HOST in ALL_INTERFACES:
        note(
            "Other machines can reach this server."
            " Set ALLOWED_HOSTS and PUBLIC_URL to the name that they use.",
            "yellow",
        )
    if open_browser:
        webbrowser.open(link)
