"""A process that has imported the libraries, and forks the programs that tests start: to import
them takes longer than most of these programs run.

It is its own program: ``python -m tests.fork_server``, with a socket as standard input. Of the
project it imports the pure core and the schemas before a fork, and reads no setting, so that a fork
is what ``python -m MODULE`` or ``python -c CODE`` would be, but for its command line and its
environment in /proc and for the memory that it shares. Tests that look at these start programs of
their own.
"""

import atexit
import contextlib
import gc
import importlib
import io
import json
import os
import pkgutil
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
CHUNK = 1 << 16  # bytes
# None of them reads a setting when it is imported, or changes the environment.
LIBRARIES = (
    "celery.apps.worker",
    "celery.bin.worker",
    "chardet",
    "cryptography.x509",
    "defusedxml.ElementTree",
    "django.contrib.admin.widgets",
    "django.core.handlers.asgi",
    "django.core.management.commands.migrate",
    "django.core.serializers.json",
    "django.db.backends.postgresql.base",
    "django.db.migrations.executor",
    "django.forms",
    "django.template.loader",
    "django.views.generic",
    "django_filters",
    "fido2.webauthn",
    "httpx",
    "jwcrypto.jwk",
    "limits",
    "markdown_it",
    "mcp.server.mcpserver",
    "nh3",
    "numpy",
    "oauth2_provider.validators",
    "oauthlib.oauth2",
    "pgvector.django",
    "psycopg_pool",
    "rapidfuzz.fuzz",
    "requests",
    "rest_framework.serializers",
    "rich.progress",
    "tenacity",
    "typer",
    "uvicorn.protocols.http.httptools_impl",
)


class Fork:
    """A program that was forked, in a session of its own; used like ``subprocess.Popen``."""

    def __init__(
        self,
        *arguments: str,
        environment: Mapping[str, str],
        cwd: Path = ROOT,
        stdin: int = subprocess.DEVNULL,
        stdout: int = subprocess.DEVNULL,
        stderr: int = subprocess.DEVNULL,
    ) -> None:
        """Start a program with the arguments of Python, ``-m MODULE`` or ``-c CODE`` first; the
        streams are file descriptors.
        """
        self.args = (sys.executable, *arguments)
        self.returncode: int | None = None
        self._ended, child_ends = os.pipe()
        with Path(os.devnull).open("r+b", buffering=0) as null:
            streams = [
                null.fileno() if stream == subprocess.DEVNULL else stream
                for stream in (stdin, stdout, stderr)
            ]
            request = {"arguments": arguments, "environment": dict(environment), "cwd": str(cwd)}
            self.pid = _server().fork(request, [*streams, child_ends])
        os.close(child_ends)

    def poll(self) -> int | None:
        """Return the exit code, negative for a signal, or None if the program runs."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.wait(0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Return the exit code. Raises ``subprocess.TimeoutExpired``."""
        if self.returncode is None:
            if not select.select([self._ended], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired(self.args, timeout or 0)
            code = os.read(self._ended, 16)
            assert code, "the fork server ended"
            self.returncode = int(code)
            os.close(self._ended)
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


def run(
    *arguments: str, environment: Mapping[str, str], cwd: Path, stdin: str, timeout: float
) -> "subprocess.CompletedProcess[str]":
    """Run a program to its end; the arguments are those of Python."""
    with (
        tempfile.TemporaryFile() as given,
        tempfile.TemporaryFile() as out,
        tempfile.TemporaryFile() as err,
    ):
        given.write(stdin.encode())
        given.seek(0)
        streams = {"stdin": given.fileno(), "stdout": out.fileno(), "stderr": err.fileno()}
        process = Fork(*arguments, environment=environment, cwd=cwd, **streams)
        try:
            code = process.wait(timeout)
        finally:
            process.kill()
        written = []
        for stream in (out, err):
            stream.seek(0)
            written.append(stream.read().decode())
        return subprocess.CompletedProcess(process.args, code, *written)


class _Server:
    """The fork server of this process; it ends with it."""

    def __init__(self) -> None:
        self._socket, theirs = socket.socketpair()
        environment = {
            name: value for name, value in os.environ.items() if name != "DJANGO_SETTINGS_MODULE"
        }
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tests.fork_server"],
                cwd=ROOT,
                env=environment,
                stdin=theirs,
                stdout=subprocess.DEVNULL,
            )
        self._lock = threading.Lock()
        atexit.register(self._close)

    def fork(self, request: Mapping[str, Any], streams: Sequence[int]) -> int:
        """Fork a program; return its process id."""
        with self._lock:
            text = json.dumps(request).encode() + b"\n"
            sent = socket.send_fds(self._socket, [text], list(streams))
            self._socket.sendall(text[sent:])
            return int(self._socket.recv(16))

    def _close(self) -> None:
        self._socket.close()
        self._process.wait()


@cache
def _server() -> _Server:
    return _Server()


# The program


def main() -> None:
    given = dict(os.environ)
    for name in (*LIBRARIES, *_modules("citations.schemas"), "transcripts.schemas", *_pure_core()):
        importlib.import_module(name)
    assert not importlib.import_module("django.conf").settings.configured
    assert dict(os.environ) == given
    gc.collect()
    gc.freeze()  # what is shared stays shared
    _run(**_next_request())


def _pure_core() -> Iterator[str]:
    """Return the modules that know no framework, by their import contract."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    (pure,) = (each for each in contracts["contracts"] if each["id"] == "pure")
    for name in pure["source_modules"]:
        if name != "citations.search.judge":  # its weights' module sets the environment
            yield from _modules(name)


def _modules(name: str) -> Iterator[str]:
    """Return a module or package, and the modules in it."""
    yield name
    for path in getattr(importlib.import_module(name), "__path__", ()):
        yield from (f"{name}.{module.name}" for module in pkgutil.iter_modules([path]))


def _next_request() -> dict[str, Any]:
    """Fork for each request, and return it in the fork; ends with the tests."""
    running: dict[int, int] = {}  # where to write the exit code of a process
    woken, wake = socket.socketpair()
    wake.setblocking(False)
    signal.set_wakeup_fd(wake.fileno(), warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the tests end on Ctrl-C, and with them this
    requests = socket.socket(fileno=0)
    while True:
        ready, _, _ = select.select([requests, woken], [], [])
        if woken in ready:
            woken.recv(4096)
            _report(running)
        if requests in ready:
            text, streams, _, _ = socket.recv_fds(requests, CHUNK, 4)
            if not text:
                os._exit(0)
            while not text.endswith(b"\n"):
                text += requests.recv(CHUNK)
            pid = os.fork()
            if not pid:
                break
            *streams, running[pid] = streams
            _close(streams)
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.setsid()
    # Not before: who learns of a process may kill its group at once.
    requests.send(b"%d" % os.getpid())
    requests.detach()
    for number, stream in enumerate(streams[:3]):
        os.dup2(stream, number)
    _close([*streams, *running.values(), woken.detach(), wake.detach()])
    request: dict[str, Any] = json.loads(text)
    return request


def _close(descriptors: Sequence[int]) -> None:
    for descriptor in descriptors:
        os.close(descriptor)


def _report(running: dict[int, int]) -> None:
    while running:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if not pid:
            break
        ended = running.pop(pid)
        with contextlib.suppress(BrokenPipeError):  # nobody wants to know
            os.write(ended, b"%d" % os.waitstatus_to_exitcode(status))
        os.close(ended)


def _run(arguments: list[str], environment: dict[str, str], cwd: str) -> None:
    """Be ``python ARGUMENTS``."""
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(environment)
    _open_streams(unbuffered=bool(environment.get("PYTHONUNBUFFERED")))
    kind, what, *rest = arguments
    sys.argv = [kind, *rest]
    sys.path[1:1] = filter(None, environment.get("PYTHONPATH", "").split(os.pathsep))
    if kind == "-m":
        sys.path[0] = cwd
        runpy.run_module(what, run_name="__main__", alter_sys=True)
    else:
        sys.path[0] = ""
        program = sys.modules["__main__"] = ModuleType("__main__")
        exec(compile(what, "<string>", "exec"), program.__dict__)


def _open_streams(*, unbuffered: bool) -> None:
    """Open the standard streams, whose descriptors have changed, as Python does at its start."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        raw: Any = io.FileIO(number, "r" if number == 0 else "w", closefd=False)
        if number == 0:
            raw = io.BufferedReader(raw)
        elif not unbuffered:
            raw = io.BufferedWriter(raw)
        stream = io.TextIOWrapper(
            raw,
            encoding=getattr(sys, name).encoding,
            errors=getattr(sys, name).errors,
            line_buffering=name == "stderr",
            write_through=unbuffered and number > 0,
        )
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)


if __name__ == "__main__":
    main()
