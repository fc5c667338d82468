"""A video's metadata from yt-dlp's JSON: from YouTube, or from a ``.info.json`` file."""

import math
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from transcripts.core.sanitize import clean
from transcripts.text.timecodes import is_video_id
from transcripts.youtube.tracks import Track, available, make_track
from transcripts.youtube.values import Chapter, VideoInfo

_UNTITLED = re.compile(r"<Untitled Chapter \d+>")
_MOST_CHAPTERS = 1000


def info_from_json(raw: object) -> VideoInfo:
    """Read yt-dlp's description of a video; leave out missing or malformed fields.

    Raises ``ValueError`` if it is not an object.
    """
    if not isinstance(raw, Mapping):
        raise ValueError("yt-dlp's description of a video must be a JSON object")
    video_id = raw.get("id") if is_video_id(raw.get("id")) and _is_youtube(raw) else ""
    return VideoInfo(
        id=video_id or "",
        # yt-dlp adds the date to the title of a live video.
        title=clean(raw.get("fulltitle") or raw.get("title"), 500),
        channel=clean(raw.get("channel") or raw.get("uploader"), 200),
        channel_id=clean(raw.get("channel_id"), 64),
        description=clean(raw.get("description"), 20_000),
        duration=_ms(raw.get("duration")),
        published_at=parse_timestamp(raw.get("timestamp")) or _parse_date(raw.get("upload_date")),
        chapters=tuple(_chapters(raw.get("chapters"))),
        live_status=clean(raw.get("live_status"), 20),
        languages=available(tracks_from_json(raw)),
    )


def tracks_from_json(raw: Mapping[str, Any]) -> list[Track]:
    """List the caption tracks of yt-dlp's description."""
    return [
        *_tracks(raw.get("subtitles"), auto=False),
        *_tracks(raw.get("automatic_captions"), auto=True),
    ]


def thumbnail_address(video_id: str) -> str:
    """Return the address of a video's picture."""
    return f"https://i.ytimg.com/vi/{video_id}/hqdefault.jpg"


def parse_timestamp(timestamp: object) -> datetime | None:
    """Return the time of seconds since the epoch, up to the year 3000."""
    if isinstance(timestamp, int | float) and 0 < timestamp < 32_503_680_000:
        return datetime.fromtimestamp(timestamp, tz=UTC)
    return None


def _is_youtube(raw: Mapping[str, Any]) -> bool:
    # yt-dlp supports a thousand sites, and some of their ids look like YouTube's.
    site = str(raw.get("extractor_key") or raw.get("extractor") or "youtube")
    return site.casefold().startswith("youtube")


def _tracks(listed: object, *, auto: bool) -> Iterator[Track]:
    for key, forms in listed.items() if isinstance(listed, Mapping) else ():
        addresses = (
            str(form.get("url") or "")
            for form in _items(forms)
            if isinstance(form, Mapping) and form.get("ext") == "json3"
        )
        address = next(addresses, "")
        if address and key != "live_chat":
            yield from make_track(str(key), address, auto=auto)


def _chapters(raw: object) -> Iterator[Chapter]:
    for chapter in _items(raw)[:_MOST_CHAPTERS]:
        title = clean(chapter.get("title"), 300) if isinstance(chapter, Mapping) else ""
        if title and not _UNTITLED.fullmatch(title):
            yield Chapter(_ms(chapter.get("start_time")), title)


def _items(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _ms(seconds: object) -> int:
    if isinstance(seconds, int | float) and 0 < seconds < math.inf:
        return round(min(seconds, 2_000_000) * 1000)
    return 0


def _parse_date(written: object) -> datetime | None:
    try:
        return datetime.strptime(str(written), "%Y%m%d").replace(tzinfo=UTC)
    except ValueError:
        return None
