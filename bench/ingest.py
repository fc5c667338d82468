"""Compare an ingest with what the embedding model needs alone: the same texts, in the same calls,
without anything around them.

Run ``python bench/ingest.py`` from the repository; ``--sources N`` for more transcripts. Real
transcripts come from ``CUEBASE_DATA`` (default: ``../shared/data`` beside the repository). Source
after source is ingested and then embedded alone, so that a busy moment of the machine hits both
alike. It makes a library of its own in a temporary folder, prints a table and writes it into
``bench/RESULTS.md``.
"""

import argparse
import os
import platform
import shlex
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from bm25 import write
from environment import DATA, boot

boot()

from citations.ingest import pipeline as ingest_pipeline
from citations.lexical import merging
from citations.models import Chunk, Source, State
from citations.providers import registry
from transcripts.adding import storage
from transcripts.models import Collection


@dataclass
class Measured:
    """One source: seconds until its words are found, of the whole ingest and of the model alone,
    and what there was to embed.
    """

    words: float
    ingest: float
    alone: float
    windows: int
    chunks: int
    calls: list[list[str]] = field(repr=False)


def main() -> None:
    """Measure, print, and replace this benchmark's section of the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sources", type=int, default=20, help="how many transcripts (default 20)")
    options = parser.parse_args()
    measured = measure(transcripts(options.sources))
    report = section(measured)
    print(report)
    write(report)


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


def measure(files: Sequence[Path]) -> list[Measured]:
    """Ingest each, then embed the same texts alone."""
    registry.configured_embedder().embed_documents(["warm"])
    shelf = Collection.objects.default()
    measured = []
    for path in files:
        storage.add_captions(
            shelf, path.read_bytes(), name=path.name, key=f"{path.parent.name}-{path.stem}"
        )
        with recorded() as calls:
            words = timed(ingest_pipeline.index_words)
            source = Source.objects.exclude(state=State.READY).get()
            whole = words + timed(partial(ingest_pipeline.ingest, source.pk))
        source.refresh_from_db()
        assert source.state == State.READY, source.error
        model = registry.configured_embedder()
        alone = sum(timed(partial(model.embed_documents, texts)) for texts in calls)
        chunks = Chunk.objects.filter(source=source).count()
        texts = sum(len(call) for call in calls)
        measured.append(
            Measured(
                words=words,
                ingest=whole,
                alone=alone,
                windows=texts - chunks,
                chunks=chunks,
                calls=calls,
            )
        )
        print(f"{source.title[:50]:<50} {chunks:>4} chunks: {alone / whole:.1%}", file=sys.stderr)
    merging.merge()
    return measured


@contextmanager
def recorded() -> Iterator[list[list[str]]]:
    """Note which texts the ingest gives to the model, call by call."""
    calls: list[list[str]] = []
    kind: Any = type(registry.configured_embedder())
    real = kind.embed_documents

    def embed(self: Any, texts: Sequence[str]) -> Any:
        calls.append(list(texts))
        return real(self, texts)

    kind.embed_documents = embed
    try:
        yield calls
    finally:
        kind.embed_documents = real


def timed(call: Callable[[], object]) -> float:
    """Return how many seconds a call takes."""
    started = time.perf_counter()
    call()
    return time.perf_counter() - started


def section(measured: Sequence[Measured]) -> str:
    """Write the table."""
    words, whole, alone = (
        sum(getattr(run, name) for run in measured) for name in ("words", "ingest", "alone")
    )
    windows, chunks = sum(run.windows for run in measured), sum(run.chunks for run in measured)
    shares = sorted(run.alone / run.ingest for run in measured)
    texts = windows + chunks
    model = registry.configured_embedder()
    share = alone / whole
    verdict = "at least" if share >= 0.9 else "NOT at least"
    return f"""## Ingest against the bare model

`{shlex.join(["python", "bench/ingest.py", *sys.argv[1:]])}`: {len(measured)} real transcripts,
one process, {model.model}. Python {platform.python_version()}, {os.cpu_count()} cores.
An ingest reads, cuts at sentences, indexes the words, splits where the
subject changes ({windows:,} windows of sentences embedded), indexes again and embeds the
{chunks:,} chunks. *Alone* is the model given the same texts in the same calls.

| | seconds | texts a second | of the model alone |
|---|---:|---:|---:|
| the model alone | {alone:.1f} | {texts / alone:.1f} | 100 % |
| ingest | {whole:.1f} | {texts / whole:.1f} | **{share:.1%}** ({verdict} 90 %) |
| of that, until its words are found | {words:.1f} | | |

Median of the sources {shares[len(shares) // 2]:.1%}, lowest {shares[0]:.1%}; words of one
source are found after {1000 * words / len(measured):.0f} ms.
"""


if __name__ == "__main__":
    main()
