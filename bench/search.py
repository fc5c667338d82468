"""Time searches of a large library: hybrid ones from end to end, over the socket of `kb serve` and
inside a process, and the nearest neighbours of a vector by the index and by looking at all.

Run ``python bench/search.py 10000 100000`` (numbers of chunks, ascending) from the repository;
``--questions N`` for more. It prints tables and writes them into ``bench/RESULTS.md``. The library
is one of its own, in an embedded PostgreSQL in a temporary folder; vectors of real texts are kept
in ``build/vectors``. The data come from ``CUEBASE_DATA`` (default: ``../shared/data`` beside the
repository).
"""

import argparse
import json
import os
import platform
import random
import shlex
import statistics
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import quote, urlsplit

from environment import DATA, HOME, boot

boot(RERANKER="none", API_CALLS_PER_MINUTE="0")

import numpy as np
from bm25 import percentile, timed, write
from django.db import connection, transaction
from doors import LINK, Door, new_token, started, wait_for
from kept import KeptEmbedder, Vectors
from pgvector import HalfVector

from citations.lexical import index as lexical_index
from citations.lexical import merging
from citations.lexical.query import parse
from citations.library.filters import Filter, ResolvedFilter, resolve
from citations.models import Chunk, EmbeddingSpace, Source, State
from citations.providers import registry
from citations.readers.source_blocks import cue_blocks
from citations.search import pipeline as search_pipeline
from citations.text import sentences
from citations.text.chunking import chunk
from citations.vectors import hnsw
from citations.vectors import space as vector_space
from transcripts import captions
from transcripts.core.scope import Scope
from transcripts.models import Collection

FOLDERS = ("tinyrec", "ergo", "tutorialvqa", "ocw6012")
GOLD = ("ocw6012_titles", "nyudl_headings", "ergo_qa", "tutorialvqa", "tinyrec_topics")
OF_A_SOURCE = 100  # chunks
SPEECH = 60  # ms that a character is spoken
LIMIT, BREADTH = 10, 50
JITTER = 0.3  # length of the random part of a made-up vector of length 1
WARM = 5  # queries that are not counted
GOAL = (45, 90)  # ms, median and 95th percentile of what is served at 100,000 chunks
SERVE = ("-m", "kbsite.cli", "serve", "--no-worker", "--port", "0")


def main() -> None:
    """Measure, print, and replace this benchmark's section of the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "sizes", type=int, nargs="*", default=[10_000, 100_000], help="numbers of chunks, ascending"
    )
    parser.add_argument("--questions", type=int, default=200)
    options = parser.parse_args()
    library = Library()
    each = options.questions + WARM
    queries = questions(each * len(options.sizes))  # none twice: its vector would be remembered
    results = []
    for turn, size in enumerate(sorted(options.sizes)):
        library.grow(size)
        with serving() as ask:
            results.append(measure(library, queries[turn * each : (turn + 1) * each], ask))
    report = section(library, results, options.questions)
    print(report)
    write(report)


# The library


class Library:
    """Chunks with their vectors and times of sentences: first real ones; then each of half of
    one and half of another, with a vector between theirs and a random part.
    """

    def __init__(self) -> None:
        self.texts, self.vectors = real()
        self.size = 0
        self.built = 0.0
        self.collection = Collection.objects.create(name="Bench", slug="bench")
        self.space: EmbeddingSpace = vector_space.claim()

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
        self.built = timed(partial(hnsw.ensure, self.space, rows=0)) / 1000
        with connection.cursor() as cursor:
            cursor.execute("VACUUM (ANALYZE)")

    @transaction.atomic
    def _add(self, first: int, stop: int) -> None:
        made = [self._made(number) for number in range(first, stop)]
        source = Source.objects.create(
            collection=self.collection,
            kind="text",
            title=f"From {first}",
            language="en",
            state=State.READY,
            chunk_count=len(made),
            tags=["bench"],
        )
        place = lexical_index.index(source.pk, [text for text, _ in made])
        rows = Chunk.objects.bulk_create(
            Chunk(
                source=source,
                ordinal=n,
                position=place + n,
                text=text,
                span_start=n * 1000,
                span_end=n * 1000 + len(text),
                sentence_starts=[(at, at * SPEECH) for at, _ in sentences.split(text)],
                digest=b"",
            )
            for n, (text, _) in enumerate(made)
        )
        with (
            connection.cursor() as cursor,
            cursor.copy(
                "COPY citations_embedding (chunk_id, space_id, source_id, digest, vector) FROM"
                " STDIN"
            ) as copy,
        ):
            for row, (_, vector) in zip(rows, made, strict=True):
                copy.write_row(
                    (row.pk, self.space.pk, source.pk, b"", HalfVector(vector).to_text())
                )

    def _made(self, number: int) -> tuple[str, Vectors]:
        if number < len(self.texts):
            return self.texts[number], self.vectors[number]
        chance = random.Random(number)
        index, other = (chance.randrange(len(self.texts)) for _ in range(2))
        first, second = self.texts[index].split(), self.texts[other].split()
        noise = np.random.default_rng(number).standard_normal(self.vectors.shape[1])
        vector = self.vectors[index] + self.vectors[other]
        vector = vector / np.linalg.norm(vector) + JITTER * noise / np.linalg.norm(noise)
        return " ".join(first[: len(first) // 2] + second[len(second) // 2 :]), (
            vector / np.linalg.norm(vector)
        ).astype(np.float32)


def real() -> tuple[list[str], Vectors]:
    """Return the distinct pieces of real transcripts that ingest embeds, chunks and windows of
    three sentences, in random order, with their vectors.
    """
    model = KeptEmbedder(registry.embedder("local"))
    vectors: dict[str, Vectors] = {}

    def embed(texts: Sequence[str]) -> Vectors:
        made = model.embed_documents(texts)
        vectors.update(zip(texts, made, strict=True))
        return made

    for path in (
        path
        for folder in FOLDERS
        for path in sorted((DATA / "dev" / "transcripts" / folder).glob("*.json"))
    ):
        embed(
            [
                draft.text
                for draft in chunk(
                    [*cue_blocks(captions.parse(path.read_bytes(), name=path.name).cues)],
                    embed=embed,
                )
            ]
        )
    texts = sorted(vectors)
    random.Random(0).shuffle(texts)
    note(f"{len(texts):,} real pieces")
    return texts, np.stack([vectors[text] for text in texts])


def questions(count: int) -> list[str]:
    """Return questions that people asked about real recordings, each once."""
    lines = [
        line
        for name in GOLD
        for line in (DATA / "dev" / "gold" / f"{name}.jsonl").read_text().splitlines()
    ]
    queries = list(dict.fromkeys(" ".join(json.loads(line)["query"].split()) for line in lines))
    return random.Random(0).sample([query for query in queries if not parse(query).is_empty], count)


# Measuring


@dataclass
class Results:
    """Milliseconds of each query by name, and the index's recall of the ten nearest."""

    size: int
    built: float
    times: dict[str, list[float]] = field(default_factory=dict)
    recall: list[float] = field(default_factory=list)

    def add(self, name: str, milliseconds: float) -> None:
        """Note a time."""
        self.times.setdefault(name, []).append(milliseconds)

    def median(self, name: str) -> float:
        """Return the median time."""
        return statistics.median(self.times[name])


@contextmanager
def serving() -> Iterator[Callable[[str], float]]:
    """Run `kb serve` on the library; yield a function that searches it over a connection that is
    kept open, and returns milliseconds.
    """
    log = Path(HOME) / "serve.log"
    with log.open("w") as output, started(SERVE, output) as process:
        link = wait_for(lambda: LINK.findall(log.read_text()), process)[-1]
        wait_for(lambda: "Ctrl-C" in log.read_text(), process)
        headers = {"Authorization": f"Bearer {new_token()}"}
        client = HTTPConnection("127.0.0.1", urlsplit(link).port or 0, timeout=60)
        yield lambda query: Door("GET", f"/api/v1/search?q={quote(query)}", headers).ask(client)
        client.close()


def measure(library: Library, queries: Sequence[str], ask: Callable[[str], float]) -> Results:
    """Ask everything in turn, question by question."""
    note(f"asking at {library.size:,}")
    results = Results(library.size, library.built)
    model = vector_space.embedder_of(library.space)
    resolved = resolve(library.scope, Filter())
    for number, query in enumerate(queries):
        if number == WARM:
            results = Results(library.size, library.built)
        steps = [
            partial(alone, results, library, query, resolved),
            partial(whole, results, library, query),
            partial(over_rest, results, ask, query),
        ]
        random.Random(number).shuffle(steps)
        for step in steps:
            step()
        neighbours(results, library, model.embed_query(query), resolved)
    return results


def alone(results: Results, library: Library, query: str, resolved: ResolvedFilter) -> None:
    """Time embedding the question and the two look-ups, each by itself."""
    parsed, model = parse(query), vector_space.embedder_of(library.space)
    made: list[Vectors] = []
    parts = {
        "embed": lambda: made.append(
            model.embed_query(f"{query} ")
        ),  # the blank keeps it apart from what the search embeds, which would be remembered
        "lexical": lambda: lexical_index.search(parsed, limit=BREADTH, resolved=resolved),
        "vector": lambda: vector_space.nearest(
            made[0], space=library.space, limit=BREADTH, resolved=resolved
        ),
    }
    times = {name: timed(part) for name, part in parts.items()}
    for name, milliseconds in times.items():
        results.add(f"alone: {name}", milliseconds)
    results.add("alone: sum", sum(times.values()))


def whole(results: Results, library: Library, query: str) -> None:
    """Time a hybrid search and its stages."""
    result = search_pipeline.search(library.scope, query, limit=LIMIT)
    for stage in result.stages:
        results.add(stage.name, stage.milliseconds)
    results.add("hybrid", result.milliseconds)


def over_rest(results: Results, ask: Callable[[str], float], query: str) -> None:
    """Time a search through the socket of the server."""
    results.add("served", ask(query))


def neighbours(
    results: Results, library: Library, vector: Vectors, resolved: ResolvedFilter
) -> None:
    """Time the ten nearest by the index and by looking at all, and compare them."""
    ways = {
        "index": vector_space._by_index,
        "exact": vector_space._exact,
        "search": vector_space.nearest,
    }
    chunks: dict[str, set[int]] = {}
    for name, way in ways.items():
        ask = partial(way, vector, space=library.space, limit=LIMIT, resolved=resolved)
        results.add(
            f"nearest: {name}",
            timed(
                partial(
                    lambda name, ask: chunks.update({name: {hit.chunk for hit in ask()}}), name, ask
                )
            ),
        )
    results.recall.append(len(chunks["index"] & chunks["exact"]) / LIMIT)


def note(text: str) -> None:
    """Say how far it is."""
    print(text, file=sys.stderr, flush=True)


# Results


def section(library: Library, results: Sequence[Results], count: int) -> str:
    """Write the section of the results."""
    return "\n".join(
        [
            "## Hybrid search and nearest neighbours",
            "",
            f"`python {shlex.join(['bench/search.py', *sys.argv[1:]])}`: milliseconds, median /"
            f" 95th percentile, of {count} questions that people asked,"
            f" none asked before. Python {platform.python_version()}, {os.cpu_count()} cores,"
            " the embedded PostgreSQL with its standard settings, all-MiniLM-L6-v2 (384).",
            f"The first {len(library.texts):,} chunks are pieces of real transcripts with their"
            f" vectors; each further one is half of one piece and half of"
            f" another, its vector the middle of theirs and a random part of {JITTER} of its"
            f" length.",
            "",
            *hybrid(results),
            "",
            *nearest(results),
            "",
        ]
    )


def hybrid(results: Sequence[Results]) -> Iterator[str]:
    """Write the table of hybrid searches."""
    names = [
        "alone: embed",
        "alone: lexical",
        "alone: vector",
        "alone: sum",
        "served",
        "hybrid",
        *(name for name in search_pipeline.STAGES if name in results[0].times),
    ]
    yield (
        f"*Alone*: embedding the question and the two look-ups ({BREADTH} each), one after the"
        " other. *served*: a search over REST, through the socket of `kb serve`; the goal at"
        f" 100,000 chunks is {GOAL[0]} / {GOAL[1]}. *hybrid*: the same inside a process; its stages"
        " follow, of which embed and lexical run at the same time. The overhead is what the median"
        " search takes beyond the median sum."
    )
    yield ""
    yield "| chunks | " + " | ".join(names) + " | overhead |"
    yield "|---|" + "---:|" * (len(names) + 1)
    for result in results:
        overhead = result.median("hybrid") / result.median("alone: sum") - 1
        cells = [
            f"{result.median(name):.2f} / {percentile(result.times[name]):.2f}" for name in names
        ]
        yield (f"| {result.size:,} | " + " | ".join(cells) + f" | {overhead:+.0%} |")


def nearest(results: Sequence[Results]) -> Iterator[str]:
    """Write the table of nearest neighbours."""
    yield (
        f"The {LIMIT} nearest: *search* is what a search does (it looks at all of up to"
        f" {vector_space.INDEXED_FROM:,} chunks)."
    )
    yield ""
    yield (
        f"| chunks | by the index | looking at all | search | recall@{LIMIT} of the index |"
        f" index built in s |"
    )
    yield "|---|---:|---:|---:|---:|---:|"
    for result in results:
        cells = [
            f"{result.median(name):.2f} / {percentile(result.times[name]):.2f}"
            for name in ("nearest: index", "nearest: exact", "nearest: search")
        ]
        yield (
            f"| {result.size:,} | "
            + " | ".join(cells)
            + f" | {statistics.fmean(result.recall):.4f} | {result.built:.0f} |"
        )


if __name__ == "__main__":
    main()
