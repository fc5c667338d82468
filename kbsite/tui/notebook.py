"""What the terminal interface needs of a library. Calls may block and run in threads."""

from collections.abc import Generator
from dataclasses import dataclass
from typing import Protocol

from kbsite.library.base import AnswerStep
from kbsite.tui.turns import QuoteInContext, Turn


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedSource:
    """A source in the list."""

    id: str
    title: str
    mark: str = ""  # distinguishes equal titles, such as by language
    about: str = ""  # kind, author, language and state
    is_ready: bool = True
    progress: str = ""  # "embed 40 %", while it is being indexed
    problem: str = ""  # message and hint


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceList:
    """The newest matching sources, their total, and how many are still being indexed."""

    sources: tuple[ListedSource, ...] = ()
    total: int = 0
    unfinished: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlierConversation:
    """A conversation that can be continued."""

    id: str
    title: str
    updated_at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """An address that opens a quote in its source, and the name of the site."""

    label: str
    url: str


class Notebook(Protocol):
    """A library or one collection. Expected failures rise as ``KnowledgeBaseError``."""

    @property
    def name(self) -> str:
        """The collection's name, or that it is the whole library."""

    def list_sources(self, words: str = "") -> SourceList:
        """Return the sources whose titles contain all of the words."""

    def add(self, target: str) -> str:
        """Add an address, a file or a folder; return a summary. May take minutes."""

    def ask(
        self, question: str, sources: tuple[str, ...] = ()
    ) -> Generator[AnswerStep, None, None]:
        """Answer the conversation's next question from these sources (ids), by default all."""

    def start_conversation(self) -> None:
        """Let the next question start another conversation."""

    def earlier_conversations(self) -> tuple[EarlierConversation, ...]:
        """Return the latest conversations, newest first."""

    def resume(self, conversation: str) -> tuple[Turn, ...]:
        """Return a conversation's answers; the next question continues it."""

    def links(self, quote: QuoteInContext) -> tuple[Link, ...]:
        """Return the addresses that open a quote, the best one first."""

    def close(self) -> None:
        """Interrupt adding; stored content stays, and the rest continues later."""
