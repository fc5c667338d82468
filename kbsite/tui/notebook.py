"""What the terminal interface asks of a library: a protocol, and the values that it speaks in. Every call may block; each is made in a thread."""

from collections.abc import Generator
from dataclasses import dataclass
from typing import Protocol

from citations.answers.answer import Event
from kbsite.tui.places import QuoteInContext
from kbsite.tui.turns import Turn


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedSource:
    """A source, as it stands in the list."""

    id: str
    title: str
    mark: str = ""  # tells it from others of the same title, such as its language
    about: str = ""  # what it is, and how far it is found
    is_ready: bool = True
    progress: str = ""  # "embed 40 %", while it is being indexed
    problem: str = ""  # what went wrong, and what to try


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceList:
    """The newest sources that were asked for, how many there are, and how many of these are still being indexed."""

    sources: tuple[ListedSource, ...] = ()
    total: int = 0
    unfinished: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Earlier:
    """A conversation that can be gone on with."""

    id: str
    title: str
    when: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """An address that opens at a place, and what it leads to."""

    label: str
    url: str


class Notebook(Protocol):
    """A library, or a collection of it, that is asked. Expected failures rise as ``KnowledgeBaseError``."""

    @property
    def name(self) -> str:
        """Return what is asked: a collection's name, or that it is all."""

    def shelf(self, words: str = "") -> SourceList:
        """Return the sources in whose title all of the words occur."""

    def add(self, what: str) -> str:
        """Add an address, a file or a folder; return what became of it, once it is there. May take minutes."""

    def ask(self, question: str, sources: tuple[str, ...] = ()) -> Generator[Event, None, None]:
        """Yield what is told while a question is answered from these sources (ids; none: all), as the next of the conversation."""

    def begin_anew(self) -> None:
        """Let the next question begin another conversation."""

    def earlier(self) -> tuple[Earlier, ...]:
        """Return the latest conversations, newest first."""

    def resume(self, conversation: str) -> tuple[Turn, ...]:
        """Return what was answered in a conversation, which the next question goes on with."""

    def links(self, place: QuoteInContext) -> tuple[Link, ...]:
        """Return the addresses that open a place, the best one first."""

    def close(self) -> None:
        """End what is still being added; what is stored stays, and the rest goes on later."""
