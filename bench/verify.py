"""Measure how many altered quotes pass as true ones, and how many true ones are refused.

Run ``python bench/verify.py``. Quotes of 6 to 30 words are drawn from the development transcripts
and a textbook; true ones are also written and printed otherwise. Needs no database.
"""

import random
from collections import defaultdict
from collections.abc import Iterator
from typing import Final

from harness.environment import DATA, arguments, boot, command

boot(database=False)

from harness.report import publish, table
from harness.sets import mixed, said

from citations.quotes.matching import PreparedText, Verdict, check, prepare
from tests.citations.quotes.mutants import mutants, noisy, printed, real_texts, says, true_quotes

TRUE: Final = ("as it is", "written otherwise", "printed otherwise")


def main() -> None:
    accepted: dict[str, list[bool]] = defaultdict(list)
    for kind, quote, text in quotes(arguments(__doc__, quotes=400).quotes):
        is_verbatim = check(quote, text).verdict is Verdict.VERBATIM
        accepted[kind].append(is_verbatim)
        accepted["**all true**" if kind in TRUE else "**all altered**"].append(is_verbatim)
    rows = [(kind, len(verdicts), sum(verdicts)) for kind, verdicts in accepted.items()]
    rows.sort(key=lambda row: row[0].startswith("*"))
    publish("Quotes", f"{command()}.", table(("quotes", "drawn", "word for word"), rows))


def quotes(count: int) -> Iterator[tuple[str, str, PreparedText]]:
    """Yield the kind of a quote, the quote, and the text that it claims to be from."""
    texts = real_texts(DATA) | {path.stem: said(path)[:60_000] for path in mixed(30)}
    known, chance = {name: prepare(text) for name, text in texts.items()}, random.Random(5)
    for name, quote in true_quotes(texts, count=count, seed=5):
        before, _, after = texts[name].partition(quote)
        yield TRUE[0], quote, known[name]
        yield TRUE[1], noisy(quote, chance), known[name]
        yield TRUE[2], quote, prepare(printed(before[-300:] + quote + after[:300], chance))
        for mutant in mutants(name, quote, texts, chance):
            if not says(texts[mutant.claimed], mutant.quote):
                yield mutant.how, mutant.quote, known[mutant.claimed]


if __name__ == "__main__":
    main()
