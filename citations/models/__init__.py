"""What is stored: sources, their documents and chunks, embedding spaces and vectors, the lexicon, lectures and their citations, and marked hits."""

from citations.models.cited import Citation, CitationQuerySet
from citations.models.documents import Document, DocumentPart, Page
from citations.models.lectures import Happening, LectureQuerySet, LectureSession, Outcome, Segment, Window
from citations.models.lexicon import LexBlock, LexEntry, LexPack
from citations.models.library import Chunk, Cut, Kind, Source, SourceQuerySet, State
from citations.models.marks import Mark
from citations.models.spaces import Embedding, EmbeddingSpace, SpaceState, keep_switch_out, keep_writers_out

__all__ = [
    "Chunk",
    "Citation",
    "CitationQuerySet",
    "Cut",
    "Document",
    "DocumentPart",
    "Embedding",
    "EmbeddingSpace",
    "Happening",
    "Kind",
    "LectureQuerySet",
    "LectureSession",
    "LexBlock",
    "LexEntry",
    "LexPack",
    "Mark",
    "Outcome",
    "Page",
    "Segment",
    "Source",
    "SourceQuerySet",
    "SpaceState",
    "State",
    "Window",
    "keep_switch_out",
    "keep_writers_out",
]
