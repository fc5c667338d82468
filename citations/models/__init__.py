"""What is stored: sources and their chunks, embedding spaces and vectors, the lexicon, and the hits that people marked."""

from citations.models.lexicon import LexBlock, LexEntry, LexPack
from citations.models.library import Chunk, Cut, Kind, Source, SourceQuerySet, State
from citations.models.marks import Mark
from citations.models.spaces import Embedding, EmbeddingSpace, SpaceState, keep_switch_out, keep_writers_out

__all__ = [
    "Chunk",
    "Cut",
    "Embedding",
    "EmbeddingSpace",
    "Kind",
    "LexBlock",
    "LexEntry",
    "LexPack",
    "Mark",
    "Source",
    "SourceQuerySet",
    "SpaceState",
    "State",
    "keep_switch_out",
    "keep_writers_out",
]
