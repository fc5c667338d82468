"""Podcast feeds: RSS or Atom with files, read by podcastparser."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from io import BytesIO
from typing import Any, Final

import podcastparser

from transcripts.core.sanitize import clean
from transcripts.youtube.values import Chapter, VideoInfo

HEAD: Final = 4_096  # bytes in which a feed says that it is one
MOST_CHAPTERS: Final = 500
# The usual name of Podcasting 2.0, and the one by which podcastparser knows it.
_NAMESPACES: Final = (
    b"https://podcastindex.org/namespace/1.0",
    b"https://github.com/Podcastindex-org/podcast-namespace/blob/main/docs/1.0.md",
)
_FEED: Final = re.compile(rb"<(?:rss|feed)[\s>]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode:
    """An episode, and the addresses of its sound, its captions and its chapters, or ""."""

    info: VideoInfo
    sound: str
    captions: str
    chapters: str


def read(data: bytes, address: str) -> tuple[Episode, ...]:
    """Return the episodes with sound of a feed, the newest first; none of anything else."""
    if not _FEED.search(data[:HEAD]):
        return ()
    try:
        feed = podcastparser.parse(address, BytesIO(data.replace(*_NAMESPACES)))
    except (podcastparser.FeedParseError, ValueError):
        return ()
    rows = sorted(feed["episodes"], key=lambda row: row["published"], reverse=True)
    return tuple(_episodes(rows, clean(feed.get("title"), 200)))


def chapters_of(data: bytes) -> tuple[Chapter, ...]:
    """Read a file of chapters in the JSON of Podcasting 2.0; none of another."""
    try:
        rows = json.loads(data)["chapters"]
        return tuple(_chapters((row.get("startTime"), row.get("title")) for row in rows))
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return ()


def _episodes(rows: list[Mapping[str, Any]], podcast: str) -> Iterator[Episode]:
    for row in rows:
        kinds = ("audio/", "video/")
        files = (file for file in row["enclosures"] if file["mime_type"].startswith(kinds))
        if sound := next(files, None):
            info = VideoInfo(
                id=sha256(row["guid"].encode()).hexdigest()[:16],
                title=clean(row["title"], 300),
                channel=podcast,
                description=clean(row["description"], 20_000),
                duration=max(0, int(row["total_time"])) * 1000,
                published_at=_moment(row["published"]),
                chapters=tuple(
                    _chapters((each["start"], each["title"]) for each in row.get("chapters", ()))
                ),
            )
            names = ("transcript_url", "chapters_json_url")
            captions, chapters = (str(row.get(name) or "") for name in names)
            yield Episode(info=info, sound=sound["url"], captions=captions, chapters=chapters)


def _chapters(rows: Iterator[tuple[Any, Any]]) -> Iterator[Chapter]:
    for (start, written), _ in zip(rows, range(MOST_CHAPTERS), strict=False):
        if (title := clean(written, 300)) and 0 <= start < 1_000_000:
            yield Chapter(round(1000 * start), title)


def _moment(seconds: float) -> datetime | None:
    return datetime.fromtimestamp(seconds, tz=UTC) if 0 < seconds < 32_503_680_000 else None
