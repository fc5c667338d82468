"""Why YouTube returned nothing: from statuses, codes and messages to one typed error."""

import re
from collections.abc import Callable, Iterable, Sequence

from transcripts.core import errors
from transcripts.youtube.values import RequestTrace, Unplayable

# What a code or a message of this pattern means; the function is given what YouTube says.
_Condition = tuple[str, Callable[[str], errors.YouTubeError]]
_CAPTIONS = "/api/timedtext"
_MAX_REASON = 200

# Each of these means that the whole address is refused: stop asking.
_HEAT: tuple[_Condition, ...] = (
    (
        r"\b(?:ro)?bot\b|captcha|unusual traffic",
        lambda _: errors.Blocked("YouTube treats this server as a bot and refuses it."),
    ),
    (r"IP is likely being blocked", lambda _: wrong_video()),
    (
        r"content isn't available, try again later|been rate-limited",
        lambda _: errors.RateLimited(
            "YouTube has limited this server for a while, often up to an hour (“try again later”)."
        ),
    ),
)
# YouTube has no codes for some of these; both libraries ask it for English.
_VIDEO: tuple[_Condition, ...] = (
    (
        r"^AGE_(?:CHECK|VERIFICATION)_REQUIRED$|^desktopLegacyAgeGateReason$"
        r"|confirm your age|age.restricted|inappropriate for some users",
        lambda _: errors.AgeRestricted(
            "YouTube shows this video only to signed-in adults, and this server does not sign in."
        ),
    ),
    (
        r"^sponsors_only_video$|members.only|join this channel|available to this channel.s members",
        lambda _: errors.MembersOnly("Only members of the channel may see this video."),
    ),
    (
        r"(?:YouTube|Music) Premium",
        lambda _: errors.MembersOnly("Only subscribers of YouTube Premium may see this video."),
    ),
    (
        r"^playerLegacyDesktopYpc(?:Offer|Trailer)Renderer$|requires payment|purchase|to rent",
        lambda _: errors.MembersOnly("This video must be bought or rented."),
    ),
    (
        r"(?:in|from) your (?:country|location|region)",
        lambda said: errors.GeoBlocked(f"This video is not shown in this server's country.{said}"),
    ),
    (
        r"^LIVE_STREAM_OFFLINE$|premieres? (?:in|will)|live event will begin|begins? in",
        lambda said: errors.Premiere(f"This video is not published yet.{said}"),
    ),
    (
        r"^isPrivate$|video is private|private video",
        lambda _: errors.PrivateVideo("The video is private."),
    ),
    (
        r"removed|no longer available|terminated|deleted|does not exist|HTTP Error 404"
        r"|^(?:this )?video (?:is )?(?:unavailable|isn't available)\.?(?: anymore\.?)?$",
        lambda said: errors.VideoRemoved(f"The video is not on YouTube, or no longer there.{said}"),
    ),
    (
        r"^LOGIN_REQUIRED$|^please sign in",
        lambda said: Unplayable(
            "YouTube shows this video only to people who are signed in, and this server does not"
            f" sign in.{said}"
        ),
    ),
    (
        r"^licenseInfos$|\bDRM\b",
        lambda said: Unplayable(
            f"YouTube plays this video only with copy protection, and lists no captions.{said}"
        ),
    ),
    (
        r"missing subtitles languages because a PO token|subtitles require a PO token",
        lambda _: withheld(),
    ),
)
_LIST: tuple[_Condition, ...] = (
    (r"private", lambda _: errors.PrivateVideo("The playlist is private.")),
    (r"does not have an? \w+ tab", lambda _: no_tab()),
    (
        r"removed|no longer available|terminated|deleted|unavailable|does not exist"
        r"|the playlist exist|isn't available|HTTP Error 404",
        lambda said: errors.VideoRemoved(
            f"The playlist or channel is not on YouTube, or no longer there.{said}"
        ),
    ),
)
_CHANGED: _Condition = (r"failed to parse JSON|unable to (?:extract|parse)", lambda _: changed())


def explain(
    trace: RequestTrace, texts: Iterable[str], *, is_list: bool = False
) -> errors.YouTubeError | None:
    """Return the error that the responses and the library's messages indicate, or None."""
    # What one player plays, it plays, whatever the others say.
    players = [player for player in trace.players if player.status == "OK"] or trace.players
    codes = {code for player in players for code in player.codes}
    reasons = list(filter(None, (_cleaned(player.reason) for player in players)))
    messages = [*reasons, *filter(None, map(_cleaned, texts))]
    if error := _on_the_wire(trace) or _matching(_HEAT, codes, messages, reasons):
        return error
    if trace.saw(403):
        return errors.Refused("YouTube refused the request (403).")
    if error := _matching((*(_LIST if is_list else _VIDEO), _CHANGED), codes, messages, reasons):
        return error
    if players and not trace.is_playable:
        said = _said([*reasons, players[0].status])
        return Unplayable(f"YouTube does not play this video, it is not known why.{said}")
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


def no_tab() -> errors.YouTubeError:
    """Return the error for a tab that a channel does not have."""
    return errors.VideoRemoved("This channel has no such tab on YouTube, or no longer.")


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
    conditions: Iterable[_Condition],
    codes: set[str],
    messages: Sequence[str],
    reasons: Sequence[str],
) -> errors.YouTubeError | None:
    for pattern, make in conditions:
        search = re.compile(pattern, re.IGNORECASE).search
        matching = [text for text in messages if search(text)]
        if matching or any(map(search, codes)):
            return make(_said(matching or reasons))
    return None


def _said(messages: Sequence[str]) -> str:
    return f" YouTube says: “{messages[0]}”" if messages else ""


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
