"""What `kb tui` shows: the library, or a collection of it, as the notebook that the terminal interface asks for."""

import contextlib
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final
from uuid import UUID

from django.db import connections
from django.utils import timezone

from citations.answers.answer import Event
from citations.library import sources
from citations.library.filters import Filter
from citations.models import Conversation, Source, State
from citations.notebook import answers, conversations, questions
from citations.notebook.answers import AnswerRecord
from citations.passages import Locator, PassageSource
from kbsite import settings
from kbsite.cli import output, server_lock, terminal
from kbsite.cli.add_process import Adder
from kbsite.tui.notebook import Earlier, Link, ListedSource, SourceList
from kbsite.tui.places import QuoteInContext, cited
from kbsite.tui.turns import AnswerFooter, Turn
from transcripts import library
from transcripts.conf import public_url
from transcripts.errors import InvalidUrl
from transcripts.scope import Scope
from transcripts.timecodes import parse_target, watch_url

MOST: Final = 200  # sources that are listed at once
EARLIER: Final = 50  # conversations that are offered


class LibraryNotebook:
    """All that a scope may read, or one collection. Conversations are those of whoever has the machine itself.

    The scope is asked for anew each time: collections come and go while the interface is open.
    """

    def __init__(self, scope: Callable[[], Scope], *, collection: str = "") -> None:
        shelf = library.find_collection(scope(), collection) if collection else None
        self._scope = scope
        self._slug = shelf.slug if shelf else ""
        self._adder = Adder(collection=self._slug)
        self._conversation: Conversation | None = None
        self.name = shelf.name if shelf else "the whole library"

    def shelf(self, words: str = "") -> SourceList:
        """Return the newest sources in whose title, author or id all of the words occur."""
        with _released():
            filter = Filter(collections=(self._slug,) if self._slug else ())
            found = sources.list_sources(self._scope(), filter, words=words, limit=MOST)
            return SourceList(
                sources=_listed(found.sources),
                total=found.total,
                unfinished=found.counts.unfinished,
            )

    def add(self, what: str) -> str:
        """Add an address, a file or a folder, in a process of its own; return what became of it."""
        return self._adder.add(what)

    def ask(self, question: str, sources: tuple[str, ...] = ()) -> Generator[Event, None, None]:
        """Answer the next question of the conversation; another choice of sources begins another conversation."""
        with _released():
            if self._conversation is None or set(self._conversation.sources) != {*sources}:
                answer = questions.put_first(
                    self._scope(), None, question, collection=self._slug, sources=sources
                )
            else:
                answer = questions.put(self._scope(), None, self._conversation, question)
            self._conversation = answer.conversation
            yield from questions.respond(self._scope(), None, answer)

    def begin_anew(self) -> None:
        """Let the next question begin another conversation."""
        self._conversation = None

    def earlier(self) -> tuple[Earlier, ...]:
        """Return the latest conversations in which something was asked."""
        with _released():
            found = conversations.list_conversations(
                self._scope(), None, collection=self._slug, limit=EARLIER
            )
            return tuple(_earlier(one) for one in found.conversations if one.title)

    def resume(self, conversation: str) -> tuple[Turn, ...]:
        """Go on with a conversation; return what was answered in it."""
        with _released():
            self._conversation = conversations.find(self._scope(), None, conversation)
            return tuple(map(turn_of, answers.of(self._scope(), self._conversation)))

    def links(self, place: QuoteInContext) -> tuple[Link, ...]:
        """Return this site's page of a place where a server runs, YouTube's for its videos, and else the page that `kb serve` would show."""
        here = Link(
            label="Cuebase",
            url=f"{public_url()}{place.link}" if place.link.startswith("/") else place.link,
        )
        there = _at_youtube(place)
        if settings.OPTIONS["PUBLIC_URL"].is_set or server_lock.find(Path(settings.DATA_DIR)):
            return (here, *there)
        return (*there, Link(label="Cuebase, while `kb serve` runs", url=here.url))

    def close(self) -> None:
        """Stop what is being added; what is stored stays, and the rest goes on later."""
        self._adder.close()


def turn_of(record: AnswerRecord) -> Turn:
    """Return an answer that is kept, as it is shown."""
    turn = Turn(question=record.question, claims=list(record.claims))
    if record.is_running or record.error and not record.claims and not record.note:
        turn.fail(record.error or "This question is still being answered.", record.hint)
        return turn
    turn.places = list(map(cited, record.quotes)) or [
        _near(one, index) for index, one in enumerate(record.nearest)
    ]
    turn.ending = AnswerFooter(
        is_refusal=not record.claims,
        note=record.note,
        model=record.model,
        confidence=record.confidence,
        milliseconds=record.milliseconds or 0.0,
        trace=record.trace,
    )
    return turn


def _near(one: Mapping[str, Any], index: int) -> QuoteInContext:
    origin = PassageSource(id=UUID(one["source"]), kind="", title=one["title"])
    locator = Locator(span=(0, 0), start=one["start"], page=one["page"])
    return QuoteInContext(
        label=chr(ord("a") + index % 26),
        origin=origin,
        locator=locator,
        text=one["text"],
        heading=one["heading"],
        link=one["link"],
    )


def _listed(found: Sequence[Source]) -> tuple[ListedSource, ...]:
    titles = Counter(one.title for one in found)
    return tuple(_row(one, mark=one.language if titles[one.title] > 1 else "") for one in found)


def _row(one: Source, *, mark: str) -> ListedSource:
    is_busy = bool(one.step and one.total and not one.error)
    return ListedSource(
        id=str(one.uuid),
        title=one.title,
        mark=mark,
        about=" · ".join(
            part
            for part in (one.get_kind_display(), one.author, one.language, output.state(one))
            if part
        ),
        is_ready=one.state in (State.WORDS, State.READY),
        progress=f"{one.step} {one.percent} %" if is_busy else "",
        problem=f"{one.error} {one.hint}".strip() if one.error else "",
    )


def _earlier(one: Conversation) -> Earlier:
    return Earlier(
        id=str(one.uuid), title=one.title, when=f"{timezone.localtime(one.updated_at):%d %b %H:%M}"
    )


def _at_youtube(place: QuoteInContext) -> tuple[Link, ...]:
    if place.locator.start is None or not place.origin.url:
        return ()
    try:
        target = parse_target(place.origin.url)
    except InvalidUrl:
        return ()
    return (Link(label="YouTube", url=watch_url(target.id, at_ms=place.locator.start)),)


@contextlib.contextmanager
def _released() -> Iterator[None]:
    """Give the thread's connections back in the end; a database that is away becomes an error with a hint."""
    try:
        yield
    except Exception as error:
        known = terminal.known_error(error)
        if known is None or known is error:
            raise
        raise known from error
    finally:
        for connection in connections.all(initialized_only=True):
            if not connection.in_atomic_block:
                connection.close()
