"""The tables: collections, members, videos, transcripts, feeds, jobs, and the YouTube gate."""

from transcripts.core.audit import AuditEntry
from transcripts.models.collections import (
    WRITING_ROLES,
    Collection,
    Deletable,
    DeletableQuerySet,
    Membership,
    Role,
    VisibleQuerySet,
    readable,
)
from transcripts.models.feeds import Feed, FeedEntry
from transcripts.models.jobs import Job, JobFile, enqueue
from transcripts.models.media import FilePart, MediaFile, MediaPart, PlayableFile
from transcripts.models.videos import (
    KEY_LENGTH,
    CaptionOrigin,
    RawCaptions,
    Thumbnail,
    Transcript,
    TranscriptIndex,
    Video,
    video_path,
)
from transcripts.models.worker_pulse import WorkerPulse
from transcripts.models.youtube_gate import YouTubeGate

__all__ = [
    "AuditEntry",
    "KEY_LENGTH",
    "WRITING_ROLES",
    "Collection",
    "Deletable",
    "Feed",
    "FeedEntry",
    "FilePart",
    "Job",
    "JobFile",
    "MediaFile",
    "MediaPart",
    "Membership",
    "PlayableFile",
    "CaptionOrigin",
    "RawCaptions",
    "Role",
    "Thumbnail",
    "Transcript",
    "TranscriptIndex",
    "Video",
    "DeletableQuerySet",
    "video_path",
    "VisibleQuerySet",
    "WorkerPulse",
    "YouTubeGate",
    "enqueue",
    "readable",
]
