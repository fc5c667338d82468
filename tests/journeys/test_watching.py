"""A lecture watched over HTTP, from a web server in a process of its own."""

import json
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.instance import ROOT, Instance, kill, wait_until

SEED = """
from django.contrib.auth.models import User
from citations.lectures import sessions
from kbsite.auth import everything
from kbsite.models import ApiToken
from tests.makers import make_user
from transcripts.models import Collection
shelf = Collection.objects.create(name="Lectures", slug="lectures")
ada = make_user("ada", collection=shelf)
lecture = sessions.start(everything(), ada, collection=shelf)
token = ApiToken.issue(ada, name="watch", can_write=True)[1]
print(json.dumps([str(lecture.uuid), token]))
"""


class Watched:
    """One stream of events, read as a program reads it."""

    def __init__(self, response: httpx.Response) -> None:
        self.response = response
        self._lines = response.iter_lines()

    def next(self) -> dict[str, str]:
        """Return the fields of the next event; what is said between events is skipped."""
        fields: dict[str, str] = {}
        for line in self._lines:
            name, _, value = line.partition(": ")
            if not line and "event" in fields:
                return fields
            if name in ("id", "event", "data"):
                fields[name] = value
        return {}


class Server:
    """A web server on an instance."""

    def __init__(self, instance: Instance, token: str, session: str) -> None:
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            port = one.getsockname()[1]
        command = [
            sys.executable,
            "-m",
            "uvicorn",
            "kbsite.asgi:application",
            "--port",
            str(port),
            "--log-level",
            "warning",
        ]
        self.log = instance.home / "server.log"
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                command,
                cwd=ROOT,
                env=instance.environment,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self.client = httpx.Client(
            base_url=f"http://127.0.0.1:{port}",
            headers={"Authorization": f"Bearer {token}"},
            timeout=30,
        )
        self.path = f"/api/v1/sessions/{session}"
        wait_until(self._answers, what="the web server")

    @contextmanager
    def watch(self, **headers: str) -> Iterator[Watched]:
        """Watch the session while the block runs."""
        with self.client.stream("GET", f"{self.path}/events", headers=headers) as response:
            assert response.status_code == 200, response.read()
            yield Watched(response)

    def say(self, *numbers: int) -> None:
        """Send pieces of speech."""
        said = [
            {"number": number, "text": f"Hello, {number}.", "start": 0, "end": 1}
            for number in numbers
        ]
        assert self.client.post(f"{self.path}/segments", json={"segments": said}).status_code == 202

    def end(self) -> float:
        """Ask it to end; return how many seconds it took."""
        began = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(20)
        return time.monotonic() - began

    def _answers(self) -> bool:
        try:
            return self.client.get("/healthz").is_success
        except httpx.TransportError:
            return False


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[Instance]:
    with Instance(
        tmp_path, MODELS_DIR=str(tmp_path / "models"), LIVE_RERANKER="none", RERANKER="none"
    ) as made:
        yield made


def listeners(instance: Instance) -> Any:
    return instance.rows("SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'LISTEN%%'")[0][0]


def test_a_viewer_reconnects_to_a_lecture_until_the_server_stops(instance: Instance) -> None:
    session, token = instance.json(SEED)
    server = Server(instance, token, session)
    try:
        with server.watch() as first, server.watch() as beside:
            wait_until(
                lambda: listeners(instance) == 1, what="one listening connection for both streams"
            )
            server.say(0)
            one = first.next()
            assert (one["id"], one["event"]) == ("1", "segment")
            assert json.loads(one["data"]) == {
                "number": 0,
                "text": "Hello, 0.",
                "start": 0,
                "end": 1.0,
            }
            assert beside.next() == one
        wait_until(lambda: listeners(instance) == 0, what="the end of listening, as nobody watches")
        server.say(1, 2)
        with server.watch(**{"Last-Event-ID": one["id"]}) as again:
            assert [again.next()["id"], again.next()["id"]] == ["2", "3"]
            assert server.end() < 2, "a stream does not keep the server from ending"
            assert again.next() == {}
        assert "Traceback" not in server.log.read_text()
    finally:
        server.client.close()
        kill(server.process)
