"""`kb tui`: open the terminal interface on the library or one collection."""

import contextlib
import json
import logging
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping
from pathlib import Path
from typing import Any, Final
from uuid import UUID

from django.conf import settings
from django.utils import timezone

from citations.answers.answer import Event
from citations.library import sources as library_sources
from citations.library.filters import Filter
from citations.models import Conversation, Source, State
from citations.notebook import answers, conversations, questions
from citations.notebook.answers import AnswerRecord
from citations.passages import Locator, PassageSource
from citations.vectors import language_gap
from citations.vectors.language_gap import StateLabel
from kbsite.callers import everything
from kbsite.cli import terminal
from kbsite.cli.options import InCollection
from kbsite.cli.sources import kind_of, state_of
from kbsite.library import server_lock
from kbsite.library.database import open_library
from kbsite.tui.app import CuebaseApp
from kbsite.tui.notebook import EarlierConversation, Link, ListedSource, SourceList
from kbsite.tui.turns import AnswerFooter, QuoteInContext, Turn, cited, letter
from transcripts.conf import absolute
from transcripts.core.errors import InvalidInput, InvalidUrl, KnowledgeBaseError
from transcripts.core.locks import release_connection
from transcripts.core.scope import Scope
from transcripts.library import reading as library
from transcripts.text.timecodes import parse_target, watch_url

SOURCES_LIMIT: Final = 200
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
    open_library()
    notebook = LibraryNotebook(everything, collection=collection)
    logging.disable(logging.CRITICAL)  # log lines would be printed across the screen
    CuebaseApp(notebook).run()


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
    """All collections that a scope may read, or one of them; the owner's conversations.

    Every call asks for the scope, because collections come and go while the interface is open.
    """

    def __init__(self, scope: Callable[[], Scope], *, collection: str = "") -> None:
        chosen = library.find_collection(scope(), collection) if collection else None
        self._scope = scope
        self._slug = chosen.slug if chosen else ""
        self._adder = Adder(collection=self._slug)
        self._conversation: Conversation | None = None
        self.name = chosen.name if chosen else "the whole library"

    def list_sources(self, words: str = "") -> SourceList:
        with _released_connection():
            filter = Filter(collections=(self._slug,) if self._slug else ())
            page = library_sources.list_sources(
                self._scope(), filter, words=words, limit=SOURCES_LIMIT
            )
            titles = Counter(source.title for source in page.sources)
            label = language_gap.state_labels()
            rows = (
                _row(source, label, mark=source.language if titles[source.title] > 1 else "")
                for source in page.sources
            )
            return SourceList(
                sources=tuple(rows), total=page.total, unfinished=page.counts.unfinished
            )

    def add(self, target: str) -> str:
        return self._adder.add(target)

    def ask(self, question: str, sources: tuple[str, ...] = ()) -> Generator[Event, None, None]:
        """Answer the conversation's next question; other sources start another conversation."""
        with _released_connection():
            scope, conversation = self._scope(), self._conversation
            if conversation is None or set(conversation.sources) != {*sources}:
                answer = questions.ask_first(
                    scope, None, question, collection=self._slug, sources=sources
                )
            else:
                answer = questions.ask(scope, None, conversation, question)
            self._conversation = answer.conversation
            yield from questions.respond(scope, None, answer)

    def start_conversation(self) -> None:
        self._conversation = None

    def earlier_conversations(self) -> tuple[EarlierConversation, ...]:
        with _released_connection():
            page = conversations.list_conversations(
                self._scope(), None, collection=self._slug, limit=CONVERSATIONS_LIMIT
            )
            return tuple(
                EarlierConversation(
                    id=str(conversation.uuid),
                    title=conversation.title,
                    updated_at=f"{timezone.localtime(conversation.updated_at):%d %b %H:%M}",
                )
                for conversation in page.conversations
                if conversation.title
            )

    def resume(self, conversation: str) -> tuple[Turn, ...]:
        with _released_connection():
            self._conversation = conversations.find(self._scope(), None, conversation)
            return tuple(map(turn_of, answers.of_conversation(self._scope(), self._conversation)))

    def links(self, quote: QuoteInContext) -> tuple[Link, ...]:
        """Return the links to Cuebase and YouTube, Cuebase first if its server can be reached."""
        url, youtube = absolute(quote.link), _youtube_links(quote)
        if settings.OPTIONS["PUBLIC_URL"].is_set or server_lock.find(Path(settings.DATA_DIR)):
            return (Link(label="Cuebase", url=url), *youtube)
        return (*youtube, Link(label="Cuebase, while `kb serve` runs", url=url))

    def close(self) -> None:
        self._adder.close()


def turn_of(record: AnswerRecord) -> Turn:
    """Return a stored answer as a turn."""
    turn = Turn(question=record.question, claims=list(record.claims))
    if record.is_running or record.error and not record.claims and not record.note:
        turn.fail(record.error or "This question is still being answered.", record.hint)
        return turn
    turn.quotes = list(map(cited, record.quotes)) or [
        _nearest(passage, index) for index, passage in enumerate(record.nearest)
    ]
    turn.footer = AnswerFooter(
        is_refusal=not record.claims,
        parts=record.parts,
        note=record.note,
        unready=record.unready,
        model=record.model,
        confidence=record.confidence,
        milliseconds=record.milliseconds or 0.0,
        trace=record.trace,
    )
    return turn


def _nearest(passage: Mapping[str, Any], index: int) -> QuoteInContext:
    return QuoteInContext(
        label=letter(index),
        origin=PassageSource(id=UUID(passage["source"]), kind="", title=passage["title"]),
        locator=Locator(span=(0, 0), start=passage["start"], page=passage["page"]),
        text=passage["text"],
        heading=passage["heading"],
        link=passage["link"],
    )


def _row(source: Source, label: StateLabel, *, mark: str) -> ListedSource:
    is_busy = bool(source.step and source.total and not source.error)
    about = (kind_of(source), source.author, source.language, state_of(source, label))
    return ListedSource(
        id=str(source.uuid),
        title=source.title,
        mark=mark,
        about=" · ".join(filter(None, about)),
        is_ready=source.state in (State.WORDS, State.READY),
        progress=f"{source.step} {source.percent} %" if is_busy else "",
        problem=f"{source.error} {source.hint}".strip() if source.error else "",
    )


def _youtube_links(quote: QuoteInContext) -> tuple[Link, ...]:
    if quote.locator.start is None or not quote.origin.url:
        return ()
    try:
        target = parse_target(quote.origin.url)
    except InvalidUrl:
        return ()
    return (Link(label="YouTube", url=watch_url(target.id, at_ms=quote.locator.start)),)


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
    count = report["added"] + report["updated"] + report["unchanged"] + len(readable)
    if problems and not count:
        raise KnowledgeBaseError(problems[0]["message"], hint=problems[0]["hint"])
    if report["documents"] and not count:
        paper = report["documents"][0]["source"]
        raise KnowledgeBaseError(paper["error"], hint=paper["hint"])
    if not count and not any(job["state"] == "done" for job in report["jobs"]):
        raise KnowledgeBaseError("No captions and no documents found: nothing was added.")
    noted = f" ({len(problems)} problems, first: {problems[0]['message']})" if problems else ""
    return f"Added {count or len(report['jobs'])}: {target}{noted}"
