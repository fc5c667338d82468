"""An overview without a language model: what the sections that were found say in a sentence each, as they stand. Pure."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from citations.replies import Part
from citations.sentences import asks, ends_with_stop
from citations.synthesis.excerpts import PUNCTUATED, Pick, leans, repeats

MOST: Final = 6  # sentences of an overview
WORTH: Final = 0.5  # of the best one's score, from which on another one is told, too, where the question is about something
LEANING: Final = 0.8  # what is left of a sentence that cannot be understood by itself
SHORT: Final = 40  # characters; a sentence of fewer says little


def overview(part: Part, known: Sequence[Pick], before: Sequence[Pick]) -> list[Pick]:
    """Choose sentences for an overview: of what the question is about those that say most of it, else some of each source; in the sources' order.

    Each passage, or each source, has its say before one has it twice.
    """
    ranked = sorted(_proper(known), key=lambda one: -_worth(one, part))
    least = WORTH * _worth(ranked[0], part) if ranked and part.about else 0.0
    chosen: list[Pick] = []
    for times in range(1, MOST + 1):
        for one in ranked:
            if len(chosen) < MOST and _worth(one, part) >= least and _told(one, chosen, part) < times:
                chosen += [] if any(repeats(one, other) for other in (*before, *chosen)) else [one]
    return _in_order(chosen)


def _proper(known: Sequence[Pick]) -> list[Pick]:
    """Leave out what asks or announces, what is short, and in a source with full stops what has none; unless nothing is left."""
    stops = Counter(one.evidence.source for one in known if ends_with_stop(one.text))
    total = Counter(one.evidence.source for one in known)

    def is_proper(one: Pick) -> bool:
        has_stops = stops[one.evidence.source] >= PUNCTUATED * total[one.evidence.source]
        return len(one.text) >= SHORT and not one.text.endswith(":") and not asks(one.text) and (ends_with_stop(one.text) or not has_stops)

    return [one for one in known if is_proper(one)] or list(known)


def _worth(one: Pick, part: Part) -> float:
    return (one.score if part.about else 1.0) * (LEANING if leans(one.text) else 1.0)


def _told(one: Pick, chosen: Sequence[Pick], part: Part) -> int:
    """Count what was chosen from the same passage, or where the question is about the whole, from the same source."""
    return sum(other.evidence.number == one.evidence.number if part.about else other.evidence.source == one.evidence.source for other in chosen)


def _in_order(chosen: Sequence[Pick]) -> list[Pick]:
    sources = list(dict.fromkeys(one.evidence.source for one in chosen))
    return sorted(chosen, key=lambda one: (sources.index(one.evidence.source), one.span))
