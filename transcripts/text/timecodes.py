"""Clock times, and YouTube's ids and addresses.

An address is parsed here and rebuilt from its id: what a person typed is never requested.
"""

import re
from dataclasses import dataclass
from typing import Literal, TypeGuard, overload
from urllib.parse import SplitResult, parse_qsl, quote, unquote, urlsplit

from transcripts.core.errors import InvalidTime, InvalidUrl, NotYouTube

Kind = Literal["video", "playlist", "channel"]

MAX_SECONDS = 72 * 3600  # no video is longer; a later start in an address is ignored
_MAX_ADDRESS = 2048
_SITES = frozenset({f"{prefix}youtube.com" for prefix in ("", "www.", "m.", "music.", "gaming.")})
_EMBEDS = frozenset(
    f"{prefix}{name}.com" for prefix in ("", "www.") for name in ("youtube-nocookie", "youtubekids")
)
_SHORT = frozenset({"youtu.be", "www.youtu.be"})

_VIDEO = re.compile(r"[A-Za-z0-9_-]{11}")
_CHANNEL = re.compile(r"UC[A-Za-z0-9_-]{22}")
_HANDLE = re.compile(r"@[\w.·-]{1,90}")
_TABS = frozenset({"videos", "shorts", "streams"})  # of a channel, which list videos
_PLAYLIST = re.compile(r"(?:PL|UU|FL|EC|PU|OLAK5uy_)[A-Za-z0-9_-]{10,62}")
# Watch later, liked videos and mixes belong to the signed-in person: others get another list.
_PERSONAL = re.compile(r"WL|LL|LM|LL[A-Za-z0-9_-]{22}|(?:RD|UL)[A-Za-z0-9_-]*")

_COLONS = re.compile(
    r"(?:(?P<h>[0-9]{1,4}):)?(?P<m>[0-9]{1,5}):(?P<s>[0-9]{1,2}(?:[.,][0-9]{1,9})?)"
)
_UNITS = re.compile(
    r"(?:(?P<h>[0-9]{1,4})h)?(?:(?P<m>[0-9]{1,5})m)?(?:(?P<s>[0-9]{1,7}(?:[.,][0-9]{1,9})?)s?)?"
)


@dataclass(frozen=True, slots=True)
class Target:
    """What an address names: ``id`` of a video, playlist, ``UC…`` or ``@handle``; ``start`` (s).

    The id of one tab of a channel ends in its name: ``@handle/shorts``.
    """

    kind: Kind
    id: str
    start: int | None = None


def clock(ms: int) -> str:
    """Format milliseconds as ``0:05``, ``12:34`` or ``1:02:03``, truncated; negative ones as 0."""
    hours, minutes, seconds = _parts(ms)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


def spoken_length(ms: int) -> str:
    """Write milliseconds as ``40 s``, ``12 min`` or ``1 h 5 min``, truncated as ``clock`` does."""
    hours, minutes, seconds = _parts(ms)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min" if minutes else f"{seconds} s"


def _parts(ms: int) -> tuple[int, int, int]:
    """Return hours, minutes and seconds, truncated; negative ones as 0."""
    minutes, seconds = divmod(max(ms, 0) // 1000, 60)
    return *divmod(minutes, 60), seconds


@overload
def seconds(ms: int) -> float: ...


@overload
def seconds(ms: int | None) -> float | None: ...


def seconds(ms: int | None) -> float | None:
    """Convert milliseconds, as times are stored, to seconds, as every door shows them."""
    return None if ms is None else ms / 1000


@overload
def milliseconds(time: float) -> int: ...


@overload
def milliseconds(time: float | None) -> int | None: ...


def milliseconds(time: float | None) -> int | None:
    """Convert seconds to whole milliseconds."""
    return None if time is None else round(time * 1000)


def parse_clock(text: str) -> float:
    """Parse ``1:02:03``, ``12:34.5``, ``90``, ``90s`` or ``1h2m3s`` as seconds.

    Raises ``InvalidTime`` for anything else, and for minutes or seconds above 59 after a colon.
    """
    written = text.strip().lower()
    match = _COLONS.fullmatch(written) or _UNITS.fullmatch(written)
    if not written or match is None:
        raise InvalidTime(
            f"“{_shown(text)}” is not a time.", hint="Write 12:34, 1:02:03, 90 (seconds) or 1h2m3s."
        )
    hours, minutes, seconds = (float((match[name] or "0").replace(",", ".")) for name in "hms")
    if ":" in written and (seconds >= 60 or (match["h"] and minutes >= 60)):
        raise InvalidTime(
            f"“{_shown(text)}” is not a time: minutes and seconds end at 59.",
            hint="Write 12:34 or 1:02:03.",
        )
    return hours * 3600 + minutes * 60 + seconds


def is_video_id(text: object) -> TypeGuard[str]:
    """Return whether this has the form of a video id: 11 letters, digits, ``-`` and ``_``."""
    return isinstance(text, str) and _VIDEO.fullmatch(text) is not None


def parse_target(text: str) -> Target:
    """Parse a YouTube address or a bare id (video, ``UC…``, ``@handle``, a tab, playlist).

    Raises ``InvalidUrl``, whose message names the problem; ``NotYouTube`` for another site.
    """
    written = text.strip()
    _refuse_tricks(written)
    if is_video_id(written):
        return Target("video", written)
    name, _, tab = written.partition("/")
    if _CHANNEL.fullmatch(name) or _HANDLE.fullmatch(name):
        return _channel(name, tab)
    if _PLAYLIST.fullmatch(written):
        return Target("playlist", written)
    return _address(_split(written))


def parse_web_page(text: str) -> str:
    """Return the address of a page outside YouTube, in ASCII and without its fragment.

    It has to begin with ``https://`` or ``http://``; so a forgotten file is no page. Raises
    ``InvalidUrl``.
    """
    written = text.strip()
    _refuse_tricks(written)
    parts = _split(written)
    if "://" not in written or not parts.hostname:
        raise InvalidUrl(f"“{_shown(written)}” is not the address of a web page.")
    try:
        host = parts.netloc.encode("idna").decode()
    except UnicodeError:
        raise InvalidUrl(f"“{_shown(written)}” is not an address.") from None
    address = parts._replace(netloc=host, path=_ascii(parts.path or "/"), fragment="")
    page = address._replace(query=_ascii(parts.query)).geturl()
    if len(page) > _MAX_ADDRESS:
        raise InvalidUrl(f"The address is longer than {_MAX_ADDRESS} characters.")
    return page


def _ascii(part: str) -> str:
    return quote(part, safe="!$%&'(),/:;=?@[]~+*")


def watch_url(video_id: str, *, at_ms: int | None = None) -> str:
    """Return the address of a video, at a time (truncated to seconds) if given."""
    moment = "" if at_ms is None else f"&t={max(at_ms, 0) // 1000}s"
    return f"https://www.youtube.com/watch?v={video_id}{moment}"


def target_url(target: Target) -> str:
    """Return the canonical address of a target."""
    if target.kind == "video":
        return watch_url(target.id, at_ms=None if target.start is None else target.start * 1000)
    if target.kind == "playlist":
        return f"https://www.youtube.com/playlist?list={target.id}"
    path = quote(target.id, safe="@/") if target.id.startswith("@") else f"channel/{target.id}"
    return f"https://www.youtube.com/{path}"


def _refuse_tricks(written: str) -> None:
    if not written:
        raise InvalidUrl(
            "The address is empty.", hint="Paste the address of a video, playlist or channel."
        )
    if len(written) > _MAX_ADDRESS:
        raise InvalidUrl(f"The address is longer than {_MAX_ADDRESS} characters.")
    # Browsers and libraries disagree on these characters, and so on the host of such an address.
    if "\\" in written or not written.isprintable() or any(mark.isspace() for mark in written):
        raise InvalidUrl(
            "The address contains a blank, a backslash or a control character.",
            hint="Paste one address only.",
        )


def _split(written: str) -> SplitResult:
    spelled = written if "://" in written else f"https://{written}"
    try:
        parts = urlsplit(spelled)
        port = parts.port
    except ValueError:
        raise InvalidUrl(f"“{_shown(written)}” is not an address.") from None
    if parts.scheme not in {"http", "https"}:
        raise InvalidUrl(
            f"The address begins with “{_shown(parts.scheme)}:”; only http and https are supported."
        )
    if "@" in parts.netloc:
        raise InvalidUrl("The address contains a user name.", hint="Leave it out.")
    if port not in {None, 80, 443}:
        raise InvalidUrl(f"The address names port {port}; only 80 and 443 are used.")
    return parts


def _address(parts: SplitResult) -> Target:
    host = (parts.hostname or "").lower()
    segments = [unquote(segment) for segment in parts.path.split("/") if segment]
    query = _query(parts.query)
    if host in _SHORT:
        return _video(segments[0] if len(segments) == 1 else "", query, parts.fragment)
    if host in _SITES | _EMBEDS:
        return _page(segments or [""], query, parts.fragment)
    raise NotYouTube(
        f"“{_shown(host or parts.path)}” is not YouTube.",
        hint="Paste a youtube.com or youtu.be address, or upload a file.",
    )


def _page(segments: list[str], query: dict[str, str], fragment: str) -> Target:
    first, second = segments[0], segments[1] if len(segments) > 1 else ""
    if (
        first == "playlist"
        or (first, second) == ("embed", "videoseries")
        or (first == "watch" and "v" not in query and "list" in query)
    ):
        return _playlist(query.get("list", ""))
    if first == "watch":
        return _video(query.get("v", ""), query, fragment)
    if first in {"shorts", "live", "embed", "v"}:
        return _video(second, query, fragment)
    return _channel(*(segments[1:3] if first == "channel" else segments[:2]))


def _video(video_id: str, query: dict[str, str], fragment: str) -> Target:
    if not is_video_id(video_id):
        raise InvalidUrl(
            "The address names no video: an id of 11 letters, digits, - and _ is missing."
        )
    return Target("video", video_id, start=_start(query, fragment))


def _playlist(playlist_id: str) -> Target:
    if _PERSONAL.fullmatch(playlist_id):
        raise InvalidUrl(
            "This list (watch later, liked videos or a mix) is made for one signed-in person.",
            hint="Copy its videos into a public playlist.",
        )
    if not _PLAYLIST.fullmatch(playlist_id):
        raise InvalidUrl("The address names no playlist: its list= is missing or malformed.")
    return Target("playlist", playlist_id)


def _channel(name: str = "", tab: str = "") -> Target:
    if not (_CHANNEL.fullmatch(name) or _HANDLE.fullmatch(name)):
        raise InvalidUrl(
            "The address names no video, playlist or channel.",
            hint="Open the video, or the channel's page with @ in its address, and copy that"
            " address.",
        )
    if tab not in {"", "featured", *_TABS}:
        raise InvalidUrl(
            f"The tab “{_shown(tab)}” of a channel is no list of videos that can be followed.",
            hint="Open the video or playlist that you want and copy its address, or that of the"
            " channel, of its videos, its shorts or its streams.",
        )
    return Target("channel", f"{name}/{tab}" if tab in _TABS else name)


def _query(text: str) -> dict[str, str]:
    query: dict[str, str] = {}
    try:
        # "&amp;" comes from addresses copied out of a page's source
        pairs = parse_qsl(text.replace("&amp;", "&"), max_num_fields=100)
    except ValueError:
        raise InvalidUrl("The address has too many parameters.") from None
    for name, value in pairs:
        if query.setdefault(name, value) != value and name in {"v", "list"}:
            raise InvalidUrl(
                f"The address names two different {name}= at once.", hint="Paste one address only."
            )
    return query


def _start(query: dict[str, str], fragment: str) -> int | None:
    marked = fragment[2:] if fragment.startswith("t=") else ""
    try:
        seconds = int(parse_clock(query.get("t") or query.get("start") or marked))
    except InvalidTime:
        return None  # a broken time must not hide the video
    return seconds if seconds <= MAX_SECONDS else None


def _shown(text: str) -> str:
    return text if len(text) <= 80 else f"{text[:79]}…"
