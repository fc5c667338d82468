"""The second library, youtube-transcript-api, asked if yt-dlp found nothing without a refusal."""

import requests
from requests.adapters import BaseAdapter
from youtube_transcript_api import TranscriptsDisabled, YouTubeTranscriptApi

from transcripts.core.errors import NoCaptions, YouTubeError
from transcripts.core.sanitize import clean
from transcripts.text.timecodes import watch_url
from transcripts.youtube.failures import changed, explain, withheld
from transcripts.youtube.guard import session
from transcripts.youtube.tracks import Track, available, choose, fetched, make_track
from transcripts.youtube.values import Attempt, Options, RequestTrace, VideoInfo


def attempt(
    video_id: str,
    *,
    options: Options,
    inner: BaseAdapter | None,
    language: str | None,
    info: VideoInfo | None,
) -> Attempt:
    """Ask for one transcript; ``info`` is what the first library learnt about the video."""
    trace = RequestTrace()
    with session(options, trace, inner) as http:
        try:
            tracks = _tracks(http, video_id)
            track = choose(tracks, options, video_id=video_id, language=language)
            body = _download(http, track)
            details = info or _named(http, video_id, available(tracks))
            return Attempt(fetched(details, track, body), details)
        except YouTubeError as error:
            return Attempt(error, info)
        except Exception as error:  # noqa: BLE001  the library raises anything
            has_none = isinstance(error, TranscriptsDisabled) and trace.is_playable
            otherwise = NoCaptions("This video has no captions.") if has_none else changed()
            return Attempt(explain(trace, ()) or otherwise, info)


def _tracks(http: requests.Session, video_id: str) -> list[Track]:
    # Its fetch() reads the XML format, which loses < and > and has no word times.
    return [
        track
        for listed in YouTubeTranscriptApi(http_client=http).list(video_id)
        for track in make_track(listed.language_code, listed._url, auto=listed.is_generated)
    ]


def _download(http: requests.Session, track: Track) -> bytes:
    if "exp=xpe" in track.address:
        raise withheld()
    response = http.get(track.address)
    response.raise_for_status()
    return response.content


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
