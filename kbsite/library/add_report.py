"""What `kb add` did: one shape, on this machine and with a server."""

from dataclasses import dataclass, field

from citations.schemas.search import DocumentOut
from transcripts.core.errors import KnowledgeBaseError
from transcripts.schemas import JobOut, JobProblem, Shape, VideoOut


class AddOut(Shape):
    """What `kb add --json` prints.

    ``added``, ``updated`` and ``unchanged`` count transcripts, and ``media`` names the recordings
    that got their audio or video file; null: a server does not tell it. ``unfinished`` counts the
    sources that are not found by words and by meaning yet.
    """

    added: int | None
    updated: int | None
    unchanged: int | None
    skipped: int
    videos: list[VideoOut]
    documents: list[DocumentOut]
    media: list[str] | None
    jobs: list[JobOut]
    problems: list[JobProblem]
    unfinished: int
    failed: int


@dataclass(slots=True)
class Problems:
    """What went wrong; ``failure`` is the first problem with a target that was named."""

    skipped: int = 0
    problems: list[JobProblem] = field(default_factory=list)
    failure: KnowledgeBaseError | None = None

    def fail(self, name: str, error: KnowledgeBaseError) -> None:
        """Record a problem with a target that was named."""
        self.problems.append(JobProblem.of(name, error))
        self.failure = self.failure or error
