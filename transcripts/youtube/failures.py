"""Why YouTube gave nothing: from statuses and wordings to one typed error, the most telling sign first."""

import re
from collections.abc import Callable, Iterable

from transcripts.errors import (
    AgeRestricted,
    Blocked,
    GeoBlocked,
    MembersOnly,
    NetworkProblem,
    PoTokenRequired,
    Premiere,
    PrivateVideo,
    RateLimited,
    Refused,
    VideoRemoved,
    YouTubeChanged,
    YouTubeError,
)
from transcripts.youtube.trace import RequestTrace

_Maker = Callable[[str], YouTubeError]
_CAPTIONS = "/api/timedtext"
_LONGEST_REASON = 200

# Each of these means: the whole address is refused, so stop asking.
_HEAT: tuple[tuple[re.Pattern[str], _Maker], ...] = (
    (
        re.compile(r"not a bot|captcha|unusual traffic", re.IGNORECASE),
        lambda _: Blocked("YouTube takes this server for a bot and refuses it."),
    ),
    (re.compile(r"IP is likely being blocked", re.IGNORECASE), lambda _: wrong_video()),
    (
        re.compile(r"try again later|been rate-limited", re.IGNORECASE),
        lambda _: RateLimited(
            "YouTube has limited this server for a while, often up to an hour (“try again later”)."
        ),
    ),
)
_VIDEO: tuple[tuple[re.Pattern[str], _Maker], ...] = (
    (
        re.compile(r"confirm your age|age.restricted|inappropriate for some users", re.IGNORECASE),
        lambda _: AgeRestricted(
            "YouTube shows this video only to signed-in adults, and this server does not sign in."
        ),
    ),
    (
        re.compile(
            r"members.only|join this channel|available to this channel.s members", re.IGNORECASE
        ),
        lambda _: MembersOnly("Only members of the channel may see this video."),
    ),
    (
        re.compile(r"requires payment|purchase|to rent", re.IGNORECASE),
        lambda _: MembersOnly("This video has to be bought or rented."),
    ),
    (
        re.compile(
            r"in your (?:country|location|region)|from your (?:country|location)", re.IGNORECASE
        ),
        lambda reason: GeoBlocked(f"This video is not shown in this server's country.{reason}"),
    ),
    (
        re.compile(
            r"premieres? (?:in|will)|live event will begin|(?:will )?begins? in", re.IGNORECASE
        ),
        lambda reason: Premiere(f"This video has not been shown yet.{reason}"),
    ),
    (
        re.compile(r"(?:video|playlist) is private|private (?:video|playlist)", re.IGNORECASE),
        lambda _: PrivateVideo("Only its owner may see it: it is private."),
    ),
    (
        re.compile(
            r"removed|no longer available|terminated|deleted|unavailable|does not exist|the playlist exist|isn.t available|HTTP Error 404",
            re.IGNORECASE,
        ),
        lambda reason: VideoRemoved(f"It is not on YouTube, or not any more.{reason}"),
    ),
    (
        re.compile(
            r"missing subtitles languages because a PO token|subtitles require a PO token",
            re.IGNORECASE,
        ),
        lambda _: withheld(),
    ),
    (
        re.compile(r"failed to parse JSON|unable to (?:extract|parse)", re.IGNORECASE),
        lambda _: changed(),
    ),
)


def explain(trace: RequestTrace, texts: Iterable[str]) -> YouTubeError | None:
    """Find the condition in what went over the wire and in what the library said; None if nothing tells."""
    said = [text for text in map(_cleaned, texts) if text]
    return (
        _on_the_wire(trace)
        or _matching(_HEAT, said)
        or _refused(trace)
        or _matching(_VIDEO, said)
        or _network(trace)
    )


def wrong_video() -> YouTubeError:
    """Say that the answer was for another video, which is one way of refusing."""
    return Blocked(
        "YouTube answered with another video than the one asked for, as it does to servers that it blocks."
    )


def withheld() -> YouTubeError:
    """Say that the captions are there, but kept for YouTube's own player."""
    return PoTokenRequired(
        "This video has captions, but YouTube gives them only to its own player (a “PO token” is needed)."
    )


def changed() -> YouTubeError:
    """Say that the answer made no sense to the library."""
    return YouTubeChanged("YouTube's answer could not be understood: it has probably changed.")


def _on_the_wire(trace: RequestTrace) -> YouTubeError | None:
    if trace.refusal:
        return trace.refusal
    if trace.captcha:
        return Blocked("YouTube wants a captcha solved before it answers this server.")
    if trace.saw(429, path=_CAPTIONS):
        return RateLimited(
            "YouTube answered 429 to the request for the captions: too many requests from this server."
        )
    return (
        Blocked("YouTube answered 429: it refuses this server for now.") if trace.saw(429) else None
    )


def _refused(trace: RequestTrace) -> YouTubeError | None:
    return Refused("YouTube refused the request (403).") if trace.saw(403) else None


def _network(trace: RequestTrace) -> YouTubeError | None:
    if trace.server_error():
        return NetworkProblem("YouTube answered with a server error.")
    return (
        NetworkProblem("YouTube could not be reached, or its answer broke off.")
        if trace.failed
        else None
    )


def _matching(
    table: tuple[tuple[re.Pattern[str], _Maker], ...], said: list[str]
) -> YouTubeError | None:
    for pattern, make in table:
        for text in said:
            if pattern.search(text):
                return make(f" YouTube says: “{text}”")
    return None


def _cleaned(text: str) -> str:
    """Cut a library's message down to what YouTube itself says."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", text)
    text = re.sub(
        r"^(?:ERROR: |WARNING: )?(?:\[[\w:+]+\] )?(?:[\w@-]+: )?(?:YouTube said: )?", "", text
    )
    text = re.split(
        r"\s*\(caused by| Retrying \(| Use --cookies|; please report|(?:See|refer to)\s+https",
        text,
        maxsplit=1,
    )[0]
    printable = "".join(mark if mark.isprintable() else " " for mark in text)
    return printable.replace("’", "'").strip()[:_LONGEST_REASON]
