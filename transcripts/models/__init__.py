"""What is stored: collections and members, videos and transcripts, jobs, and the gate to YouTube."""

from transcripts.models.gate import YouTubeGate
from transcripts.models.jobs import Job, JobFile, WorkerPulse, enqueue
from transcripts.models.shelves import WRITING_ROLES, Collection, Membership, Role
from transcripts.models.videos import KEY_LENGTH, Feed, Origin, RawCaptions, Thumbnail, Transcript, TranscriptIndex, Video

__all__ = [
    "KEY_LENGTH",
    "WRITING_ROLES",
    "Collection",
    "Feed",
    "Job",
    "JobFile",
    "Membership",
    "Origin",
    "RawCaptions",
    "Role",
    "Thumbnail",
    "Transcript",
    "TranscriptIndex",
    "Video",
    "WorkerPulse",
    "YouTubeGate",
    "enqueue",
]
