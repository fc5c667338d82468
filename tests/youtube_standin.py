"""A stand-in for YouTube on loopback, faithful enough for yt-dlp and youtube-transcript-api to run
against it unchanged.

What happens is decided by the video id: ``MANUAL``, ``AUTO`` and the others below are there from
the start, ``add_video`` registers more. Another process uses it through the environment variable in
``environment()``. On its own: ``python -m tests.youtube_standin [PORT]``.
"""

import gzip
import json
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from html import escape
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qs, parse_qsl, quote, unquote, urlsplit

from tests.loopback import StandIn
from transcripts.youtube.guard import LOOPBACK_VARIABLE, Loopback

CHANNEL = "UCstandin-channel-000001"
HANDLE = "@standin"
PLAYLIST = "PLstandin-playlist-0000000000000001"
EMPTY_PLAYLIST = "PLstandin-playlist-0000000000000002"
# The smallest whole JPEG: one grey point.
_PICTURE = bytes.fromhex(
    "ffd8ffdb004300"
    + "01" * 64
    + "ffc0000b080001000101011100ffc40014000100000000000000000000000000000009ffc40014100100000000"
    + "000000000000000000000000"
    + "ffda0008010100003f002a9fffd9"
)
_PAGE = 30  # videos of a list in one answer

# Videos that are there from the start.
MANUAL = "manual-en-1"  # English by hand, German by hand, English recognised; chapters
BRITISH = "manual-enGB"  # only en-GB and nl
AUTO = "auto-words1"  # recognised: rolling lines with word times, "yes" said twice
RUSSIAN = "auto-russia"  # recognised Russian with machine translations
NAMED = "two-tracks1"  # two English tracks by hand, one with a name
LIVE = "live-now-01"
CODE = "code-and-<>".replace("<>", "lt")  # a talk about code: <, > and & in the text


@dataclass(frozen=True)
class Track:
    """Captions of one language: (start ms, duration ms, text); automatic ones get word times."""

    lang: str
    lines: tuple[tuple[int, int, str], ...] = (
        (0, 2000, "Hello and welcome."),
        (2000, 3000, "This is the stand-in."),
    )
    auto: bool = False
    name: str = ""
    address: str = ""  # in place of the real one: a poisoned baseUrl


@dataclass(frozen=True)
class Video:
    """What YouTube would know of a video, and how it misbehaves: ``behaviour`` is one of the names
    in ``_FAULTS`` or handled in the answers.
    """

    id: str
    title: str = "A stand-in video"
    channel: str = "Stand-in Channel"
    channel_id: str = CHANNEL
    description: str = "Made for tests."
    seconds: int = 120
    published: str = "2024-03-01T10:00:00-08:00"
    tags: tuple[str, ...] = ("standin", "test")
    tracks: tuple[Track, ...] = (Track("en"),)
    chapters: tuple[tuple[int, str], ...] = ()  # (start ms, title)
    translations: tuple[str, ...] = ()
    sound: bytes = b""  # an MP4 file
    live: str = ""  # "", "now", "upcoming"
    starts: str = ""  # ISO time of a premiere or live stream
    status: str = "OK"
    reason: str = ""
    subreason: str = ""
    answer: dict[str, Any] = field(default_factory=dict)  # what else the player answers
    behaviour: str = ""


@dataclass(frozen=True)
class YouTubeRequest:
    """One request that came in, with the host that it was meant for."""

    host: str
    method: str
    path: str
    query: str
    video_id: str
    agent: str = ""


@dataclass
class Answer:
    """What goes back."""

    body: bytes = b""
    status: int = 200
    kind: str = "text/html; charset=utf-8"
    headers: dict[str, str] = field(default_factory=dict)


class YouTubeStandIn(StandIn):
    """The server, as a context manager.

    ``requests`` is its log; ``blocked = True`` makes every answer a 429.
    """

    def __init__(self, port: int = 0) -> None:
        self.requests: list[YouTubeRequest] = []
        self.blocked = False
        self.delay = 0.0  # seconds before each answer
        self.videos: dict[str, Video] = {}
        self.playlists: dict[str, tuple[str, tuple[str, ...]]] = {}
        self.channels: dict[str, tuple[str, str]] = {
            HANDLE: (CHANNEL, "Stand-in Channel")
        }  # handle -> id, title
        # (channel, tab) -> videos; YouTube shows its front page in place of a missing tab
        self.tabs: dict[tuple[str, str], tuple[str, ...]] = {}
        self.untitled_tabs = False  # as on the pages of some channels
        super().__init__(_handler(self), port)
        for video in _FIRST:
            self.videos[video.id] = video
        self.playlists[PLAYLIST] = ("Stand-in Playlist", (MANUAL, AUTO, BRITISH))
        self.playlists[EMPTY_PLAYLIST] = ("Nothing here", ())

    def adapter(self) -> Loopback:
        """Give the adapter that sends everything here."""
        return Loopback(self.url)

    def environment(self) -> dict[str, str]:
        """Give what another process needs in its environment to use this."""
        return {LOOPBACK_VARIABLE: self.url}

    def add_video(self, video_id: str, **fields: Any) -> Video:
        """Register a video, or put another in its place."""
        video = Video(video_id, **fields)
        self.videos[video_id] = video
        return video

    def change_video(self, video_id: str, **fields: Any) -> Video:
        """Change some of a registered video."""
        self.videos[video_id] = replace(self.videos[video_id], **fields)
        return self.videos[video_id]

    def add_playlist(
        self, playlist_id: str, video_ids: Iterable[str], *, title: str = "A playlist"
    ) -> None:
        """Register a playlist, or put another in its place; unknown videos in it are shown as
        private.
        """
        self.playlists[playlist_id] = (title, tuple(video_ids))

    def add_channel(
        self,
        handle: str,
        channel_id: str,
        video_ids: Iterable[str],
        *,
        title: str = "A channel",
        tabs: Mapping[str, Iterable[str]] | None = None,
    ) -> None:
        """Register a channel with its uploads, newest first, and those of its tabs by name."""
        self.channels[handle] = (channel_id, title)
        for tab, shown in (tabs or {}).items():
            self.tabs[channel_id, tab] = tuple(shown)
        self.add_playlist(f"UU{channel_id[2:]}", video_ids, title=f"Uploads from {title}")

    def requests_for(self, path: str) -> list[YouTubeRequest]:
        """List the requests whose path begins so."""
        return [request for request in self.requests if request.path.startswith(path)]

    def uploads(self, channel_id: str) -> tuple[str, tuple[str, ...]] | None:
        """Find the list of a channel's uploads: what was registered, or its videos with the last
        one first.
        """
        known = self.playlists.get(f"UU{channel_id[2:]}")
        own = tuple(
            video.id
            for video in reversed(self.videos.values())
            if video.channel_id == channel_id and not video.behaviour
        )
        return known or (("Uploads from Stand-in Channel", own) if channel_id == CHANNEL else None)


def _handler(standin: YouTubeStandIn) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = (
            -1
        )  # headers and body in one packet, or every answer waits 40 ms for an acknowledgement

        def do_GET(self) -> None:
            self._serve(b"")

        def do_POST(self) -> None:
            self._serve(self.rfile.read(int(self.headers.get("Content-Length") or 0)))

        def log_message(self, *_: object) -> None:
            """Say nothing."""

        def _serve(self, body: bytes) -> None:
            parts = urlsplit(self.path)
            query = dict(parse_qsl(parts.query))
            sent = {**_object(body), "range": self.headers.get("Range", "")}
            video_id = str(query.get("v") or sent.get("videoId") or "") or _id_in(parts.path)
            standin.requests.append(
                YouTubeRequest(
                    self.headers.get("Host", ""),
                    self.command,
                    parts.path,
                    parts.query,
                    video_id,
                    self.headers.get("User-Agent", ""),
                )
            )
            video = standin.videos.get(video_id)
            fault = _FAULTS.get(video.behaviour) if video else None
            standin.hold(standin.delay)
            if fault and fault(standin, self, parts.path):
                return
            self.send(
                Answer(b"slow down", 429)
                if standin.blocked
                else _answer(standin, unquote(parts.path), query, sent, video_id)
            )

        def send(self, answer: Answer) -> None:
            self.send_response(answer.status)
            self.send_header("Content-Type", answer.kind)
            self.send_header("Content-Length", str(len(answer.body)))
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(answer.body)

    return Handler


# Answers


def _answer(
    standin: YouTubeStandIn, path: str, query: dict[str, str], sent: dict[str, Any], video_id: str
) -> Answer:
    video = standin.videos.get(video_id) or Video(
        video_id, tracks=(), status="ERROR", reason="This video is unavailable", title=""
    )
    answers: dict[str, Callable[[], Answer]] = {
        "/watch": lambda: _watch_page(video),
        "/youtubei/v1/player": lambda: _json(_player(video)),
        "/youtubei/v1/next": lambda: _json(_initial_data(video)),
        "/youtubei/v1/browse": lambda: _json(
            _continuation(standin, str(sent.get("continuation") or ""))
        ),
        "/api/timedtext": lambda: _timedtext(video, query),
        "/oembed": lambda: _oembed(standin, query),
        "/videoplayback": lambda: _sound(video.sound, sent["range"]),
        "/playlist": lambda: _playlist_page(standin, query.get("list", "")),
    }
    if path in answers:
        return answers[path]()
    if path.startswith("/embed/"):
        return _page({})
    if path.startswith("/vi/"):
        return Answer(_PICTURE, 200 if path.split("/")[2] in standin.videos else 404, "image/jpeg")
    return _channel_page(standin, path.strip("/").split("/"))


def _json(value: Any, status: int = 200) -> Answer:
    return Answer(json.dumps(value).encode(), status, "application/json")


def _page(scripts: dict[str, Any]) -> Answer:
    config = {
        "INNERTUBE_API_KEY": "standin-key",
        "INNERTUBE_CONTEXT": {
            "client": {"clientName": "WEB", "clientVersion": "2.20260101.00.00", "hl": "en"}
        },
    }
    code = "".join(
        f"<script>var {name} = {json.dumps(value).replace('<', chr(92) + 'u003c')};</script>"
        for name, value in scripts.items()
    )
    return Answer(
        (
            f"<!DOCTYPE html><html><head><script>ytcfg.set({json.dumps(config)});</script></head>"
            f"<body>{code}</body></html>"
        ).encode()
    )


def _sound(sound: bytes, span: str) -> Answer:
    """Answer with the range that is asked for; whole files are throttled, as if for ever."""
    first, last = (int(end) for end in span.removeprefix("bytes=").split("-"))
    last = min(last, len(sound) - 1)
    place = {"Content-Range": f"bytes {first}-{last}/{len(sound)}"}
    return Answer(sound[first : last + 1], 206, "audio/mp4", place)


def _watch_page(video: Video) -> Answer:
    return _page({"ytInitialPlayerResponse": _player(video), "ytInitialData": _initial_data(video)})


def _player(video: Video) -> dict[str, Any]:
    shown = "somebodyEls" if video.behaviour == "wrong_video" else video.id
    response: dict[str, Any] = {
        "playabilityStatus": _playability(video),
        "videoDetails": {
            "videoId": shown,
            "title": video.title,
            "lengthSeconds": str(video.seconds),
            "channelId": video.channel_id,
            "author": video.channel,
            "shortDescription": video.description,
            "keywords": list(video.tags),
            "isLiveContent": bool(video.live),
            **({"isLive": True} if video.live == "now" else {}),
            **({"isUpcoming": True} if video.live == "upcoming" else {}),
            "thumbnail": {
                "thumbnails": [
                    {
                        "url": f"https://i.ytimg.com/vi/{video.id}/hqdefault.jpg",
                        "width": 480,
                        "height": 360,
                    }
                ]
            },
        },
        "microformat": {"playerMicroformatRenderer": _microformat(video)},
        "streamingData": {"adaptiveFormats": _formats(video)} if video.sound else {},
    }
    for name, more in video.answer.items():
        response[name] |= more
    if video.tracks:
        response["captions"] = {"playerCaptionsTracklistRenderer": _tracklist(video, shown)}
    return response


def _formats(video: Video) -> list[dict[str, Any]]:
    """List two qualities of the sound, of which the larger one is not to be had."""
    sound = {
        "mimeType": 'audio/mp4; codecs="mp4a.40.2"',
        "contentLength": str(len(video.sound)),
        "approxDurationMs": str(1000 * video.seconds),
        "audioSampleRate": "22050",
        "audioChannels": 1,
    }
    address = f"https://rr1---sn-standin.googlevideo.com/videoplayback?v={video.id}"
    return [
        {**sound, "itag": 139, "url": f"{address}&itag=139", "bitrate": 48_000},
        {**sound, "itag": 140, "url": f"{address}-no&itag=140", "bitrate": 128_000},
    ]


def _playability(video: Video) -> dict[str, Any]:
    status: dict[str, Any] = {"status": video.status}
    if video.reason:
        status["reason"] = video.reason
        message = {
            "reason": {"simpleText": video.reason},
            **({"subreason": {"runs": [{"text": video.subreason}]}} if video.subreason else {}),
        }
        status["errorScreen"] = {"playerErrorMessageRenderer": message}
    return status


def _microformat(video: Video) -> dict[str, Any]:
    details: dict[str, Any] = {
        "publishDate": video.published,
        "uploadDate": video.published,
        "lengthSeconds": str(video.seconds),
        "ownerProfileUrl": f"http://www.youtube.com/{HANDLE}",
        "ownerChannelName": video.channel,
        "externalChannelId": video.channel_id,
    }
    if video.live:
        details["liveBroadcastDetails"] = {
            "isLiveNow": video.live == "now",
            "startTimestamp": video.starts or video.published,
        }
    return details


def _tracklist(video: Video, shown: str) -> dict[str, Any]:
    return {
        "captionTracks": [
            {
                "baseUrl": track.address or _base_url(video, track, shown),
                "name": {
                    "runs": [
                        {
                            "text": track.name
                            or f"{track.lang}{' (auto-generated)' if track.auto else ''}"
                        }
                    ]
                },
                "vssId": ("a" if track.auto else "")
                + f".{track.lang}{'.' + track.name if track.name else ''}",
                "languageCode": track.lang,
                "isTranslatable": True,
                **({"kind": "asr"} if track.auto else {}),
            }
            for track in video.tracks
        ],
        "translationLanguages": [
            {"languageCode": code, "languageName": {"runs": [{"text": code.upper()}]}}
            for code in video.translations
        ],
    }


def _base_url(video: Video, track: Track, shown: str) -> str:
    extra = "&exp=xpe" if video.behaviour == "po_token" else ""
    name = f"&name={quote(track.name)}" if track.name else ""
    kind = "&kind=asr" if track.auto else ""
    address = f"https://www.youtube.com/api/timedtext?v={shown}&lang={track.lang}"
    return f"{address}{kind}{name}{extra}&fmt=srv3"


def _initial_data(video: Video) -> dict[str, Any]:
    owner = {
        "videoSecondaryInfoRenderer": {
            "owner": {"videoOwnerRenderer": {"title": {"runs": [{"text": video.channel}]}}}
        }
    }
    data: dict[str, Any] = {
        "contents": {"twoColumnWatchNextResults": {"results": {"results": {"contents": [owner]}}}}
    }
    if video.live == "now":
        chat = {"continuations": [{"reloadContinuationData": {"continuation": "chat"}}]}
        data["contents"]["twoColumnWatchNextResults"]["conversationBar"] = {
            "liveChatRenderer": chat
        }
    if video.chapters:
        chapters = [
            {"chapterRenderer": {"title": {"simpleText": title}, "timeRangeStartMillis": start}}
            for start, title in video.chapters
        ]
        decorated = {
            "decoratedPlayerBarRenderer": {
                "playerBar": {"chapteredPlayerBarRenderer": {"chapters": chapters}}
            }
        }
        data["playerOverlays"] = {
            "playerOverlayRenderer": {"decoratedPlayerBarRenderer": decorated}
        }
    return data


def _oembed(standin: YouTubeStandIn, query: dict[str, str]) -> Answer:
    video_id = parse_qs(urlsplit(query.get("url", "")).query).get("v", [""])[0]
    video = standin.videos.get(video_id)
    return (
        _json({"title": video.title, "author_name": video.channel})
        if video
        else Answer(b"Not Found", 404)
    )


# Captions


def _timedtext(video: Video, query: dict[str, str]) -> Answer:
    wanted = (query.get("lang"), "kind" in query, query.get("name", ""))
    track = next(
        (track for track in video.tracks if (track.lang, track.auto, track.name) == wanted), None
    )
    if track is None:
        return Answer(b"", 404)
    if "tlang" in query:
        track = replace(
            track,
            lines=tuple(
                (start, length, f"[{query['tlang']}] {text}") for start, length, text in track.lines
            ),
        )
    form = query.get("fmt", "")
    if form == "json3":
        return _json(
            {"wireMagic": "pb3", "events": _rolling(track) if track.auto else _plain(track)}
        )
    if form == "vtt":
        return Answer(_vtt(track), 200, "text/vtt; charset=utf-8")
    return Answer(_xml(track), 200, "text/xml; charset=utf-8")


def _plain(track: Track) -> list[dict[str, Any]]:
    return [
        {"tStartMs": start, "dDurationMs": length, "segs": [{"utf8": text}]}
        for start, length, text in track.lines
    ]


def _rolling(track: Track) -> list[dict[str, Any]]:
    """Write lines as YouTube's recogniser does: each shown on while the next is spoken, with words
    in time and a line break between.
    """
    end = max((start + length for start, length, _ in track.lines), default=0)
    events: list[dict[str, Any]] = [
        {"tStartMs": 0, "dDurationMs": end, "id": 1, "wpWinPosId": 1, "wsWinStyleId": 1}
    ]
    for number, (start, length, text) in enumerate(track.lines):
        if number:
            events.append(
                {
                    "tStartMs": start - 10,
                    "dDurationMs": length,
                    "wWinId": 1,
                    "aAppend": 1,
                    "segs": [{"utf8": "\n"}],
                }
            )
        words = text.split()
        step = length // max(len(words), 1)
        segments = [
            {
                "utf8": word if not n else f" {word}",
                "acAsrConf": 0,
                **({"tOffsetMs": n * step} if n else {}),
            }
            for n, word in enumerate(words)
        ]
        events.append({"tStartMs": start, "dDurationMs": length * 2, "wWinId": 1, "segs": segments})
    return events


def _vtt(track: Track) -> bytes:
    lines = (
        f"{_stamp(start)} --> {_stamp(start + length)}\n{escape(text, quote=False)}\n"
        for start, length, text in track.lines
    )
    return ("WEBVTT\nKind: captions\nLanguage: " + track.lang + "\n\n" + "\n".join(lines)).encode()


def _xml(track: Track) -> bytes:
    lines = (
        f'<text start="{start / 1000}" dur="{length / 1000}">{escape(escape(text))}</text>'
        for start, length, text in track.lines
    )
    return (
        '<?xml version="1.0" encoding="utf-8" ?><transcript>' + "".join(lines) + "</transcript>"
    ).encode()


def _stamp(ms: int) -> str:
    return f"{ms // 3_600_000:02}:{ms // 60_000 % 60:02}:{ms // 1000 % 60:02}.{ms % 1000:03}"


# Lists


def _playlist_page(standin: YouTubeStandIn, playlist_id: str) -> Answer:
    videos = standin.playlists.get(playlist_id) or (
        standin.uploads(f"UC{playlist_id[2:]}") if playlist_id.startswith("UU") else None
    )
    if videos is None:
        return _page({"ytInitialData": _alert("The playlist does not exist.")})
    title, video_ids = videos
    items = {
        "playlistVideoListRenderer": {
            "playlistId": playlist_id,
            "contents": _items(standin, playlist_id, video_ids, 0),
        }
    }
    tab = {
        "selected": True,
        "content": {
            "sectionListRenderer": {"contents": [{"itemSectionRenderer": {"contents": [items]}}]}
        },
    }
    return _page(
        {
            "ytInitialData": {
                "contents": {"twoColumnBrowseResultsRenderer": {"tabs": [{"tabRenderer": tab}]}},
                "metadata": {"playlistMetadataRenderer": {"title": title}},
            }
        }
    )


def _items(
    standin: YouTubeStandIn, playlist_id: str, video_ids: tuple[str, ...], first: int
) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    for video_id in video_ids[first : first + _PAGE]:
        video = standin.videos.get(video_id)
        title = video.title if video else "[Private video]"
        items.append(
            {
                "playlistVideoRenderer": {
                    "videoId": video_id,
                    "title": {"runs": [{"text": title}]},
                    "isPlayable": video is not None,
                }
            }
        )
    if first + _PAGE < len(video_ids):
        command = {
            "token": f"{playlist_id}:{first + _PAGE}",
            "request": "CONTINUATION_REQUEST_TYPE_BROWSE",
        }
        items.append(
            {"continuationItemRenderer": {"continuationEndpoint": {"continuationCommand": command}}}
        )
    return items


def _continuation(standin: YouTubeStandIn, token: str) -> dict[str, Any]:
    playlist_id, _, first = token.partition(":")
    videos = standin.playlists.get(playlist_id) or standin.uploads(f"UC{playlist_id[2:]}")
    if not videos or not first.isdigit():
        return _alert("Unknown continuation.")
    items = _items(standin, playlist_id, videos[1], int(first))
    return {
        "onResponseReceivedActions": [
            {"appendContinuationItemsAction": {"continuationItems": items}}
        ]
    }


def _channel_page(standin: YouTubeStandIn, segments: list[str]) -> Answer:
    name = segments[1] if segments[0] == "channel" and len(segments) > 1 else segments[0]
    known = {
        **standin.channels,
        **{channel_id: (channel_id, title) for channel_id, title in standin.channels.values()},
    }
    if name not in known:
        return Answer(b"<html><body>404 Not Found</body></html>", 404)
    channel_id, title = known[name]
    _, uploads = standin.uploads(channel_id) or ("", ())
    tab_name = segments[-1] if segments[-1] != name else "videos"
    video_ids = standin.tabs.get((channel_id, tab_name), uploads if tab_name == "videos" else None)
    shown = tab_name if video_ids is not None else "featured"
    items = [
        {"richItemRenderer": {"content": _tab_item(video_id, shown)}}
        for video_id in (uploads if video_ids is None else video_ids)[:_PAGE]
    ]
    command = {"commandMetadata": {"webCommandMetadata": {"url": f"/{name}/{shown}"}}}
    tab = {
        "selected": True,
        "title": "" if standin.untitled_tabs else {"featured": "Home"}.get(shown, shown.title()),
        "endpoint": command,
        "content": {"richGridRenderer": {"contents": items}},
    }
    owner = {
        "title": title,
        "externalId": channel_id,
        "channelUrl": f"https://www.youtube.com/channel/{channel_id}",
        "description": "",
    }
    return _page(
        {
            "ytInitialData": {
                "contents": {"twoColumnBrowseResultsRenderer": {"tabs": [{"tabRenderer": tab}]}},
                "metadata": {"channelMetadataRenderer": owner},
            }
        }
    )


def _tab_item(video_id: str, tab: str) -> dict[str, Any]:
    if tab != "shorts":
        return {"videoRenderer": {"videoId": video_id, "title": {"runs": [{"text": video_id}]}}}
    watched = {"innertubeCommand": {"reelWatchEndpoint": {"videoId": video_id}}}
    short = {"entityId": f"shorts-shelf-item-{video_id}", "onTap": watched}
    shown = {"primaryText": {"content": video_id}, "secondaryText": {"content": "1 view"}}
    return {"shortsLockupViewModel": {**short, "overlayMetadata": shown}}


def _alert(text: str) -> dict[str, Any]:
    return {
        "alerts": [{"alertRenderer": {"type": "ERROR", "text": {"runs": [{"text": text}]}}}],
        "contents": {},
    }


# Faults: True when the answer has been dealt with

_Fault = Callable[[YouTubeStandIn, Any, str], bool]


def _status(code: int, path: str) -> _Fault:
    def fault(_: YouTubeStandIn, handler: Any, requested: str) -> bool:
        if requested.startswith(path):
            handler.send(Answer(b"refused", code))
        return requested.startswith(path)

    return fault


def _instead(path: str, answer: Answer) -> _Fault:
    def fault(_: YouTubeStandIn, handler: Any, requested: str) -> bool:
        if requested.startswith(path):
            handler.send(answer)
        return requested.startswith(path)

    return fault


def _hang(standin: YouTubeStandIn, handler: Any, _: str) -> bool:
    standin.hold(30)
    handler.close_connection = True
    return True


def _reset(_: YouTubeStandIn, handler: Any, __: str) -> bool:
    handler.close_connection = True
    handler.connection.close()
    return True


def _endless(_: YouTubeStandIn, handler: Any, path: str) -> bool:
    if path != "/api/timedtext":
        return False
    handler.send_response(200)
    handler.send_header("Connection", "close")
    handler.end_headers()
    handler.close_connection = True
    try:
        for _number in range(20_000):
            handler.wfile.write(b" " * 65_536)
    except OSError:
        pass  # the other side had enough, as it should
    return True


def _drip(standin: YouTubeStandIn, handler: Any, path: str) -> bool:
    if path != "/api/timedtext":
        return False
    handler.send_response(200)
    handler.send_header("Content-Length", "1000000")
    handler.end_headers()
    handler.close_connection = True
    started = time.monotonic()
    try:
        while time.monotonic() - started < 20 and not standin.released.is_set():
            handler.wfile.write(b" ")
            handler.wfile.flush()
            standin.hold(0.02)
    except OSError:
        pass
    return True


def _bomb() -> Answer:
    return Answer(
        gzip.compress(b" " * 60_000_000, compresslevel=1), headers={"Content-Encoding": "gzip"}
    )


_FAULTS: dict[str, _Fault] = {
    "watch_429": _status(429, "/watch"),
    "captions_429": _status(429, "/api/timedtext"),
    "player_403": _status(403, "/youtubei/v1/player"),
    "player_500": _status(500, "/"),
    "captions_empty": _instead("/api/timedtext", Answer(b"")),
    "captions_html": _instead(
        "/api/timedtext", Answer(b"<!DOCTYPE html><html><body>Sorry</body></html>")
    ),
    "captions_garbage": _instead(
        "/api/timedtext", Answer(b'{"events": [', kind="application/json")
    ),
    "captions_wordless": _instead("/api/timedtext", _json({"events": []})),
    "garbage_json": _instead("/youtubei/v1/player", Answer(b'{"half": ', kind="application/json")),
    "garbage_html": _instead("/", Answer(b"<html><body>A new kind of page</body></html>")),
    "captcha_redirect": _instead(
        "/",
        Answer(status=302, headers={"Location": "https://www.google.com/sorry/index?continue=x"}),
    ),
    "captcha_page": _instead(
        "/watch", Answer(b'<html><body><form><div class="g-recaptcha"></div></form></body></html>')
    ),
    "redirect_private": _instead(
        "/api/timedtext",
        Answer(status=302, headers={"Location": "http://169.254.169.254/latest/meta-data/"}),
    ),
    "redirect_loop": _instead(
        "/api/timedtext",
        Answer(status=302, headers={"Location": "https://www.youtube.com/api/timedtext?v=loop"}),
    ),
    "bomb": _instead("/api/timedtext", _bomb()),
    "hang": _hang,
    "reset": _reset,
    "endless": _endless,
    "drip": _drip,
}
_SPOKEN = (
    (0, 2000, "do you hear me"),
    (2000, 1000, "yes"),
    (3000, 1000, "yes"),
    (4000, 3000, "then we can begin with the first part"),
)
_FIRST = (
    Video(
        MANUAL,
        title="Baking bread at home",
        description="Flour, water, salt.",
        tracks=(
            Track("en"),
            Track("de", ((0, 2000, "Hallo und willkommen."), (2000, 3000, "Das ist der Ersatz."))),
            Track("en", _SPOKEN, auto=True),
        ),
        chapters=((0, "Start"), (30_000, "Dough"), (60_000, "Oven")),
    ),
    Video(
        BRITISH,
        title="Colour and flavour",
        tracks=(Track("en-GB"), Track("nl", ((0, 2000, "Hallo en welkom."),))),
    ),
    Video(
        AUTO,
        title="Do you hear me",
        tracks=(Track("en", _SPOKEN, auto=True),),
        translations=("en", "de", "fr"),
    ),
    Video(
        RUSSIAN,
        title="О хлебе",
        tracks=(
            Track(
                "ru",
                (
                    (0, 2000, "здравствуйте и добро пожаловать"),
                    (2000, 2000, "сегодня мы печём хлеб"),
                ),
                auto=True,
            ),
        ),
        translations=("ru", "en", "de"),
    ),
    Video(
        NAMED,
        title="Two tracks",
        tracks=(Track("en"), Track("en", ((0, 1000, "A commentary."),), name="Commentary")),
    ),
    Video(LIVE, title="Live from the bakery", live="now", published="2024-03-01T10:00:00-08:00"),
    Video(
        CODE,
        title="Code",
        tracks=(Track("en", ((0, 2000, "if 3 < 4 && 4 > 2"), (2000, 1000, "vector<int> & more"))),),
    ),
)


def _id_in(path: str) -> str:
    segments = path.strip("/").split("/")
    return segments[1] if len(segments) > 1 and segments[0] in {"embed", "vi"} else ""


def _object(body: bytes) -> dict[str, Any]:
    try:
        value = json.loads(body)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


if __name__ == "__main__":
    with YouTubeStandIn(int(sys.argv[1]) if len(sys.argv) > 1 else 0) as running:
        print(f"{LOOPBACK_VARIABLE}={running.url}", flush=True)
        threading.Event().wait()
