"""A library as large as is asked for, made of real speech. Import it once Django is set up."""

import random
from collections.abc import Sequence
from functools import partial
from typing import Final

import numpy as np
from django.db import connection, transaction
from pgvector import HalfVector

from citations.lexical import index as lexical_index
from citations.lexical import merging
from citations.lexical.query import parse
from citations.models import Chunk, Source, State
from citations.providers import registry
from citations.readers.source_blocks import cue_blocks
from citations.text import sentences
from citations.text.chunking import chunk
from citations.vectors import space as vector_space
from citations.vectors import store
from harness.environment import note
from harness.sets import paths, questions_by_people
from harness.turns import timed
from harness.vectors import KeptEmbedder, Vectors
from transcripts import captions
from transcripts.core.scope import Scope
from transcripts.models import Collection

FOLDERS: Final = ("tinyrec", "ergo", "tutorialvqa", "ocw6012")
GOLD: Final = ("ocw6012_titles", "nyudl_headings", "ergo_qa", "tutorialvqa", "tinyrec_topics")
OF_A_SOURCE: Final = 100  # chunks
SPEECH: Final = 60  # ms that a character is spoken
JITTER: Final = 0.3  # length of the random part of a made-up vector of length 1


class LargeLibrary:
    """Chunks with their vectors and times of sentences: first real ones; then each of half of
    one and half of another, with a vector between theirs and a random part.
    """

    def __init__(self) -> None:
        self.texts, self.vectors = _real()
        self.size = 0
        self.built = 0.0  # s that the index of the vectors took
        self.collection = Collection.objects.create(name="Bench", slug="bench")
        self.space = vector_space.claim()

    @property
    def scope(self) -> Scope:
        """What may be searched: all of it."""
        return Scope(readable=frozenset({self.collection.pk}))

    def grow(self, size: int) -> None:
        """Add chunks, merge their words, and build the index of their vectors where there is to be
        one.
        """
        note(f"filling up to {size:,} chunks")
        for first in range(self.size, size, OF_A_SOURCE):
            self._add(first, min(size, first + OF_A_SOURCE))
            if first % 10_000 < OF_A_SOURCE:
                merging.merge()
        merging.merge(spare=0)
        self.size = size
        self.built = timed(partial(store.ensure_index, self.space, rows=0)) / 1000
        vacuum()

    @transaction.atomic
    def _add(self, first: int, stop: int) -> None:
        made = [self._made(number) for number in range(first, stop)]
        rows = add_source(self.collection, f"From {first}", [text for text, _ in made])
        with (
            connection.cursor() as cursor,
            cursor.copy(
                "COPY citations_embedding (chunk_id, space_id, source_id, digest, vector) FROM"
                " STDIN"
            ) as copy,
        ):
            for row, (_, vector) in zip(rows, made, strict=True):
                copy.write_row(
                    (row.pk, self.space.pk, row.source_id, b"", HalfVector(vector).to_text())
                )

    def _made(self, number: int) -> tuple[str, Vectors]:
        if number < len(self.texts):
            return self.texts[number], self.vectors[number]
        chance = random.Random(number)
        first, second = (chance.randrange(len(self.texts)) for _ in range(2))
        noise = np.random.default_rng(number).standard_normal(self.vectors.shape[1])
        vector = self.vectors[first] + self.vectors[second]
        vector = vector / np.linalg.norm(vector) + JITTER * noise / np.linalg.norm(noise)
        text = halves(self.texts[first], self.texts[second])
        return text, (vector / np.linalg.norm(vector)).astype(np.float32)


def halves(first: str, second: str) -> str:
    """Join the first half of the words of one text and the second half of another's."""
    before, after = first.split(), second.split()
    return " ".join(before[: len(before) // 2] + after[len(after) // 2 :])


def add_source(collection: Collection, title: str, texts: Sequence[str]) -> list[Chunk]:
    """Store and index a source of chunks, which lie apart and whose sentences have times."""
    source = Source.objects.create(
        collection=collection,
        kind="text",
        title=title,
        language="en",
        state=State.READY,
        chunk_count=len(texts),
        tags=["bench"],
    )
    position = lexical_index.index(source.pk, texts)
    return Chunk.objects.bulk_create(
        Chunk(
            source=source,
            ordinal=number,
            position=position + number,
            text=text,
            span_start=number * 1000,
            span_end=number * 1000 + len(text),
            sentence_starts=[(at, at * SPEECH) for at, _ in sentences.split(text)],
            digest=b"",
        )
        for number, text in enumerate(texts)
    )


def vacuum(*tables: str) -> None:
    """Tidy tables up, by default all, as autovacuum does in time."""
    with connection.cursor() as cursor:
        cursor.execute(f"VACUUM (ANALYZE) {', '.join(tables)}")


def questions(count: int) -> list[str]:
    """Return different questions that people asked about these and other recordings."""
    return questions_by_people(GOLD, count, lambda query: not parse(query).is_empty)


def _real() -> tuple[list[str], Vectors]:
    """Return the different chunks of transcripts in random order, with their vectors."""
    model = KeptEmbedder(registry.embedder("local"))
    different: set[str] = set()
    for path in paths(*FOLDERS):
        spoken = captions.parse(path.read_bytes(), name=path.name).cues
        drafts = chunk([*cue_blocks(spoken)], words=registry.word_vectors())
        different.update(draft.text for draft in drafts)
    texts = sorted(different)
    random.Random(0).shuffle(texts)
    note(f"{len(texts):,} real pieces")
    return texts, model.embed_documents(texts)
