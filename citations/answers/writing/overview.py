"""An overview without a language model: what the sections that were found say in a sentence each, as they stand. Pure."""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Final

from citations.answers.answer import QuestionPart
from citations.answers.writing.excerpts import PUNCTUATED, Pick, leans, repeats
from citations.text.sentences import asks, ends_with_stop

MOST: Final = 6  # sentences of an overview
WORTH: Final = 0.5  # of the best one's score, from which on another one is told, too, where the question is about something
LEANING: Final = 0.8  # what is left of a sentence that cannot be understood by itself
NARROW: Final = 0.9  # of a sentence that was central to a part of its source only
SHORT: Final = 40  # characters; a sentence of fewer says little


def overview(part: QuestionPart, known: Sequence[Pick], before: Sequence[Pick]) -> list[Pick]:
    """Choose sentences for an overview, in the sources' order: of what the question is about those that say most of it, else some of every source."""
    proper = _proper(known)
    chosen = _about(proper, before) if part.about else _of_the_whole(proper, before)
    sources = list(dict.fromkeys(one.evidence.source for one in chosen))
    return sorted(chosen, key=lambda one: (sources.index(one.evidence.source), one.span))


def _proper(known: Sequence[Pick]) -> list[Pick]:
    """Leave out what asks or announces, what is short, and in a source with full stops what has none; unless nothing is left."""
    stops = Counter(one.evidence.source for one in known if ends_with_stop(one.text))
    total = Counter(one.evidence.source for one in known)

    def is_proper(one: Pick) -> bool:
        has_stops = stops[one.evidence.source] >= PUNCTUATED * total[one.evidence.source]
        return (
            len(one.text) >= SHORT
            and not one.text.endswith(":")
            and not asks(one.text)
            and (ends_with_stop(one.text) or not has_stops)
        )

    return [one for one in known if is_proper(one)] or list(known)


def _is_new(one: Pick, said: Iterable[Pick]) -> bool:
    return not any(repeats(one, other) for other in said)


# Of what a question is about


def _about(proper: Sequence[Pick], before: Sequence[Pick]) -> list[Pick]:
    """Let each passage have its say, the best first, before one has it twice."""
    ranked = sorted(proper, key=lambda one: -_fitness(one))
    least = WORTH * _fitness(ranked[0]) if ranked else 0.0
    chosen: list[Pick] = []
    for times in range(MOST):
        for one in ranked:
            has_said = sum(other.evidence.number == one.evidence.number for other in chosen)
            if (
                len(chosen) < MOST
                and _fitness(one) >= least
                and has_said <= times
                and _is_new(one, (*before, *chosen))
            ):
                chosen.append(one)
    return chosen


def _fitness(one: Pick) -> float:
    return one.score * (LEANING if leans(one.text) else 1.0)


# Of the whole


def _of_the_whole(proper: Sequence[Pick], before: Sequence[Pick]) -> list[Pick]:
    """Let every source have its say, from its beginning to its end."""
    sources = list(dict.fromkeys(one.evidence.source for one in proper))[:MOST]
    chosen: list[Pick] = []
    for place, source in enumerate(sources):
        count = MOST // len(sources) + (place < MOST % len(sources))
        chosen += _spread(
            [one for one in proper if one.evidence.source == source], count, [*before, *chosen]
        )
    return chosen


def _spread(own: Sequence[Pick], count: int, said: Sequence[Pick]) -> list[Pick]:
    """Choose the best sentence of each of ``count`` stretches of a source, all equally long; where one has none, another one has two."""
    first = min(one.evidence.locator.span[0] for one in own)
    length = max(one.evidence.locator.span[1] for one in own) - first
    stretches: list[list[Pick]] = [[] for _ in range(count)]
    for one in own:
        stretches[min(count - 1, max(0, (sum(one.span) // 2 - first) * count // length))].append(
            one
        )
    ranked = [
        sorted(stretch, key=lambda one: (-_centrality(one), one.span)) for stretch in stretches
    ]
    chosen: list[Pick] = []
    for one in chain.from_iterable(_in_turns(ranked)):
        if len(chosen) < count and _is_new(one, (*said, *chosen)):
            chosen.append(one)
    return chosen


def _in_turns(stretches: Sequence[Sequence[Pick]]) -> Iterable[list[Pick]]:
    return (
        [stretch[turn] for stretch in stretches if turn < len(stretch)]
        for turn in range(max(map(len, stretches)))
    )


def _centrality(one: Pick) -> float:
    return (1.0 if one.evidence.level == 3 else NARROW) * (LEANING if leans(one.text) else 1.0)
