"""The tables: collections, members, videos, transcripts, feeds, jobs, and the YouTube gate."""

from transcripts.core.audit import AuditEntry
from transcripts.models.collections import (
    WRITING_ROLES,
    Collection,
    Deletable,
    DeletableQuerySet,
    Feed,
    FeedEntry,
    Listening,
    Membership,
    Role,
    VisibleQuerySet,
    readable,
)
from transcripts.models.heard_parts import HeardPart
from transcripts.models.job_files import JobFile
from transcripts.models.jobs import Job, enqueue
from transcripts.models.videos import (
    KEY_LENGTH,
    CaptionOrigin,
    FilePart,
    MediaFile,
    MediaPart,
    PlayableFile,
    RawCaptions,
    Thumbnail,
    Transcript,
    TranscriptIndex,
    Video,
    video_path,
)
from transcripts.models.waiting import WorkerPulse, YouTubeGate
