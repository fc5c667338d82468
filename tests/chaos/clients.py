"""Clients that keep a server busy through its doors, and remember what it acknowledged."""

import json
import random
import re
import subprocess
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from itertools import cycle
from pathlib import Path
from typing import Any, TypeVar

import httpx

from tests.chaos.ledger import Ledger, Promise
from tests.makers import caption_json, make_cues, make_pdf
from tests.serving import OWN_KB, ROOT, Serving
from tests.youtube_standin import Track, YouTubeStandIn

PATIENCE = 60.0  # seconds for one response
MAX_KEPT = 4  # of each client's things, before it deletes some
LECTURE = 30  # segments
BREATH = 0.2  # seconds between two requests that are refused
SENTENCES = ("This is about {}.", "A network is a chain of functions.", "Backpropagation goes on.")

T = TypeVar("T")


class Away(Exception):
    """The server is not there or refuses for a moment, or the command was killed; it says which."""


class Door:
    """HTTP with the credentials of one client."""

    def __init__(self, url: str, ledger: Ledger, *, token: str = "", session: str = "") -> None:
        self._ledger = ledger
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        cookies = {"sessionid": session} if session else {}
        self.http = httpx.Client(base_url=url, headers=headers, cookies=cookies, timeout=PATIENCE)

    def ask(self, method: str, path: str, *ok: int, **options: Any) -> httpx.Response:
        """Return a response with one of these statuses. Raises ``Away``, and notes other faults."""
        self._ledger.requests += 1
        try:
            response = self.http.request(method, path, **options)
        except httpx.TimeoutException:
            self._ledger.fault(f"{method} {path}: no answer in {PATIENCE:.0f} s")
            raise Away("no answer") from None
        except httpx.TransportError as error:
            raise Away(repr(error)) from None
        said = f"{method} {path}: {response.status_code} {response.text[:300]}"
        if response.status_code in (429, 503):
            self._ledger.refusals += 1
            time.sleep(min(float(response.headers.get("Retry-After", BREATH)), BREATH))
            raise Away(said)
        if response.status_code not in (ok or (200,)):
            self._ledger.fault(said)
            raise Away(said)
        return response

    def call(self, tool: str, **arguments: Any) -> None:
        """Call a tool over MCP. Raises ``Away``."""
        params = {"name": tool, "arguments": arguments}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        headers = {
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": "2025-11-25",
        }
        body = self.ask("POST", "/mcp", json=message, headers=headers).text
        data = next((line[6:] for line in body.splitlines() if line.startswith("data: {")), body)
        result = json.loads(data).get("result", {})
        if result.get("isError"):
            text = result["content"][0]["text"]
            if "database" not in text and "busy" not in text:
                self._ledger.fault(f"{tool}: {text}")
            raise Away(f"{tool}: {text}")


class Client(threading.Thread):
    """Takes turns until ``ending``, except while ``going`` is not set."""

    pause = 1.0  # seconds between two turns
    makes_work = False  # for the worker

    def __init__(self, serving: Serving, ledger: Ledger, token: str, seed: int) -> None:
        super().__init__(name=type(self).__name__, daemon=True)
        self.serving, self.ledger = serving, ledger
        self.door = Door(serving.url, ledger, token=token)
        self.random = random.Random(f"{seed} {self.name}")
        self.going, self.ending, self.idle = (threading.Event() for _ in range(3))
        self.is_enough = threading.Event()  # work for now
        self.refusal = "nothing was refused"  # the last one

    def turn(self) -> None:
        """Do one thing."""
        raise NotImplementedError

    def run(self) -> None:
        while not self.ending.is_set():
            if not self.going.is_set():
                self.idle.set()
                self.going.wait(BREATH)
                continue
            self.idle.clear()
            if not (self.makes_work and self.is_enough.is_set()):
                with suppress(Away):
                    self.turn()
            self.ending.wait(self.pause)

    def insist(self, call: Callable[[], T]) -> T:
        """Repeat a call until it is answered. Raises ``Away`` at the end of all."""
        while not self.ending.is_set():
            try:
                return call()
            except Away as error:
                self.refusal = str(error)
                self.ending.wait(BREATH)
        raise Away("the end of all")

    def kb(self, *arguments: str, known: str = "") -> str:
        """Run a command; return its output, or a refusal that matches ``known``.

        Raises ``Away``, and notes other faults.
        """
        process = subprocess.Popen(
            [*OWN_KB, *arguments],
            cwd=ROOT,
            env=self.serving.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,  # Ctrl-C ends the bench alone
        )
        output, _ = process.communicate(timeout=2 * PATIENCE)
        if process.returncode == 0 or (known and re.search(known, output)):
            return output
        if process.returncode > 0 and ("Traceback" in output or process.returncode != 8):
            command = " ".join(arguments[:2])
            self.ledger.fault(f"kb {command}: exit {process.returncode} {output[-600:]}")
        raise Away(output[-600:])

    def keep(self, *titles: str) -> None:
        """Note that these were acknowledged."""
        self.ledger.titles.update(dict.fromkeys(titles, Promise.KEPT))


class Rest(Client):
    """Adds texts, Markdown and PDFs by REST, and deletes some."""

    makes_work = True

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._kinds = cycle(("markdown", "pdf", "text"))
        self._added: list[tuple[str, Callable[[], Any]]] = []

    def turn(self) -> None:
        kind = next(self._kinds)
        title = self.ledger.new_title(kind)
        if kind == "text":
            text = {"title": title, "text": " ".join(SENTENCES).format(title)}
            self.insist(lambda: self.door.ask("POST", "/api/v1/sources", 201, json=text))
            self._added.append((title, partial(self._delete_video, title)))
        else:
            name, data = file_of(title)
            files = {"files": (name, data)}
            added = self.insist(
                lambda: self.door.ask(
                    "POST", "/api/v1/sources/files", 202, files=files, data={"title": title}
                )
            )
            path = f"/api/v1/sources/{added.json()['documents'][0]['source']['id']}"
            self._added.append((title, partial(self.door.ask, "DELETE", path, 204, 404)))
        self.keep(title)
        if len(self._added) > MAX_KEPT:
            title, delete = self._added.pop(self.random.randrange(len(self._added)))
            with self.ledger.deleting([title]):
                self.insist(delete)

    def _delete_video(self, title: str) -> None:
        listing = self.door.ask("GET", "/api/content/videos/", params={"search": title}).json()
        for video in listing["videos"]:
            self.door.ask("DELETE", f"/api/content/videos/{video['pk']}/", 204, 404)


class Web(Client):
    """Uploads captions and Markdown with the form of the web pages."""

    makes_work = True

    def sign_in(self, session: str) -> None:
        self.door = Door(self.serving.url, self.ledger, session=session)

    def turn(self) -> None:
        self.door.ask("GET", "/library/")
        titles = [self.ledger.new_title(kind) for kind in ("captions", "markdown")]
        files = [("files", file_of(title)) for title in titles]
        self.insist(lambda: self._upload(files))
        self.keep(*titles)

    def _upload(self, files: list[tuple[str, tuple[str, bytes]]]) -> None:
        self.door.ask("GET", "/library/?view=table")
        form = {"csrfmiddlewaretoken": self.door.http.cookies["csrftoken"]}
        self.door.ask("POST", "/add/", 302, data=form, files=files)


class Mcp(Client):
    """Adds videos and searches over MCP."""

    makes_work = True

    youtube: YouTubeStandIn

    def turn(self) -> None:
        title = self.ledger.new_title("video")
        video_id = f"{title.split()[1]:-<11}"
        lines = tuple((n * 2000, 2000, text.format(title)) for n, text in enumerate(SENTENCES))
        self.youtube.add_video(video_id, title=title, tracks=(Track("en", lines),))
        url = f"https://www.youtube.com/watch?v={video_id}"
        self.insist(lambda: self.door.call("add_source", url=url))
        self.keep(title)
        self.insist(lambda: self.door.call("search_knowledge_base", query=title))


class Commands(Client):
    """Adds files with `kb`, and makes and deletes collections."""

    makes_work = True

    pause = 4.0
    folder: Path

    def turn(self) -> None:
        name = f"shelf-{self.random.randrange(10**9)}"
        self.insist(lambda: self.kb("collections", "add", name, known="There is a collection"))
        titles = [self.ledger.new_title(kind) for kind in ("captions", "markdown", "pdf")]
        paths = [write(self.folder, title) for title in titles]
        self.insist(lambda: self.kb("add", "--collection", name, *map(str, paths)))
        self.keep(*titles)
        if self.random.random() < 0.7:
            with self.ledger.deleting(titles):
                self.insist(
                    lambda: self.kb("collections", "delete", name, "--yes", known="no collection")
                )


class Migrations(Client):
    """Migrates the library to one model after another."""

    pause = 4.0  # each turn starts a process

    def turn(self) -> None:
        model = f"words-{len(self.ledger.models)}"
        self.ledger.models.append(model)
        known = "already embedded with|nothing is embedded yet"
        to = ("--to", "fake", "--model", model, "--dimensions", "48", "--yes")
        output = self.insist(lambda: self.kb("db", "migrate-embeddings", *to, known=known))
        if "nothing is embedded yet" in output:
            self.ledger.models.remove(model)


class Backups(Client):
    """Writes one backup after another."""

    pause = 4.0

    folder: Path

    def turn(self) -> None:
        path = self.folder / f"{len(self.ledger.backups)}.backup"
        self.insist(lambda: self.kb("db", "backup", str(path), "--yes"))
        self.ledger.backups.append(str(path))


class Lecture(Client):
    """Speaks, one numbered segment after another."""

    session = ""

    def turn(self) -> None:
        said = self.ledger.segments.get(self.session)
        if said is None or len(said) == LECTURE:
            begun = self.insist(lambda: self.door.ask("POST", "/api/v1/sessions", 201, json={}))
            self.session = begun.json()["id"]
            said = self.ledger.segments.setdefault(self.session, [])
        number, path = len(said), f"/api/v1/sessions/{self.session}"
        text = SENTENCES[number % len(SENTENCES)].format(f"part {number}")
        segment = {"number": number, "text": text, "start": number, "end": number + 1}
        body = {"segments": [segment]}
        self.insist(lambda: self.door.ask("POST", f"{path}/segments", 202, json=body))
        said.append(number)
        if len(said) == LECTURE:
            self.insist(lambda: self.door.ask("POST", f"{path}/end", 202))


class Watcher(Client):
    """Watches the newest lecture, and reconnects with the number of the last event."""

    session, last = "", 0

    def turn(self) -> None:
        newest = next(reversed(self.ledger.segments), "")
        if newest != self.session:
            self.session, self.last = newest, 0
        if not newest:
            return
        headers = {"Last-Event-ID": str(self.last)}
        path = f"/api/v1/sessions/{newest}/events"
        try:
            with self.door.http.stream("GET", path, headers=headers, timeout=5) as response:
                if response.status_code not in (200, 204, 429, 503):
                    self.ledger.fault(f"GET {path}: {response.status_code}")
                self._read(response)
        except httpx.TransportError as error:
            raise Away(repr(error)) from None

    def _read(self, response: httpx.Response) -> None:
        for line in response.iter_lines():
            name, _, value = line.partition(": ")
            if name == "id":
                if int(value) != self.last + 1:
                    self.ledger.fault(f"lecture {self.session}: {value} follows {self.last}")
                self.last = int(value)
            if self.ending.is_set() or not self.going.is_set():
                return


class Asker(Client):
    """Asks in a conversation, with the same key until it is answered."""

    conversation: str | None = None

    def turn(self) -> None:
        question = f"What goes on in {self.random.randrange(10**9)}?"
        self.ledger.questions[question] = Promise.ASKED
        body = {"question": question, "conversation_id": self.conversation}
        headers = {"Idempotency-Key": question}
        answer = self.insist(lambda: self._ask(json=body, headers=headers))
        self.ledger.questions[question] = Promise.KEPT
        shown = self.door.ask("GET", f"/api/v1/answers/{answer.json()['id']}").json()
        self.conversation = shown["conversation_id"]

    def _ask(self, **sent: Any) -> httpx.Response:
        answer = self.door.ask("POST", "/api/v1/ask?stream=false", 200, 409, **sent)
        if answer.status_code == 409:  # it is being answered, or its server was just killed
            raise Away(f"409 {answer.text}")
        return answer


ALL: tuple[type[Client], ...] = (
    Rest, Web, Mcp, Commands, Migrations, Backups, Lecture, Watcher, Asker,
)  # fmt: skip


def file_of(title: str) -> tuple[str, bytes]:
    """Return a file's name and bytes; the first word of its title says what it is."""
    sentences = [sentence.format(title) for sentence in SENTENCES]
    match title.split()[0]:
        case "captions":
            cues = make_cues(30, sentences=sentences)
            return f"{title}.json", caption_json(cues, id=title, title=title, lang="en")
        case "pdf":
            return f"{title}.pdf", make_pdf(
                [f"Page {n} is its own: {n * n} words of {title}." for n in range(5)]
            )
        case _:
            text = "\n\n".join(f"{' '.join(sentences)} Paragraph {n}." for n in range(10))
            return f"{title}.md", f"# {title}\n\n{text}\n".encode()


def write(folder: Path, title: str) -> Path:
    """Write that file into a folder."""
    name, data = file_of(title)
    path = folder / name
    path.write_bytes(data)
    return path
