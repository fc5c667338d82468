"""Values read from YouTube. Times are whole milliseconds."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Final, Literal

from transcripts.captions.caption_errors import CaptionWarning
from transcripts.core.errors import Retry, YouTubeError
from transcripts.text.cues import Cue

PLAYER_PATH: Final = "/youtubei/v1/player"
_CODE: Final = re.compile(r"\w{1,100}")

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
class FetchedSound:
    """A video's metadata, and the file with its sound."""

    info: VideoInfo
    path: Path


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


class Unplayable(YouTubeError):
    """YouTube does not play the video; why, it says only in words, which the message quotes."""

    code = "unplayable"
    retry = Retry.LATER


@dataclass(frozen=True, slots=True)
class Playability:
    """What YouTube told one of its players.

    ``codes`` are the words of its programs: the status, names of fields, an offer's id. ``reason``
    is for people, in a language that YouTube chooses.
    """

    status: str
    codes: frozenset[str]
    reason: str


def read_playability(body: bytes) -> Playability | None:
    """Read a player's answer; None if it does not say whether it plays."""
    try:
        answer = _object(json.loads(body))
    except (ValueError, RecursionError):
        return None
    said = _object(answer.get("playabilityStatus"))
    flags = (("videoDetails", "isPrivate"), ("streamingData", "licenseInfos"))
    codes = {name for part, name in flags if _object(answer.get(part)).get(name)}
    reasons: list[str] = []
    pending: list[Any] = [said]
    for node in pending:  # which grows
        if isinstance(node, dict):
            codes |= {name for name, value in node.items() if value}
            reasons += (_text(node[name]) for name in ("reason", "subreason") if name in node)
            pending += node.values()
        elif isinstance(node, list):
            pending += node
        elif isinstance(node, str) and _CODE.fullmatch(node):
            codes.add(node)
    status, reason = said.get("status"), ". ".join(dict.fromkeys(filter(None, reasons)))
    return Playability(status, frozenset(codes), reason) if isinstance(status, str) else None


def _text(node: object) -> str:
    """Return a text in any of the forms in which YouTube writes texts, without a last full stop."""
    runs = _object(node).get("runs")
    parts = (_object(run).get("text", "") for run in runs) if isinstance(runs, list) else ()
    text = node if isinstance(node, str) else _object(node).get("simpleText")
    return str(text or "".join(map(str, parts))).strip().rstrip(".")


def _object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


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
