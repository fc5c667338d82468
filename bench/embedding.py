"""Compare the local embedding model as this project runs it with the same weights in plain
sentence-transformers on torch.

Run ``python bench/embedding.py`` from the repository; ``--threads``, ``--questions``, ``--texts``,
``--compared`` for other amounts. Real questions and transcripts come from ``CUEBASE_DATA``
(default: ``../shared/data`` beside the repository). Both embed the same things in turn, with the
same number of threads, so that a busy moment of the machine hits both alike. It prints tables and
writes them into ``bench/RESULTS.md``.
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
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from environment import DATA, ROOT, boot

boot(database=False, HF_HUB_OFFLINE="1")

import numpy as np
import torch
from bm25 import installed, percentile, timed, write
from django.conf import settings
from sentence_transformers import SentenceTransformer

from citations.providers import registry, weights
from citations.providers.runtime import openvino
from citations.readers.source_blocks import cue_blocks
from citations.text.chunking import chunk
from transcripts import captions

TITLE = "## Local embeddings"
OURS, PLAIN = "cuebase", "sentence-transformers"
QUERY_GOAL, BATCH_GOAL, CLOSE_GOAL = 4.0, 2.0, 0.999
FOLDERS = ("ergo", "ocw6012", "tinyrec", "tutorialvqa")
GOLD = ("ergo_qa", "nyudl_headings", "ocw6012_titles", "qmsum", "tinyrec_topics", "tutorialvqa")
AT_ONCE = 256  # texts of one call
WARM = 20  # questions that are not counted
# What each does in a process of its own: load, embed one text, and say the seconds and the most
# memory in MB (Linux; getrusage would count this process).
ALONE = """
import json, time
started = time.perf_counter()
from citations.providers import registry, weights
{load}
embed(["How fast does the function change?"])
seconds = time.perf_counter() - started
status = open("/proc/self/status").read()
print(json.dumps([seconds, int(status.partition("VmHWM:")[2].split()[0]) / 1000]))
"""
LOADS = {
    OURS: "embed = registry.embedder('local').embed_documents",
    PLAIN: "from sentence_transformers import SentenceTransformer as Model; embed ="
    " Model(str(weights.find(weights.MINILM)), device='cpu').encode",
}


@dataclass
class Times:
    """Milliseconds of each question, and seconds of all texts, by engine."""

    threads: int
    questions: dict[str, list[float]] = field(default_factory=lambda: {OURS: [], PLAIN: []})
    batches: dict[str, float] = field(default_factory=lambda: {OURS: 0.0, PLAIN: 0.0})
    texts: int = 0


def main() -> None:
    """Measure, print, and replace this benchmark's section of the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--threads",
        type=int,
        nargs="*",
        default=[1, os.cpu_count() or 1],
        help="threads of a call (default: one, and as many as there are cores)",
    )
    parser.add_argument("--questions", type=int, default=300, help="questions a row (default 300)")
    parser.add_argument("--texts", type=int, default=2_048, help="texts a row (default 2048)")
    parser.add_argument(
        "--compared",
        type=int,
        default=4_096,
        help="texts whose vectors are compared (default 4096)",
    )
    options = parser.parse_args()
    report = measure(options)
    print(report)
    write(report)


def measure(options: argparse.Namespace) -> str:
    """Measure all, and return the section of the results."""
    loads = {name: in_its_own_process(name) for name in (OURS, PLAIN)}
    plain = plain_model()
    queries, texts = (
        questions((options.questions + WARM) * len(options.threads)),
        pieces(max(options.texts, options.compared)),
    )
    rows = []
    for turn, threads in enumerate(dict.fromkeys(options.threads)):
        use(threads)
        each = options.questions + WARM
        rows.append(
            compare(
                threads, plain, queries[turn * each : (turn + 1) * each], texts[: options.texts]
            )
        )
    closeness = cosines(plain, texts[: options.compared])
    return section(rows, closeness, loads)


# The engines


def plain_model() -> Any:
    """Load the same weights as sentence-transformers does."""
    return SentenceTransformer(
        str(weights.find(weights.MINILM)), device="cpu", local_files_only=True
    )


def use(threads: int) -> None:
    """Let a call of either engine have so many threads."""
    torch.set_num_threads(threads)
    settings.MODEL_THREADS = threads
    registry.reset()


def plainly(model: Any, texts: Sequence[str]) -> np.ndarray:
    """Embed with sentence-transformers: its own batches of 32."""
    return np.asarray(model.encode(list(texts), normalize_embeddings=True, show_progress_bar=False))


def in_its_own_process(name: str) -> tuple[float, float]:
    """Return the seconds until the first vector, and the most memory in MB."""
    command = [sys.executable, "-c", ALONE.format(load=LOADS[name])]
    process = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if process.returncode:
        sys.exit(process.stderr)
    seconds, megabytes = json.loads(process.stdout.splitlines()[-1])
    return seconds, megabytes


# What is embedded


def questions(count: int) -> list[str]:
    """Return questions that people asked about real recordings, each once."""
    lines = [
        line
        for name in GOLD
        for line in (DATA / "dev" / "gold" / f"{name}.jsonl").read_text().splitlines()
    ]
    queries = list(dict.fromkeys(" ".join(json.loads(line)["query"].split()) for line in lines))
    return random.Random(0).sample(queries, min(count, len(queries)))


def pieces(count: int) -> list[str]:
    """Return real chunks of about 500 characters, in random order."""
    paths = [
        path
        for folder in FOLDERS
        for path in sorted((DATA / "dev" / "transcripts" / folder).glob("*.json"))
    ]
    random.Random(1).shuffle(paths)
    segments: dict[str, None] = {}
    for path in paths:
        segments |= dict.fromkeys(
            draft.text
            for draft in chunk(
                [*cue_blocks(captions.parse(path.read_bytes(), name=path.name).cues)]
            )
        )
        if len(segments) > 2 * count:
            break
    texts = sorted(segments)
    random.Random(2).shuffle(texts)
    return texts[:count]


# Measuring


def compare(threads: int, plain: Any, queries: Sequence[str], texts: Sequence[str]) -> Times:
    """Let both embed the same questions and texts, in turn, now the one first and now the other."""
    print(f"{threads} threads, {len(queries)} questions, {len(texts)} texts", file=sys.stderr)
    model = registry.embedder("local")
    times = Times(threads, texts=len(texts))
    for number, question in enumerate(queries):
        calls = {
            OURS: partial(model.embed_query, question),
            PLAIN: partial(plainly, plain, [question]),
        }
        for name in alternating(number):
            taken = timed(calls[name])
            if number >= WARM:
                times.questions[name].append(taken)
    for number, start in enumerate(range(0, len(texts), AT_ONCE)):
        some = texts[start : start + AT_ONCE]
        calls = {OURS: partial(model.embed_documents, some), PLAIN: partial(plainly, plain, some)}
        for name in alternating(number):
            times.batches[name] += timed(calls[name]) / 1000
    return times


def alternating(number: int) -> Iterator[str]:
    """Name both engines, every other time the other way round."""
    yield from (OURS, PLAIN) if number % 2 else (PLAIN, OURS)


def cosines(plain: Any, texts: Sequence[str]) -> np.ndarray:
    """Return the cosine of each stored vector (16 bits a number, as the database keeps it) to the
    plain one.
    """
    print(f"comparing {len(texts)} vectors", file=sys.stderr)
    ours = registry.embedder("local").embed_documents(texts).astype(np.float16).astype(np.float64)
    theirs = plainly(plain, texts).astype(np.float64)
    return np.asarray(
        (ours * theirs).sum(axis=1) / np.linalg.norm(ours, axis=1) / np.linalg.norm(theirs, axis=1)
    )


# Results


def section(
    rows: Sequence[Times], closeness: np.ndarray, loads: dict[str, tuple[float, float]]
) -> str:
    """Write the tables."""
    packages = ", ".join(
        f"{name} {installed(name)}" for name in ("openvino", "torch", "sentence-transformers")
    )
    held = closeness.min() >= CLOSE_GOAL
    loaded = "\n".join(
        f"| {name} | {loads[name][0]:.2f} | {loads[name][1]:.0f} |" for name in (OURS, PLAIN)
    )
    processor = (
        f"{os.cpu_count()} cores, {'with' if has_bfloat16() else 'without'} bfloat16 in hardware"
    )
    command = shlex.join(["python", "bench/embedding.py", *sys.argv[1:]])
    return f"""{TITLE}

`{command}`: all-MiniLM-L6-v2, the same weights in {OURS} (OpenVINO) and in {PLAIN}
on torch with its own settings (batches of 32), both in one process,
in turn, with the same threads a call. Python {platform.python_version()}, {packages}, {processor}.
Questions are real ones, none asked twice;
texts are real chunks of about 500 characters, {AT_ONCE} a call.
OpenVINO computes with bfloat16 where the processor has it; torch uses float32. Without it both
compute the same, and only the overhead can be saved.

| threads | | {OURS} | {PLAIN} | ratio | goal |
|---|---|---:|---:|---:|---|
{chr(10).join(line for times in rows for line in lines(times))}

Cosine of the stored vectors (16 bits a number) to those of {PLAIN}, {len(closeness):,} texts:
lowest {closeness.min():.6f},
mean {closeness.mean():.6f}; goal at least {CLOSE_GOAL}: {"met" if held else "NOT met"}.

| until the first vector, in a process of its own | seconds | most memory, MB |
|---|---:|---:|
{loaded}

Re-ranking is not here: there are no real cross-encoder's weights on this machine.
"""


def lines(times: Times) -> Iterator[str]:
    """Write the rows of one number of threads."""
    ours, theirs = (times.questions[name] for name in (OURS, PLAIN))
    for what, value in (("median", statistics.median), ("95th percentile", percentile)):
        ratio = value(theirs) / value(ours)
        cells = (
            f"{value(ours):.2f} | {value(theirs):.2f} | ×{ratio:.1f} | {judged(ratio, QUERY_GOAL)}"
        )
        yield f"| {times.threads} | a question, ms, {what} of {len(ours)} | {cells} |"
    rates = {name: times.texts / times.batches[name] for name in (OURS, PLAIN)}
    ratio = rates[OURS] / rates[PLAIN]
    yield (
        f"| {times.threads} | texts a second, of {times.texts:,} | {rates[OURS]:.1f} |"
        f" {rates[PLAIN]:.1f} | ×{ratio:.1f} | {judged(ratio, BATCH_GOAL)} |"
    )


def judged(ratio: float, goal: float) -> str:
    """Say whether a goal is met."""
    return f"at least ×{goal:.0f}: {'met' if ratio >= goal else 'NOT met'}"


def has_bfloat16() -> bool:
    """Say whether the processor computes with bfloat16, which OpenVINO uses where it is there."""
    return "BF16" in openvino().Core().get_property("CPU", "OPTIMIZATION_CAPABILITIES")


if __name__ == "__main__":
    main()
