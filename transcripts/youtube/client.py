"""Ask YouTube for metadata and captions, with yt-dlp first.

The second library, youtube-transcript-api, is asked if yt-dlp found nothing without a refusal.
"""

from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import requests
from requests.adapters import BaseAdapter
from youtube_transcript_api import TranscriptsDisabled, YouTubeTranscriptApi

from transcripts.core.errors import (
    InvalidUrl,
    NetworkProblem,
    NoCaptions,
    VideoRemoved,
    YouTubeChanged,
    YouTubeError,
)
from transcripts.core.sanitize import clean
from transcripts.text.timecodes import Target, is_video_id, watch_url
from transcripts.youtube import extractor, sound
from transcripts.youtube.failures import changed, explain, withheld
from transcripts.youtube.guard import loopback_from_environment, session
from transcripts.youtube.metadata import available, choose, fetched, make_track
from transcripts.youtube.values import (
    FetchedSound,
    FetchedTranscript,
    Listing,
    Options,
    RequestTrace,
    VideoInfo,
)

# Never after a refusal: asking again from the same address makes it worse.
_SECOND_OPINION = frozenset(
    {"no_captions", "po_token", "youtube_changed", "age_restricted", "network", "unplayable"}
)
_VAGUE = ("youtube_changed", "network", "unplayable")  # the vaguest first
_PROXY_SCHEMES = frozenset({"http", "https", "socks4", "socks4a", "socks5", "socks5h"})
_HEAT = frozenset({"blocked", "rate_limited", "refused"})


class YouTube:
    """Ask YouTube, once per call. ``adapter`` sends the requests in place of the network."""

    def __init__(self, options: Options, *, adapter: BaseAdapter | None = None) -> None:
        """Raise ``NetworkProblem`` if ``options`` has an invalid proxy address."""
        try:
            parts = urlsplit(options.proxy_url)
            is_usable = parts.scheme in _PROXY_SCHEMES and parts.hostname and parts.port != 0
        except ValueError:
            is_usable = False
        if options.proxy_url and not is_usable:
            raise NetworkProblem(
                "PROXY_URL is not the address of a proxy.",
                hint="Write http://user:password@host:port, or socks5h:// for a SOCKS proxy.",
            )
        self._options = options
        self._adapter = adapter

    def fetch(self, video_id: str, *, language: str | None = None) -> FetchedTranscript:
        """Return a video's metadata and one transcript, in ``language`` if given.

        Raises ``YouTubeError``, and ``InvalidUrl`` for an invalid id.
        """
        ask: dict[str, Any] = {
            "options": self._options,
            "inner": self._inner(),
            "language": language,
        }
        first = extractor.attempt(_checked(video_id), **ask)
        if isinstance(first.outcome, FetchedTranscript):
            return first.outcome
        if first.outcome.code not in _SECOND_OPINION:
            raise first.outcome
        second = _second_opinion(video_id, **ask, info=first.info)
        if isinstance(second, FetchedTranscript):
            return second
        error = _more_telling(first.outcome, second)
        if isinstance(error, NoCaptions) and first.info:
            error.length = first.info.duration
        raise error

    def fetch_sound(self, video_id: str, folder: Path, *, most: int) -> FetchedSound:
        """Save a video's sound in a folder, at most so many bytes.

        Raises ``YouTubeError``, ``MediaTooLarge`` and ``InvalidUrl``.
        """
        options, inner = self._options, self._inner()
        return sound.fetch(_checked(video_id), folder, options=options, inner=inner, most=most)

    def list_videos(self, target: Target, *, newest: int | None = None) -> Listing:
        """List the videos of a playlist or channel, the first ``newest`` if given.

        Raises ``YouTubeError`` and ``InvalidUrl``.
        """
        if target.kind == "video":
            raise InvalidUrl("This is one video, not a list of videos.")
        return extractor.listing(target, options=self._options, inner=self._inner(), newest=newest)

    def thumbnail(self, video_id: str) -> bytes:
        """Return a video's picture as JPEG, so that readers' browsers contact no third party.

        Raises ``YouTubeError`` and ``InvalidUrl``.
        """
        trace, address = (
            RequestTrace(),
            f"https://i.ytimg.com/vi/{_checked(video_id)}/hqdefault.jpg",
        )
        with session(self._options, trace, self._inner()) as http:
            try:
                response = http.get(address)
            except requests.RequestException:
                response = None
        if response is None or response.status_code != requests.codes.ok:
            raise explain(trace, ()) or VideoRemoved("This video has no picture on YouTube.")
        if not response.content.startswith(b"\xff\xd8\xff"):
            raise YouTubeChanged("YouTube sent something else than the video's picture.")
        return response.content

    def _inner(self) -> BaseAdapter | None:
        return self._adapter or loopback_from_environment()


def _checked(video_id: str) -> str:
    if not is_video_id(video_id):
        raise InvalidUrl("This is not a video id: those have 11 letters, digits, - and _.")
    return video_id


def _more_telling(first: YouTubeError, second: YouTubeError) -> YouTubeError:
    """Prefer the second error if it closes the gate, or if the first says less."""

    def clarity(error: YouTubeError) -> int:
        return _VAGUE.index(error.code) if error.code in _VAGUE else len(_VAGUE)

    return second if second.code in _HEAT else max(first, second, key=clarity)


def _second_opinion(
    video_id: str,
    *,
    options: Options,
    inner: BaseAdapter | None,
    language: str | None,
    info: VideoInfo | None,
) -> FetchedTranscript | YouTubeError:
    """Ask for one transcript; ``info`` is what the first library learnt about the video."""
    trace = RequestTrace()
    with session(options, trace, inner) as http:
        try:
            # Its fetch() reads the XML format, which loses < and > and has no word times.
            tracks = [
                track
                for listed in YouTubeTranscriptApi(http_client=http).list(video_id)
                for track in make_track(listed.language_code, listed._url, auto=listed.is_generated)
            ]
            track = choose(tracks, options, video_id=video_id, language=language)
            if "exp=xpe" in track.address:
                raise withheld()
            response = http.get(track.address)
            response.raise_for_status()
            details = info or _named(http, video_id, available(tracks))
            return fetched(details, track, response.content)
        except YouTubeError as error:
            return error
        except Exception as error:  # noqa: BLE001  the library raises anything
            has_none = isinstance(error, TranscriptsDisabled) and trace.is_playable
            otherwise = NoCaptions("This video has no captions.") if has_none else changed()
            return explain(trace, ()) or otherwise


def _named(http: requests.Session, video_id: str, languages: tuple[str, ...]) -> VideoInfo:
    """Return at least title and channel: the library gives no metadata."""
    response = http.get(
        "https://www.youtube.com/oembed", params={"url": watch_url(video_id), "format": "json"}
    )
    answer = response.json() if response.ok else {}
    return VideoInfo(
        id=video_id,
        title=clean(answer.get("title"), 500) or video_id,
        channel=clean(answer.get("author_name"), 200),
        languages=languages,
    )
