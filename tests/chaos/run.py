"""A busy server whose processes are killed; what was promised is checked afterwards."""

import random
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import psycopg

from kbsite import postgres
from tests import consistency, template
from tests.chaos import clients, victims
from tests.chaos.clients import Away, Client, Door
from tests.chaos.ledger import Ledger, Promise
from tests.instance import free_port
from tests.serving import OWN_KB, Serving
from tests.youtube_standin import YouTubeStandIn

PATIENCE = 120.0  # seconds, after which somebody would have to come and look
PAUSE = 0.05
ENOUGH = 8  # jobs, sources and windows that wait
TITLES = """
    SELECT title FROM citations_source WHERE video_id IS NULL
    UNION ALL SELECT title FROM transcripts_video
"""


class Chaos:
    """A server, its clients, and the kills."""

    def __init__(self, home: Path, *, seed: int) -> None:
        self.home, self.ledger = home, Ledger()
        self.random = random.Random(seed)
        self._seed = seed
        self._youtube = YouTubeStandIn()
        self._ending = threading.Event()

    def __enter__(self) -> Self:
        template.copy_to(self.home)
        self._youtube.start()
        environment = {
            **self._youtube.environment(),
            "LIVE_RERANKER": "none",
            "RERANKER": "none",
            # Clients repeat at once what is refused while a killed process still holds a lease.
            "MCP_CALLS_PER_MINUTE": "0",
            "API_CALLS_PER_MINUTE": "0",
            "QUESTIONS_PER_MINUTE": "0",
        }
        port = str(free_port())
        self.serving = Serving(self.home, "--port", port, program=OWN_KB, **environment)
        token = self.serving.json("token", "create", "chaos", "--write")["token"]
        with clients.httpx.Client(timeout=clients.PATIENCE) as browser:
            session = browser.get(self.serving.link, follow_redirects=True).history[0].cookies
        cookie = session["sessionid"]
        self._program = Door(self.serving.url, self.ledger, token=token)
        self._browser = Door(self.serving.url, self.ledger, session=cookie)
        self._clients = [self._client(kind, token, cookie) for kind in clients.ALL]
        for client in self._clients:
            client.start()
        self._supervisor = threading.Thread(target=self._supervise, daemon=True)
        self._supervisor.start()
        self.resume()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._ending.set()
        for client in self._clients:
            client.ending.set()
        for client in self._clients:
            client.join(10)
            client.door.http.close()
        self._supervisor.join(10)
        for door in (self._browser, self._program):
            door.http.close()
        self.serving.end(15)
        for number in victims.processes_of(self.home):
            victims.kill(number)
        self._youtube.stop()

    def _client(self, kind: type[Client], token: str, session: str) -> Client:
        client = kind(self.serving, self.ledger, token, self._seed)
        folder = self.home.parent / f"files of {client.name}"
        folder.mkdir(exist_ok=True)
        match client:
            case clients.Web():
                client.sign_in(session)
            case clients.Mcp():
                client.youtube = self._youtube
            case clients.Commands() | clients.Backups():
                client.folder = folder
        return client

    def _supervise(self) -> None:
        """Start the server again when it ended, as the system's supervisor would; let clients make
        work only while there is little.
        """
        while not self._ending.wait(0.2):
            with suppress(psycopg.Error):
                waiting = sum(map(len, consistency.unfinished(self.rows).values()))
                for client in self._clients:
                    (client.is_enough.set if waiting > ENOUGH else client.is_enough.clear)()
            if self.serving.process.poll() is None:
                continue
            if self.serving.process.returncode != -9:
                self.ledger.fault(f"the server ended: {self.serving.output()[-600:]}")
            with suppress(AssertionError):
                self.serving.start()

    # The rounds

    def resume(self) -> None:
        """Let the clients go on."""
        for client in self._clients:
            client.going.set()

    def pause(self) -> None:
        """Wait until every client is between two turns."""
        for client in self._clients:
            client.going.clear()
            client.idle.clear()
        for client in self._clients:
            if not client.idle.wait(PATIENCE):
                self.ledger.fault(f"{client.name} is not answered: {client.refusal}")
            if not client.is_alive():
                self.ledger.fault(f"{client.name} has ended")

    def kill(self, kind: str, *, wait: float = 20.0) -> float | None:
        """Kill a process of a kind, and wait until requests are served; return the seconds until
        then, None if there was no such process.
        """
        pids = victims.find(self.home, kind, seconds=wait)
        if not pids:
            return None
        victims.kill(self.random.choice(pids))
        return self._until(self._serves, f"requests are not served after: {kind}")

    def work(self) -> float:
        """Add captions, and wait until a worker has stored them; return the seconds."""
        return self._until(self._works, "work does not go on")

    def settle(self) -> float:
        """Pause the clients, wait until all work has ended, and check everything; return the
        seconds that the work took.
        """
        self.pause()
        taken = self._until(lambda: not consistency.unfinished(self.rows), "work does not end")
        self.check()
        self.resume()
        return taken

    def _until(self, condition: Callable[[], bool], complaint: str) -> float:
        begun = time.monotonic()
        while (taken := time.monotonic() - begun) < PATIENCE:
            with suppress(Away, psycopg.OperationalError):
                if condition():
                    return time.monotonic() - begun
            time.sleep(PAUSE)
        self.ledger.fault(f"{complaint}: {consistency.unfinished(self.rows)}")
        return taken

    def _serves(self) -> bool:
        self._browser.ask("GET", "/library/")
        self._program.ask("GET", "/api/v1/jobs")
        self._program.call("list_sources")
        return True

    def _works(self) -> bool:
        title = self.ledger.new_title("captions")
        files = {"files": clients.file_of(title)}
        added = self._program.ask("POST", "/api/v1/sources/files", 202, files=files)
        self.ledger.titles[title] = Promise.KEPT
        job = f"/api/v1/jobs/{added.json()['job']['id']}"
        self._until(lambda: self._program.ask("GET", job).json()["state"] == "done", title)
        return True

    # The checks

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """Ask the database."""
        place = postgres.database_settings(self.home)
        dsn = {name.lower(): place[name] for name in ("HOST", "PORT", "USER")}
        with psycopg.connect(dbname=place["NAME"], autocommit=True, **dsn) as connection:
            return connection.execute(sql).fetchall()

    def check(self) -> None:
        """Compare what there is with what was promised. Nothing may be at work."""
        for what, rows in consistency.contradictions(self.rows).items():
            self.ledger.fault(f"{what}: {rows[:5]}")
        self.compare(busy=False)
        self._check_search()
        self._check_lectures()
        self._check_model()
        self._check_files()

    def compare(self, *, busy: bool = True) -> None:
        """Look for what was lost, was doubled or has come back, also while clients are at work."""
        for promised, sql in (
            (self.ledger.titles, TITLES),
            (self.ledger.questions, "SELECT question FROM citations_answer"),
        ):
            before = promised.copy()
            there = Counter(row[0] for row in self.rows(sql))
            for title, promise in before.items():
                is_on_its_way = busy and title.startswith(("captions", "video"))
                least = promise is Promise.KEPT and not is_on_its_way
                most = promise is not Promise.DELETED
                if promised.get(title) is promise and not least <= there[title] <= most:
                    self.ledger.fault(f"{title}, {promise.value}, is there {there[title]} times")

    def _check_search(self) -> None:
        kept, deleted = (
            sorted(self.ledger.with_promise(promise)) for promise in (Promise.KEPT, Promise.DELETED)
        )
        for titles, is_there in ((kept[-3:], True), (deleted[-3:], False)):
            for title in titles:
                params = {"q": title.split()[1], "mode": "words"}
                result = self._program.ask("GET", "/api/v1/search", params=params).json()
                if any(hit["title"] == title for hit in result["passages"]) != is_there:
                    self.ledger.fault(f"a search for {title}, {is_there}: {str(result)[:200]}")

    def _check_lectures(self) -> None:
        sql = "SELECT s.uuid::text, g.number FROM citations_segment g JOIN"
        sql += " citations_lecturesession s ON s.id = g.session_id ORDER BY g.id"
        stored = self.rows(sql)
        for session, said in self.ledger.segments.items():
            there = [number for uuid, number in stored if uuid == session]
            if there[: len(said)] != said or len(there) > len(said) + 1:
                self.ledger.fault(f"lecture {session}: {said} was said, {there} is there")

    def _check_model(self) -> None:
        active = self.rows("SELECT model FROM citations_embeddingspace WHERE state = 'active'")
        if self.ledger.models and active != [(self.ledger.models[-1],)]:
            self.ledger.fault(f"{self.ledger.models[-1]} is not active but {active}")

    def _check_files(self) -> None:
        """Verify the new backups, and delete them; look for copies of deleted documents."""
        for path in filter(Path.exists, map(Path, self.ledger.backups)):
            try:
                self.serving.kb("db", "verify", str(path))
            except AssertionError as error:
                self.ledger.fault(f"{path.name}: {error}")
            path.unlink()
        known = {row[0] for row in self.rows("SELECT digest FROM citations_document")}
        for copy in self.home.glob("cache/documents/[!.]*"):
            if copy.name not in known and time.time() - copy.stat().st_mtime > PATIENCE:
                self.ledger.fault(f"a deleted document is still in the cache: {copy.name}")
