"""Ask YouTube for metadata and captions, with yt-dlp first and youtube-transcript-api second."""

from typing import Any
from urllib.parse import urlsplit

import requests
from requests.adapters import BaseAdapter

from transcripts.core.errors import (
    InvalidUrl,
    NetworkProblem,
    VideoRemoved,
    YouTubeChanged,
    YouTubeError,
)
from transcripts.text.timecodes import Target, is_video_id
from transcripts.youtube import extractor, second_opinion
from transcripts.youtube.failures import explain
from transcripts.youtube.guard import loopback_from_environment, session
from transcripts.youtube.metadata import thumbnail_address
from transcripts.youtube.values import FetchedTranscript, Listing, Options, RequestTrace

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
        _check_proxy(options.proxy_url)
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
        second = second_opinion.attempt(video_id, **ask, info=first.info)
        if isinstance(second.outcome, FetchedTranscript):
            return second.outcome
        raise _more_telling(first.outcome, second.outcome)

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
        trace = RequestTrace()
        with session(self._options, trace, self._inner()) as http:
            try:
                response = http.get(thumbnail_address(_checked(video_id)))
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


def _check_proxy(url: str) -> None:
    try:
        parts = urlsplit(url)
        usable = parts.scheme in _PROXY_SCHEMES and parts.hostname and parts.port != 0
    except ValueError:
        usable = False
    if url and not usable:
        raise NetworkProblem(
            "PROXY_URL is not the address of a proxy.",
            hint="Write http://user:password@host:port, or socks5h:// for a SOCKS proxy.",
        )


def _more_telling(first: YouTubeError, second: YouTubeError) -> YouTubeError:
    """Prefer the second error if it closes the gate, or if the first says less."""

    def clarity(error: YouTubeError) -> int:
        return _VAGUE.index(error.code) if error.code in _VAGUE else len(_VAGUE)

    return second if second.code in _HEAT else max(first, second, key=clarity)
