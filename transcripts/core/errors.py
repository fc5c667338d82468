"""All expected errors: one class per cause.

An error has a stable ``code``, a message that says what happened and a hint that says what to do.
``kbsite.errors`` maps the *family* (``InvalidInput``, ``NotFound``, …) to HTTP statuses and exit
codes; nothing else looks at it.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from typing import ClassVar

from transcripts.core.sanitize import redact

logger = logging.getLogger(__name__)


class Retry(StrEnum):
    """When work that failed is tried again; ``transcripts.core.work.models`` has the pauses."""

    NEVER = "never"
    ONCE = "once"
    NETWORK = "network"  # three attempts with growing pauses
    RESTART = "restart"  # soon: what ended is there again in seconds
    SERVER = "server"  # until it answers, with growing pauses
    SPACE = "space"  # every few seconds: somebody has to free space on a disk
    SETTINGS = "settings"  # now and then: somebody has to change the settings
    COOL_DOWN = "cool_down"  # the queue waits; alone: three attempts, growing pauses
    RECEIVER = "receiver"  # ten attempts within two days
    LATER = "later"  # after an hour, six hours and a day: the state of a video changes slowly
    AT_TIME = "at_time"  # at the error's ``retry_at``; as LATER if that is unknown
    UNEXPECTED = "unexpected"  # three attempts with growing pauses


class KnowledgeBaseError(Exception):
    """Base of all expected errors. Unexpected errors are never wrapped in it.

    Neither message nor hint quotes a secret of an address.
    """

    code: ClassVar[str] = "error"
    default_message: ClassVar[str] = ""
    default_hint: ClassVar[str] = ""
    retry: ClassVar[Retry] = Retry.NEVER
    retry_after: int | None = None  # seconds, after which a caller may try again

    def __init__(self, message: str = "", *, hint: str | None = None) -> None:
        self.message = redact(message or self.default_message)
        super().__init__(self.message)
        self.hint = redact(self.default_hint if hint is None else hint)

    @property
    def text(self) -> str:
        """The message and the hint."""
        return f"{self.message} {self.hint}".strip()

    def problem(self) -> dict[str, str]:
        """Return what every door says of it, with the names of problem details (RFC 9457)."""
        return {"code": self.code, "detail": self.message, "hint": self.hint}


class UnexpectedError(KnowledgeBaseError):
    """An unexpected error; its details are only in the log."""

    code = "internal_error"
    default_message = "Something unexpected went wrong."
    default_hint = "Try again; the server's log has the details."


class ProcessKilled(KnowledgeBaseError):
    """Long work is given up: it may be what kills its processes."""

    code = "process_killed"
    default_message = "Every process that worked on this was killed."
    default_hint = "It may be too large for this machine; the server's log may say why."


class InvalidInput(KnowledgeBaseError):
    """The input cannot be used. Sending it again does not help."""

    code = "invalid_input"
    complaints: tuple[tuple[str, str], ...] = ()  # field, such as segments.0.text, and sentence


class NotFound(KnowledgeBaseError):
    """The object does not exist, or the caller may not see it; the two are never distinguished."""

    code = "not_found"


class Forbidden(KnowledgeBaseError):
    """The caller may see the object but not change it in this way."""

    code = "forbidden"


class Conflict(KnowledgeBaseError):
    """The current state does not allow the request."""

    code = "conflict"


class TooLarge(InvalidInput):
    """The input exceeds the limit given in the message."""

    code = "too_large"


class Throttled(KnowledgeBaseError):
    """Too many requests in too short a time."""

    code = "throttled"

    def __init__(
        self, message: str, *, hint: str | None = None, retry_after: int | None = None
    ) -> None:
        super().__init__(message, hint=hint)
        self.retry_after = retry_after


class Unavailable(KnowledgeBaseError):
    """A service that this server depends on cannot be used now."""

    code = "unavailable"


class DatabaseLost(Unavailable):
    """The database stopped or restarted during the work."""

    code = "database_lost"
    default_message = "The database was out of reach."
    default_hint = (
        "Nothing is lost. Try again in a few seconds; if the problem persists, `kb doctor` says "
        "why."
    )
    retry = Retry.RESTART


class NotSignedIn(KnowledgeBaseError):
    """The request has no valid session or token."""

    code = "not_signed_in"
    default_hint = "Sign in, or send a token created with `kb token create`."


class VideoNotFound(NotFound):
    """No visible video has this id."""

    code = "video_not_found"


class TranscriptNotFound(NotFound):
    """The video has no transcript, or none in this language."""

    code = "transcript_not_found"


class ChunkNotFound(NotFound):
    """The index of a time chunk lies outside the transcript."""

    code = "chunk_not_found"


class CollectionNotFound(NotFound):
    """No visible collection has this name."""

    code = "collection_not_found"


class JobNotFound(NotFound):
    """No visible job has this id."""

    code = "job_not_found"


class InvalidTime(InvalidInput):
    """A time or time range cannot be parsed."""

    code = "invalid_time"


class InvalidCursor(InvalidInput):
    """The page cursor was not issued by this server, or belongs to another query."""

    code = "invalid_cursor"


class EmptyQuery(InvalidInput):
    """The query is empty."""

    code = "empty_query"


class InvalidUrl(InvalidInput):
    """The address is not that of a YouTube video, playlist or channel."""

    code = "invalid_url"


class NotYouTube(InvalidUrl):
    """The address leads to another site than YouTube."""


class MediaNotFound(NotFound):
    """The recording has no audio or video file."""

    code = "media_not_found"


class MediaTooLarge(TooLarge):
    """The audio or video file is above the size limit."""

    code = "media_too_large"
    default_hint = "Make it smaller, or raise MAX_MEDIA_BYTES."


class MediaWithoutCaptions(InvalidInput):
    """The audio or video file has no captions, and nobody asked to listen to it."""

    code = "media_without_captions"
    default_hint = (
        "Have it listened to, as `kb add --listen` does, or add it with captions of the same name,"
        " such as talk.mp3 and talk.vtt."
    )


# YouTube


class YouTubeError(KnowledgeBaseError):
    """YouTube did not return what was requested."""

    code = "youtube_error"
    default_hint = "Upload a caption file, or let the browser extension send the captions."


class Blocked(YouTubeError):
    """YouTube treats this server as a bot."""

    code = "blocked"
    retry = Retry.COOL_DOWN
    default_hint = "Set PROXY_URL to another address, or let the browser extension send captions."


class RateLimited(Blocked):
    """YouTube answered 429, or asked to try again later."""

    code = "rate_limited"


class Refused(Blocked):
    """YouTube refused the request (403)."""

    code = "refused"


class PoTokenRequired(YouTubeError):
    """Captions exist, but YouTube serves them only to its own player."""

    code = "po_token"


class NoCaptions(YouTubeError):
    """YouTube plays the video, and lists no captions for it."""

    code, length = "no_captions", 0  # of the video, in ms


class LanguageMissing(YouTubeError):
    """Captions exist, but not in this language; ``available`` lists the language codes."""

    code = "language_missing"

    def __init__(self, message: str, *, available: tuple[str, ...]) -> None:
        super().__init__(
            message,
            hint=f"Available: {', '.join(available)}. Ask for one of these, or for a machine"
            " translation (`kb add --translated`).",
        )
        self.available = available


class AgeRestricted(YouTubeError):
    """YouTube requires sign-in with an adult's account."""

    code = "age_restricted"


class PrivateVideo(YouTubeError):
    """The video or playlist is private."""

    code = "private_video"


class MembersOnly(YouTubeError):
    """The video is only for members of the channel or subscribers, or must be bought."""

    code = "members_only"


class GeoBlocked(YouTubeError):
    """The video is not available in this server's country."""

    code = "geo_blocked"
    default_hint = "Set PROXY_URL to a proxy in a country where it is shown, or upload captions."


class VideoRemoved(YouTubeError):
    """The video, playlist, channel or tab was deleted or never existed."""

    code = "removed"


class Premiere(YouTubeError):
    """The video is not published yet; ``retry_at``, if known, is its start in epoch seconds."""

    code = "premiere"
    retry = Retry.AT_TIME
    default_hint = "It is fetched automatically once it is published."

    def __init__(self, message: str, *, retry_at: int | None = None) -> None:
        super().__init__(message)
        self.retry_at = retry_at


class NetworkProblem(YouTubeError):
    """YouTube did not respond, or sent a broken response or a server error."""

    code = "network"
    retry = Retry.NETWORK
    default_hint = "Check the network connection and PROXY_URL."


class YouTubeChanged(YouTubeError):
    """YouTube sent a response that the libraries cannot parse."""

    code = "youtube_changed"
    retry = Retry.ONCE
    default_hint = "Upgrade yt-dlp and youtube-transcript-api, or upload captions."


class HostRefused(YouTubeError):
    """A response pointed to a host outside YouTube and was not followed."""

    code = "host_refused"


class ResponseTooLarge(YouTubeError):
    """A response exceeded the size limit and was cut off."""

    code = "response_too_large"


class GateClosed(YouTubeError):
    """The YouTube queue is paused until ``retry_at`` (seconds since the epoch)."""

    code = "gate_closed"
    retry = Retry.AT_TIME
    default_hint = "Wait, set PROXY_URL, or upload captions."

    def __init__(self, message: str, *, retry_at: int) -> None:
        super().__init__(message)
        self.retry_at = retry_at


def rebuilt(code: str, message: str, hint: str) -> KnowledgeBaseError:
    """Rebuild an error of which a row or an answer has only the texts."""
    error = KnowledgeBaseError.__new__(classes().get(code, KnowledgeBaseError))
    KnowledgeBaseError.__init__(error, message, hint=hint)
    return error


def classes() -> dict[str, type[KnowledgeBaseError]]:
    """Return the classes of errors that are loaded, by their codes; of several, the widest."""
    kinds: dict[str, type[KnowledgeBaseError]] = {}
    pending: list[type[KnowledgeBaseError]] = [KnowledgeBaseError]
    for kind in pending:  # which grows
        if issubclass(kinds.setdefault(kind.code, kind), kind):
            kinds[kind.code] = kind
        pending += kind.__subclasses__()
    return kinds


@contextmanager
def told_as(
    kind: type[KnowledgeBaseError], message: str, *, hint: str | None = None
) -> Iterator[None]:
    """Raise an expected error instead of an unexpected one, whose traceback goes to the log.

    ``OSError`` passes: it is about the machine, such as a full disk, and the file may be read
    later. Decorates functions, too; in a generator, it has to be a block.
    """
    try:
        yield
    except (KnowledgeBaseError, OSError):
        raise
    except Exception as error:
        logger.exception("%s", message)
        raise kind(message, hint=hint) from error
