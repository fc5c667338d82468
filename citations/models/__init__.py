"""The tables of the knowledge base."""

from citations.models.answers import (
    Answer,
    AnswerQuerySet,
    AnswerState,
    Conversation,
    ConversationQuerySet,
    Note,
)
from citations.models.archives import Archive, ArchivePart, ArchiveQuerySet, ArchiveState
from citations.models.citations import Citation, CitationQuerySet
from citations.models.deletions import Deletion
from citations.models.documents import Document, DocumentPart, OcrResult, Page
from citations.models.guides import AbstractsRequest, Guide
from citations.models.highlights import Highlight, HighlightColor, HighlightQuerySet
from citations.models.lectures import (
    LectureEvent,
    LectureSession,
    LectureState,
    Segment,
    Window,
    WindowOutcome,
    WindowQuerySet,
)
from citations.models.lexicon import LexBlock, LexEntry, LexPack
from citations.models.marks import Mark
from citations.models.outlines import Level, Node, Topic, TopicMember
from citations.models.reading_progress import ReadingProgress
from citations.models.shared_clips import SharedClip, SharedClipPart
from citations.models.shared_links import SharedLink, SharedLinkQuerySet
from citations.models.sources import (
    LOCATION,
    UNFINISHED,
    Chunk,
    Chunking,
    Source,
    SourceQuerySet,
    State,
    path_to,
    visible_sources_sql,
)
from citations.models.spaces import (
    Embedding,
    EmbeddingSpace,
    SpaceState,
    keep_switch_out,
    keep_writers_out,
)
