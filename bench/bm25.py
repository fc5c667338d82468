"""Compare search in one transcript: this project's index, rank_bm25, bm25s, and the plugin's
algorithm, which tokenizes anew at every query.

Run ``python bench/bm25.py`` from the repository; ``--rounds N`` for more rounds, ``--seed N`` for
other queries. It prints a table and writes it into ``bench/RESULTS.md``. The rivals take turns
within every round, so that a busy moment of the machine hits them alike. Real transcripts come from
``CUEBASE_DATA`` (default: ``../shared/data`` beside the repository); without them the text is
generated.
"""

import argparse
import json
import math
import os
import platform
import random
import re
import shlex
import statistics
import sys
import textwrap
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

import bm25s
import numpy
from environment import DATA, RESULTS, ROOT
from rank_bm25 import BM25Okapi

from transcripts.text.bm25 import Index
from transcripts.text.cues import Cue, group_by_time
from transcripts.text.stemming import stems
from transcripts.text.tokenizer import tokenize

SIZES = (240, 2000)
QUERY_WORDS = (1, 3, 6)
LIMIT = 5
QUERIES = 20
OURS, STORED, PLUGIN = (
    "transcripts.text.bm25",
    "transcripts.text.bm25, stored index",
    "the plugin's algorithm",
)
Search = Callable[[str], object]
Maker = Callable[[], Search]


def main() -> None:
    """Measure, print, and replace this benchmark's section of the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--rounds",
        type=int,
        default=7,
        help="rounds of 20 warm queries and one first query (default 7)",
    )
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    texts, origin = corpus(max(SIZES))
    lines = [
        "| segments | query words | | " + " | ".join(HEADERS) + " |",
        "|---|---|---|" + "---:|" * len(HEADERS),
    ]
    for size in SIZES:
        for words in QUERY_WORDS:
            queries = make_queries(
                texts[:size],
                words,
                source=random.Random(options.seed),
                count=QUERIES * options.rounds,
            )
            lines += table(size, words, measure(texts[:size], queries))
    report = section(lines, origin)
    print(report)
    write(report)


# What is compared


def stemmed(text: str) -> list[str]:
    """Return what this project indexes of an English text."""
    return stems(tokenize(text), "en")


def ours(texts: Sequence[str]) -> Maker:
    """Build the index, then rank."""

    def make() -> Search:
        index = Index.build(texts)
        return lambda query: index.rank(query, limit=LIMIT)

    return make


def stored(texts: Sequence[str]) -> Maker:
    """Decode the index from its blob, then rank."""
    blob = Index.build(texts).to_bytes()

    def make() -> Search:
        index = Index.from_bytes(blob)
        return lambda query: index.rank(query, limit=LIMIT)

    return make


def rank_bm25(texts: Sequence[str]) -> Maker:
    """Use rank_bm25's Okapi with this project's tokens; the best by numpy's partition."""

    def make() -> Search:
        index = BM25Okapi([*map(stemmed, texts)], k1=1.5, b=0.75)
        return lambda query: best(index.get_scores(stemmed(query)))

    return make


def bm25s_scores(texts: Sequence[str]) -> Maker:
    """Use bm25s's scores with numpy's partition: its fastest way for a single query."""

    def make() -> Search:
        index = bm25s.BM25(k1=1.5, b=0.75, method="lucene")
        index.index([*map(stemmed, texts)], show_progress=False)
        return lambda query: best(index.get_scores(stemmed(query)))

    return make


def bm25s_retrieve(backend: str) -> Callable[[Sequence[str]], Maker]:
    """Use bm25s as its documentation does, with the backend named."""

    def for_texts(texts: Sequence[str]) -> Maker:
        def make() -> Search:
            index = bm25s.BM25(k1=1.5, b=0.75, method="lucene", backend=backend)
            index.index([*map(stemmed, texts)], show_progress=False)
            return lambda query: index.retrieve([stemmed(query)], k=LIMIT, show_progress=False)

        return make

    return for_texts


def plugin(texts: Sequence[str]) -> Maker:
    """Do what the plugin does at each query; it keeps nothing between queries."""
    return lambda: lambda query: plugin_search(texts, query)


def plugin_search(texts: Sequence[str], query: str) -> list[tuple[float, int]]:
    """Rank as the plugin does: tokens anew for the IDF, for the average length and for the scores
    (its own IDF even does so per query word).
    """
    terms = plugin_tokens(query)
    contained = Counter(
        term for text in texts for term in set(terms).intersection(plugin_tokens(text))
    )
    idf = {
        term: math.log((len(texts) - contained[term] + 0.5) / (contained[term] + 0.5) + 1)
        for term in terms
    }
    average = sum(len(plugin_tokens(text)) for text in texts) / len(texts)
    scored = [
        (-plugin_score(plugin_tokens(text), terms, idf, average), place)
        for place, text in enumerate(texts)
    ]
    return sorted(entry for entry in scored if entry[0] < 0)[:LIMIT]


def plugin_tokens(text: str) -> list[str]:
    """Tokenize as the plugin does."""
    return [
        word
        for word in re.sub(r"[^\w\s]", " ", text.lower(), flags=re.ASCII).split()
        if len(word) > 1
    ]


def plugin_score(
    tokens: Sequence[str], terms: Sequence[str], idf: dict[str, float], average: float
) -> float:
    """Score one segment as the plugin does."""
    counts = Counter(tokens)
    norm = 1.5 * (1 - 0.75 + 0.75 * len(tokens) / average)
    return sum(
        idf[term] * counts[term] * 2.5 / (counts[term] + norm) for term in terms if counts[term]
    )


def best(
    scores: "numpy.ndarray[tuple[int], numpy.dtype[numpy.float64]]",
) -> list[tuple[int, float]]:
    """Pick the best positions, best first."""
    top = numpy.argpartition(scores, -LIMIT)[-LIMIT:]
    return [(int(place), float(scores[place])) for place in top[numpy.argsort(-scores[top])]]


RIVALS: dict[str, Callable[[Sequence[str]], Maker]] = {
    OURS: ours,
    STORED: stored,
    "rank_bm25": rank_bm25,
    "bm25s scores": bm25s_scores,
    "bm25s retrieve": bm25s_retrieve("numpy"),
    **({"bm25s numba": bm25s_retrieve("numba")} if find_spec("numba") else {}),
    PLUGIN: plugin,
}
HEADERS = list(RIVALS)


# Measuring

Times = dict[str, list[float]]


def measure(texts: Sequence[str], queries: Sequence[str]) -> tuple[Times, Times]:
    """Time the first query (index and all) and warm queries, in milliseconds; no query is asked
    twice, and the rivals take turns in changing order.
    """
    makers = {name: rival(texts) for name, rival in RIVALS.items()}
    searches = {name: make() for name, make in makers.items()}
    first: Times = {name: [] for name in RIVALS}
    warm: Times = {name: [] for name in RIVALS}
    for turn, query in enumerate(queries):
        order = [*RIVALS]
        random.Random(turn).shuffle(order)
        for name in order:
            warm[name].append(timed(partial(searches[name], query)))
            if turn % QUERIES == 0:
                first[name].append(timed(partial(first_query, makers[name], query)))
    return first, warm


def first_query(make: Maker, query: str) -> object:
    """Index, or decode, and ask once."""
    return make()(query)


def timed(call: Callable[[], object]) -> float:
    """Return the milliseconds of one call."""
    before = time.perf_counter_ns()
    call()
    return (time.perf_counter_ns() - before) / 1e6


def table(size: int, words: int, measured: tuple[Times, Times]) -> Iterator[str]:
    """Write the two rows of one setting: median, 95th percentile, and how many times this project's
    time it is.
    """
    for label, times in zip(("first", "warm"), measured, strict=True):
        ground = statistics.median(times[OURS])
        cells = [
            f"{statistics.median(times[name]):.3f} / {percentile(times[name]):.3f}"
            f" (×{statistics.median(times[name]) / ground:.1f})"
            for name in HEADERS
        ]
        yield f"| {size:,} | {words} | {label} | " + " | ".join(cells) + " |"


def percentile(values: Sequence[float]) -> float:
    """Return the 95th percentile."""
    return sorted(values)[min(len(values) - 1, round(0.95 * len(values)))]


# Text and queries


def corpus(size: int) -> tuple[list[str], str]:
    """Collect segments of 30 s from the real English transcripts in turn, or generate them."""
    texts: list[str] = []
    for path in sorted((DATA / "dev" / "transcripts").glob("[boq]*/*.json")):
        data = json.loads(path.read_text())
        if data["lang"].startswith("en"):
            cues = [
                Cue(
                    round(cue["start"] * 1000),
                    round((cue["start"] + cue["duration"]) * 1000),
                    cue["text"],
                )
                for cue in data["cues"]
            ]
            texts += [group.text for group in group_by_time(cues, 30)]
    if len(texts) < size:
        return generated(size), "generated text"
    start = random.Random(0).randrange(len(texts) - size)
    return texts[start : start + size], "real transcripts (neighbouring segments of 30 s)"


def generated(size: int) -> list[str]:
    """Generate segments of 50 to 90 words whose frequencies follow Zipf's law."""
    source = random.Random(0)
    vocabulary = [
        "".join(source.choices("abcdefghijklmnopqrstuvwxyz", k=source.randint(2, 9)))
        for _ in range(12_000)
    ]
    weights = [1 / (rank + 2) for rank in range(len(vocabulary))]
    return [
        " ".join(source.choices(vocabulary, weights, k=source.randint(50, 90))) for _ in range(size)
    ]


def make_queries(
    texts: Sequence[str], words: int, *, source: random.Random, count: int
) -> list[str]:
    """Make queries: one or three words of five or more letters from a segment, or six neighbouring
    words with all their stop words.
    """
    queries: list[str] = []
    while len(queries) < count:
        tokens = tokenize(source.choice(texts))
        content = sorted({token for token in tokens if len(token) >= 5})
        if len(tokens) >= 6 and len(content) >= words < 6:
            queries.append(" ".join(source.sample(content, words)))
        elif len(tokens) >= 6 and words == 6:
            start = source.randrange(len(tokens) - 5)
            queries.append(" ".join(tokens[start : start + 6]))
    return queries


# Results


def section(lines: Sequence[str], origin: str) -> str:
    """Write the section of the results."""
    packages = ", ".join(
        f"{name} {installed(name)}" for name in ("rank-bm25", "bm25s", "numpy", "numba")
    )
    return "\n".join(
        [
            "## Search in one transcript",
            "",
            f"`python"
            f" {shlex.join([str(Path(sys.argv[0]).resolve().relative_to(ROOT)), *sys.argv[1:]])}`:"
            f" milliseconds, median / 95th percentile"
            f" (× the time of `{OURS}`), top {LIMIT}, {origin}. Python"
            f" {platform.python_version()}, {packages}, {os.cpu_count()} cores.",
            "*First* is everything a first query needs: tokenizing and indexing (or decoding"
            " the stored index) and one query.",
            "*Warm* is a query not asked before, to an index that is there.",
            "All indexes hold the same tokens. The plugin's algorithm is transcribed to Python"
            " and tokenizes three times a query. bm25s is asked in",
            "two ways: *retrieve*, as its documentation does, and *scores*, its bare scores"
            " with numpy's partition.",
            "",
            *lines,
            "",
        ]
    )


def installed(package: str) -> str:
    """Return the version of a package, or say that it is absent."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "absent"


def wrapped(report: str) -> str:
    """Wrap paragraphs at 100 columns; leave headings, tables and lists."""
    return "\n\n".join(
        part
        if part.lstrip()[:1] in ("#", "|", "-", "")
        else textwrap.fill(
            " ".join(part.split()), 100, break_long_words=False, break_on_hyphens=False
        )
        for part in report.split("\n\n")
    )


def write(report: str) -> None:
    """Replace this section in the results, or append it; wrap its paragraphs."""
    heading, report = report.splitlines()[0], wrapped(report)
    before = (
        RESULTS.read_text()
        if RESULTS.exists()
        else "# Benchmarks\n\nEach section is written by the command that it names.\n"
    )
    parts = re.split(r"(?m)^(?=## )", before)
    kept = [part.rstrip() for part in parts if part.strip() and not part.startswith(heading + "\n")]
    RESULTS.write_text("\n\n".join([*kept, report.rstrip()]) + "\n")


if __name__ == "__main__":
    main()
