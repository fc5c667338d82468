"""A library on a server, over REST with a token."""

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, BinaryIO, Final
from urllib.parse import quote

from citations.answers.answer import Progress
from citations.library.filters import Filter
from citations.schemas.answers import ClaimOut, QuoteCheckOut, ReplyOut, TracedReplyOut
from citations.schemas.filters import MAX_VALUES
from citations.schemas.search import FilesOut, SearchOut, SourceOut, SourcesOut
from kbsite.library.base import AnswerStep, Library, no_conversation
from kbsite.library.connection import Connection, problem_of
from transcripts.core.error_codes import rebuilt
from transcripts.core.errors import InvalidInput
from transcripts.library.reading import MAX_HITS
from transcripts.schemas import JobOut, StoredOut, VideoOut, VideoReadingOut, VideoSearchOut

POLL_SECONDS: Final = 0.5


class RemoteLibrary(Library):
    """The library of a server, with the rights of a token."""

    def __init__(self, url: str, token: str) -> None:
        self._server = Connection(url, token)

    def close(self) -> None:
        self._server.close()

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

    def send_files(self, paths: Sequence[Path], **about: Any) -> FilesOut:
        """Send files. Raises ``InvalidInput`` for one that cannot be read."""
        with ExitStack() as stack:
            files = [("files", (_name(path), stack.enter_context(_opened(path)))) for path in paths]
            return self._server.read(FilesOut, "POST", "sources/files", data=about, files=files)

    def store_text(self, text: str, **about: Any) -> StoredOut:
        """Add a text, such as captions, under a ``title``."""
        return self._server.read(StoredOut, "POST", "sources", json={"text": text, **about})

    def request(self, url: str, **about: Any) -> JobOut:
        """Let the server fetch what an address names."""
        return self._server.read(JobOut, "POST", "sources", json={"url": url, **about})

    def find_job(self, number: int) -> JobOut:
        return self._server.read(JobOut, "GET", f"jobs/{number}")

    def find_video(self, video_id: str) -> VideoOut:
        """Return a recording. Raises ``VideoNotFound`` and ``TranscriptNotFound``."""
        return self.read(video_id).video

    def read(self, video_id: str, **options: Any) -> VideoReadingOut:
        """Read a transcript: whole if it is short, else a preview, or what is ``wanted`` of it."""
        parameters = {name: value for name, value in options.items() if value not in (None, "")}
        return self._server.read(VideoReadingOut, "GET", _transcript(video_id), params=parameters)

    def _add(self, target: str, collection: str, *, wait: bool, **about: Any) -> list[str]:
        path, about = Path(target), {**about, "collection": collection}
        ids: list[str] = []
        job: JobOut | None
        if _is_file(path):
            reply = self.send_files([path], **about)
            for problem in reply.problems:
                raise rebuilt(problem.code, problem.message, problem.hint)
            ids += [str(document.source.id) for document in reply.documents]
            job = reply.job
        else:
            del about["title"]  # a video has its own
            job = self.request(target, **about)
        if wait:
            ids += self._wait_for_job(job) if job else []
            while count_unfinished(ids, self.list_sources(ids)):
                time.sleep(POLL_SECONDS)
        return ids

    def _search(self, query: str, filter: Filter, **options: Any) -> SearchOut:
        parameters = {"q": query, **options, **filter.given()}
        return self._server.read(SearchOut, "GET", "search", params=parameters)

    def search_recording(
        self, video_id: str, query: str, *, collection: str = "", language: str = ""
    ) -> VideoSearchOut:
        choice = {"collection": collection, "language": language, "limit": MAX_HITS}
        path = f"{_transcript(video_id)}/search"
        return self._server.read(VideoSearchOut, "GET", path, params={"query": query, **choice})

    def _list_sources(self, ids: Sequence[str]) -> list[SourceOut]:
        params = {"source_id": ids, "limit": MAX_VALUES}
        return self._server.read(SourcesOut, "GET", "sources", params=params).sources

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

    def _wait_for_job(self, job: JobOut) -> list[str]:
        """Wait for a job to end; return the id of its video. Raises the job's error."""
        while job.finished_at is None:
            time.sleep(POLL_SECONDS)
            job = self.find_job(job.id)
        if job.error_code:
            raise rebuilt(job.error_code, job.error, job.hint)
        return [job.video_id] if job.video_id else []


def count_unfinished(ids: Sequence[str], sources: Sequence[SourceOut]) -> int:
    """Count what of these ids is not found by words and by meaning yet, or not there at all."""
    names = {name for source in sources for name in (str(source.id), source.video_id)}
    indexing = sum(source.state in ("pending", "words") for source in sources)
    return indexing + sum(name not in names for name in ids)


def _transcript(video_id: str) -> str:
    return f"transcripts/{quote(video_id, safe='')}"


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # an address may be no name of a file
        return False


def _name(path: Path) -> str:
    return os.fsencode(path.name).decode(errors="replace")  # a file's name may be any bytes


def _opened(path: Path) -> BinaryIO:
    try:
        return path.open("rb")
    except OSError as error:
        raise InvalidInput(f"“{path}” cannot be read: {error.strerror}.") from error
