"""The only door to YouTube: yt-dlp first, youtube-transcript-api as a second opinion.

Pacing, pauses and retries are elsewhere: every call asks YouTube at once; its error says when to
ask again. In tests, ``CUEBASE_YOUTUBE_LOOPBACK=http://127.0.0.1:PORT`` redirects
every request to a stand-in on this machine; another address is an error.

``YouTube`` is loaded when it is first used: both libraries together take half a second to import.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from transcripts.youtube.metadata import info_from_json
from transcripts.youtube.values import FetchedTranscript, Listing, Options, VideoInfo

if TYPE_CHECKING:
    from transcripts.youtube.client import YouTube

__all__ = ["FetchedTranscript", "Listing", "Options", "VideoInfo", "YouTube", "info_from_json"]


def __getattr__(name: str) -> Any:
    if name == "YouTube":
        return import_module("transcripts.youtube.client").YouTube
    raise AttributeError(name)
