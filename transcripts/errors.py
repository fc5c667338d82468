"""Every failure a person or a program may expect, one class a cause.

A cause carries a stable ``code``, a message that says what happened and a hint that says what to try. Interfaces translate the *family*
(``InvalidInput``, ``NotFound``, …) to their own status once, in ``kbsite.errors``; nothing else looks at it.
"""

from enum import StrEnum
from typing import ClassVar


class Retry(StrEnum):
    """When work that failed is tried again; ``transcripts.work.retry`` has the pauses."""

    NEVER = "never"
    ONCE = "once"
    NETWORK = "network"  # three attempts with growing pauses
    SERVER = "server"  # until it answers, with growing pauses
    SETTINGS = "settings"  # now and then: somebody has to change the settings
    COOL_DOWN = "cool_down"  # the whole queue waits: YouTube refuses this address
    AT_TIME = "at_time"  # at the error's ``retry_at``
    UNEXPECTED = "unexpected"  # three attempts with growing pauses


class KnowledgeBaseError(Exception):
    """Base of all expected errors; unexpected ones are never wrapped in it."""

    code: ClassVar[str] = "error"
    default_hint: ClassVar[str] = ""
    retry: ClassVar[Retry] = Retry.NEVER

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = self.default_hint if hint is None else hint


# Families: what kind of failure it is, whatever the cause.


class InvalidInput(KnowledgeBaseError):
    """What was sent cannot be used; sending it again will not help."""

    code = "invalid_input"


class NotFound(KnowledgeBaseError):
    """It does not exist, or lies outside what the caller may see; the two are never told apart."""

    code = "not_found"


class Forbidden(KnowledgeBaseError):
    """The caller may see it, but not do this to it."""

    code = "forbidden"


class Conflict(KnowledgeBaseError):
    """The present state does not allow it."""

    code = "conflict"


class TooLarge(InvalidInput):
    """Larger than the limit that the message names."""

    code = "too_large"


class Throttled(KnowledgeBaseError):
    """Too many calls in too short a time."""

    code = "throttled"


class Unavailable(KnowledgeBaseError):
    """Something this server depends on cannot be used now."""

    code = "unavailable"


# Identity


class NotSignedIn(KnowledgeBaseError):
    """No valid session or token came with the request."""

    code = "not_signed_in"
    default_hint = "Sign in, or send a token made with `kb token create`."


# Looking things up


class VideoNotFound(NotFound):
    """No video of that id in the collections the caller may see."""

    code = "video_not_found"


class TranscriptNotFound(NotFound):
    """The video is there, but has no (such) transcript."""

    code = "transcript_not_found"


class ChunkNotFound(NotFound):
    """The chunk index lies outside the transcript."""

    code = "chunk_not_found"


class CollectionNotFound(NotFound):
    """No collection of that name among those the caller may see."""

    code = "collection_not_found"


class JobNotFound(NotFound):
    """No job of that id in the collections the caller may see."""

    code = "job_not_found"


# Questions


class InvalidTime(InvalidInput):
    """A time, or a range of times, that cannot be understood."""

    code = "invalid_time"


class InvalidCursor(InvalidInput):
    """A page cursor that was not made by this server, or for another question."""

    code = "invalid_cursor"


class EmptyQuery(InvalidInput):
    """A search for nothing."""

    code = "empty_query"


class InvalidUrl(InvalidInput):
    """Not an address of a YouTube video, playlist or channel."""

    code = "invalid_url"


# Caption files


class CaptionError(InvalidInput):
    """A caption file that cannot be read."""

    code = "bad_captions"


class EmptyCaptions(CaptionError):
    """No bytes, or nothing spoken in them."""

    code = "empty"


class UnknownFormat(CaptionError):
    """None of the known caption formats."""

    code = "unknown_format"


class BadEncoding(CaptionError):
    """Bytes that are text in no encoding that captions come in."""

    code = "bad_encoding"


class LiveChat(CaptionError):
    """The chat of a live stream, which is not what was said."""

    code = "live_chat"


class HtmlPage(CaptionError):
    """A web page under the name of a caption file."""

    code = "html_page"


class BadJson(CaptionError):
    """JSON that is broken, too deep, or not captions."""

    code = "bad_json"


class BadXml(CaptionError):
    """XML that is broken, hostile, or not captions."""

    code = "bad_xml"


class CaptionsTooLarge(CaptionError, TooLarge):
    """A caption file beyond the size limit."""

    code = "too_large"


# YouTube


class YouTubeError(KnowledgeBaseError):
    """YouTube did not give what was asked for."""

    code = "youtube_error"
    default_hint = "Upload a caption file, or paste the transcript panel, instead."


class Blocked(YouTubeError):
    """YouTube takes this server for a bot."""

    code = "blocked"
    retry = Retry.COOL_DOWN
    default_hint = (
        "The queue pauses and tries again by itself. Set PROXY_URL, or upload captions instead."
    )


class RateLimited(Blocked):
    """YouTube answered 429, or asked to try again later."""

    code = "rate_limited"


class Refused(Blocked):
    """YouTube refused the request (403)."""

    code = "refused"


class PoTokenRequired(YouTubeError):
    """Captions exist, but YouTube gives them only to its own player."""

    code = "po_token"


class NoCaptions(YouTubeError):
    """The video has no captions."""

    code = "no_captions"


class LanguageMissing(YouTubeError):
    """There are captions, but not in the language asked for; ``available`` lists the language codes."""

    code = "language_missing"

    def __init__(
        self, message: str, *, available: tuple[str, ...] = (), hint: str | None = None
    ) -> None:
        super().__init__(
            message,
            hint=hint
            if hint is not None
            else f"Available: {', '.join(available)}. Ask for one of these.",
        )
        self.available = available


class AgeRestricted(YouTubeError):
    """YouTube wants a signed-in adult."""

    code = "age_restricted"


class PrivateVideo(YouTubeError):
    """Only its owner may see it."""

    code = "private_video"


class MembersOnly(YouTubeError):
    """Only the channel's members may see it."""

    code = "members_only"


class GeoBlocked(YouTubeError):
    """Not available in this server's country."""

    code = "geo_blocked"
    default_hint = "Set PROXY_URL to a proxy in a country where it is shown, or upload captions."


class VideoRemoved(YouTubeError):
    """Deleted, or never there."""

    code = "removed"


class Premiere(YouTubeError):
    """Not shown yet; ``retry_at`` is the start in seconds since the epoch, when known."""

    code = "premiere"
    retry = Retry.AT_TIME
    default_hint = "It is fetched by itself once it has been shown."

    def __init__(
        self, message: str, *, retry_at: int | None = None, hint: str | None = None
    ) -> None:
        super().__init__(message, hint=hint)
        self.retry_at = retry_at


class NetworkProblem(YouTubeError):
    """No answer, a broken one, or a server error."""

    code = "network"
    retry = Retry.NETWORK
    default_hint = "Check this machine's connection and PROXY_URL; it is tried again by itself."


class YouTubeChanged(YouTubeError):
    """An answer that the libraries no longer understand."""

    code = "youtube_changed"
    retry = Retry.ONCE
    default_hint = "Upgrade yt-dlp and youtube-transcript-api, or upload captions."


class HostRefused(YouTubeError):
    """An answer pointed outside YouTube's hosts and was not followed."""

    code = "host_refused"


class ResponseTooLarge(YouTubeError):
    """An answer beyond the size cap was cut off."""

    code = "response_too_large"


class GateClosed(YouTubeError):
    """The queue to YouTube is pausing; ``retry_at`` (seconds since the epoch) says until when."""

    code = "gate_closed"
    retry = Retry.AT_TIME
    default_hint = "Wait, set PROXY_URL, or upload captions."

    def __init__(self, message: str, *, retry_at: int, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.retry_at = retry_at
