"""The only door to YouTube and to the two libraries that read it: yt-dlp first, youtube-transcript-api as a second opinion.

Pacing, cool-downs and retries are not here: every call asks YouTube at once, and its errors say when asking again makes sense.

For tests, the environment variable ``CUEBASE_YOUTUBE_LOOPBACK=http://127.0.0.1:PORT`` turns every request to a stand-in on this machine; an
address that is not of this machine is an error.
"""

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from transcripts.errors import InvalidUrl, NetworkProblem, YouTubeError
from transcripts.timecodes import Target, is_video_id
from transcripts.youtube.metadata import info_from_json
from transcripts.youtube.values import (
    Attempt,
    Chapter,
    FetchedTranscript,
    ListedVideo,
    Listing,
    Options,
    Origin,
    VideoInfo,
)

if TYPE_CHECKING:
    from requests.adapters import BaseAdapter

__all__ = [
    "Attempt",
    "Chapter",
    "ListedVideo",
    "FetchedTranscript",
    "Listing",
    "Options",
    "Origin",
    "VideoInfo",
    "YouTube",
    "info_from_json",
]

# Never after a refusal: asking again from the same address makes it worse.
_SECOND_OPINION = frozenset(
    {"no_captions", "po_token", "youtube_changed", "age_restricted", "network"}
)
_PROXY_SCHEMES = frozenset({"http", "https", "socks4", "socks4a", "socks5", "socks5h"})
_HEAT = frozenset({"blocked", "rate_limited", "refused"})


class YouTube:
    """Asks YouTube, once a call. ``adapter`` sends the requests in place of the network."""

    def __init__(self, options: Options, *, adapter: "BaseAdapter | None" = None) -> None:
        """Raise ``NetworkProblem`` if the proxy's address cannot be one."""
        _check_proxy(options.proxy_url)
        self._options = options
        self._adapter = adapter

    def fetch(self, video_id: str, *, language: str | None = None) -> FetchedTranscript:
        """Fetch a video's metadata and one transcript, in ``language`` if given. Raises ``YouTubeError`` and, for what is no id, ``InvalidUrl``."""
        first = self._ask_first(_checked(video_id), language)
        if isinstance(first.outcome, FetchedTranscript):
            return first.outcome
        if first.outcome.code not in _SECOND_OPINION:
            raise first.outcome
        second = self._ask_second(video_id, language, first.info)
        if isinstance(second.outcome, FetchedTranscript):
            return second.outcome
        raise _more_telling(first.outcome, second.outcome)

    def list_videos(self, target: Target, *, newest: int | None = None) -> Listing:
        """List a playlist's or channel's videos, only the first ``newest`` if given. Raises ``YouTubeError`` and ``InvalidUrl``."""
        from transcripts.youtube import extractor  # noqa: PLC0415 - half a second, for the few processes that ask YouTube

        if target.kind == "video":
            raise InvalidUrl("This is one video, not a list of videos.")
        return extractor.listing(target, options=self._options, inner=self._inner(), newest=newest)

    def thumbnail(self, video_id: str) -> bytes:
        """Fetch a video's picture, a JPEG. Raises ``YouTubeError`` and ``InvalidUrl``."""
        from transcripts.youtube.thumbnail import picture  # noqa: PLC0415 - brings requests along

        return picture(_checked(video_id), options=self._options, inner=self._inner())

    def _ask_first(self, video_id: str, language: str | None) -> Attempt:
        from transcripts.youtube import extractor  # noqa: PLC0415 - as above

        return extractor.attempt(
            video_id, options=self._options, inner=self._inner(), language=language
        )

    def _ask_second(self, video_id: str, language: str | None, info: VideoInfo | None) -> Attempt:
        from transcripts.youtube import second_opinion  # noqa: PLC0415 - needed only where yt-dlp finds nothing

        return second_opinion.attempt(
            video_id, options=self._options, inner=self._inner(), language=language, info=info
        )

    def _inner(self) -> "BaseAdapter | None":
        from transcripts.youtube.guard import loopback_from_environment  # noqa: PLC0415 - brings requests along

        return self._adapter or loopback_from_environment()


def _checked(video_id: str) -> str:
    if not is_video_id(video_id):
        raise InvalidUrl("This is no video id: those have 11 letters, digits, - and _.")
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
    """Prefer the second error where it closes the gate, or where the first says less."""
    says_more = first.code == "youtube_changed" or (
        first.code == "network" and second.code != "youtube_changed"
    )
    return second if second.code in _HEAT or says_more else first
