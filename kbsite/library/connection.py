"""Calls of a server's REST API with a token, and what can be expected to fail."""

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Final, TypeVar
from urllib.parse import quote, urlsplit

import httpx
from django.conf import settings
from pydantic import ValidationError

from citations.errors import SourceNotFound
from citations.schemas.filters import MAX_VALUES
from citations.schemas.search import FilesOut, SourceOut, SourcesOut
from transcripts.core.errors import (
    InvalidInput,
    KnowledgeBaseError,
    NotSignedIn,
    Unavailable,
    rebuilt,
)
from transcripts.schemas import JobOut, Shape, StoredOut, VideoOut, VideoReadingOut

TIMEOUT: Final = 120.0  # seconds for an answer; language models are slow
PROBLEM: Final = "application/problem+json"
WRONG_ADDRESS: Final = "Does Cuebase run there? Is the address right?"

S = TypeVar("S", bound=Shape)
POLL_SECONDS: Final = 0.5


class Connection:
    """A server's address and a token. Calls raise the errors that the server raised."""

    def __init__(self, url: str, token: str) -> None:
        self.url, token = _checked_address(url.strip()), token.strip()
        if not token or not token.isascii() or not token.isprintable() or " " in token:
            raise NotSignedIn(
                "This is no token." if token else "There is no token.",
                hint="Make one on the server's page Tokens, or with `kb token create`.",
            )
        headers = {"Authorization": f"Bearer {token}"}
        self._http = httpx.Client(base_url=self.url, headers=headers, timeout=TIMEOUT)

    def close(self) -> None:
        self._http.close()

    def call(self, method: str, path: str, **request: Any) -> Any:
        """Return what an operation of /api/v1/ answers."""
        with self._failures():
            response = self._http.request(method, f"/api/v1/{path}", **request)
            self._require_success(response)
            return response.json() if response.content else None

    def read(self, shape: type[S], method: str, path: str, **request: Any) -> S:
        """Return what an operation answers in its shape."""
        return self.parse(shape, self.call(method, path, **request))

    def parse(self, shape: type[S], data: Any) -> S:
        try:
            return shape.parse(data)
        except ValidationError as error:
            raise self._unknown("answers with what this version does not know") from error

    def events(self, path: str, **request: Any) -> Iterator[tuple[str, Any]]:
        """Yield name and data of each event that an operation streams after a POST."""
        with self._failures(), self._http.stream("POST", f"/api/v1/{path}", **request) as response:
            if not response.is_success:
                response.read()
            self._require_success(response)
            name = ""
            for line in response.iter_lines():
                field, _, value = line.partition(": ")
                if field == "event":
                    name = value
                elif field == "data":  # JSON is one line
                    yield name, json.loads(value)

    @contextmanager
    def _failures(self) -> Iterator[None]:
        try:
            yield
        except httpx.HTTPError as error:
            raise Unavailable(
                f"The server {self.url} does not answer: {error or type(error).__name__}",
                hint=WRONG_ADDRESS,
            ) from error
        except UnicodeEncodeError as error:
            raise InvalidInput(
                "This has characters that are no text.", hint="Check its encoding."
            ) from error
        except (ValueError, RecursionError) as error:  # no JSON, or nested too deeply
            raise self._unknown("does not answer as Cuebase does") from error

    def _require_success(self, response: httpx.Response) -> None:
        if response.is_success:
            return
        if response.has_redirect_location:
            elsewhere = response.headers["Location"]
            raise self._unknown(f"sends on to {elsewhere[:200]}", hint="Use that address instead.")
        if not response.headers.get("Content-Type", "").startswith(PROBLEM):
            raise self._unknown(f"answers {response.status_code}, and not as Cuebase does")
        raise problem_of(response.json())

    def _unknown(self, fault: str, *, hint: str = WRONG_ADDRESS) -> Unavailable:
        return Unavailable(f"The server {self.url} {fault}.", hint=hint)


def problem_of(data: Any) -> KnowledgeBaseError:
    """Return the error that problem details describe. Raises ``ValueError`` for anything else."""
    match data:
        case {"code": str(code), "detail": str(detail), "hint": str(hint)}:
            return rebuilt(code, detail, hint)
    raise ValueError("These are no problem details.")


def is_this_machine(host: str) -> bool:
    """Tell whether a host's name or address is that of the machine itself."""
    with suppress(ValueError):
        return ip_address(host).is_loopback
    return host == "localhost" or host.endswith(".localhost")


def _checked_address(url: str) -> str:
    parts = None
    with suppress(ValueError):  # of a broken port or IPv6 address
        parts = urlsplit(url)
        parts.port  # noqa: B018
    if parts is None or parts.scheme not in ("http", "https") or not parts.hostname:
        raise InvalidInput(
            f"“{url[:100]}” is no address of a server.", hint="For example: https://kb.example.org"
        )
    if parts.username is not None or parts.query or parts.fragment:
        raise InvalidInput(
            "The address of a server has no password, question mark or # in it.",
            hint="For example: https://kb.example.org",
        )
    is_readable = parts.scheme == "http" and not is_this_machine(parts.hostname)
    if is_readable and not settings.CUEBASE_PLAIN_HTTP:
        raise InvalidInput(
            f"Without https, everybody on the way to {parts.hostname} could read your token.",
            hint="Use its https address. In a network that you trust, set CUEBASE_PLAIN_HTTP=true.",
        )
    return url


class ServerOperations(Connection):
    """A server that is asked with the rights of a token."""

    def send_files(self, paths: Sequence[Path], **about: Any) -> FilesOut:
        """Send files. Raises ``InvalidInput`` for one that cannot be read."""
        with ExitStack() as stack:
            files = []
            for path in paths:
                name = os.fsencode(path.name).decode(errors="replace")  # it may be any bytes
                try:
                    files.append(("files", (name, stack.enter_context(path.open("rb")))))
                except OSError as error:
                    raise InvalidInput(f"“{path}” cannot be read: {error.strerror}.") from error
            return self.read(FilesOut, "POST", "sources/files", data=about, files=files)

    def store_text(self, text: str, **about: Any) -> StoredOut:
        """Add a text, such as captions, under a ``title``."""
        return self.read(StoredOut, "POST", "sources", json={"text": text, **about})

    def fetch(self, url: str, **about: Any) -> JobOut:
        """Let the server fetch what an address names."""
        return self.read(JobOut, "POST", "sources", json={"url": url, **about})

    def find_job(self, number: int) -> JobOut:
        return self.read(JobOut, "GET", f"jobs/{number}")

    def find_video(self, video_id: str) -> VideoOut:
        """Return a recording. Raises ``VideoNotFound`` and ``TranscriptNotFound``."""
        return self.read(VideoReadingOut, "GET", transcript_path(video_id)).video

    def list_sources(self, ids: Sequence[str]) -> list[SourceOut]:
        """Return the sources with these ids, or of these videos, as far as they exist by now."""
        sources: list[SourceOut] = []
        for first in range(0, len(ids), MAX_VALUES):
            params = {"source_id": ids[first : first + MAX_VALUES], "limit": MAX_VALUES}
            with suppress(SourceNotFound):  # a worker has not come to a new recording yet
                sources += self.read(SourcesOut, "GET", "sources", params=params).sources
        return sources


def count_unfinished(ids: Sequence[str], sources: Sequence[SourceOut]) -> int:
    """Count what of these ids is not found by words and by meaning yet, or not there at all."""
    names = {name for source in sources for name in (str(source.id), source.video_id)}
    indexing = sum(source.state in ("pending", "words") for source in sources)
    return indexing + sum(name not in names for name in ids)


def transcript_path(video_id: str) -> str:
    return f"transcripts/{quote(video_id, safe='')}"
