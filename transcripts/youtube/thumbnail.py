"""A video's picture, stored here so that readers' browsers contact no third party."""

import requests
from requests.adapters import BaseAdapter

from transcripts.errors import VideoRemoved, YouTubeChanged
from transcripts.youtube.failures import explain
from transcripts.youtube.guard import session
from transcripts.youtube.metadata import thumbnail_address
from transcripts.youtube.trace import RequestTrace
from transcripts.youtube.values import Options


def picture(video_id: str, *, options: Options, inner: BaseAdapter | None) -> bytes:
    trace = RequestTrace()
    with session(options, trace, inner) as http:
        try:
            response = http.get(thumbnail_address(video_id))
        except requests.RequestException:
            response = None
    if response is None or response.status_code != requests.codes.ok:
        raise explain(trace, ()) or VideoRemoved("This video has no picture on YouTube.")
    if not response.content.startswith(b"\xff\xd8\xff"):
        raise YouTubeChanged("YouTube sent something else than the video's picture.")
    return response.content
