"""A library on a server, over REST with a token."""

from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import quote

from pydantic import BaseModel

from citations.answers.answer import Progress
from citations.library.filters import Filter
from citations.schemas.answers import (
    AskedEventOut,
    ClaimEventOut,
    QuoteCheckOut,
    ReplyOut,
    TracedReplyOut,
)
from citations.schemas.notebook import (
    ConversationRecordOut,
    ConversationsOut,
    ConversationSummaryOut,
)
from citations.schemas.requests import QuestionIn, QuoteIn
from citations.schemas.search import SearchOut, SourceOut, SourcesOut
from kbsite.library import TaskProgress, add_remote
from kbsite.library.adding import AddOptions, AddReport
from kbsite.library.base import AnswerStep, Library
from kbsite.library.connection import ServerOperations, problem_of, transcript_path
from transcripts.library.reading import MAX_HITS
from transcripts.schemas import VideoSearchOut


class RemoteLibrary(Library):
    """The library of a server, with the rights of a token."""

    def __init__(self, url: str, token: str) -> None:
        self._server = ServerOperations(url, token)

    def close(self) -> None:
        self._server.close()

    def add_all(
        self, targets: Sequence[str], options: AddOptions, progress: TaskProgress
    ) -> AddReport:
        return add_remote.add_targets(self._server, targets, options, progress)

    @property
    def is_served(self) -> bool:
        return True

    def _answer(self, question: QuestionIn) -> Iterator[AnswerStep]:
        for name, data in self._server.events("ask", json=_body(question)):
            match name:
                case "asked":
                    yield self._server.parse(AskedEventOut, data)
                case "stage":
                    yield Progress(stage=str(data["stage"]))
                case "claim":
                    yield self._server.parse(ClaimEventOut, data)
                case "answer":
                    yield self._server.parse(TracedReplyOut, data)
                case "failed":
                    raise problem_of(data)

    def list_conversations(
        self, *, collection: str = "", limit: int = 25
    ) -> list[ConversationSummaryOut]:
        params = {"own": True, "limit": limit, "collection": collection}
        page = self._server.read(ConversationsOut, "GET", "conversations", params=params)
        return page.conversations

    def read_conversation(self, conversation: str) -> list[TracedReplyOut]:
        path = f"conversations/{quote(conversation, safe='')}"
        record = self._server.read(ConversationRecordOut, "GET", path)
        return [
            self._server.read(TracedReplyOut, "GET", f"answers/{reply.id}")
            for reply in record.answers
        ]

    def list_sources(self, ids: Sequence[str]) -> list[SourceOut]:
        return self._server.list_sources(ids)

    def find_sources(self, words: str, *, collection: str = "", limit: int = 100) -> SourcesOut:
        within = {"collection": collection} if collection else {}
        params = {"words": words, "limit": limit, **within}
        return self._server.read(SourcesOut, "GET", "sources", params=params)

    def search_recording(
        self, video_id: str, query: str, *, collection: str = "", language: str = ""
    ) -> VideoSearchOut:
        choice = {"collection": collection, "language": language, "limit": MAX_HITS}
        path = f"{transcript_path(video_id)}/search"
        return self._server.read(VideoSearchOut, "GET", path, params={"query": query, **choice})

    def _search(self, query: str, filter: Filter, **options: Any) -> SearchOut:
        parameters = {"q": query, **options, **filter.given()}
        return self._server.read(SearchOut, "GET", "search", params=parameters)

    def _ask(self, question: QuestionIn) -> ReplyOut:
        body = {**_body(question), "keep": False}
        return self._server.read(ReplyOut, "POST", "ask", params={"stream": False}, json=body)

    def _verify(self, given: QuoteIn) -> QuoteCheckOut:
        return self._server.read(QuoteCheckOut, "POST", "verify", json=_body(given))


def _body(given: BaseModel) -> dict[str, Any]:
    return given.model_dump(mode="json", by_alias=True, exclude_unset=True, warnings=False)
