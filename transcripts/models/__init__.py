"""The tables: collections and members, videos and transcripts, jobs, and the YouTube gate."""

from transcripts.models.audit import AuditEntry
from transcripts.models.collections import (
    WRITING_ROLES,
    Collection,
    Membership,
    Role,
    VisibleQuerySet,
    readable,
)
from transcripts.models.jobs import Job, JobFile, WorkerPulse, enqueue
from transcripts.models.videos import (
    KEY_LENGTH,
    CaptionOrigin,
    Feed,
    RawCaptions,
    Thumbnail,
    Transcript,
    TranscriptIndex,
    Video,
)
from transcripts.models.youtube_gate import YouTubeGate

__all__ = [
    "AuditEntry",
    "KEY_LENGTH",
    "WRITING_ROLES",
    "Collection",
    "Feed",
    "Job",
    "JobFile",
    "Membership",
    "CaptionOrigin",
    "RawCaptions",
    "Role",
    "Thumbnail",
    "Transcript",
    "TranscriptIndex",
    "Video",
    "VisibleQuerySet",
    "WorkerPulse",
    "YouTubeGate",
    "enqueue",
    "readable",
]
