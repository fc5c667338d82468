"""The formula with which several sources of a library begin, such as a licence or a greeting. Pure.

It is found by comparison alone: no phrase is known beforehand.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from citations.text import sentences
from transcripts.text.tokenizer import tokenize

OPENING: Final = 1_500  # characters of a text's beginning that are compared
RUN: Final = 4  # words that follow each other, as the unit of comparison
ALIKE: Final = 0.6  # share of a sentence's runs that another opening has
FORMULA: Final = 0.6  # share of the characters up to its end that belong to the formula
WHOLE: Final = 0.8  # share of the opening that only a copy of the source has in common

Runs = frozenset[tuple[str, ...]]


def formula_end(text: str, openings: Iterable[str]) -> int:
    """Return how many characters of a text belong to a formula that other texts begin with.

    ``openings`` are the beginnings of these. Copies of the text itself do not count.
    """
    spans = sentences.split(text[:OPENING])
    own = [_runs(text[first:last]) for first, last in spans]
    shared = _shared_runs(own, openings)
    end = common = 0
    for (first, last), runs in zip(spans, own, strict=True):
        if runs and len(runs & shared) >= ALIKE * len(runs):
            common += last - first
            end = last if common >= FORMULA * last else end
    return end


def _shared_runs(own: Sequence[Runs], openings: Iterable[str]) -> frozenset[tuple[str, ...]]:
    every = frozenset().union(*own)
    shared = (every & _runs(opening[:OPENING]) for opening in openings)
    return frozenset().union(*(runs for runs in shared if len(runs) < WHOLE * len(every)))


def _runs(text: str) -> Runs:
    words = tokenize(text)
    return frozenset(zip(*(words[start:] for start in range(RUN)), strict=False))
