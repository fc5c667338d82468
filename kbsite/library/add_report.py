"""What was added: one report, on this machine and with a server."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class AddReport:
    """What was added; ``notes`` tell whoever added it what else happens to it.

    ``failure`` is the first problem with a target that was named.
    """

    added: AddOut
    failure: KnowledgeBaseError | None = None
    notes: tuple[str, ...] = ()

    def ids(self) -> list[str]:
        """Return the ids of documents and of recordings, as filters take them."""
        videos = (video.id for video in self.added.videos)
        fetched = (job.video_id for job in self.added.jobs if job.video_id)
        documents = (str(document.source.id) for document in self.added.documents)
        return list(dict.fromkeys([*videos, *fetched, *documents]))
