"""The caption tracks of a video: which one to take, and its cues."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit, urlunsplit

from transcripts import captions
from transcripts.core import errors
from transcripts.text.language_tags import distance
from transcripts.youtube.failures import withheld, wrong_video
from transcripts.youtube.values import FetchedTranscript, Options, Origin, VideoInfo

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
        yield Track(code, origin, _as_json3(address), query.get("name", [""])[-1])


def available(tracks: Iterable[Track]) -> tuple[str, ...]:
    """List the languages of a video's own captions, manual ones first, each once."""
    own = (track for track in tracks if track.origin != "translated")
    return tuple(dict.fromkeys(track.language for track in sorted(own, key=_rank)))


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
    tracks = sorted(tracks, key=_rank)
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
    raise errors.LanguageMissing(
        f"This video has no captions in “{language[:35]}”.",
        available=tuple(dict.fromkeys((*available(own), *_shared(own)))),
    )


def _shared(tracks: Sequence[Track]) -> Iterator[str]:
    """Name the tracks that stand behind another of their language."""
    seen = set()
    for track in tracks:
        if track.language in seen:
            yield f"{track.language}.{track.name or track.origin}"
        seen.add(track.language)


def _preferred(tracks: Sequence[Track], languages: Iterable[str]) -> Track | None:
    for language in languages:
        distances = ((distance(language, track.language), track) for track in tracks)
        near = [(away, track) for away, track in distances if away is not None]
        if near:
            return min(near, key=lambda pair: pair[0])[1]
    return None


def _rank(track: Track) -> tuple[int, bool]:
    return _RANK[track.origin], bool(track.name)


def _as_json3(address: str) -> str:
    """Request json3: exact on rolling captions, with word times, and it preserves < and >."""
    parts = urlsplit(address)
    parameters = [
        (name, value)
        for name, value in parse_qsl(parts.query, keep_blank_values=True)
        if name not in {"fmt", "xosf"}
    ]
    return urlunsplit(parts._replace(query=urlencode([*parameters, ("fmt", "json3")])))
