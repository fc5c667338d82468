"""The caption tracks of a video: which one to take, and its cues."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit, urlunsplit

from transcripts import captions
from transcripts.core import errors
from transcripts.youtube.failures import withheld, wrong_video
from transcripts.youtube.values import FetchedTranscript, Options, Origin, VideoInfo

_CODE = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,3}")
_RANK: dict[Origin, int] = {"manual": 0, "auto": 1, "translated": 2}


@dataclass(frozen=True, slots=True)
class Track:
    """Captions in one language; ``address`` gives them as json3."""

    language: str
    origin: Origin
    address: str


def make_track(key: str, address: str, *, auto: bool) -> Iterator[Track]:
    """Describe a track by its address, which names language and translation reliably.

    Yields nothing for an address that cannot be parsed.
    """
    try:
        query = parse_qs(urlsplit(address).query)
    except ValueError:
        return
    translated = query.get("tlang", [""])[-1]
    language = translated or query.get("lang", [""])[-1]
    origin: Origin = "translated" if translated else "auto" if auto else "manual"
    code = language if _CODE.fullmatch(language) else key.removesuffix("-orig")
    if _CODE.fullmatch(code):
        yield Track(code, origin, _as_json3(address))


def available(tracks: Iterable[Track]) -> tuple[str, ...]:
    """List the languages of a video's own captions, manual ones first, each once."""
    own = sorted(
        (track for track in tracks if track.origin != "translated"),
        key=lambda track: _RANK[track.origin],
    )
    return tuple(dict.fromkeys(track.language for track in own))


def choose(
    tracks: Sequence[Track], options: Options, *, video_id: str, language: str | None = None
) -> Track:
    """Return the track in this language, or the best by the options.

    Without a language: manual in a preferred language, else automatic in the original language,
    else any. Raises ``NoCaptions``, ``LanguageMissing`` with the available codes, and ``Blocked``
    if the tracks belong to another video.
    """
    owners = {parse_qs(urlsplit(track.address).query).get("v", [""])[-1] for track in tracks}
    if not owners <= {"", video_id}:
        raise wrong_video()
    own = [track for track in tracks if track.origin != "translated"]
    if language is not None:
        return _in_language(own, tracks if options.allow_translated else own, language)
    manual = [track for track in own if track.origin == "manual"]
    auto = [track for track in own if track.origin == "auto"]
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
    except errors.EmptyCaptions:
        raise errors.NoCaptions("This video's captions have no words.") from None
    except errors.HtmlPage:
        raise errors.YouTubeChanged("YouTube sent a web page instead of the captions.") from None
    except errors.CaptionError as error:
        message = f"YouTube sent captions that cannot be read: {error.message}"
        raise errors.YouTubeChanged(message) from None
    about = (info, track.language, track.origin, parsed.cues, partial, name, body)
    return FetchedTranscript(*about, warnings=parsed.warnings)


def _in_language(own: Sequence[Track], allowed: Sequence[Track], language: str) -> Track:
    for candidates in (own, allowed):
        best_first = sorted(candidates, key=lambda track: _RANK[track.origin])
        if track := _preferred(best_first, (language,)):
            return track
    if not own:
        raise errors.NoCaptions("This video has no captions.")
    raise errors.LanguageMissing(
        f"This video has no captions in “{language[:35]}”.", available=available(own)
    )


def _preferred(tracks: Sequence[Track], languages: Iterable[str]) -> Track | None:
    for language in languages:
        code = language.lower()
        exact = (track for track in tracks if track.language.lower() == code)
        regional = (track for track in tracks if track.language.lower().startswith(f"{code}-"))
        if track := next(exact, None) or next(regional, None):
            return track
    return None


def _as_json3(address: str) -> str:
    """Request json3: exact on rolling captions, with word times, and it preserves < and >."""
    parts = urlsplit(address)
    parameters = [
        (name, value)
        for name, value in parse_qsl(parts.query, keep_blank_values=True)
        if name not in {"fmt", "xosf"}
    ]
    return urlunsplit(parts._replace(query=urlencode([*parameters, ("fmt", "json3")])))
