"""Compare what an ingest takes with what the embedding of its chunks takes alone.

Run ``python bench/ingest.py`` from the repository; ``--sources N`` for more transcripts. Source
after source is ingested, and its chunks are then embedded alone. Processor time of this process is
counted, so that a busy machine changes little; the database's is its own.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import process_time
from typing import Final

from harness.environment import arguments, boot, command, machine, note

boot()

from harness.report import publish, table
from harness.sets import mixed

from citations.ingest import pipeline as ingest_pipeline
from citations.lexical import merging
from citations.models import Chunk, Source, State
from citations.providers import registry
from transcripts.adding import storage
from transcripts.models import Collection

GOAL: Final = 1.6  # times the embedding of the chunks


@dataclass(frozen=True, slots=True)
class Ingested:
    """One source: processor seconds until its words are found, of the whole ingest and of the
    embedding of its chunks alone, and how many there are.
    """

    words: float
    whole: float
    alone: float
    chunks: int


def main() -> None:
    options = arguments(__doc__, sources=20)
    measured = measure(mixed(options.sources))
    words, whole, alone, chunks = (
        sum(getattr(each, name) for each in measured)
        for name in ("words", "whole", "alone", "chunks")
    )
    ratios = sorted(each.whole / each.alone for each in measured)
    verdict = "at most" if whole / alone <= GOAL else "NOT at most"
    publish(
        "Ingest against the embedding of its chunks",
        f"{command()}: {len(measured)} real transcripts of {chunks:,} chunks, one process,"
        f" {registry.configured_embedder().model}. {machine()}. An ingest reads, adds full stops"
        " where speech has none, splits where the subject changes, indexes the words, embeds the"
        " chunks and builds the outline.",
        table(
            ("", "CPU seconds", "of the embedding alone"),
            (
                ("the chunks embedded alone", f"{alone:.1f}", "1"),
                ("ingest", f"{whole:.1f}", f"**{whole / alone:.2f}** ({verdict} {GOAL})"),
                ("of that, until its words are found", f"{words:.1f}", f"{words / alone:.2f}"),
            ),
        ),
        f"Median of the sources {ratios[len(ratios) // 2]:.2f}, most {ratios[-1]:.2f}.",
    )


def measure(files: Sequence[Path]) -> list[Ingested]:
    """Ingest each, then embed its chunks alone."""
    model = registry.configured_embedder()
    model.embed_documents(["warm"])
    collection = Collection.objects.default()
    measured = []
    for path in files:
        storage.add_captions(
            collection, path.read_bytes(), name=path.name, key=f"{path.parent.name}-{path.stem}"
        )
        words = spent(ingest_pipeline.index_words)
        source = Source.objects.exclude(state=State.READY).get()
        whole = words + spent(partial(ingest_pipeline.ingest, source.pk))
        source.refresh_from_db()
        assert source.state == State.READY, source.error
        texts = list(Chunk.objects.filter(source=source).values_list("text", flat=True))
        alone = spent(partial(model.embed_documents, texts))
        measured.append(Ingested(words, whole, alone, len(texts)))
        note(f"{source.title[:50]:<50} {len(texts):>4} chunks: {whole / alone:.2f}")
    merging.merge()
    return measured


def spent(call: Callable[[], object]) -> float:
    """Return the processor time of a call in seconds, of all threads."""
    before = process_time()
    call()
    return process_time() - before


if __name__ == "__main__":
    main()
