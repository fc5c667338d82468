"""Why YouTube returned nothing: from statuses and messages to one typed error."""

import re
from collections.abc import Callable, Iterable

from transcripts.core import errors
from transcripts.youtube.values import RequestTrace

_Maker = Callable[[str], errors.YouTubeError]
_CAPTIONS = "/api/timedtext"
_MAX_REASON = 200

# Each of these means that the whole address is refused: stop asking.
_HEAT: tuple[tuple[re.Pattern[str], _Maker], ...] = (
    (
        re.compile(r"not a bot|captcha|unusual traffic", re.IGNORECASE),
        lambda _: errors.Blocked("YouTube treats this server as a bot and refuses it."),
    ),
    (re.compile(r"IP is likely being blocked", re.IGNORECASE), lambda _: wrong_video()),
    (
        re.compile(r"try again later|been rate-limited", re.IGNORECASE),
        lambda _: errors.RateLimited(
            "YouTube has limited this server for a while, often up to an hour (“try again later”)."
        ),
    ),
)
_VIDEO: tuple[tuple[re.Pattern[str], _Maker], ...] = (
    (
        re.compile(r"confirm your age|age.restricted|inappropriate for some users", re.IGNORECASE),
        lambda _: errors.AgeRestricted(
            "YouTube shows this video only to signed-in adults, and this server does not sign in."
        ),
    ),
    (
        re.compile(
            r"members.only|join this channel|available to this channel.s members", re.IGNORECASE
        ),
        lambda _: errors.MembersOnly("Only members of the channel may see this video."),
    ),
    (
        re.compile(r"requires payment|purchase|to rent", re.IGNORECASE),
        lambda _: errors.MembersOnly("This video must be bought or rented."),
    ),
    (
        re.compile(
            r"in your (?:country|location|region)|from your (?:country|location)", re.IGNORECASE
        ),
        lambda reason: errors.GeoBlocked(
            f"This video is not shown in this server's country.{reason}"
        ),
    ),
    (
        re.compile(
            r"premieres? (?:in|will)|live event will begin|(?:will )?begins? in", re.IGNORECASE
        ),
        lambda reason: errors.Premiere(f"This video is not published yet.{reason}"),
    ),
    (
        re.compile(r"(?:video|playlist) is private|private (?:video|playlist)", re.IGNORECASE),
        lambda _: errors.PrivateVideo("The video is private."),
    ),
    (
        re.compile(
            r"removed|no longer available|terminated|deleted|unavailable|does not exist"
            r"|the playlist exist|isn.t available|HTTP Error 404",
            re.IGNORECASE,
        ),
        lambda reason: errors.VideoRemoved(
            f"The video is not on YouTube, or no longer there.{reason}"
        ),
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


def explain(trace: RequestTrace, texts: Iterable[str]) -> errors.YouTubeError | None:
    """Return the error that the responses and the library's messages indicate, or None."""
    cleaned = [text for text in map(_cleaned, texts) if text]
    if error := _on_the_wire(trace) or _matching(_HEAT, cleaned):
        return error
    if trace.saw(403):
        return errors.Refused("YouTube refused the request (403).")
    if error := _matching(_VIDEO, cleaned):
        return error
    if any(code >= 500 for _, code in trace.statuses):
        return errors.NetworkProblem("YouTube answered with a server error.")
    if trace.failed:
        return errors.NetworkProblem("YouTube could not be reached, or its answer broke off.")
    return None


def wrong_video() -> errors.YouTubeError:
    """Return the error for an answer about another video, which is a way of refusing."""
    return errors.Blocked(
        "YouTube answered with another video, as it does to servers that it blocks."
    )


def withheld() -> errors.YouTubeError:
    """Return the error for captions that only YouTube's own player gets."""
    return errors.PoTokenRequired(
        "YouTube serves the captions of this video only to its own player (PO token required)."
    )


def changed() -> errors.YouTubeError:
    """Return the error for an answer that the library cannot parse."""
    return errors.YouTubeChanged("YouTube's answer cannot be parsed: YouTube has probably changed.")


def _on_the_wire(trace: RequestTrace) -> errors.YouTubeError | None:
    if trace.refusal:
        return trace.refusal
    if trace.captcha:
        return errors.Blocked("YouTube requires a captcha before it answers this server.")
    if trace.saw(429, path=_CAPTIONS):
        return errors.RateLimited(
            "YouTube answered 429 to the request for captions: too many requests."
        )
    if trace.saw(429):
        return errors.Blocked("YouTube answered 429: it refuses this server for now.")
    return None


def _matching(
    table: tuple[tuple[re.Pattern[str], _Maker], ...], messages: list[str]
) -> errors.YouTubeError | None:
    for pattern, make in table:
        for text in messages:
            if pattern.search(text):
                return make(f" YouTube says: “{text}”")
    return None


def _cleaned(text: str) -> str:
    """Reduce a library's message to what YouTube itself says."""
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
    return printable.replace("’", "'").strip()[:_MAX_REASON]
