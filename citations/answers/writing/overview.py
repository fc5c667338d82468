"""Overviews without a language model: a sentence from each section that was found."""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Final

from citations.answers.answer import QuestionPart
from citations.answers.writing.excerpts import PUNCTUATED, Pick, needs_context, repeats
from citations.text.sentences import asks, ends_with_stop

MOST: Final = 6  # sentences of an overview
WORTH: Final = 0.5  # of the best sentence's score, that another one needs
DEPENDENT: Final = 0.8  # what is left of the score of a sentence that needs the one before it
NARROW: Final = 0.9  # of the score of a sentence that is central to a part of its source only
SHORT: Final = 40  # characters; a shorter sentence says little


def overview(part: QuestionPart, known: Sequence[Pick], earlier: Sequence[Pick]) -> list[Pick]:
    """Choose sentences in the sources' order: on the question's subject, or from every source."""
    proper = _proper(known)
    chosen = _on_subject(proper, earlier) if part.about else _of_the_whole(proper, earlier)
    sources = list(dict.fromkeys(pick.evidence.source for pick in chosen))
    return sorted(chosen, key=lambda pick: (sources.index(pick.evidence.source), pick.span))


def _proper(known: Sequence[Pick]) -> list[Pick]:
    """Leave out questions, announcements, short and broken sentences, unless nothing is left."""
    stops = Counter(pick.evidence.source for pick in known if ends_with_stop(pick.text))
    total = Counter(pick.evidence.source for pick in known)

    def is_proper(pick: Pick) -> bool:
        source = pick.evidence.source
        return (
            len(pick.text) >= SHORT
            and not pick.text.endswith(":")
            and not asks(pick.text)
            and (ends_with_stop(pick.text) or stops[source] < PUNCTUATED * total[source])
        )

    return [pick for pick in known if is_proper(pick)] or list(known)


def _is_new(pick: Pick, others: Iterable[Pick]) -> bool:
    return not any(repeats(pick, other) for other in others)


# On a subject


def _on_subject(proper: Sequence[Pick], earlier: Sequence[Pick]) -> list[Pick]:
    """Take a sentence from each passage, the best first, before a second one from any."""
    ranked = sorted(proper, key=lambda pick: -_fitness(pick))
    least = WORTH * _fitness(ranked[0]) if ranked else 0.0
    worthy = [pick for pick in ranked if _fitness(pick) >= least]
    chosen: list[Pick] = []
    for times in range(MOST):
        for pick in worthy:
            taken = sum(other.evidence.number == pick.evidence.number for other in chosen)
            if len(chosen) < MOST and taken <= times and _is_new(pick, (*earlier, *chosen)):
                chosen.append(pick)
    return chosen


def _fitness(pick: Pick) -> float:
    return pick.score * (DEPENDENT if needs_context(pick.text) else 1.0)


# Of the whole


def _of_the_whole(proper: Sequence[Pick], earlier: Sequence[Pick]) -> list[Pick]:
    """Take sentences from every source, spread from its beginning to its end."""
    sources = list(dict.fromkeys(pick.evidence.source for pick in proper))[:MOST]
    chosen: list[Pick] = []
    for index, source in enumerate(sources):
        count = MOST // len(sources) + (index < MOST % len(sources))
        own = [pick for pick in proper if pick.evidence.source == source]
        chosen += _spread(own, count, [*earlier, *chosen])
    return chosen


def _spread(own: Sequence[Pick], count: int, others: Sequence[Pick]) -> list[Pick]:
    """Choose the best sentence of each of ``count`` equal stretches of a source.

    Where a stretch has none, another one has two.
    """
    first = min(pick.evidence.locator.span[0] for pick in own)
    length = max(pick.evidence.locator.span[1] for pick in own) - first
    stretches: list[list[Pick]] = [[] for _ in range(count)]
    for pick in own:
        index = (sum(pick.span) // 2 - first) * count // length
        stretches[min(count - 1, max(0, index))].append(pick)
    ranked = [
        sorted(stretch, key=lambda pick: (-_centrality(pick), pick.span)) for stretch in stretches
    ]
    chosen: list[Pick] = []
    for pick in chain.from_iterable(_in_turns(ranked)):
        if len(chosen) < count and _is_new(pick, (*others, *chosen)):
            chosen.append(pick)
    return chosen


def _in_turns(stretches: Sequence[Sequence[Pick]]) -> Iterable[list[Pick]]:
    return (
        [stretch[turn] for stretch in stretches if turn < len(stretch)]
        for turn in range(max(map(len, stretches)))
    )


def _centrality(pick: Pick) -> float:
    is_of_document = pick.evidence.level == 3
    return (1.0 if is_of_document else NARROW) * (DEPENDENT if needs_context(pick.text) else 1.0)
