"""What only the REST operations answer, and how an operation declares its responses."""

from datetime import datetime
from typing import Any, Literal

from ninja import Field

from transcripts.schemas import JobOut, ProblemOut, Shape


class JobsOut(Shape):
    """A page of jobs; ``next`` is the offset of the next one."""

    jobs: list[JobOut]
    next: int | None


class YouTubeOut(Shape):
    """Whether YouTube may be asked now, and why not."""

    state: Literal["open", "closed", "probing"]
    free_at: datetime
    closed_until: datetime | None
    refusals: int
    reason_code: str
    reason: str
    last_success_at: datetime | None
    waiting: int = Field(description="Jobs in your collections that wait for YouTube.")
    worker_alive: bool


def responses(success: dict[int, Any], *errors: int) -> dict[Any, Any]:
    """Declare an operation's responses: on success, the errors of any operation, and its own."""
    return {**success, frozenset({400, 401, 403, 422, *errors}): ProblemOut}
