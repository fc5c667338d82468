"""Compare the keywords of lecture windows with KeyBERT's own, by what is chosen and by time.

Run ``python bench/keywords.py`` from the repository; ``--windows`` for another number. Real windows
come from ``CUEBASE_DATA``; the words of the windows that are not measured are learnt before, as
those of a session's sources are. Both use the same model of ours, in turn; KeyBERT on
sentence-transformers would be slower still. It prints a table and writes it into
``bench/RESULTS.md``.
"""

import argparse
import random
import statistics
from collections.abc import Sequence
from time import perf_counter, process_time

from bm25 import percentile, write
from keybert import KeyBERT
from speech import lecture_windows

from citations.providers import keywords, registry
from citations.providers.embedding import Embedder, Vector
from citations.providers.keybert_reference import KeyBertBackend
from citations.providers.keywords import Extractor

TITLE = "## Keywords"
GOAL = 20  # ms a window
SETTINGS = (
    (0, 0),
    (8, 3),
    (keywords.NEAREST, keywords.ROUNDS),
    (24, 3),
)  # pairs looked at before anything is chosen, and rounds


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--windows", type=int, default=60)
    model = registry.embedder("local")
    texts = lecture_windows()
    random.seed(1)
    random.shuffle(texts)
    measured, rest = texts[: (size := parser.parse_args().windows)], texts[size:]
    about = [model.embed_query(text) for text in measured]
    theirs, took, spent = reference(model, measured)
    lines = [
        f"{TITLE}\n\n`python bench/keywords.py`: {size} windows of real lectures; the words of"
        f" {len(rest)} others were learnt before. Goal: {GOAL} ms.",
        "The window's own vector is there already. Milliseconds a window: p50 and p95 on the"
        " wall, and mean of the processor's.\n",
        "| | shared with KeyBERT's five | all five | p50 | p95 | processor"
        " |\n|---|---|---|---|---|---|",
        f"| KeyBERT, our model behind it | | | {statistics.median(took):.1f} |"
        f" {percentile(took):.1f} | {spent:.1f} |",
        *(
            row(model, rest, measured, about, theirs, nearest, rounds)
            for nearest, rounds in SETTINGS
        ),
    ]
    print("\n".join(lines))
    write("\n".join(lines))


def reference(model: Embedder, texts: Sequence[str]) -> tuple[list[set[str]], list[float], float]:
    """Return KeyBERT's keywords, the milliseconds of each, and the processor's in the mean."""
    keybert, keyword_sets, took, began = (
        KeyBERT(model=KeyBertBackend(model)),
        [],
        [],
        process_time(),
    )
    for text in texts:
        started = perf_counter()
        chosen = keybert.extract_keywords(
            text,
            keyphrase_ngram_range=(1, 2),
            stop_words="english",
            use_mmr=True,
            diversity=keywords.DIVERSITY,
            top_n=5,
        )
        took.append((perf_counter() - started) * 1000)
        keyword_sets.append({term for term, _ in chosen})
    return keyword_sets, took, (process_time() - began) * 1000 / len(texts)


def row(
    model: Embedder,
    rest: Sequence[str],
    texts: Sequence[str],
    about: Sequence[Vector],
    theirs: Sequence[set[str]],
    nearest: int,
    rounds: int,
) -> str:
    """Measure one setting."""
    keywords.NEAREST, keywords.ROUNDS = nearest, rounds  # type: ignore[misc]
    extractor = Extractor(model)
    extractor.warm(rest)
    took, shared, began = [], [], process_time()
    for text, vector, wanted in zip(texts, about, theirs, strict=True):
        started = perf_counter()
        extracted = extractor.extract(text, vector=vector)
        took.append((perf_counter() - started) * 1000)
        shared.append(len(wanted & set(extracted)) / len(wanted))
    spent = (process_time() - began) * 1000 / len(texts)
    every = sum(share == 1 for share in shared) / len(shared)
    label = (
        f"ours, {nearest} pairs, {rounds}"
        f" rounds{' (as shipped)' if (nearest, rounds) == SETTINGS[2] else ''}"
    )
    return (
        f"| {label} | {statistics.mean(shared):.1%} | {every:.0%} |"
        f" {statistics.median(took):.1f} | {percentile(took):.1f} | {spent:.1f} |"
    )


if __name__ == "__main__":
    main()
