"""Measure the correction of words that occur nowhere in a library.

Run ``python bench/spelling.py`` from the repository. Words of real segments get one edit at random,
not in their first letter; half of the sources may be read.
"""

import random
import string
from collections import Counter
from collections.abc import Iterator
from functools import partial
from itertools import islice
from typing import Final

from harness.environment import arguments, boot, command, note

boot()

from harness.large import OF_A_SOURCE, add_source, questions, vacuum
from harness.report import publish, spread, table
from harness.turns import timed
from lexical import Corpus

from citations.lexical import index as lexical_index
from citations.lexical import merging, spelling
from citations.lexical.query import parse
from citations.library.filters import Filter, resolve
from transcripts.core.scope import Scope
from transcripts.models import Collection
from transcripts.text.stemming import stem
from transcripts.text.tokenizer import tokenize

RIGHT, OTHER, NONE = "right", "another word", "none"
OUTCOMES: Final = (RIGHT, OTHER, NONE)


def main() -> None:
    options = arguments(__doc__, size=100_000, words=300)
    corpus = Corpus()
    scopes = filled(corpus, options.size)
    rows = []
    for name, scope in scopes.items():
        outcomes, times = corrected(scope, list(islice(misspelt(corpus), options.words)))
        shares = (f"{outcomes[outcome] / len(times):.0%}" for outcome in OUTCOMES)
        rows.append((name, len(times), *shares, spread(times)))
    people_asked = questions(options.words)
    offers = {
        query: offer for query in people_asked if (offer := correction(scopes["half"], query)[0])
    }
    for query, offer in offers.items():
        note(f"{query} → {offer}")
    publish(
        "Spelling",
        f"{command()}: {options.size:,} chunks; words of real segments with one edit at random,"
        " which then occur nowhere, alone as a query. *Right*: a word with the stem of the original"
        " is offered. Milliseconds of the correction, median / 95th percentile; a query whose words"
        " are all known has none.",
        table(("readable", "misspelt words", *OUTCOMES, "ms"), rows),
        f"Of {len(people_asked)} questions that people asked about these recordings, half of which"
        f" may be read, {len(offers)} are offered another spelling.",
    )


def filled(corpus: Corpus, size: int) -> dict[str, Scope]:
    """Fill two collections in turn; return who may read them."""
    parts = [Collection.objects.create(name=name, slug=name) for name in ("open", "closed")]
    for first in range(0, size, OF_A_SOURCE):
        texts = [corpus.text(number) for number in range(first, min(size, first + OF_A_SOURCE))]
        add_source(parts[first // OF_A_SOURCE % 2], f"From {first}", texts)
    merging.merge(spare=0)
    vacuum()
    return {
        "all": Scope(readable=frozenset(part.pk for part in parts)),
        "half": Scope(readable=frozenset({parts[0].pk})),
    }


def misspelt(corpus: Corpus) -> Iterator[tuple[str, str]]:
    """Yield words of real segments, and each with one edit behind its first letter."""
    chance = random.Random(1)
    while True:
        words = [word for word in tokenize(chance.choice(corpus.real)) if len(word) >= 5]
        if words:
            word = chance.choice(words)
            yield word, edited(word, chance)


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


def corrected(scope: Scope, pairs: list[tuple[str, str]]) -> tuple[Counter[str], list[float]]:
    """Return what came of misspelt words, and the milliseconds of each that occurs nowhere."""
    outcomes: Counter[str] = Counter()
    times = []
    for word, typo in pairs:
        offer, milliseconds = correction(scope, typo)
        if milliseconds is not None:
            times.append(milliseconds)
            is_right = bool(offer) and stem(offer, "en") == stem(word, "en")
            outcomes[RIGHT if is_right else OTHER if offer else NONE] += 1
    return outcomes, times


def correction(scope: Scope, query: str) -> tuple[str, float | None]:
    """Return what a query is corrected to, and the milliseconds; None if all words are known."""
    resolved = resolve(scope, Filter())
    unknown = lexical_index.find(parse(query), limit=10, resolved=resolved).unknown
    if not unknown:
        return "", None
    offers: list[str] = []
    correct = partial(spelling.correct, query, unknown, resolved=resolved)
    milliseconds = timed(lambda: offers.append(correct()))
    return offers[0], milliseconds


if __name__ == "__main__":
    main()
