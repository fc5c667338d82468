"""`kb serve`: the web server, the embedded database, and a worker restarted when it dies."""

import contextlib
import errno
import logging
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import webbrowser
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Annotated, Self

import typer
import uvicorn
from django.conf import settings
from django.contrib.auth import get_user_model
from rich.text import Text

from citations import samples
from citations.errors import EmbeddingMismatch
from citations.vectors import space as vector_space
from kbsite.cli import users
from kbsite.cli.options import option
from kbsite.cli.terminal import note, out, say, typed
from kbsite.library import indexing, server_lock
from kbsite.library.database import open_database, watched_database
from kbsite.middleware.request_limits import TimedHttpProtocol
from kbsite.telemetry import metrics
from transcripts.core.errors import InvalidInput, Unavailable

ALL_INTERFACES = ("0.0.0.0", "::")
GRACE_SECONDS = 3
NEXT_PORTS = 20  # tried if the usual one is in use
MAX_PAUSE = 60.0  # seconds between two starts of a worker that keeps dying
STEADY_SECONDS = 60.0  # a worker that lived this long is restarted without backing off
STOP_SECONDS = 8.0

logger = logging.getLogger(__name__)


def serve(
    host: Annotated[
        str, option(help="Listen on this address; unset: HOST, only this machine by default.")
    ] = "",
    port: Annotated[
        int | None,
        option(
            "--port",
            "-p",
            min=0,
            max=65_535,
            help="Listen on this port; 0: any free one; unset: PORT, or 8000 or the next free one.",
        ),
    ] = None,
    sample: Annotated[
        bool, typer.Option("--sample", help="On the first start, load the sample library.")
    ] = False,
    no_worker: Annotated[
        bool, typer.Option("--no-worker", help="Do not start a worker; run `kb worker` elsewhere.")
    ] = False,
    open_browser: Annotated[
        bool, typer.Option("--open", help="Open the browser and sign in.")
    ] = False,
) -> None:
    """Start Cuebase: database, web, API, MCP and a worker. Ctrl-C stops everything.

    Prints the address with a one-time sign-in link. Only one server can use a data directory; a
    second one shows the address of the first.
    """
    if host:
        settings.HOST = os.environ["HOST"] = host
    # A port that nobody has named may be another one.
    following = 0 if port is not None or settings.OPTIONS["PORT"].is_set else NEXT_PORTS
    if port is not None:
        settings.PORT = port
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _interrupt)
    data_dir = Path(settings.DATA_DIR)
    with (
        contextlib.suppress(KeyboardInterrupt),
        server_lock.only_server(data_dir) as write_url,
        _listen(settings.HOST, settings.PORT, following=following, has_sample=sample) as listener,
    ):
        metrics.watch("server")
        _publish(listener)
        write_url(settings.PUBLIC_URL)
        _announce("Starting the database (the first start creates it) …")
        open_database()
        _warn_of_mismatch()
        is_first_start = not get_user_model().objects.exists()
        owner = users.owner()
        if sample and is_first_start:
            _announce("Loading the sample library: talks, a textbook, a lecture …")
            samples.load(owner=owner)
        if text := indexing.contexts_ahead():
            note(text)
        with watched_database(), contextlib.nullcontext() if no_worker else Worker():
            # A log keeps what is printed: it gets a link only if nobody has signed in before.
            needs_link = owner.last_login is None or out().is_terminal
            link = users.sign_in_link(owner) if needs_link else ""
            _announce("Starting the web server …")
            _run(listener, lambda: _greet(link, data_dir, open_browser=open_browser))
    say("Cuebase has stopped.")


def _announce(step: str) -> None:
    """Say at once what is done next: a pipe would keep the line back."""
    say(step, "dim")
    out().file.flush()


def _warn_of_mismatch() -> None:
    try:
        vector_space.active()
    except EmbeddingMismatch as error:
        note(error.text, "yellow")
        note("Until then, new sources are found by words only.", "yellow")


class Worker:
    """Keeps one worker alive while the block runs. A killed worker loses no work."""

    def __init__(self) -> None:
        self._ending = threading.Event()
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()
        self._thread = threading.Thread(
            target=self._supervise, name="worker-supervisor", daemon=True
        )

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ending.set()
        with self._lock:
            process = self._process
        for number in (signal.SIGTERM, signal.SIGKILL):
            if process is None or process.poll() is not None:
                break
            process.send_signal(number)
            try:
                process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                logger.info("The worker did not end in time.")
        if process is not None and process.stdin:
            process.stdin.close()
        self._thread.join(STOP_SECONDS)

    def _supervise(self) -> None:
        pause = 0.0
        while not self._ending.wait(pause):
            started = time.monotonic()
            process = self._start()
            if process is None:
                return
            code = process.wait()
            is_steady = time.monotonic() - started > STEADY_SECONDS
            pause = 1.0 if is_steady else min(max(1.0, pause * 2), MAX_PAUSE)
            # 0: it has ended to give back memory (see ``kbsite.cli.worker``).
            if code and not self._ending.is_set():
                cause = f"killed by signal {-code}" if code < 0 else f"exit code {code}"
                logger.warning("The worker ended (%s); restarting it in %.0f s.", cause, pause)

    def _start(self) -> subprocess.Popen[bytes] | None:
        with self._lock:
            if self._ending.is_set():
                return None
            # The package need not be installed: the worker finds it where this process did.
            root = str(Path(__file__).resolve().parents[2])
            path = os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH", ""))))
            # Its standard input ends when this process does, however that happens. A session of
            # its own shields it from Ctrl-C. Its log goes to the error output.
            self._process = subprocess.Popen(
                [sys.executable, "-m", "kbsite.cli", "worker", "--with-parent"],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                start_new_session=True,
                env={**os.environ, "PYTHONPATH": path},
            )
            return self._process


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
        log_config=None,
        lifespan="on",
        http=TimedHttpProtocol,
        server_header=False,
        forwarded_allow_ips=settings.TRUSTED_PROXIES,
        timeout_graceful_shutdown=GRACE_SECONDS,
    )
    server = _Server(config, on_ready=on_ready)
    signal.signal(signal.SIGHUP, server.handle_exit)  # the terminal was closed
    server.run(sockets=[listener])
    if not server.started:
        raise Unavailable("The web server did not start.", hint="The lines above say why.")


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    # uvicorn raises the signal that stopped it again. By default, SIGTERM would then end this
    # process before its cleanup.
    raise KeyboardInterrupt


@contextlib.contextmanager
def _listen(
    host: str, port: int, *, following: int = 0, has_sample: bool = False
) -> Iterator[socket.socket]:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio sets TCP_NODELAY only where the protocol is named: without it, the body of a response
    # waits for the acknowledgement of its head, about 40 ms.
    with socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            _bind(listener, host, port, following=following)
        except socket.gaierror:
            raise InvalidInput(
                f"“{host}” is not an address of this machine.",
                hint="Use 127.0.0.1, or 0.0.0.0 to be reachable from other machines.",
            ) from None
        except OSError as error:
            other = port + 1 if 0 < port < 65_535 else 8000
            problem = f"Port {port} of {host} is in use or unavailable ({error.strerror})."
            if isinstance(error, PermissionError):
                problem = f"This user may not listen on port {port} of {host}."
            command = f"kb serve{' --sample' if has_sample else ''} --port {other}"
            raise Unavailable(problem, hint=f"Choose another port: `{command}`.") from None
        yield listener


def _bind(listener: socket.socket, host: str, port: int, *, following: int) -> None:
    """Listen on a port or, where it is in use, on the next free one of those that follow it."""
    for number in range(port, port + following + 1):
        try:
            listener.bind((host, number))
            listener.listen(2048)
        except OSError as error:
            if error.errno != errno.EADDRINUSE or number == port + following:
                raise
        else:
            if number != port:
                note(f"Port {port} is in use: Cuebase listens on {number}.", "yellow")
            return


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
    address = link or settings.PUBLIC_URL
    how = "This link signs you in, once. `kb user link` makes another."
    rows: list[tuple[str, str, str]] = [
        ("Open", address, "bold green"),
        ("", how if link else "`kb user link` makes a link that signs you in, once.", "dim"),
        ("MCP", f"{settings.PUBLIC_URL.rstrip('/')}/mcp", "bold"),
        ("", "`kb mcp-config` prints the configuration of Claude, Cursor and VS Code.", "dim"),
        ("Data", str(data_dir), ""),
        ("Stop", "Ctrl-C", ""),
    ]
    console = out()
    console.print(Text("Cuebase is running", style="bold green"))
    for name, value, style in rows:
        # Soft wrap: a link that is broken by a line end cannot be clicked or copied.
        line = Text(f"{name:<6}", style="dim") + Text(typed(value), style=style)
        console.print(line, soft_wrap=True)
    console.file.flush()
    if settings.HOST in ALL_INTERFACES and not settings.OPTIONS["ALLOWED_HOSTS"].is_set:
        note(
            "Other machines cannot use this server yet:"
            " set ALLOWED_HOSTS and PUBLIC_URL to the name that they use.",
            "yellow",
        )
    if open_browser:
        webbrowser.open(address)
