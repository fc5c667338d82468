"""A library on a server, over REST with a token."""

from collections.abc import Iterator, Sequence
from typing import Any

from citations.answers.answer import Progress
from citations.library.filters import Filter
from citations.schemas.answers import ClaimOut, QuoteCheckOut, ReplyOut, TracedReplyOut
from citations.schemas.search import SearchOut, SourceOut
from kbsite.library import add_remote
from kbsite.library.add_options import AddOptions
from kbsite.library.add_report import AddReport
from kbsite.library.base import AnswerStep, Library, no_conversation
from kbsite.library.connection import problem_of
from kbsite.library.operations import ServerOperations, transcript_path
from kbsite.library.progress import TaskProgress
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

    def answer(
        self,
        question: str,
        *,
        collection: str = "",
        sources: Sequence[str] = (),
        follow_up: bool = False,
    ) -> Iterator[AnswerStep]:
        about: dict[str, Any] = {"collection": collection, "sources": list(sources)}
        if follow_up:
            about = {"conversation_id": self._latest_conversation(collection)}
        for name, data in self._server.events("ask", json={"question": question, **about}):
            match name:
                case "stage":
                    yield Progress(stage=str(data["stage"]))
                case "claim":
                    yield self._server.parse(ClaimOut, data)
                case "answer":
                    yield self._server.parse(TracedReplyOut, data)
                case "failed":
                    raise problem_of(data)

    def list_sources(self, ids: Sequence[str]) -> list[SourceOut]:
        return self._server.list_sources(ids)

    def search_recording(
        self, video_id: str, query: str, *, collection: str = "", language: str = ""
    ) -> VideoSearchOut:
        choice = {"collection": collection, "language": language, "limit": MAX_HITS}
        path = f"{transcript_path(video_id)}/search"
        return self._server.read(VideoSearchOut, "GET", path, params={"query": query, **choice})

    def _search(self, query: str, filter: Filter, **options: Any) -> SearchOut:
        parameters = {"q": query, **options, **filter.given()}
        return self._server.read(SearchOut, "GET", "search", params=parameters)

    def _ask(self, question: str, filter: Filter) -> ReplyOut:
        collection = "".join(filter.collections)  # one at most
        body = {"question": question, "collection": collection, "sources": filter.sources}
        return self._server.read(
            ReplyOut, "POST", "ask", params={"stream": False}, json={**body, "keep": False}
        )

    def _verify(self, quote: str, source: str, filter: Filter) -> QuoteCheckOut:
        body = {"quote": quote, "source_id": source, "collection": filter.collections}
        return self._server.read(QuoteCheckOut, "POST", "verify", json=body)

    def _latest_conversation(self, collection: str) -> str:
        params = {"own": True, "limit": 1, "collection": collection}
        latest = self._server.call("GET", "conversations", params=params)["conversations"]
        if not latest:
            raise no_conversation()
        return str(latest[0]["id"])
