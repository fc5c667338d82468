"""What a program can do with a library, wherever it is."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from os import PathLike, fspath
from typing import Any, Literal, Self, TypeAlias

from citations.answers.answer import Progress
from citations.library.filters import Filter
from citations.passages import SearchMode
from citations.schemas.answers import (
    AskedEventOut,
    ClaimEventOut,
    QuoteCheckOut,
    ReplyOut,
    TracedReplyOut,
)
from citations.schemas.notebook import ConversationSummaryOut
from citations.schemas.requests import QuestionIn, QuoteIn
from citations.schemas.search import SearchOut, SourceOut, SourcesOut
from kbsite.library import TaskProgress
from kbsite.library.adding import AddOptions, AddReport
from transcripts.schemas import VideoSearchOut

Mode = Literal["both", "words", "meaning"]
Target = str | PathLike[str]
AnswerStep: TypeAlias = AskedEventOut | Progress | ClaimEventOut | TracedReplyOut
"""A step of an answer: it has ids, a stage begins, a claim was checked; at the end all of it."""


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
        options = AddOptions(
            collection=collection, title=title, language=language, tags=tuple(tags), wait=wait
        )
        report = self.add_all([fspath(target)], options, TaskProgress())
        if report.failure:
            raise report.failure
        return report.ids()

    @abstractmethod
    def add_all(
        self, targets: Sequence[str], options: AddOptions, progress: TaskProgress
    ) -> AddReport:
        """Add files, folders and addresses; one that fails does not stop the others."""

    def search(
        self,
        query: str,
        *,
        limit: int = 10,
        mode: Mode = "both",
        rerank: bool = True,
        explain: bool = False,
        find: str = "",
        **filter: Any,
    ) -> SearchOut:
        """Return the passages that answer a query best, best first.

        ``filter`` takes what ``Filter`` has: ``collections``, ``sources``, ``speakers`` and so on.
        Any value of a part matches; all parts must match. Times are seconds in recordings.
        ``explain`` fills ``dropped`` and each ``explanation``; ``find`` (a chunk, a link, or words
        of a passage) fills ``traced``.
        """
        options = {"limit": limit, "mode": SearchMode(mode), "rerank": rerank, "explain": explain}
        return self._search(query, Filter(**filter), **options, find=find)

    @abstractmethod
    def list_sources(self, ids: Sequence[str]) -> list[SourceOut]:
        """Return the sources with these ids, or of these videos, as far as they exist by now."""

    def ask(self, question: str, *, collection: str = "", sources: Sequence[str] = ()) -> ReplyOut:
        """Answer a question with verified quotes, or refuse it. The answer is not kept."""
        about: dict[str, Any] = {"collection": collection, "sources": [*sources]}
        return self._ask(QuestionIn.model_construct(question=question, **about))

    def answer(
        self,
        question: str,
        *,
        collection: str = "",
        sources: Sequence[str] = (),
        conversation: str = "",
    ) -> Iterator[AnswerStep]:
        """Answer a question step by step, and keep the answer among the user's conversations: in
        this one (an id), about its sources, by default in a new one.
        """
        about: dict[str, Any] = {"collection": collection, "sources": [*sources]}
        if conversation:
            about = {"conversation_id": conversation}
        return self._answer(QuestionIn.model_construct(question=question, **about))

    @abstractmethod
    def list_conversations(
        self, *, collection: str = "", limit: int = 25
    ) -> list[ConversationSummaryOut]:
        """Return the user's own conversations, about a collection if one is given, latest first."""

    @abstractmethod
    def read_conversation(self, conversation: str) -> list[TracedReplyOut]:
        """Return the answers of a conversation (an id), in order."""

    def verify(
        self, quote: str, *, source: str = "", collections: Sequence[str] = ()
    ) -> QuoteCheckOut:
        """Tell whether a quote is in a source, or in any, word for word."""
        about: dict[str, Any] = {"source": source, "collections": tuple(collections)}
        return self._verify(QuoteIn.model_construct(quote=quote, **about))

    @abstractmethod
    def find_sources(self, words: str, *, collection: str = "", limit: int = 100) -> SourcesOut:
        """Return the newest sources with all of the words in title, author or recording's id."""

    @abstractmethod
    def search_recording(
        self, video_id: str, query: str, *, collection: str = "", language: str = ""
    ) -> VideoSearchOut:
        """Return the segments of a recording that have a query's words, best first.

        Its transcript is enough: it need not be indexed.
        """

    @property
    @abstractmethod
    def is_served(self) -> bool:
        """Whether the addresses of its pages can be opened now."""

    @abstractmethod
    def close(self) -> None:
        """Let go of the library; later calls fail."""

    @abstractmethod
    def _search(self, query: str, filter: Filter, **options: Any) -> SearchOut: ...

    # What is asked and checked is given as it came: whoever answers refuses what it must not be.

    @abstractmethod
    def _ask(self, question: QuestionIn) -> ReplyOut: ...

    @abstractmethod
    def _answer(self, question: QuestionIn) -> Iterator[AnswerStep]: ...

    @abstractmethod
    def _verify(self, given: QuoteIn) -> QuoteCheckOut: ...

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
