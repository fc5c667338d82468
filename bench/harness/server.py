"""A server of the measured library, as people start it, and its clients."""

import http.client
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TextIO, TypeVar
from urllib.parse import urlsplit

from harness.environment import HOME, ROOT

START_SECONDS: Final = 120.0
LINK: Final = re.compile(r"http://127\.0\.0\.1:\d+/sign-in/[\w-]+/")
LOG: Final = Path(HOME) / "serve.log"

T = TypeVar("T")
Process = subprocess.Popen[bytes]


@dataclass(frozen=True, slots=True)
class Server:
    """`kb serve`, and the link that signs its first user in."""

    link: str
    process: Process

    @property
    def port(self) -> int:
        return urlsplit(self.link).port or 0

    @property
    def origin(self) -> str:
        return self.link.partition("/sign-in/")[0]

    def sign_in(self) -> str:
        """Open the link, once; return the session's cookie."""
        connection = self.connect()
        connection.request("GET", urlsplit(self.link).path)
        headers = connection.getresponse().headers.get_all("Set-Cookie") or []
        connection.close()
        cookies = [value.partition(";")[0] for value in headers]
        return next(cookie for cookie in cookies if cookie.startswith("sessionid="))

    def connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)


@contextmanager
def serving(*options: str) -> Iterator[Server]:
    """Run `kb serve` on the library until the block ends; it has said that it serves."""
    arguments = ("-m", "kbsite.cli", "serve", "--port", "0", *options)
    with LOG.open("w") as output, started(arguments, output) as process:
        link = wait_for(lambda: LINK.findall(LOG.read_text()), process)[-1]
        wait_for(lambda: "Ctrl-C" in LOG.read_text(), process)
        yield Server(link, process)


@contextmanager
def started(arguments: Sequence[str], output: TextIO) -> Iterator[Process]:
    """Run Python with arguments on the library; end it afterwards."""
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "kbsite.settings.django"}
    process = subprocess.Popen(
        [sys.executable, *arguments],
        cwd=ROOT,
        env={**environment, "PYTHONUNBUFFERED": "1"},
        stdout=output,
        stderr=output,
    )
    try:
        yield process
    finally:
        process.terminate()
        process.wait(30)


def wait_for(condition: Callable[[], T], process: Process) -> T:
    """Return the first result that is true, within ``START_SECONDS``. Raises ``SystemExit``."""
    deadline = time.monotonic() + START_SECONDS
    while not (result := condition()):
        if process.poll() is not None or time.monotonic() > deadline:
            raise SystemExit(f"The server is not ready; its last lines: {LOG.read_text()[-2_000:]}")
        time.sleep(0.1)
    return result


def new_token(*options: str) -> str:
    """Create a token, which may only read without ``--write``."""
    line = [sys.executable, "-m", "kbsite.cli", "token", "create", "bench", "--json", *options]
    process = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=True)
    return str(json.loads(process.stdout)["token"])


@dataclass(frozen=True, slots=True)
class Rest:
    """Calls of a server's REST API."""

    server: Server
    token: str

    def __call__(self, path: str, **body: Any) -> Any:
        """Post a body as JSON, or get without one; return the answer."""
        connection = self.server.connect()
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        data = json.dumps(body) if body else None
        connection.request("POST" if body else "GET", f"/api/v1/{path}", data, headers)
        response = connection.getresponse()
        text = response.read()
        connection.close()
        if response.status >= 300:
            raise SystemExit(f"{path}: status {response.status}, {text[:300]!r}")
        return json.loads(text)
