"""Streams watched over HTTP, from a web server in a process of its own."""

import json
import re
import signal
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Self

import httpx
import pytest

from tests.fork_server import Fork
from tests.instance import Instance, kill, wait_until
from tests.model_standin import Fault, ModelStandIn
from transcripts.core import announcements

SEED = """
from django.test import Client
from citations.lectures import sessions
from kbsite.callers import everything
from kbsite.models import ApiToken
from tests.makers import make_document, make_user
from transcripts.models import Collection, Job
shelf = Collection.objects.create(name="Lectures", slug="lectures")
ada = make_user("ada", collection=shelf)
lecture = sessions.start(everything(), ada, collection=shelf)
token = ApiToken.issue(ada, name="watch", access="write")[1]
Job.objects.create(collection=shelf, kind="video", target="dQw4w9WgXcQ")
make_document(shelf, ["Backpropagation carries the error of a network backwards."])
browser = Client()
browser.force_login(ada)
print(json.dumps([str(lecture.uuid), token, browser.cookies["sessionid"].value]))
"""
QUESTION = {"question": "What does backpropagation carry?", "keep": False}


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
                fields[name] = fields.get(name, "") + value
        return {}


class Server:
    """A web server on an instance."""

    def __init__(self, instance: Instance, session: str, token: str, browser: str) -> None:
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            port = listener.getsockname()[1]
        command = [
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
            self.process = Fork(
                *command, environment=instance.environment, stdout=log.fileno(), stderr=log.fileno()
            )
        self.client = httpx.Client(
            base_url=f"http://127.0.0.1:{port}",
            headers={"Authorization": f"Bearer {token}"},
            timeout=30,
        )
        self.browser = httpx.Client(
            base_url=self.client.base_url, cookies={"sessionid": browser}, timeout=30
        )
        self.path = f"/api/v1/sessions/{session}"
        wait_until(self._answers, what="the web server")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.client.close()
        self.browser.close()
        kill(self.process)

    @contextmanager
    def watch(self, **headers: str) -> Iterator[Watched]:
        """Watch the session while the block runs."""
        with self.client.stream("GET", f"{self.path}/events", headers=headers) as response:
            assert response.status_code == 200, response.read()
            yield Watched(response)

    @contextmanager
    def watch_activity(self) -> Iterator[Watched]:
        """Watch the Activity page while the block runs."""
        with self.browser.stream("GET", "/activity/events/") as response:
            assert response.status_code == 200, response.read()
            yield Watched(response)

    @contextmanager
    def watch_answer(self) -> Iterator[Watched]:
        """Ask a question, and watch its answer while the block runs."""
        with self.client.stream("POST", "/api/v1/ask", json=QUESTION) as response:
            assert response.status_code == 200, response.read()
            yield Watched(response)

    @property
    def threads(self) -> int:
        """How many threads it has."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.findall(r"Threads:\s+(\d+)", status)[0])

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
    with Instance(tmp_path, LIVE_RERANKER="none", RERANKER="none") as site:
        yield site


def listeners(instance: Instance) -> Any:
    rows = "SELECT count(*) FROM pg_stat_activity WHERE application_name = %s"
    return instance.rows(rows, announcements.NAME)[0][0]


def test_a_viewer_reconnects_to_a_lecture_until_the_server_stops(instance: Instance) -> None:
    with Server(instance, *instance.json(SEED)) as server:
        with server.watch() as first, server.watch() as beside:
            wait_until(
                lambda: listeners(instance) == 1, what="one listening connection for both streams"
            )
            server.say(0)
            event = first.next()
            assert (event["id"], event["event"]) == ("1", "segment")
            assert json.loads(event["data"]) == {
                "number": 0,
                "text": "Hello, 0.",
                "start": 0,
                "end": 1.0,
            }
            assert beside.next() == event
        wait_until(lambda: listeners(instance) == 0, what="the end of listening, as nobody watches")
        server.say(1, 2)
        with server.watch(**{"Last-Event-ID": event["id"]}) as again:
            assert [again.next()["id"], again.next()["id"]] == ["2", "3"]
            assert server.end() < 2, "a stream does not keep the server from ending"
            assert again.next() == {}
        assert "Traceback" not in server.log.read_text()


def test_streams_that_wait_have_neither_thread_nor_connection_and_survive_the_loss_of_all(
    instance: Instance,
) -> None:
    with Server(instance, *instance.json(SEED)) as server, ExitStack() as stack:
        watched = [stack.enter_context(server.watch_activity()) for _ in range(8)]
        watched += [stack.enter_context(server.watch()) for _ in range(8)]
        for stream in watched[:8]:
            assert "dQw4w9WgXcQ" in stream.next()["data"]
        before = server.threads
        more = [stack.enter_context(server.watch_activity()) for _ in range(4)]
        for stream in more:
            stream.next()
        assert server.threads <= before + 1
        others = (
            "SELECT count(*) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND state = 'idle'"
        )
        assert instance.rows(others)[0][0] < 8
        instance.rows(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
        )
        instance.rows(
            "UPDATE transcripts_job SET target = 'aaaaaaaaaaa' RETURNING pg_sleep(0.1)::text"
        )
        for stream in watched[:8]:
            assert "aaaaaaaaaaa" in stream.next()["data"]
        server.say(0)
        assert watched[8].next()["event"] == "segment"


def test_whoever_loses_the_right_to_read_in_mid_stream_is_told_nothing_more(tmp_path: Path) -> None:
    with ModelStandIn() as models:
        models.delay = 600.0
        models.fail(*[Fault.SLOW] * 20)
        environment = {
            **models.settings(),
            "LLM_PROVIDER": "anthropic",
            "LLM_BASE_URL": models.anthropic_url,
            "DISABLE_HYDE": "true",
            "RERANKER": "none",
        }
        with (
            Instance(tmp_path, **environment) as instance,
            Server(instance, *instance.json(SEED)) as server,
            server.watch_activity() as activity,
        ):
            assert "dQw4w9WgXcQ" in activity.next()["data"]
            with server.watch() as lecture, server.watch_answer() as answer:
                assert answer.next()["event"] == "asked"
                wait_until(lambda: models.requests, what="a question to the model")
                instance.rows("UPDATE kbsite_apitoken SET revoked_at = now() RETURNING id")
                assert lecture.next() == {}, "the token was revoked"
                while event := answer.next():
                    assert event["event"] == "stage"
            instance.rows("UPDATE kbsite_apitoken SET revoked_at = NULL RETURNING id")
            with server.watch() as lecture, server.watch_answer() as answer:
                assert answer.next()["event"] == "asked"
                instance.rows("DELETE FROM transcripts_membership RETURNING id")
                assert lecture.next() == {}, "the membership was withdrawn"
                while event := answer.next():
                    assert event["event"] == "stage"
            assert "dQw4w9WgXcQ" not in activity.next()["data"]
            instance.rows("DELETE FROM django_session RETURNING session_key")
            assert activity.next().get("event", "finished") == "finished", "the session ended"
            assert "Traceback" not in server.log.read_text()
