"""What is stored: sources and their chunks, embedding spaces and vectors, the lexicon, and the hits that people marked."""

from citations.models.lexicon import LexBlock, LexEntry, LexPack
from citations.models.library import Chunk, Kind, Source, SourceQuerySet, State
from citations.models.marks import Mark
from citations.models.spaces import Embedding, EmbeddingSpace, SpaceState

__all__ = ["Chunk", "Embedding", "EmbeddingSpace", "Kind", "LexBlock", "LexEntry", "LexPack", "Mark", "Source", "SourceQuerySet", "SpaceState", "State"]
