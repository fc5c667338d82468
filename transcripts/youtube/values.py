"""What YouTube gives, in our own words. Times are whole milliseconds."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from transcripts.cues import Cue
from transcripts.errors import YouTubeError
from transcripts.timecodes import Kind

Origin = Literal["manual", "auto", "translated"]


@dataclass(frozen=True, slots=True)
class Options:
    """How to ask: languages in order of preference, seconds for each answer, the largest answer in bytes (unpacked)."""

    languages: tuple[str, ...] = ("en",)
    proxy_url: str = ""
    timeout: float = 20
    max_bytes: int = 20_000_000
    allow_translated: bool = False

    def __repr__(self) -> str:
        """Leave the proxy out: it carries a password, and a repr ends up in logs."""
        return f"Options(languages={self.languages!r}, proxy={'set' if self.proxy_url else 'none'}, timeout={self.timeout!r})"


@dataclass(frozen=True, slots=True)
class Chapter:
    """A named part of a video, from ``start`` on."""

    start: int
    title: str


@dataclass(frozen=True, slots=True)
class VideoInfo:
    """What is known of a video; ``languages`` are the codes of its own captions, machine translations left out."""

    id: str
    title: str
    channel: str = ""
    channel_id: str = ""
    description: str = ""
    duration: int = 0
    published_at: datetime | None = None
    thumbnail_url: str = ""
    chapters: tuple[Chapter, ...] = ()
    tags: tuple[str, ...] = ()
    live_status: str = ""
    languages: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FetchedTranscript:
    """One transcript; ``partial`` while the video is still live. ``raw`` is the file as YouTube sent it."""

    info: VideoInfo
    language: str
    origin: Origin
    cues: tuple[Cue, ...]
    partial: bool = False
    raw_name: str = ""
    raw: bytes = field(default=b"", repr=False)


@dataclass(frozen=True, slots=True)
class Attempt:
    """What came of asking one library: the transcript, or why not, and what was learnt of the video all the same."""

    outcome: FetchedTranscript | YouTubeError
    info: VideoInfo | None = None


@dataclass(frozen=True, slots=True)
class ListedVideo:
    """One video of a list."""

    id: str
    title: str


@dataclass(frozen=True, slots=True)
class Listing:
    """A playlist, or a channel with ``id`` ``UC…``, and its videos in YouTube's order (a channel's newest first)."""

    id: str
    title: str
    kind: Kind
    entries: tuple[ListedVideo, ...]

    @property
    def video_ids(self) -> tuple[str, ...]:
        """The ids alone."""
        return tuple(entry.id for entry in self.entries)
