"""What a program can do with a library, wherever it is."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from datetime import date
from os import PathLike, fspath
from types import TracebackType
from typing import Any, Literal, Self, TypeAlias

from citations.answers.answer import Progress
from citations.library.filters import Filter
from citations.passages import SearchMode
from citations.schemas.answers import ClaimOut, QuoteCheckOut, ReplyOut, TracedReplyOut
from citations.schemas.search import SearchOut
from transcripts.text.timecodes import milliseconds

Mode = Literal["both", "words", "meaning"]
Target = str | PathLike[str]
AnswerStep: TypeAlias = Progress | ClaimOut | TracedReplyOut
"""A step of an answer: a stage begins, a claim was checked; at the end the whole answer."""


class Library(ABC):
    """A library, until ``close`` or the end of its ``with`` block.

    Sources are named by the ids that ``add`` and every result give. Methods raise subclasses of
    ``cuebase.Error`` for whatever can be expected to fail.
    """

    def add(
        self,
        target: Target,
        *,
        collection: str = "",
        title: str = "",
        language: str = "",
        tags: Sequence[str] = (),
        wait: bool = True,
    ) -> list[str]:
        """Add a file, or the address of a video; return the ids of the added items.

        The content of a file decides whether it is a transcript or a document. ``wait`` until it
        is found by words and by meaning; else an address returns no id yet.
        """
        about = {"title": title, "language": language, "tags": tuple(tags)}
        return self._add(fspath(target), collection, wait=wait, **about)

    def search(
        self,
        query: str,
        *,
        limit: int = 10,
        mode: Mode = "both",
        collections: Sequence[str] = (),
        sources: Sequence[str] = (),
        kinds: Sequence[str] = (),
        channels: Sequence[str] = (),
        tags: Sequence[str] = (),
        languages: Sequence[str] = (),
        since: date | None = None,
        until: date | None = None,
        start: float | None = None,
        end: float | None = None,
        rerank: bool = True,
        explain: bool = False,
        find: str = "",
    ) -> SearchOut:
        """Return the passages that answer a query best, best first.

        A filter matches any of its values; all filters must match. ``since`` and ``until`` are
        days of publication, ``start`` and ``end`` seconds in recordings. ``explain`` fills
        ``dropped`` and each ``explanation``; ``find`` (a chunk, a link, or words of a passage)
        fills ``traced``.
        """
        filter = Filter(
            collections=tuple(collections),
            sources=tuple(sources),
            kinds=tuple(kinds),
            channels=tuple(channels),
            tags=tuple(tags),
            languages=tuple(languages),
            since=since,
            until=until,
            start=milliseconds(start),
            end=milliseconds(end),
        )
        options = {"limit": limit, "mode": SearchMode(mode), "rerank": rerank, "explain": explain}
        return self._search(query, filter, **options, find=find)

    def ask(self, question: str, *, collection: str = "", sources: Sequence[str] = ()) -> ReplyOut:
        """Answer a question with verified quotes, or refuse it. The answer is not kept."""
        collections = (collection,) if collection else ()
        return self._ask(question, Filter(collections=collections, sources=tuple(sources)))

    def verify(
        self, quote: str, *, source: str = "", collections: Sequence[str] = ()
    ) -> QuoteCheckOut:
        """Tell whether a quote is in a source, or in any, word for word."""
        return self._verify(quote, source, Filter(collections=tuple(collections)))

    @abstractmethod
    def close(self) -> None:
        """Let go of the library; later calls fail."""

    @abstractmethod
    def _add(self, target: str, collection: str, *, wait: bool, **about: Any) -> list[str]: ...

    @abstractmethod
    def _search(self, query: str, filter: Filter, **options: Any) -> SearchOut: ...

    @abstractmethod
    def _ask(self, question: str, filter: Filter) -> ReplyOut: ...

    @abstractmethod
    def _verify(self, quote: str, source: str, filter: Filter) -> QuoteCheckOut: ...

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
