"""The first library, yt-dlp: metadata, chapters and captions. Importing it takes half a second."""

import functools
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, ClassVar, Final

from requests.adapters import BaseAdapter, HTTPAdapter
from yt_dlp import YoutubeDL
from yt_dlp.networking._requests import RequestsRH
from yt_dlp.utils import YoutubeDLError

from transcripts.core import errors
from transcripts.core.sanitize import clean
from transcripts.text.timecodes import Target, is_video_id, target_url, watch_url
from transcripts.youtube.failures import changed, explain, no_tab
from transcripts.youtube.guard import Guard, connect_publicly
from transcripts.youtube.metadata import (
    choose,
    fetched,
    info_from_json,
    parse_timestamp,
    tracks_from_json,
)
from transcripts.youtube.values import Attempt, FetchedTranscript, Listing, Options, RequestTrace

_HIDDEN: Final[Mapping[str, errors.YouTubeError]] = {
    "[Private video]": errors.PrivateVideo("This video of the list is private."),
    "[Deleted video]": errors.VideoRemoved("This video of the list was deleted."),
}


def attempt(
    video_id: str, *, options: Options, inner: BaseAdapter | None, language: str | None
) -> Attempt:
    """Ask for a video's metadata and one transcript."""
    log, trace = WarningLog(), RequestTrace()
    with client(options, inner, trace, log) as asking:
        raw = extract(asking, watch_url(video_id), log)
        if raw is None:
            return Attempt(explain(trace, log.texts) or changed())
        if raw.get("id") != video_id:  # yt-dlp follows a paid film to its trailer
            return Attempt(
                errors.MembersOnly(
                    "This video must be bought or rented; YouTube shows only its trailer."
                )
            )
        info = info_from_json(raw)
        try:
            track = choose(tracks_from_json(raw), options, video_id=video_id, language=language)
            body = asking.urlopen(track.address).read()
            outcome: FetchedTranscript | errors.YouTubeError = fetched(info, track, body)
        except errors.NoCaptions as error:
            if raw.get("live_status") == "is_upcoming":
                start = parse_timestamp(raw.get("release_timestamp"))
                when = "Its start is unknown."
                if start:
                    when = f"It starts at {start:%Y-%m-%d %H:%M} UTC."
                outcome = errors.Premiere(
                    f"This video is not published yet. {when}",
                    retry_at=int(start.timestamp()) if start else None,
                )
            else:
                unsaid = error if trace.is_playable else changed()
                outcome = explain(trace, log.texts) or unsaid
        except errors.YouTubeError as error:
            outcome = error
        except YoutubeDLError as error:
            outcome = explain(trace, [str(error)]) or changed()
        return Attempt(outcome, info)


def listing(
    target: Target, *, options: Options, inner: BaseAdapter | None, newest: int | None
) -> Listing:
    """List the videos of a playlist or channel, the first ``newest`` if given."""
    list_id, address = target.id, target_url(target)
    if target.kind == "channel" and "/" not in target.id:
        if not list_id.startswith("UC"):
            list_id = str(_list(address, "0", options, inner).get("channel_id") or "")
        if not list_id.startswith("UC"):
            raise errors.VideoRemoved(
                f"There is no channel {target.id} on YouTube.",
                hint="Open the channel and copy its address.",
            )
        # One list of all videos of the channel; its page splits them into tabs.
        address = target_url(Target("playlist", f"UU{list_id[2:]}"))
    raw = _list(address, "1:" if newest is None else f"1:{max(newest, 1)}", options, inner)
    entries = {
        entry["id"]: clean(entry.get("title"), 300)
        for entry in _flat(raw.get("entries"))
        if is_video_id(entry.get("id"))
    }
    tab = list_id.partition("/")[2]
    if tab and not str(raw.get("webpage_url")).endswith(f"/{tab}"):
        raise no_tab()  # yt-dlp takes a tab without a title for the one that was asked for
    ids = tuple(entry for entry, name in entries.items() if name not in _HIDDEN)
    skipped = {entry: _HIDDEN[name] for entry, name in entries.items() if name in _HIDDEN}
    title = clean(raw.get("title"), 500).removeprefix("Uploads from ")
    titles = {entry: "" if entry in skipped else name for entry, name in entries.items()}
    return Listing(list_id, title, ids, skipped, titles)


class _GuardedRH(RequestsRH):  # yt-dlp requires a name that ends in RH
    """Send requests as yt-dlp does, with its TLS settings, behind the guard."""

    _contexts: ClassVar[dict[tuple[Any, ...], Any]] = {}  # of TLS, by their settings

    def __init__(
        self, *, inner: BaseAdapter | None, options: Options, trace: RequestTrace, **settings: Any
    ) -> None:
        super().__init__(**settings)
        self._wrap: Callable[[HTTPAdapter], Guard] = lambda own: Guard(
            inner or connect_publicly(own), options, trace
        )

    def _make_sslcontext(self, legacy_ssl_support: Any = None) -> Any:
        # Each reads the certificates of all authorities, which takes longer than to read a page.
        settings = (self.verify, self.legacy_ssl_support, self.prefer_system_certs)
        key = (legacy_ssl_support, *settings, *self._client_cert.items())
        if key not in self._contexts:
            self._contexts[key] = super()._make_sslcontext(legacy_ssl_support)
        return self._contexts[key]

    def _create_instance(self, cookiejar: Any, legacy_ssl_support: Any = None) -> Any:
        session = super()._create_instance(cookiejar, legacy_ssl_support)
        guard = self._wrap(session.get_adapter("https://"))
        session.mount("https://", guard)
        session.mount("http://", guard)
        return session


class GuardedClient(YoutubeDL):
    """yt-dlp with the guarded request handler only."""

    def __init__(self, params: Mapping[str, Any], *, handler: Any) -> None:
        self._handler = handler
        super().__init__(dict(params))

    def build_request_director(self, handlers: Any, preferences: Any = None) -> Any:
        return super().build_request_director([self._handler], [])


class WarningLog:
    """Collect yt-dlp's warnings. Log nothing: messages can contain the proxy's password."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def debug(self, message: str) -> None: ...

    def warning(self, message: str, **_: object) -> None:
        self.texts.append(str(message))

    error = warning


@contextmanager
def client(
    options: Options, inner: BaseAdapter | None, trace: RequestTrace, log: WarningLog, **more: Any
) -> Iterator[GuardedClient]:
    """Give yt-dlp behind the guard, with ``more`` of its parameters."""
    handler = functools.partial(_GuardedRH, inner=inner, options=options, trace=trace)
    handler.RH_KEY = _GuardedRH.RH_KEY  # type: ignore[attr-defined]
    params = {
        "skip_download": True,
        "ignore_no_formats_error": True,  # captions are wanted even without a playable film
        "noplaylist": True,
        "cachedir": False,
        "socket_timeout": options.timeout,
        "extractor_retries": 1,
        "writesubtitles": True,  # without these two, withheld captions look like none
        "writeautomaticsub": True,
        "logger": log,
        "color": "never",
        "js_runtimes": {},  # captions need no JavaScript, and a server must not run fetched code
        "allowed_extractors": ["youtube", "youtube:tab", "youtube:playlist"],
        "extractor_args": {
            "youtube": {
                "player_client": ["default"],
                "skip": ["hls", "dash", *([] if options.allow_translated else ["translated_subs"])],
            }
        },
        "proxy": options.proxy_url or None,
        **more,
    }
    with GuardedClient(params, handler=handler) as asking:
        yield asking


def extract(
    client: GuardedClient, address: str, log: WarningLog, *, download: bool = False
) -> dict[str, Any] | None:
    """Return what yt-dlp finds out, None if it fails. Raises only what a progress hook raises."""
    try:
        raw = client.extract_info(address, download=download)
    except errors.KnowledgeBaseError:
        raise
    except YoutubeDLError as error:
        log.texts.append(str(error))
    except Exception as error:  # noqa: BLE001  yt-dlp raises anything on unforeseen answers
        log.texts.append(type(error).__name__)
    else:
        return raw if isinstance(raw, dict) else None
    return None


def _list(address: str, items: str, options: Options, inner: BaseAdapter | None) -> dict[str, Any]:
    log, trace = WarningLog(), RequestTrace()
    more = {"extract_flat": "in_playlist", "playlist_items": items, "noplaylist": False}
    with client(options, inner, trace, log, **more) as asking:
        raw = extract(asking, address, log)
    if raw is None:
        raise explain(trace, log.texts, is_list=True) or changed()
    if raw.get("_type") != "playlist":
        raise errors.InvalidUrl("This address does not lead to a list of videos.")
    return raw


def _flat(entries: Any) -> Iterator[dict[str, Any]]:
    for entry in entries or ():
        if isinstance(entry, dict):
            yield from _flat(entry["entries"]) if "entries" in entry else (entry,)
