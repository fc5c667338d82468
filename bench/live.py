"""Time how windows of real lectures are cited, stage by stage, beside the plain libraries used as
their own documentation shows them.

Run ``python bench/live.py`` from the repository; ``--windows N`` for more of them, ``--chunks N``
for another library. Every window is cited by both, in turn, in a random order, so that a busy
moment of the machine hits both alike. It is done twice, each in a process of its own: in the
default space of all-MiniLM-L6-v2, and in a space of a model of the shape of bge-base-en-v1.5. The
plain side has KeyBERT on sentence-transformers, an embedding model of bge-base's shape, the same
look-up in PostgreSQL, and a cross-encoder of TinyBERT's shape, all in torch. Models of those shapes
have random weights, as the real ones are not on this machine: they take as long, and find nothing.
The relevance threshold is 0, so that every window that the gate and the distance let pass is cited
in full, three citations stored.
"""

import argparse
import json
import os
import platform
import random
import shlex
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from environment import DATA, ROOT, boot

boot(RERANKER="none", HF_HUB_OFFLINE="1")

import numpy as np
import search
import shaped
import torch
from bm25 import percentile, timed, write
from django.conf import settings
from django.test.utils import override_settings
from keybert import KeyBERT
from sentence_transformers import CrossEncoder, SentenceTransformer

from citations.lectures import pipeline as lecture_pipeline
from citations.lectures import sessions
from citations.lectures import worker as lecture_worker
from citations.library.filters import Filter, resolve
from citations.models import Chunk, LectureSession, Window, WindowOutcome
from citations.providers import registry, weights
from citations.vectors import space as vector_space
from transcripts.core.scope import Scope

LOCAL, BGE = "local", "bge-base"
LIBRARIES = "the libraries"
CUEBASE = "cuebase"
SPACES: Final = (LOCAL, BGE)
GOALS: Final = {LOCAL: 8.0, BGE: 4.0}
MAX_MS: Final = 60.0  # of the median window in the default space
TARGETS: Final = {
    "keywords": 20,
    "embed": 15,
    "search": 30,
    "rerank": 50,
    "total": 120,
}  # ms, of the documents that the pipeline comes from
TITLE = "## Live lectures: speed"
WARM = 15  # windows that are not counted
EACH: Final = ("nyudl", "hfcourse", "calculus")
Rival = Callable[[str], dict[str, float]]


def main() -> None:
    """Measure both spaces, print, and replace this benchmark's section of the results; with
    ``--space``, measure one and print JSON.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--windows", type=int, default=150)
    parser.add_argument("--chunks", type=int, default=10_000)
    parser.add_argument("--space", choices=SPACES, help=argparse.SUPPRESS)
    parser.add_argument("--shapes", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.space:
        print(json.dumps(measure(options.space, options.windows, options.chunks, options.shapes)))
        return

    measured = {space: apart(space, options.windows, options.chunks) for space in SPACES}
    report = "\n".join(section(measured, options.chunks))
    print(report)
    write(report)


def apart(space: str, windows: int, chunks: int) -> dict[str, Any]:
    """Measure one space in a process of its own, with a database of its own: a library is locked to
    one.
    """
    with tempfile.TemporaryDirectory(prefix="cuebase-shapes-") as shapes:
        given = {
            "--space": space,
            "--windows": str(windows),
            "--chunks": str(chunks),
            "--shapes": shapes,
        }
        arguments = [sys.executable, __file__, *(part for pair in given.items() for part in pair)]
        process = subprocess.run(arguments, stdout=subprocess.PIPE, text=True, check=True, cwd=ROOT)
    return json.loads(process.stdout.splitlines()[-1])  # type: ignore[no-any-return]


# One space


def measure(space: str, count: int, chunks: int, shapes: Path) -> dict[str, Any]:
    """Return the milliseconds of each stage and window: of the libraries, and of this project."""
    bge, tiny = shaped.bge_base(shapes / "bge"), shaped.tinybert(shapes / "tinybert")
    named = {} if space == LOCAL else {"EMBEDDING_PROVIDER": BGE, "EMBEDDING_MODEL": str(bge)}
    with override_settings(
        LIVE_DISTANCE_THRESHOLD=4.0, LIVE_RELEVANCE_THRESHOLD=0.0, LIVE_RERANKER=str(tiny), **named
    ):
        library = filled(space, chunks)
        registry.warm()
        libraries = Libraries(library, bge, tiny)
        rivals: dict[str, Rival] = {LIBRARIES: libraries.cite, CUEBASE: Ours(library).cite}
        return {
            "times": in_turn(space, rivals, texts(count + WARM)),
            "threads": {"cuebase": settings.MODEL_THREADS, "torch": torch.get_num_threads()},
        }


def filled(space: str, chunks: int) -> search.Library:
    """Make a library of so many chunks; in the wide space their vectors are those of the default
    one, turned into more dimensions.
    """
    pieces, made = search.real()
    search.real = lambda: (pieces, made if space == LOCAL else wide(made))
    library = search.Library()
    library.grow(chunks)
    return library


def in_turn(
    space: str, rivals: dict[str, Rival], windows: Sequence[str]
) -> dict[str, list[dict[str, float]]]:
    """Give each window to every rival, and return what each took."""
    times: dict[str, list[dict[str, float]]] = {name: [] for name in rivals}
    for number, text in enumerate(windows):
        for name in random.Random(number).sample(list(rivals), len(rivals)):
            spent = rivals[name](text)
            if number >= WARM:
                times[name].append(spent)
        if number % 25 == 0:
            search.note(f"{space}: {number} of {len(windows)} windows")
    return times


def texts(count: int) -> list[str]:
    """Return windows of real lectures, from all pairs in turn."""
    talks = [
        [
            json.loads(line)["text"]
            for line in (DATA / "dev" / "pairs" / name / "windows.jsonl").read_text().splitlines()
        ]
        for name in EACH
    ]
    fit = [[text for text in talk if 30 <= len(text.split()) <= 150] for talk in talks]
    chance = random.Random(0)
    return [
        text for talk in fit for text in chance.sample(talk, min(len(talk), -(-count // len(EACH))))
    ][:count]


def wide(vectors: Any) -> Any:
    """Return vectors of 768 dimensions that lie to each other as these do."""
    base, _ = np.linalg.qr(np.random.default_rng(0).standard_normal((768, vectors.shape[1])))
    return (vectors @ base.T).astype(np.float32)


class Ours:
    """This project's pipeline; its words are learnt as when a session begins."""

    def __init__(self, library: search.Library) -> None:
        scope = Scope(readable=library.scope.readable, writable=library.scope.readable)
        self._session: LectureSession = sessions.start(
            scope, None, title=CUEBASE, collection=library.collection
        )
        lecture_worker._warm_keywords(self._session.pk)

    def cite(self, text: str) -> dict[str, float]:
        """Return the milliseconds of each stage; ``skipped`` says that the gate left the window
        out.
        """
        window = Window.objects.create(
            session=self._session, index=self._session.windows.count(), text=text
        )
        [cited] = lecture_pipeline.cite([window])
        lecture_pipeline.describe(cited)
        done = cited.window
        assert done.outcome in (WindowOutcome.CITED, WindowOutcome.OFF_TOPIC), done.note
        skipped = {} if done.outcome == WindowOutcome.CITED else {"skipped": 1.0}
        return {**done.stages, "total": float(done.milliseconds or 0), **skipped}


class Libraries:
    """The pipeline as the documents show it: each library by itself, with its standard settings."""

    def __init__(self, library: search.Library, bge: Path, tiny: Path) -> None:
        self._library = library
        self._keywords = KeyBERT(
            model=SentenceTransformer(str(weights.find(weights.MINILM)), device="cpu")
        )
        self._model = SentenceTransformer(str(bge), device="cpu")
        self._reranker = CrossEncoder(str(tiny), device="cpu")

    def cite(self, text: str) -> dict[str, float]:
        """Return the milliseconds of each stage."""
        kept: dict[str, Any] = {}

        def embed() -> None:
            kept["vector"] = self._model.encode(
                f"{text} {' '.join(word for word, _ in kept['words'])}", normalize_embeddings=True
            )

        stages: dict[str, Callable[[], object]] = {
            "keywords": lambda: kept.update(
                words=self._keywords.extract_keywords(
                    text, keyphrase_ngram_range=(1, 2), stop_words="english", use_mmr=True, top_n=5
                )
            ),
            "embed": embed,
            "search": lambda: kept.update(found=self._look_up(kept["vector"])),
            "rerank": lambda: self._reranker.predict(
                [(text, passage) for passage in kept["found"]]
            ),
        }
        spent = {name: timed(stage) for name, stage in stages.items()}
        return {**spent, "total": sum(spent.values())}

    def _look_up(self, vector: Any) -> list[str]:
        """Find five passages through pgvector, as this project does."""
        space = self._library.space
        part = vector[: space.dimensions]
        near = vector_space.nearest(
            part / (part**2).sum() ** 0.5,
            space=space,
            limit=5,
            resolved=resolve(self._library.scope, Filter()),
        )
        return list(
            Chunk.objects.filter(pk__in=[hit.chunk for hit in near]).values_list("text", flat=True)
        )


# Results


def section(measured: dict[str, Any], chunks: int) -> Iterator[str]:
    """Write the section of the results."""
    windows = len(measured[LOCAL]["times"][LIBRARIES])
    yield TITLE
    yield ""
    yield (
        f"`python {shlex.join(['bench/live.py', *sys.argv[1:]])}`: milliseconds, median /"
        f" 95th percentile, of {windows} windows of real lectures (NYU deep"
    )
    yield (
        f"learning, Hugging Face course, MIT calculus) in a library of {chunks:,} chunks."
        f" Python {platform.python_version()}, {os.cpu_count()} cores;"
    )
    yield (
        f"cuebase with {measured[LOCAL]['threads']['cuebase']} threads a call at most, torch"
        f" with {measured[LOCAL]['threads']['torch']}, as set."
    )
    yield (
        "*The libraries*: KeyBERT, an embedding model of bge-base's shape and a cross-encoder"
        " of TinyBERT's shape, as their documentation shows them. The"
    )
    yield (
        "cross-encoder and bge-base have **random weights of the same shape** on both sides,"
        " since the real ones are not on this machine; nothing is read off"
    )
    yield "what they find."
    yield "Windows that the gate left out are not counted."
    yield ""
    for space in SPACES:
        yield from table(space, measured[space])
        yield ""


def table(space: str, measured: dict[str, Any]) -> Iterator[str]:
    """Write the table of one space, and whether its goals are met."""
    times = {
        name: [window for window in each if "skipped" not in window]
        for name, each in measured["times"].items()
    }
    stages = list(
        dict.fromkeys(
            stage
            for windows in times.values()
            for window in windows
            for stage in window
            if stage != "total"
        )
    )
    default = "all-MiniLM-L6-v2, the default space"
    yield f"**{default if space == LOCAL else 'a space of bge-base-sized vectors'}**"
    yield ""
    yield "| | " + " | ".join([*stages, "total"]) + " | times faster |"
    yield "|---|" + "---:|" * (len(stages) + 2)
    ground = statistics.median(window["total"] for window in times[LIBRARIES])
    for name, each in times.items():
        cells = []
        for stage in [*stages, "total"]:
            spent = [window[stage] for window in each if stage in window]
            cells.append(
                f"{statistics.median(spent):.1f} / {percentile(spent):.1f}" if spent else ""
            )
        total = statistics.median(window["total"] for window in each)
        goal = (
            ""
            if name == LIBRARIES
            else f" (goal {GOALS[space]:g}:"
            f" {'met' if ground / total >= GOALS[space] else 'NOT met'})"
        )
        yield f"| {name} | " + " | ".join(cells) + f" | ×{ground / total:.1f}{goal} |"
    yield ""
    yield from verdicts(space, times)


def verdicts(space: str, times: dict[str, list[dict[str, float]]]) -> Iterator[str]:
    """Say which targets are met."""
    spent = {
        stage: statistics.median(window.get(stage, 0.0) for window in times[CUEBASE])
        for stage in TARGETS
    }
    comparisons = [
        f"{stage} {spent[stage]:.1f} of {most} ({'met' if spent[stage] <= most else 'NOT met'})"
        for stage, most in TARGETS.items()
    ]
    listed = ", ".join(comparisons)
    yield f"By the documents' targets (medians, ms): {listed}."
    if space == LOCAL:
        yield (
            f"Median total at most {MAX_MS:g} ms:"
            f" {'met' if spent['total'] <= MAX_MS else 'NOT met'} ({spent['total']:.1f})."
        )


if __name__ == "__main__":
    main()
