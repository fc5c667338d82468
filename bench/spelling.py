"""Measure the correction of words that occur nowhere in a library.

Run ``python bench/spelling.py`` from the repository. Words of real segments get one edit at random,
not in their first letter; half of the sources may be read. The data come from ``CUEBASE_DATA``
(default: ``../shared/data`` beside the repository).
"""

import argparse
import random
import shlex
import string
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from statistics import median
from time import perf_counter
from typing import Final

from environment import boot

boot()

from bm25 import percentile, write
from lexical import OF_A_SOURCE, Corpus, vacuum
from search import questions

from citations.lexical import index as lexical_index
from citations.lexical import merging, spelling
from citations.lexical.query import parse
from citations.library.filters import Filter, resolve
from citations.models import Chunk, Source
from transcripts.core.scope import Scope
from transcripts.models import Collection
from transcripts.text.stemming import stem
from transcripts.text.tokenizer import tokenize

TITLE: Final = "## Spelling"


@dataclass(slots=True)
class Outcomes:
    """What came of misspelt words, and how long it took."""

    right: int = 0
    other: int = 0
    none: int = 0
    milliseconds: list[float] = field(default_factory=list)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("size", type=int, nargs="?", default=100_000, help="number of chunks")
    parser.add_argument("--words", type=int, default=300, help="that are misspelt")
    options = parser.parse_args()
    corpus = Corpus()
    scopes = filled(corpus, options.size)
    report = "\n".join(reported(corpus, scopes, options.size, options.words))
    print(report)
    write(report)


def filled(corpus: Corpus, size: int) -> dict[str, Scope]:
    """Fill two collections in turn; return who may read them."""
    halves = [Collection.objects.create(name=name, slug=name) for name in ("open", "closed")]
    for first in range(0, size, OF_A_SOURCE):
        texts = [corpus.text(number) for number in range(first, min(size, first + OF_A_SOURCE))]
        source = Source.objects.create(
            collection=halves[first // OF_A_SOURCE % 2],
            kind="text",
            title=f"From {first}",
            chunk_count=len(texts),
        )
        place = lexical_index.index(source.pk, texts)
        Chunk.objects.bulk_create(
            Chunk(
                source=source,
                ordinal=number,
                position=place + number,
                text=text,
                span_start=number * 1_000,
                span_end=number * 1_000 + len(text),
                digest=b"",
            )
            for number, text in enumerate(texts)
        )
    merging.merge(spare=0)
    vacuum("citations_lexblock", "citations_lexpack", "citations_lexentry", "citations_chunk")
    return {
        "all of it": Scope(readable=frozenset(half.pk for half in halves)),
        "half of it": Scope(readable=frozenset({halves[0].pk})),
    }


def reported(corpus: Corpus, scopes: dict[str, Scope], size: int, count: int) -> Iterator[str]:
    """Write the section of the results."""
    yield TITLE
    yield ""
    yield (
        f"`python {shlex.join(['bench/spelling.py', *sys.argv[1:]])}`: {size:,} chunks;"
        " words of real segments with one edit at random, which then occur nowhere, alone as a"
        " query. *Right*: a word with the stem of the original is offered. Milliseconds of the"
        " correction, median / 95th percentile; a query whose words are all known has none."
    )
    yield ""
    yield "| readable | misspelt words | right | another word | none | ms |"
    yield "|---|---:|---:|---:|---:|---:|"
    for name, scope in scopes.items():
        outcomes = corrected(scope, misspelt(corpus, count))
        times = (median(outcomes.milliseconds), percentile(outcomes.milliseconds))
        shares = [
            f"{number / len(outcomes.milliseconds):.0%}"
            for number in (outcomes.right, outcomes.other, outcomes.none)
        ]
        yield (
            f"| {name} | {len(outcomes.milliseconds)} | {' | '.join(shares)} |"
            f" {times[0]:.1f} / {times[1]:.1f} |"
        )
    queries = questions(count)
    offers = [offer for query in queries if (offer := suggestion(scopes["half of it"], query))]
    yield ""
    yield (
        f"Of {len(queries)} questions that people asked about these recordings, half of which may"
        f" be read, {len(offers)} are offered another spelling."
    )
    yield ""


def misspelt(corpus: Corpus, count: int) -> Sequence[tuple[str, str]]:
    """Return words of real segments, and each with one edit behind its first letter."""
    chance = random.Random(1)
    pairs: list[tuple[str, str]] = []
    while len(pairs) < count:
        words = [word for word in tokenize(chance.choice(corpus.real)) if len(word) >= 5]
        if words:
            word = chance.choice(words)
            pairs.append((word, edited(word, chance)))
    return pairs


def edited(word: str, chance: random.Random) -> str:
    place, letter = chance.randrange(1, len(word)), chance.choice(string.ascii_lowercase)
    before, after = word[:place], word[place:]
    return chance.choice(
        (
            before + after[1:],
            before + letter + after,
            before + letter + after[1:],
            before + after[1:2] + after[:1] + after[2:],
        )
    )


def corrected(scope: Scope, pairs: Sequence[tuple[str, str]]) -> Outcomes:
    outcomes, resolved = Outcomes(), resolve(scope, Filter())
    for word, typo in pairs:
        unknown = lexical_index.find(parse(typo), limit=10, resolved=resolved).unknown
        if unknown:
            started = perf_counter()
            correction = spelling.correct(typo, unknown, resolved=resolved)
            outcomes.milliseconds.append((perf_counter() - started) * 1_000)
            is_right = bool(correction) and stem(correction, "en") == stem(word, "en")
            outcomes.right += is_right
            outcomes.none += not correction
            outcomes.other += bool(correction) and not is_right
    return outcomes


def suggestion(scope: Scope, query: str) -> str:
    resolved = resolve(scope, Filter())
    unknown = lexical_index.find(parse(query), limit=10, resolved=resolved).unknown
    correction = spelling.correct(query, unknown, resolved=resolved)
    if correction:
        print(f"{query} → {correction}", file=sys.stderr)
    return correction


if __name__ == "__main__":
    main()
