"""Compare an ingest with what the embedding model needs alone: the same texts, in the same calls,
without anything around them.

Run ``python bench/ingest.py`` from the repository; ``--sources N`` for more transcripts. Source
after source is ingested and then embedded alone, so that a busy moment of the machine hits both
alike.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final
from unittest import mock

from harness.environment import arguments, boot, command, machine, note

boot()

from harness.report import publish, table
from harness.sets import mixed
from harness.turns import timed

from citations.ingest import pipeline as ingest_pipeline
from citations.lexical import merging
from citations.models import Chunk, Source, State
from citations.providers import registry
from transcripts.adding import storage
from transcripts.models import Collection

GOAL: Final = 0.9  # of the model alone


@dataclass(frozen=True, slots=True)
class Ingested:
    """One source: milliseconds until its words are found, of the whole ingest and of the model
    alone, and what there was to embed.
    """

    words: float
    whole: float
    alone: float
    windows: int
    chunks: int


def main() -> None:
    options = arguments(__doc__, sources=20)
    measured = measure(mixed(options.sources))
    words, whole, alone, windows, chunks = (
        sum(getattr(each, name) for each in measured)
        for name in ("words", "whole", "alone", "windows", "chunks")
    )
    shares = sorted(each.alone / each.whole for each in measured)
    rate = 1000 * (windows + chunks)
    verdict = "at least" if alone / whole >= GOAL else "NOT at least"
    publish(
        "Ingest against the bare model",
        f"{command()}: {len(measured)} real transcripts, one process,"
        f" {registry.configured_embedder().model}. {machine()}. An ingest reads, cuts at sentences,"
        " indexes the words, splits where the subject changes"
        f" ({windows:,} windows of sentences embedded), indexes again and embeds the {chunks:,}"
        " chunks. *Alone* is the model given the same texts in the same calls.",
        table(
            ("", "seconds", "texts a second", "of the model alone"),
            (
                ("the model alone", f"{alone / 1000:.1f}", f"{rate / alone:.1f}", "100 %"),
                (
                    "ingest",
                    f"{whole / 1000:.1f}",
                    f"{rate / whole:.1f}",
                    f"**{alone / whole:.1%}** ({verdict} {GOAL:.0%})",
                ),
                ("of that, until its words are found", f"{words / 1000:.1f}", "", ""),
            ),
        ),
        f"Median of the sources {shares[len(shares) // 2]:.1%}, lowest {shares[0]:.1%}; words of"
        f" one source are found after {words / len(measured):.0f} ms.",
    )


def measure(files: Sequence[Path]) -> list[Ingested]:
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
        measured.append(Ingested(words, whole, alone, texts - chunks, chunks))
        note(f"{source.title[:50]:<50} {chunks:>4} chunks: {alone / whole:.1%}")
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

    with mock.patch.object(kind, "embed_documents", embed):
        yield calls


if __name__ == "__main__":
    main()
