"""A server is killed at every kind of moment while it works on a POST with an Idempotency-Key: sent
again, the request is done once, and answered as if nothing had happened.
"""

import json
import os
import random
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Final
from uuid import uuid4

import pytest
import requests

from kbsite.api import api
from tests.fork_server import Fork
from tests.instance import Instance
from tests.model_standin import Fault, ModelStandIn

SEED: Final = 39
LAST: Final = 2  # statements before each of which a server is killed
EARLIER: Final = 1  # of the statements before these
DELAY: Final = 0.1  # seconds that the language model takes each time
LONGEST: Final = 0.5  # seconds of a question
MOMENTS: Final = 4  # of each question, at any time of it
V1: Final = "/api/v1/"
QUOTE: Final = "A network is a chain of simple functions. Point 1."
SAID: Final = "Networks learn from errors. Weights move against the gradient. "

FURNISH: Final = """
from citations.models import Document
from kbsite.models import ApiToken
from tests.makers import SENTENCES, make_document, make_source, make_user, make_video
from transcripts.models import Collection, Feed, Job, Role
shelf = Collection.objects.create(name="Lectures", slug="lectures", allows_links=True)
user = make_user("ada", collection=shelf, is_superuser=True)
make_user("grace")
video = make_video(shelf, youtube_id="dQw4w9WgXcQ")
source = make_source(video, texts=SENTENCES[:2])
scan = make_document(shelf, SENTENCES[:1], title="Scan")
Document.objects.create(
    source=scan, name="scan.pdf", media_type="application/pdf", size=1, unread_pages=[1]
)
feed = Feed.objects.create(collection=shelf, kind="playlist", youtube_id="PLonceonceonce")
job = Job.objects.create(collection=shelf, kind="feed", feed=feed, target="PLonceonceonce")
_, token = ApiToken.issue(user, name="once", access="manage")
print(json.dumps({
    "token": token, "video": video.key, "source": str(source.uuid), "feed": feed.pk,
    "job": job.pk, "scan": str(scan.uuid),
}))
"""
# What no request leaves behind at the same moment each time.
OTHERS: Final = ("kbsite_keyedrequest", "kbsite_webhookevent", "citations_lectureevent")
FIGURES: Final = """
    SELECT 'secrets', sum(generation) FROM kbsite_webhook
    UNION ALL SELECT 'speech', sum(window_count + position) FROM citations_lecturesession
    UNION ALL SELECT 'events', count(*) FROM citations_lectureevent WHERE kind != 'citations'
"""
ANOTHER: Final = re.compile(
    r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|w?[0-9a-f]{10,11}|whsec_[^\"]+|[0-9.]+"
)
LEASED: Final = ("kbsite_keyedrequest", "citations_answer", "citations_window")


@dataclass(frozen=True, slots=True)
class Case:
    """A POST; ``before`` makes each try the first, in SQL. A body is sent as JSON, or with files.

    ``{…}`` stands for a thing: those of ``FURNISH``, and what the methods of ``Things`` return.
    """

    route: str
    body: Mapping[str, Any] = field(default_factory=dict)
    before: str = ""
    files: bool = False


NO_WEBHOOKS: Final = "WITH sent AS (DELETE FROM kbsite_webhookdelivery) DELETE FROM kbsite_webhook"
JOBS_DONE: Final = "UPDATE transcripts_job SET state = 'done'"
CASES: Final = (
    Case("ask?stream=false", {"question": "What is a network?", "keep": True}),
    Case(
        "ask?stream=false", {"question": "What is a network?", "conversation_id": "{conversation}"}
    ),
    Case("ask?stream=false", {"question": "What is a network?", "keep": False}),
    Case("answers/{answer}/again?stream=false"),
    Case("rag/query", {"session_id": "{open}", "transcript_text": SAID, "window_index": 0}),
    Case("sessions", {"title": "One", "collection": "lectures"}),
    Case("sessions/{open}/segments", {"text": SAID * 9}),
    Case("sessions/{replaying}/replay", {"position": 30.0}),
    Case("sessions/{spoken_in}/end"),
    Case("sessions/{ended}/recording"),
    Case("sessions/{ended}/look-up"),
    Case("sources", {"title": "{word}", "text": "{word} was here.", "collection": "lectures"}),
    Case("sources", {"url": "https://youtu.be/{video_id}", "collection": "lectures"}),
    Case(
        "sources/captions",
        {
            "url": "{video_id}",
            "captions": "WEBVTT\n\n00:00.000 --> 00:01.000\n{word}\n",
            "collection": "lectures",
        },
    ),
    Case("sources/files", {"collection": "lectures"}, files=True),
    Case("sources/{source}/index"),
    Case("sources/{scan}/ocr", before="UPDATE citations_document SET awaits_ocr = false"),
    Case("jobs/{job}/retry", before=f"{JOBS_DONE}, attempts = 1"),
    Case("jobs/{job}/stop", before=JOBS_DONE),
    Case("feeds/{feed}/sync", before=JOBS_DONE),
    Case("transcripts/{video}/refetch", before=JOBS_DONE),
    Case("verify", {"quote": QUOTE, "source_id": "{source}"}),
    Case("notes", {"collection": "lectures", "text": "{word}"}),
    Case(
        "highlights",
        {"source_id": "{source}", "quote": QUOTE},
        before="DELETE FROM citations_highlight",
    ),
    Case(
        "highlights/import",
        {
            "items": [
                {
                    "target": {
                        "source": "{source}",
                        "selector": {"type": "TextQuoteSelector", "exact": QUOTE},
                    }
                }
            ]
        },
        before="DELETE FROM citations_highlight",
    ),
    Case("shared-links", {"answer_id": "{answer}"}),
    Case("archives", before="DELETE FROM citations_archive"),
    Case("webhooks", {"url": "https://example.org/", "events": ["job.done"]}, before=NO_WEBHOOKS),
    Case("webhooks/{webhook}/secret"),
    Case("webhooks/{webhook}/test"),
    Case("/api/content/collections/", {"name": "{word}", "slug": "{word}"}),
    Case(
        "/api/content/memberships/",
        {"collection": "lectures", "user": "grace", "role": "viewer"},
        before="DELETE FROM transcripts_membership WHERE role = 'viewer'",
    ),
)


class Servers:
    """The two servers of ``tests.doomed_server``."""

    def __init__(self, instance: Instance, orders: IO[bytes], started: IO[bytes]) -> None:
        self.instance, self._orders, self._started = instance, orders, started
        self._steady, self._doomed = json.loads(started.readline())
        self.things = Things(self, instance.json(FURNISH))

    def steady(self, path: str, body: Any = None, **sent: Any) -> Any:
        return self._post(self._steady, path, body, **sent)

    def doomed(self, path: str, body: Any = None, *, moment: Any, **sent: Any) -> Any:
        """Send a request to a server that is killed then; None: it has not answered."""
        self._orders.write(json.dumps(moment).encode() + b"\n")
        self._orders.flush()
        self._started.readline()
        with suppress(requests.ConnectionError):
            return self._post(self._doomed, path, body, **sent)
        return None

    def _post(self, port: int, path: str, body: Any, *, key: str = "", files: Any = None) -> Any:
        headers = {"Authorization": f"Bearer {self.things.made['token']}", "Connection": "close"}
        headers |= {"Idempotency-Key": key} if key else {}
        how = {"data": body, "files": files} if files else {"json": body}
        address = f"http://127.0.0.1:{port}{path}"
        return requests.post(address, headers=headers, timeout=60, **how)

    def end_leases(self) -> None:
        for table in LEASED:
            self.instance.rows(
                f"UPDATE {table} SET active_at = now() - interval '1 minute' RETURNING 1"
            )

    def figures(self) -> dict[str, int]:
        """Count the rows of all tables, and what else a request that is done twice would change."""
        tables = "SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1"
        names = [name for (name,) in self.instance.rows(tables) if name not in OTHERS]
        counts = " UNION ALL ".join(f"SELECT '{name}', count(*) FROM {name}" for name in names)
        rows = self.instance.rows(f"{counts} UNION ALL {FIGURES}")
        return {name: int(count or 0) for name, count in rows}

    def answers(self) -> set[Any]:
        """Return the answers that are there, with the time that each took: no two are alike."""
        sql = "SELECT uuid, milliseconds FROM citations_answer WHERE state != 'running'"
        return set(self.instance.rows(f"{sql} AND error = ''"))


class Things:
    """What the bodies and paths of requests name; each is made when it is named."""

    def __init__(self, servers: Servers, made: dict[str, Any]) -> None:
        self._servers, self.made = servers, made

    def __getitem__(self, name: str) -> str:
        return str(self.made[name] if name in self.made else getattr(self, f"_{name}")())

    def _id(self, path: str, **body: Any) -> str:
        response = self._servers.steady(f"{V1}{path}", body)
        assert response.ok, response.text
        return str(response.json()["id"])

    def _word(self) -> str:
        self.made["word"] = f"w{uuid4().hex[:10]}"  # the same word in one request
        return str(self.made["word"])

    def _video_id(self) -> str:
        return uuid4().hex[:11]

    def _open(self) -> str:
        return self._id("sessions", collection="lectures")

    def _replaying(self) -> str:
        return self._id("sessions", collection="lectures", video_id=self.made["video"])

    def _spoken_in(self) -> str:
        session = self._open()
        self._servers.steady(f"{V1}sessions/{session}/segments", {"text": SAID * 2})
        return session

    def _ended(self) -> str:
        session = self._spoken_in()
        self._servers.steady(f"{V1}sessions/{session}/end")
        return session

    def _answer(self) -> str:
        return self._id("ask?stream=false", question="What is a network?")

    def _conversation(self) -> str:
        sql = "SELECT c.uuid FROM citations_conversation c JOIN citations_answer a"
        sql += " ON a.conversation_id = c.id WHERE a.uuid = %s"
        return str(self._servers.instance.rows(sql, self._answer())[0][0])

    def _webhook(self) -> str:
        self._servers.instance.rows(f"{NO_WEBHOOKS} RETURNING 1")
        return self._id("webhooks", url="https://example.org/", events=["job.done"])


@dataclass(frozen=True, slots=True)
class Done:
    """What one request says and leaves behind."""

    response: str
    figures: dict[str, int]


@pytest.fixture
def model() -> Iterator[ModelStandIn]:
    with ModelStandIn() as standin:
        standin.delay = DELAY
        standin.answer = lambda _: "A network is a chain of simple functions [1]."
        yield standin


@pytest.fixture
def servers(tmp_path: Path, model: ModelStandIn) -> Iterator[Servers]:
    slow = {"LLM_PROVIDER": "openai", "LLM_MODEL": f"fault:{Fault.SLOW}", "DISABLE_HYDE": "1"}
    unlimited = {f"{name}_PER_MINUTE": "0" for name in ("QUESTIONS", "ADDITIONS", "API_CALLS")}
    settings = {**model.settings(), **slow, **unlimited, "RERANKER": "none"}
    with (
        Instance(tmp_path / "home", **settings, LIVE_RERANKER="none") as instance,
        _doomed_server(instance) as pipes,
    ):
        yield Servers(instance, *pipes)


@contextmanager
def _doomed_server(instance: Instance) -> Iterator[tuple[IO[bytes], IO[bytes]]]:
    (theirs, mine), (said, saying) = os.pipe(), os.pipe()
    with (instance.home / "doomed.log").open("wb") as log:
        process = Fork(
            "-m",
            "tests.doomed_server",
            environment=instance.environment,
            stdin=theirs,
            stdout=saying,
            stderr=log.fileno(),
        )
    os.close(theirs)
    os.close(saying)
    with os.fdopen(mine, "wb") as orders, os.fdopen(said, "rb") as started:
        yield orders, started
    process.wait(60)


def test_every_post_is_tried() -> None:
    tried = {_pattern(case.route) for case in CASES}
    paths = api.get_openapi_schema()["paths"]
    assert {_pattern(path) for path, methods in paths.items() if "post" in methods} == tried


@pytest.mark.timeout(600)
def test_a_killed_request_is_done_once_and_answered(servers: Servers) -> None:
    chance = random.Random(SEED)
    faults: list[str] = []
    kills, harmful = 0, 0
    for case in CASES:
        reference, count = _undisturbed(servers, case)
        for moment in _moments(case, count, chance):
            wrong = [*_faults(servers, case, reference, moment)]
            kills, harmful = kills + 1, harmful + bool(wrong)
            faults += [f"{case.route} {moment}: {fault}" for fault in wrong]
    print(f"{kills} kills, {harmful} of them harmful")
    assert kills >= 60
    assert faults == []


def _moments(case: Case, count: int, chance: random.Random) -> list[dict[str, float]]:
    """Return when to kill: before each of the last statements, of which one keeps the answer,
    before the response, before one of the others, and of questions at any time.
    """
    first, *others = range(count + 1, 0, -1)
    earlier = chance.sample(others[LAST:], min(EARLIER, len(others[LAST:])))
    moments: list[dict[str, float]] = [
        {"statement": number} for number in (first, *others[:LAST], *earlier)
    ]
    if "question" in case.body or "again" in case.route:
        moments += [{"seconds": chance.uniform(0.05, LONGEST)} for _ in range(MOMENTS)]
    return moments


def _undisturbed(servers: Servers, case: Case) -> tuple[Done, int]:
    """Make a request that nothing disturbs; return what it does, and how many statements it is."""
    path, sent = _prepare(servers, case)
    before = servers.figures()
    response = servers.doomed(path, moment={}, key=uuid4().hex, **sent)
    assert response is not None
    assert response.ok, f"{case.route}: {response.text}"
    done = Done(_said(response), _change(before, servers.figures()))
    return done, int(response.headers["Statements"])


def _faults(servers: Servers, case: Case, reference: Done, moment: Any) -> Iterator[str]:
    """Kill a server at a moment of a request, repeat the request, and say what is wrong then."""
    key = uuid4().hex
    path, sent = _prepare(servers, case)
    before, others = servers.figures(), servers.answers()
    first = servers.doomed(path, moment=moment, key=key, **sent)
    stored = servers.answers() - others
    early = servers.steady(path, key=key, **sent)
    if early.status_code == 409 and not early.headers.get("Retry-After"):
        yield f"409 without Retry-After: {early.text}"
    servers.end_leases()
    answer, again = (servers.steady(path, key=key, **sent) for _ in range(2))
    if _said(answer) != reference.response:
        yield f"{_said(answer)} instead of {reference.response}"
    if first is not None and first.content != answer.content:
        yield "the answer has changed"
    if again.content != answer.content or "Idempotent-Replayed" not in again.headers:
        yield "it is not repeated"
    if (change := _change(before, servers.figures())) != reference.figures:
        yield f"it changes {change} instead of {reference.figures}"
    if not stored <= servers.answers():
        yield "an answer was replaced"


def _prepare(servers: Servers, case: Case) -> tuple[str, dict[str, Any]]:
    servers.things.made.pop("word", None)
    if case.before:
        servers.instance.rows(f"{case.before} RETURNING 1")
    route = case.route if case.route.startswith("/") else V1 + case.route
    body = json.loads(_filled(servers, json.dumps(case.body)))
    sent = {"body": body}
    if case.files:
        word = servers.things["word"]
        sent["files"] = [
            ("files", (f"{word}.md", f"# {word}\n\n{SAID}".encode())),
            ("files", (f"{word}.vtt", f"WEBVTT\n\n00:00.000 --> 00:01.000\n{word}\n".encode())),
        ]
    return _filled(servers, route), sent


def _filled(servers: Servers, text: str) -> str:
    return re.sub(r"\{(\w+)\}", lambda match: servers.things[match[1]], text)


def _said(response: requests.Response) -> str:
    """Return a response without what is another each time."""
    return f"{response.status_code} {ANOTHER.sub('…', response.text)}"


def _change(before: dict[str, int], after: dict[str, int]) -> dict[str, int]:
    return {name: after[name] - then for name, then in before.items() if after[name] != then}


def _pattern(path: str) -> str:
    return re.sub(r"\{.*?\}", "{}", path.partition("?")[0].removeprefix(V1))
