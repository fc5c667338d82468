"""A library on a server, over REST with a token."""

import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import httpx

from citations.errors import SourceNotFound
from citations.library.filters import Filter
from citations.schemas.answers import QuoteCheckOut, ReplyOut
from citations.schemas.search import SearchOut
from kbsite.client.base import Library, error_of
from transcripts.errors import InvalidInput, KnowledgeBaseError, Unavailable

TIMEOUT: Final = 120.0  # seconds for an answer; language models are slow
POLL_SECONDS: Final = 0.5


class RemoteLibrary(Library):
    """The library of a server, with the rights of a token."""

    def __init__(self, url: str, token: str) -> None:
        if urlsplit(url).scheme not in ("http", "https"):
            raise InvalidInput(
                f"“{url[:100]}” is no address of a server.", hint="For example: http://host:8000"
            )
        headers = {"Authorization": f"Bearer {token}"}
        self._http = httpx.Client(base_url=url, headers=headers, timeout=TIMEOUT)

    def close(self) -> None:
        self._http.close()

    def _add(self, target: str, collection: str, *, wait: bool, **about: Any) -> list[str]:
        sent = {**about, "collection": collection}
        path = Path(target)
        if _is_file(path):
            with path.open("rb") as file:
                files = {"files": (path.name, file)}
                added = self._call("POST", "sources/files", data=sent, files=files)
            _raise_first(added["problems"])
            ids = [document["source"]["id"] for document in added["documents"]]
            job = added["job"]
        else:
            del sent["title"]  # a video has its own
            job = self._call("POST", "sources", json={**sent, "url": target})
            ids = []
        if wait:
            ids += self._wait_for_job(job) if job else []
            self._wait_for_sources(ids)
        return ids

    def _search(self, query: str, filter: Filter, **options: Any) -> SearchOut:
        filters = {"collection": filter.collections, "source_id": filter.sources}
        return SearchOut.parse(
            self._call("GET", "search", params={"q": query, **options, **filters})
        )

    def _ask(self, question: str, filter: Filter) -> ReplyOut:
        collection = "".join(filter.collections)  # one at most
        sent = {"question": question, "collection": collection, "sources": filter.sources}
        reply = self._call("POST", "ask", params={"stream": False}, json={**sent, "keep": False})
        return ReplyOut.parse(reply)

    def _verify(self, quote: str, source: str) -> QuoteCheckOut:
        sent = {"quote": quote, "source_id": source}
        return QuoteCheckOut.parse(self._call("POST", "verify", json=sent))

    def _call(self, method: str, path: str, **request: Any) -> Any:
        try:
            response = self._http.request(method, f"/api/v1/{path}", **request)
        except httpx.HTTPError as error:
            raise Unavailable(
                f"The server {self._http.base_url} does not answer: {error}",
                hint="Does it run there? Is the address right?",
            ) from error
        if response.is_success:
            return response.json() if response.content else None
        raise _error(response)

    def _wait_for_job(self, job: dict[str, Any]) -> list[str]:
        """Wait for a job to end; return the id of its video. Raises the job's error."""
        while job["finished_at"] is None:
            time.sleep(POLL_SECONDS)
            job = self._call("GET", f"jobs/{job['id']}")
        if job["error_code"]:
            raise error_of(job["error_code"], job["error"], job["hint"])
        return [job["video_id"]] if job["video_id"] else []

    def _wait_for_sources(self, ids: Sequence[str]) -> None:
        while not self._is_indexed(ids):
            time.sleep(POLL_SECONDS)

    def _is_indexed(self, ids: Sequence[str]) -> bool:
        try:
            params = {"source_id": list(ids), "limit": 1}
            counts = self._call("GET", "sources", params=params)["counts"] if ids else {}
        except SourceNotFound:  # a worker has not come to the new recording yet
            return False
        return not counts.get("pending") and not counts.get("words")


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # an address may be no name of a file
        return False


def _raise_first(problems: Sequence[dict[str, str]]) -> None:
    for problem in problems:
        raise error_of(problem["code"], problem["message"], problem["hint"])


def _error(response: httpx.Response) -> KnowledgeBaseError:
    """Return what problem details say as the error that the server raised."""
    problem: dict[str, str] = {}
    with suppress(ValueError):
        problem = response.json()
    detail = problem.get("detail") or f"The server answered {response.status_code}."
    return error_of(problem.get("code", ""), detail, problem.get("hint", ""))
