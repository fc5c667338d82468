"""What went over the wire to YouTube."""

from dataclasses import dataclass, field

from transcripts.errors import YouTubeError


@dataclass(slots=True)
class RequestTrace:
    """What went over the wire in one attempt. It tells more, and more reliably, than the wording of a library's errors."""

    statuses: list[tuple[str, int]] = field(default_factory=list)  # (path, HTTP status)
    refusal: YouTubeError | None = None
    failed: bool = False  # no answer at all: unreachable, reset, too slow
    captcha: bool = False

    def saw(self, status: int, *, path: str = "") -> bool:
        """Tell whether this status came, from a path that begins so."""
        return any(code == status and asked.startswith(path) for asked, code in self.statuses)

    def server_error(self) -> bool:
        """Tell whether a status of 500 or more came."""
        return any(code >= 500 for _, code in self.statuses)
