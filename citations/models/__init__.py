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
from citations.models.chosen_models import ChosenModel
from citations.models.chunks import LOCATION, Chunk, indexed_text
from citations.models.citations import Citation, CitationQuerySet
from citations.models.deletions import Deletion
from citations.models.documents import Document, DocumentPart, OcrResult, Page
from citations.models.indexes import (
    Embedding,
    EmbeddingSpace,
    LexBlock,
    LexEntry,
    LexPack,
    SpaceState,
    keep_switch_out,
    keep_writers_out,
)
from citations.models.lectures import (
    LectureEvent,
    LectureSession,
    LectureState,
    Segment,
    Window,
    WindowOutcome,
    WindowQuerySet,
)
from citations.models.outlines import AbstractsRequest, Guide, Level, Node, Topic, TopicMember
from citations.models.readers import (
    Highlight,
    HighlightColor,
    HighlightQuerySet,
    Mark,
    ReadingProgress,
)
from citations.models.shared_links import SharedClip, SharedClipPart, SharedLink, SharedLinkQuerySet
from citations.models.sources import (
    UNFINISHED,
    Chunking,
    Source,
    SourceQuerySet,
    State,
    path_to,
    visible_sources_sql,
)
