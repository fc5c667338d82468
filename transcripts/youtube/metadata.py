"""A video's metadata and caption tracks from yt-dlp's JSON, and which track to take.

The JSON comes from YouTube, or from a ``.info.json`` file.
"""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit, urlunsplit

from transcripts import captions
from transcripts.captions.caption_errors import CaptionError, EmptyCaptions, HtmlPage
from transcripts.core import errors
from transcripts.core.sanitize import clean
from transcripts.text.language_tags import distance
from transcripts.text.timecodes import is_video_id
from transcripts.youtube.failures import withheld, wrong_video
from transcripts.youtube.values import Chapter, FetchedTranscript, Options, Origin, VideoInfo

_UNTITLED = re.compile(r"<Untitled Chapter \d+>")
_MOST_CHAPTERS = 1000
_CODE = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,3}")
_RANK: dict[Origin, int] = {"manual": 0, "auto": 1, "translated": 2}


@dataclass(frozen=True, slots=True)
class Track:
    """Captions in one language; ``address`` gives them as json3.

    ``name`` tells those of one language and origin apart; mostly "".
    """

    language: str
    origin: Origin
    address: str
    name: str = ""

    @property
    def rank(self) -> tuple[int, bool]:
        """The place among the tracks of a language: manual ones first, of these without a name."""
        return _RANK[self.origin], bool(self.name)


def info_from_json(raw: object) -> VideoInfo:
    """Read yt-dlp's description of a video; leave out missing or malformed fields.

    Raises ``ValueError`` if it is not an object.
    """
    if not isinstance(raw, Mapping):
        raise ValueError("yt-dlp's description of a video must be a JSON object")
    # yt-dlp supports a thousand sites, and some of their ids look like YouTube's.
    site = str(raw.get("extractor_key") or raw.get("extractor") or "youtube")
    is_known = is_video_id(raw.get("id")) and site.casefold().startswith("youtube")
    return VideoInfo(
        id=raw["id"] if is_known else "",
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


def parse_timestamp(timestamp: object) -> datetime | None:
    """Return the time of seconds since the epoch, up to the year 3000."""
    if isinstance(timestamp, int | float) and 0 < timestamp < 32_503_680_000:
        return datetime.fromtimestamp(timestamp, tz=UTC)
    return None


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


# Tracks


def tracks_from_json(raw: Mapping[str, Any]) -> list[Track]:
    """List the caption tracks of yt-dlp's description."""
    tracks: list[Track] = []
    for part, is_auto in (("subtitles", False), ("automatic_captions", True)):
        listed = raw.get(part)
        for key, forms in listed.items() if isinstance(listed, Mapping) else ():
            addresses = (
                str(form.get("url") or "")
                for form in _items(forms)
                if isinstance(form, Mapping) and form.get("ext") == "json3"
            )
            address = next(addresses, "")
            if address and key != "live_chat":
                tracks += make_track(str(key), address, auto=is_auto)
    return tracks


def make_track(key: str, address: str, *, auto: bool) -> Iterator[Track]:
    """Describe a track by its address, which names language and translation reliably.

    Yields nothing for an address that cannot be parsed. It requests json3: exact on rolling
    captions, with word times, and it preserves < and >.
    """
    try:
        parts = urlsplit(address)
        query = parse_qs(parts.query)
    except ValueError:
        return
    translated = query.get("tlang", [""])[-1]
    language = translated or query.get("lang", [""])[-1]
    origin: Origin = "translated" if translated else "auto" if auto else "manual"
    code = language if _CODE.fullmatch(language) else key.removesuffix("-orig")
    if _CODE.fullmatch(code):
        pairs = parse_qsl(parts.query, keep_blank_values=True)
        kept = [(name, value) for name, value in pairs if name not in {"fmt", "xosf"}]
        as_json3 = urlunsplit(parts._replace(query=urlencode([*kept, ("fmt", "json3")])))
        yield Track(code, origin, as_json3, query.get("name", [""])[-1])


def available(tracks: Iterable[Track]) -> tuple[str, ...]:
    """List the languages of a video's own captions, manual ones first, each once."""
    own = (track for track in tracks if track.origin != "translated")
    return tuple(dict.fromkeys(track.language for track in sorted(own, key=lambda own: own.rank)))


def choose(
    tracks: Sequence[Track], options: Options, *, video_id: str, language: str | None = None
) -> Track:
    """Return the track in this language, or the best by the options.

    Of several in one language the manual one is taken, of these the one without a name;
    ``en.auto`` and ``en.Commentary`` ask for an origin or a name. Without a language: manual in a
    preferred language, else automatic in the original language, else any. Raises ``NoCaptions``,
    ``LanguageMissing`` with the available codes, and ``Blocked`` if the tracks belong to another
    video.
    """
    owners = {parse_qs(urlsplit(track.address).query).get("v", [""])[-1] for track in tracks}
    if not owners <= {"", video_id}:
        raise wrong_video()
    tracks = sorted(tracks, key=lambda track: track.rank)
    own = [track for track in tracks if track.origin != "translated"]
    if language is not None:
        return _in_language(own, tracks if options.allow_translated else own, language)
    manual, auto = ([track for track in own if track.origin == kind] for kind in ("manual", "auto"))
    for candidates in (manual, auto):
        if track := _preferred(candidates, options.languages):
            return track
    if not own:
        raise errors.NoCaptions("This video has no captions.")
    return (auto + manual)[0]


def fetched(info: VideoInfo, track: Track, body: bytes) -> FetchedTranscript:
    """Parse a downloaded track, and name the file as yt-dlp would.

    Raises ``PoTokenRequired`` if it is empty, ``NoCaptions`` if it has no words, else
    ``YouTubeChanged``.
    """
    if not body.strip():
        raise withheld()  # YouTube also withholds captions by an empty answer
    name, partial = f"{info.id}.{track.language}.json3", info.live_status == "is_live"
    try:
        parsed = captions.parse(body, name=name)
    except EmptyCaptions:
        raise errors.NoCaptions("This video's captions have no words.") from None
    except HtmlPage:
        raise errors.YouTubeChanged("YouTube sent a web page instead of the captions.") from None
    except CaptionError as error:
        message = f"YouTube sent captions that cannot be read: {error.message}"
        raise errors.YouTubeChanged(message) from None
    about = (info, track.language, track.origin, parsed.cues, partial, name, body)
    return FetchedTranscript(*about, warnings=parsed.warnings)


def _in_language(own: Sequence[Track], allowed: Sequence[Track], language: str) -> Track:
    # A job keeps only the first letters of a long name.
    code, _, kind = language.casefold().partition(".")
    for tracks in (own, allowed):
        of_kind = [
            track
            for track in tracks
            if kind == track.origin or track.name.casefold().startswith(kind)
        ]
        if track := _preferred(of_kind, (code,)):
            return track
    if not own:
        raise errors.NoCaptions("This video has no captions.")
    languages = available(own)
    further, seen = [], set()  # tracks behind another of their language
    for track in own:
        if track.language in seen:
            further.append(f"{track.language}.{track.name or track.origin}")
        seen.add(track.language)
    raise errors.LanguageMissing(
        f"This video has no captions in “{language[:35]}”.",
        available=tuple(dict.fromkeys((*languages, *further))),
    )


def _preferred(tracks: Sequence[Track], languages: Iterable[str]) -> Track | None:
    for language in languages:
        distances = ((distance(language, track.language), track) for track in tracks)
        near = [(away, track) for away, track in distances if away is not None]
        if near:
            return min(near, key=lambda pair: pair[0])[1]
    return None
