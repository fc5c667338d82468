"""Measure what levels of detail cost: beside the embedding of the same chunks, after a small
change, and as a source or a collection grows.

Run ``python bench/levels.py`` from the repository; ``--sources N`` for more transcripts, ``--sizes
N …`` for other sizes. Real transcripts come from ``CUEBASE_DATA`` (default: ``../shared/data``
beside the repository). It makes a library of its own in a temporary folder, prints tables and
writes them into ``bench/RESULTS.md``.
"""

import argparse
import json
import multiprocessing
import os
import platform
import shlex
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from environment import DATA, boot

boot()

import numpy as np
from bm25 import write

from citations.ingest import discovery
from citations.ingest import pipeline as ingest_pipeline
from citations.models import Chunk, Node, Source
from citations.outline import storage as outline_storage
from citations.outline import tree as outline_tree
from citations.providers import clustering, registry
from citations.providers.languages import stop_words
from citations.text.function_words import function_words
from transcripts.adding import storage
from transcripts.models import Collection

TITLE = "## Levels of detail"
DIMENSIONS = 384
CHARACTERS = 500  # of a chunk


@dataclass
class Measured:
    """One source: its chunks and nodes, seconds to embed the chunks and to build and store the
    tree, and nodes touched by a change of one cue.
    """

    chunks: int
    nodes: int
    embedding: float
    tree: float
    touched: int


@dataclass
class Grown:
    """A source of so many chunks without headings: CPU seconds, and MB of memory that the tree
    took.
    """

    chunks: int
    seconds: float
    memory: float


def main() -> None:
    """Measure, print, and replace this benchmark's section of the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sources", type=int, default=20, help="how many transcripts (default 20)")
    parser.add_argument(
        "--sizes",
        type=int,
        nargs="+",
        default=[3_125, 6_250, 12_500, 25_000, 50_000],
        help="chunks of one source",
    )
    options = parser.parse_args()
    files = transcripts(options.sources)
    grown = [alone(grow, size) for size in options.sizes]
    topics = [(size // 16, alone(cluster, size // 16)) for size in options.sizes]
    measured = [measure(path) for path in files]
    report = section(measured, grown, topics)
    print(report)
    write(report)


def alone(work: Callable[[int], Any], size: int) -> Any:
    """Do a piece of work in a process of its own, so that its memory can be told."""
    with multiprocessing.get_context("fork").Pool(1) as pool:
        return pool.apply(work, (size,))


def grow(size: int) -> Grown:
    """Build the tree of a source of ``size`` chunks of real speech; its vectors wander from chunk
    to chunk.
    """
    dice = np.random.default_rng(1)
    vectors = wander(dice, size)
    pieces = [piece(n, text, vectors[n]) for n, text in enumerate(islice(speech(), size))]
    build = partial(outline_tree.build, stops=stop_words("en"), function_words=function_words("en"))
    build(pieces[:500])
    before, started = memory("VmRSS"), time.process_time()
    build(pieces)
    return Grown(
        chunks=size, seconds=time.process_time() - started, memory=memory("VmHWM") - before
    )


def cluster(size: int) -> float:
    """Return the CPU seconds in which the topics of ``size`` sections are found."""
    vectors = wander(np.random.default_rng(2), size)
    clustering.centres(vectors[:100], count=5)
    started = time.process_time()
    clustering.centres(vectors, count=min(200, round(size**0.5)))
    return time.process_time() - started


def wander(dice: np.random.Generator, size: int) -> Any:
    """Return vectors of length 1, each near to the one before, which jump now and then."""
    rows = np.empty((size, DIMENSIONS), dtype=np.float32)
    row = dice.normal(size=DIMENSIONS)
    for place in range(size):
        row = (
            dice.normal(size=DIMENSIONS)
            if dice.random() < 0.1
            else row + 0.5 * dice.normal(size=DIMENSIONS)
        )
        row /= np.linalg.norm(row) / DIMENSIONS**0.5
        rows[place] = row / np.linalg.norm(row)
    return rows


def piece(number: int, text: str, vector: Any) -> outline_tree.OutlineChunk:
    """Make a chunk without overlap."""
    place = number * (CHARACTERS + 1)
    return outline_tree.OutlineChunk(
        ordinal=number,
        text=text,
        span_start=place,
        span_end=place + len(text),
        start=number * 30_000,
        end=number * 30_000 + 30_000,
        vector=vector,
    )


def speech() -> Iterator[str]:
    """Yield pieces of real transcripts, over and over."""
    texts = [
        " ".join(cue["text"] for cue in json.loads(path.read_text())["cues"])
        for path in sorted((DATA / "dev" / "transcripts").glob("[boq]*/*.json"))
    ]
    while True:
        for text in texts:
            yield from (
                text[start : start + CHARACTERS]
                for start in range(0, len(text) - CHARACTERS, CHARACTERS)
            )


def memory(name: str) -> float:
    """Return MB that this process has now (``VmRSS``), or had at most (``VmHWM``)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(name)) / 1024


def timed(call: Callable[[], object]) -> float:
    """Return how many seconds a call takes."""
    started = time.perf_counter()
    call()
    return time.perf_counter() - started


def transcripts(count: int) -> list[Path]:
    """Return that many real transcripts, of every collection in turn."""
    folders = [
        sorted(folder.glob("*.json"))
        for folder in sorted((DATA / "dev" / "transcripts").iterdir())
        if folder.is_dir()
    ]
    turns = [path for n in range(count) for files in folders for path in files[n : n + 1]]
    if not turns:
        sys.exit("The measuring data is not here; set CUEBASE_DATA.")
    return turns[:count]


def measure(path: Path) -> Measured:
    """Measure one transcript."""
    shelf, data, key = (
        Collection.objects.default(),
        json.loads(path.read_bytes()),
        f"{path.parent.name}-{path.stem}",
    )
    storage.add_captions(shelf, json.dumps(data).encode(), name=path.name, key=key)
    discovery.adopt()
    source = Source.objects.get(video__key=key)
    ingest_pipeline.ingest(source.pk)
    source.refresh_from_db()
    texts = list(Chunk.objects.filter(source=source).values_list("text", flat=True))
    embedding = timed(partial(registry.configured_embedder().embed_documents, texts))
    Node.objects.filter(source=source).delete()
    tree = timed(partial(outline_storage.refresh, source))
    before = set(Node.objects.filter(source=source).values_list("pk", flat=True))
    data["cues"][len(data["cues"]) // 2]["text"] = "Giraffes have rather long necks."
    storage.add_captions(shelf, json.dumps(data).encode(), name=path.name, key=key)
    discovery.adopt()
    ingest_pipeline.ingest(source.pk)
    after = set(Node.objects.filter(source=source).values_list("pk", flat=True))
    print(
        f"{source.title[:50]:<50} {len(texts):>4} chunks: {tree / embedding:.1%}", file=sys.stderr
    )
    return Measured(
        chunks=len(texts),
        nodes=len(before),
        embedding=embedding,
        tree=tree,
        touched=len(after - before),
    )


def section(
    measured: Sequence[Measured],
    grown: Sequence[Grown],
    library_topics: Sequence[tuple[int, float]],
) -> str:
    """Write the tables."""
    chunks, nodes = sum(talk.chunks for talk in measured), sum(talk.nodes for talk in measured)
    embedding, tree = (
        1000 * sum(getattr(talk, name) for talk in measured) / chunks
        for name in ("embedding", "tree")
    )
    rows = "\n".join(
        f"| {growth.chunks:,} | {growth.seconds:.2f} | {1000 * growth.seconds / growth.chunks:.3f}"
        f" | {growth.memory:,.0f} |"
        for growth in grown
    )
    topics = "\n".join(
        f"| {size:,} | {min(200, round(size**0.5))} | {seconds:.2f} |"
        for size, seconds in library_topics
    )
    touched = statistics.median(run.touched for run in measured)
    of_nodes = statistics.median(run.nodes for run in measured)
    return f"""{TITLE}

`{shlex.join(["python", "bench/levels.py", *sys.argv[1:]])}`: Python {platform.python_version()},
numpy {np.__version__}, {os.cpu_count()} cores. {len(measured)} real transcripts ({chunks:,} chunks,
{nodes:,} nodes): the tree is read, built and stored; beside it the chunks are embedded alone.
Then a cue in the middle is changed: *touched* are the new nodes, median of the sources.

| seconds per 1,000 chunks | |
|---|---:|
| embedding the chunks | {embedding:.2f} |
| the tree | {tree:.2f} ({tree / embedding:.1%}) |
| nodes touched by a changed cue | {touched:g} of {of_nodes:g} |

One source without headings, of real speech; its vectors wander. CPU time and memory of
the tree alone, each in a process of its own.

| chunks | CPU s | CPU s per 1,000 | MB |
|---:|---:|---:|---:|
{rows}

Topics of a collection, found anew.

| sections | topics | CPU s |
|---:|---:|---:|
{topics}
"""


if __name__ == "__main__":
    main()
