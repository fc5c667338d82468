"""The operations of a server that a library on it needs, with what they take and answer."""

import os
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, BinaryIO, Final
from urllib.parse import quote

from citations.errors import SourceNotFound
from citations.schemas.filters import MAX_VALUES
from citations.schemas.search import FilesOut, SourceOut, SourcesOut
from kbsite.library.connection import Connection
from transcripts.core.errors import InvalidInput
from transcripts.schemas import JobOut, StoredOut, VideoOut, VideoReadingOut

POLL_SECONDS: Final = 0.5


class ServerOperations(Connection):
    """A server that is asked with the rights of a token."""

    def send_files(self, paths: Sequence[Path], **about: Any) -> FilesOut:
        """Send files. Raises ``InvalidInput`` for one that cannot be read."""
        with ExitStack() as stack:
            files = [("files", (_name(path), stack.enter_context(_opened(path)))) for path in paths]
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


def _name(path: Path) -> str:
    return os.fsencode(path.name).decode(errors="replace")  # a file's name may be any bytes


def _opened(path: Path) -> BinaryIO:
    try:
        return path.open("rb")
    except OSError as error:
        raise InvalidInput(f"“{path}” cannot be read: {error.strerror}.") from error
