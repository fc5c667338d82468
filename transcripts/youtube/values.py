"""Values read from YouTube. Times are whole milliseconds."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from transcripts.captions.caption_errors import CaptionWarning
from transcripts.core.errors import YouTubeError
from transcripts.text.cues import Cue
from transcripts.youtube.playability import Playability

Origin = Literal["manual", "auto", "translated"]


@dataclass(frozen=True, slots=True)
class Options:
    """How to ask: preferred languages, seconds per answer, largest answer in bytes (unpacked)."""

    languages: tuple[str, ...] = ("en",)
    proxy_url: str = ""
    timeout: float = 20
    max_bytes: int = 20_000_000
    allow_translated: bool = False

    def __repr__(self) -> str:
        """Leave out the proxy: its password would end up in logs."""
        proxy = "set" if self.proxy_url else "none"
        return f"Options(languages={self.languages!r}, proxy={proxy!r}, timeout={self.timeout!r})"


@dataclass(frozen=True, slots=True)
class Chapter:
    """A named part of a video, from ``start`` on."""

    start: int
    title: str


@dataclass(frozen=True, slots=True)
class VideoInfo:
    """A video's metadata; ``languages`` are its own captions, without machine translations."""

    id: str
    title: str
    channel: str = ""
    channel_id: str = ""
    description: str = ""
    duration: int = 0
    published_at: datetime | None = None
    chapters: tuple[Chapter, ...] = ()
    live_status: str = ""
    languages: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FetchedTranscript:
    """One transcript; ``partial`` during a live stream. ``raw`` is the file as sent by YouTube."""

    info: VideoInfo
    language: str
    origin: Origin
    cues: tuple[Cue, ...]
    partial: bool = False
    raw_name: str = ""
    raw: bytes = field(default=b"", repr=False)
    warnings: tuple[CaptionWarning, ...] = ()


@dataclass(frozen=True, slots=True)
class Attempt:
    """The result of asking one library: the transcript or the error, and the metadata."""

    outcome: FetchedTranscript | YouTubeError
    info: VideoInfo | None = None


@dataclass(frozen=True, slots=True)
class Listing:
    """A playlist or channel (``id`` ``UC…``) with its videos in YouTube's order.

    ``skipped`` says of entries without a video that may be seen why there is none, by their ids.
    ``titles`` are those of all entries, in the same order.
    """

    id: str
    title: str
    video_ids: tuple[str, ...]
    skipped: Mapping[str, YouTubeError] = field(default_factory=dict)
    titles: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class RequestTrace:
    """The responses of one attempt, more reliable than the messages of a library's errors."""

    statuses: list[tuple[str, int]] = field(default_factory=list)  # (path, HTTP status)
    refusal: YouTubeError | None = None
    failed: bool = False  # no answer: unreachable, reset, too slow
    captcha: bool = False
    players: list[Playability] = field(default_factory=list)

    @property
    def is_playable(self) -> bool:
        """Whether one of YouTube's players said that it plays the video."""
        return any(player.status == "OK" for player in self.players)

    def saw(self, status: int, *, path: str = "") -> bool:
        """Return whether this status came, from a path with this prefix."""
        return any(
            code == status and requested.startswith(path) for requested, code in self.statuses
        )
