"""The responses of YouTube in one attempt."""

from dataclasses import dataclass, field

from transcripts.errors import YouTubeError


@dataclass(slots=True)
class RequestTrace:
    """The responses of one attempt, more reliable than the messages of a library's errors."""

    statuses: list[tuple[str, int]] = field(default_factory=list)  # (path, HTTP status)
    refusal: YouTubeError | None = None
    failed: bool = False  # no answer: unreachable, reset, too slow
    captcha: bool = False

    def saw(self, status: int, *, path: str = "") -> bool:
        """Return whether this status came, from a path with this prefix."""
        return any(code == status and asked.startswith(path) for asked, code in self.statuses)

    def server_error(self) -> bool:
        return any(code >= 500 for _, code in self.statuses)
