"""What is stored: sources and their chunks, embedding spaces and vectors, the lexicon, and the hits that people marked."""

from citations.models.library import Chunk, Kind, Source, SourceQuerySet, State
from citations.models.marks import Mark
from citations.models.spaces import Embedding, EmbeddingSpace, SpaceState

__all__ = ["Chunk", "Embedding", "EmbeddingSpace", "Kind", "Mark", "Source", "SourceQuerySet", "SpaceState", "State"]
