"""Measure overviews without a language model: in how many of a talk's sections they cite, and how
near the names of an outline's sections are to those that people gave them.

Run ``python bench/overviews.py`` from the repository; names of sets measure only these. People have
named the sections. Each talk with several of them is asked for an overview, once with the summary
tree and once from chunks alone; as many moments drawn at random are the baseline.
"""

import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any, Final
from unittest import mock

from harness.environment import arguments, boot, command

boot()

from harness.asking import AskedSets
from harness.report import publish, table
from harness.vectors import kept_vectors

from citations.answers import evidence
from citations.answers.answer import Breadth, EvidenceSet, QuestionPart, Reply
from citations.answers.writing.sentence_ranking import stems
from citations.models import Node, Source
from citations.outline import storage as outline_storage
from transcripts.core.scope import Scope

SETS: Final = ("ocw6012_titles", "nyudl_headings", "bitcoin_headings", "tinyrec_topics")
ASKED: Final = "Give me an overview of this talk."
MIN_SECTIONS: Final = 4  # sections of a talk that is measured
DRAWS: Final = 200

Headings = dict[tuple[float, float], str]
Ranges = Sequence[tuple[float, float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """A talk's sections, its citations, and their shares of the sections that they can reach."""

    set: str
    sections: int
    citations: int
    with_levels: float
    flat: float
    chance: float
    names: float  # ROUGE-1 with the headings that people wrote


def main() -> None:
    options = arguments(__doc__, sets=[*SETS])
    with kept_vectors():
        sets = AskedSets(options.sets)
        measured = [each for name in sets.questions for each in overviews(sets, name)]
    publish(
        "Overviews",
        f"{command()}: no language model, “{ASKED}” of each talk with {MIN_SECTIONS} sections or"
        " more. Shares of the sections that so many citations can reach, without the first one,"
        " which says what the talk is about. Names: ROUGE-1 of the headings by people with the name"
        " of the outline for the same time.",
        table(
            (
                *("set", "talks", "sections", "citations", "as answers do it"),
                *("from chunks alone", "as many moments at random", "names, ROUGE-1"),
            ),
            rows(measured),
        ),
    )


def rows(measured: Sequence[Overview]) -> Iterator[Sequence[object]]:
    """Yield the means of each set, and of all."""
    for name in [*dict.fromkeys(each.set for each in measured), "all"]:
        own = [each for each in measured if name in (each.set, "all")]
        figures = ((each.with_levels, each.flat, each.chance, each.names) for each in own)
        yield (
            name,
            len(own),
            f"{fmean(each.sections for each in own):.1f}",
            f"{fmean(each.citations for each in own):.1f}",
            *(f"{fmean(column):.2f}" for column in zip(*figures, strict=True)),
        )


def overviews(sets: AskedSets, name: str) -> Iterator[Overview]:
    """Ask for an overview of each talk of a set."""
    sections: defaultdict[str, Headings] = defaultdict(dict)
    for question in sets.questions[name]:
        for answer in question.answers:
            sections[answer.source] |= dict.fromkeys(answer.ranges, question.query)
    for talk, headings in sorted(sections.items()):
        spans = [span for span in sorted(headings) if not is_within_another(span, headings)]
        if len(spans) >= MIN_SECTIONS:
            yield overview(sets, name, talk, {span: headings[span] for span in spans})


def is_within_another(span: tuple[float, float], ranges: Iterable[tuple[float, float]]) -> bool:
    return any(other != span and other[0] <= span[0] and span[1] <= other[1] for other in ranges)


def overview(sets: AskedSets, name: str, talk: str, headings: Headings) -> Overview:
    """Ask for an overview of a talk with the summary tree and without it."""
    sections = list(headings)
    whole = sets.ask_about(name, talk, ASKED)
    find = evidence.find

    def specific(scope: Scope, part: QuestionPart, **options: Any) -> EvidenceSet:
        return find(scope, replace(part, breadth=Breadth.SPECIFIC), **options)

    with mock.patch.object(evidence, "find", specific):
        flat = sets.ask_about(name, talk, ASKED)
    moments = middles(whole)[1:]  # the first one says what the talk is about
    return Overview(
        set=name,
        sections=len(sections),
        citations=len(moments),
        with_levels=reached(moments, sections),
        flat=reached(middles(flat), sections, of=len(moments)),
        chance=by_chance(sections, len(moments)),
        names=fmean(rouge(named(talk, span), heading) for span, heading in headings.items()),
    )


def named(talk: str, span: tuple[float, float]) -> str:
    """Return the name of the section of a talk's outline that shares most with a span (s)."""
    source = Source.objects.get(video__key=talk)

    def shared(node: Node) -> float:
        start, end = (node.start or 0) / 1000, (node.end or 0) / 1000
        both = min(end, span[1]) - max(start, span[0])
        return both / max(end - start, span[1] - span[0])

    return max(outline_storage.outline(source).parts, key=shared).title


def rouge(name: str, heading: str) -> float:
    """Return ROUGE-1 (Lin, 2004), the harmonic mean of the shares of common stems."""
    mine, theirs = Counter(stems(name)), Counter(stems(heading))
    return 2 * sum((mine & theirs).values()) / ((mine.total() + theirs.total()) or 1)


def middles(reply: Reply) -> list[float]:
    """Return the second in the middle of each citation."""
    return [
        (quote.locator.start + (quote.locator.end or quote.locator.start)) / 2000
        for quote in reply.quotes
        if quote.locator.start is not None
    ]


def reached(moments: Sequence[float], sections: Ranges, *, of: int = 0) -> float:
    """Return the share of sections with a moment, out of those that so many can reach.

    ``of`` counts instead of the moments if it is more.
    """
    hit = sum(any(start <= moment < end for moment in moments) for start, end in sections)
    return hit / max(1, min(max(of, len(moments)), len(sections)))


def by_chance(sections: Ranges, count: int) -> float:
    """Return the share that ``count`` moments drawn at random reach."""
    if not count:
        return 0.0
    chance = random.Random(0)
    first, last = min(start for start, _ in sections), max(end for _, end in sections)
    draws = ([chance.uniform(first, last) for _ in range(count)] for _ in range(DRAWS))
    return fmean(reached(moments, sections) for moments in draws)


if __name__ == "__main__":
    main()
