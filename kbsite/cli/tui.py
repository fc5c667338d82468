"""`kb tui`: open the terminal interface on the library or one collection."""

import contextlib
import json
import logging
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any, Final

from django.utils import timezone

from citations.formats import kind_choices
from citations.models import State
from citations.schemas.answers import AskedEventOut
from citations.schemas.search import SourceOut
from kbsite.cli import terminal
from kbsite.cli.options import InCollection
from kbsite.cli.server import chosen_library
from kbsite.library.base import AnswerStep, Library
from kbsite.tui.app import CuebaseApp
from kbsite.tui.notebook import EarlierConversation, Link, ListedSource, SourceList
from kbsite.tui.turns import QuoteInContext, Turn
from transcripts.core.errors import InvalidInput, KnowledgeBaseError
from transcripts.core.locks import release_connection

SOURCES_LIMIT: Final = 100
CONVERSATIONS_LIMIT: Final = 50
ADD_COMMAND: Final = (sys.executable, "-m", "kbsite.cli", "add", "--wait", "--json")
STOP_SECONDS: Final = 5.0


def tui(collection: InCollection = "") -> None:
    """Open the terminal interface; F1 lists its keys.

    It shows sources, a conversation and its citations, and works over SSH.
    """
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise InvalidInput(
            "This command needs a terminal.",
            hint="Run it without redirections; `kb ask` works anywhere.",
        )
    with chosen_library() as library:
        library.find_sources("", collection=collection, limit=1)  # the collection exists
        logging.disable(logging.CRITICAL)  # log lines would be printed across the screen
        CuebaseApp(LibraryNotebook(library, collection=collection)).run()


class Adder:
    """Runs `kb add` for each target, concurrently if called so, until it is closed."""

    def __init__(self, *, collection: str = "", command: tuple[str, ...] = ADD_COMMAND) -> None:
        self._command = (*command, *(("--collection", collection) if collection else ()))
        self._running: set[subprocess.Popen[str]] = set()
        self._lock = threading.Lock()
        self._is_closed = False

    def add(self, target: str) -> str:
        """Add an address, a file or a folder, and wait until it is embedded; return a summary.

        Raises ``KnowledgeBaseError`` if nothing was added.
        """
        if "\0" in target:
            raise InvalidInput("This is neither an address nor a file.")
        process = self._start(target)
        try:
            out, err = process.communicate()
        finally:
            with self._lock:
                self._running.discard(process)
        return _summary(target, out, err)

    def close(self) -> None:
        """Interrupt the running processes; stored and embedded content stays."""
        with self._lock:
            self._is_closed = True
            running = [*self._running]
        for process in running:
            process.send_signal(signal.SIGINT)  # `kb add` saves its state on this one
        for process in running:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(STOP_SECONDS)
                continue
            process.kill()

    def _start(self, target: str) -> subprocess.Popen[str]:
        name = target if "://" in target else str(Path(target).expanduser())
        with self._lock:
            if self._is_closed:
                raise KnowledgeBaseError("The program is closing: nothing more is added.")
            process = subprocess.Popen(
                [*self._command, "--", name],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                errors="replace",
                start_new_session=True,  # shields it from the terminal's Ctrl-C
            )
            self._running.add(process)
        return process


class LibraryNotebook:
    """A library, or one of its collections, and the conversation that is led."""

    def __init__(self, library: Library, *, collection: str = "") -> None:
        self._library = library
        self._collection = collection
        self._adder = Adder(collection=collection)
        self._conversation = ""
        self._sources: dict[str, set[str]] = {}  # of conversations
        self.name = collection or "the whole library"

    def list_sources(self, words: str = "") -> SourceList:
        with _released_connection():
            page = self._library.find_sources(
                words, collection=self._collection, limit=SOURCES_LIMIT
            )
        titles = Counter(source.title for source in page.sources)
        return SourceList(
            sources=tuple(
                _row(source, is_alone=titles[source.title] == 1) for source in page.sources
            ),
            total=page.total,
            unfinished=page.counts.pending + page.counts.words,
        )

    def add(self, target: str) -> str:
        return self._adder.add(target)

    def ask(
        self, question: str, sources: tuple[str, ...] = ()
    ) -> Generator[AnswerStep, None, None]:
        """Answer the conversation's next question; other sources start another conversation."""
        if self._sources.get(self._conversation) != {*sources}:
            self._conversation = ""
        with _released_connection():
            for step in self._library.answer(
                question,
                collection=self._collection,
                sources=sources,
                conversation=self._conversation,
            ):
                if isinstance(step, AskedEventOut):
                    self._conversation = str(step.conversation_id)
                    self._sources[self._conversation] = {*sources}
                yield step

    def start_conversation(self) -> None:
        self._conversation = ""

    def earlier_conversations(self) -> tuple[EarlierConversation, ...]:
        with _released_connection():
            listed = self._library.list_conversations(
                collection=self._collection, limit=CONVERSATIONS_LIMIT
            )
        self._sources |= {str(row.id): {*map(str, row.sources)} for row in listed}
        return tuple(
            EarlierConversation(
                id=str(conversation.id),
                title=conversation.title,
                updated_at=f"{timezone.localtime(conversation.updated_at):%d %b %H:%M}",
            )
            for conversation in listed
            if conversation.title
        )

    def resume(self, conversation: str) -> tuple[Turn, ...]:
        with _released_connection():
            replies = self._library.read_conversation(conversation)
        self._conversation = conversation
        return tuple(map(Turn.of, replies))

    def links(self, quote: QuoteInContext) -> tuple[Link, ...]:
        """Return the links to Cuebase and YouTube, Cuebase first if its server can be reached."""
        youtube = (Link(label="YouTube", url=quote.youtube),) if quote.youtube else ()
        if self._library.is_served:
            return (Link(label="Cuebase", url=quote.link), *youtube)
        return (*youtube, Link(label="Cuebase, while `kb serve` runs", url=quote.link))

    def close(self) -> None:
        self._adder.close()


def _row(source: SourceOut, *, is_alone: bool) -> ListedSource:
    is_busy = bool(source.step and not source.error)
    state = str(State(source.state).label)
    about = (dict(kind_choices())[source.kind], source.channel, source.language, state)
    return ListedSource(
        id=str(source.id),
        title=source.title,
        mark="" if is_alone else source.language,
        about=" · ".join(map(str, filter(None, about))),
        is_ready=source.state in (State.WORDS, State.READY),
        progress=f"{source.step} {source.percent} %" if is_busy else "",
        problem=f"{source.error} {source.hint}".strip() if source.error else "",
    )


@contextlib.contextmanager
def _released_connection() -> Iterator[None]:
    """Give the thread's connection back at the end; turn database failures into expected errors."""
    try:
        yield
    except Exception as error:
        expected = terminal.expected_error(error)
        if expected is None or expected is error:
            raise
        raise expected from error
    finally:
        release_connection()


def _summary(target: str, out: str, err: str) -> str:
    try:
        report: dict[str, Any] = json.loads(out)
    except ValueError:
        lines = [line for line in err.strip().splitlines() if line]
        message, *hints = lines or [f"“{target}” was not added."]
        raise KnowledgeBaseError(
            message.removeprefix("Error: "), hint=" ".join(hints)[:300]
        ) from None
    problems = report["problems"]
    readable = [paper for paper in report["documents"] if paper["source"]["state"] != State.FAILED]
    count = len(report["videos"]) + len(readable)
    if problems and not count:
        raise KnowledgeBaseError(problems[0]["message"], hint=problems[0]["hint"])
    if report["documents"] and not count:
        paper = report["documents"][0]["source"]
        raise KnowledgeBaseError(paper["error"], hint=paper["hint"])
    if not count and not any(job["state"] == "done" for job in report["jobs"]):
        raise KnowledgeBaseError("No captions and no documents found: nothing was added.")
    noted = f" ({len(problems)} problems, first: {problems[0]['message']})" if problems else ""
    return f"Added {count or len(report['jobs'])}: {target}{noted}"
