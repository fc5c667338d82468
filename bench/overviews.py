"""Measure overviews made of the sources' own sentences: in how many of a talk's sections, as people named them, they cite something.

Run ``python bench/overviews.py`` from the repository; names of sets measure only these. Of each talk with several sections an overview is asked for, as answers
give it, and as they would give it without levels, from the chunks that a search finds. Drawing as many moments of the talk at random is what has to be beaten.
The data come from ``CUEBASE_DATA`` (default: ``../shared/data`` beside the repository); vectors are kept in ``build/vectors``.
"""

import argparse
import random
import shlex
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import fmean
from typing import Final

from environment import boot

boot()

from bm25 import write
from kept import kept_vectors
from questions import Library

from citations.answers import evidence
from citations.answers.answer import Reply
from citations.answers.evidence import Strategy

TITLE: Final = "## Overviews"
SETS: Final = ("ocw6012_titles", "nyudl_headings", "bitcoin_headings", "tinyrec_topics")
ASKED: Final = "Give me an overview of this talk."
FEWEST: Final = 4  # sections of a talk that is measured
DRAWS: Final = 200

Ranges = Sequence[tuple[float, float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Overview:
    """Of a talk: its sections, how many citations there were each way, and in what share of the sections that these could reach."""

    set: str
    sections: int
    citations: int
    with_levels: float
    flat: float
    chance: float


def main() -> None:
    """Measure, print, and replace this benchmark's section of the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "sets", nargs="*", metavar="SET", help=f"of {', '.join(SETS)} (default: all)"
    )
    options = parser.parse_args()
    with kept_vectors():
        library = Library(options.sets or SETS, note)
        told = [one for name in library.questions for one in overviews(library, name)]
    report = "\n".join(reported(told))
    print(report)
    write(report)


def overviews(library: Library, name: str) -> Iterator[Overview]:
    """Ask for an overview of each talk of a set."""
    sections: defaultdict[str, set[tuple[float, float]]] = defaultdict(set)
    for question in library.questions[name]:
        for answer in question.answers:
            sections[answer.source] |= set(answer.ranges)
    for talk, ranges in sorted(sections.items()):
        widest = [
            one
            for one in sorted(ranges)
            if not any(
                other != one and other[0] <= one[0] and one[1] <= other[1] for other in ranges
            )
        ]
        if len(widest) >= FEWEST:
            yield overview(library, name, talk, widest)
    note(f"{name}: done")


def overview(library: Library, name: str, talk: str, sections: Ranges) -> Overview:
    """Ask for an overview of a talk in both ways."""
    whole = library.ask_about(name, talk, ASKED)
    real = evidence.find
    evidence.find = partial(real, strategy=Strategy.FLAT)
    try:
        flat = library.ask_about(name, talk, ASKED)
    finally:
        evidence.find = real
    places = middles(whole)
    return Overview(
        set=name,
        sections=len(sections),
        citations=len(places),
        with_levels=reached(places, sections),
        flat=reached(middles(flat), sections, of=len(places)),
        chance=by_chance(sections, len(places)),
    )


def middles(reply: Reply) -> list[float]:
    """Return the second in the middle of each citation."""
    return [
        (quote.locator.start + (quote.locator.end or quote.locator.start)) / 2000
        for quote in reply.quotes
        if quote.locator.start is not None
    ]


def reached(places: Sequence[float], sections: Ranges, *, of: int = 0) -> float:
    """Return in what share of the sections that so many places could reach (``of``, if more) there is one."""
    hit = sum(any(start <= place < end for place in places) for start, end in sections)
    return hit / max(1, min(max(of, len(places)), len(sections)))


def by_chance(sections: Ranges, count: int) -> float:
    """Return what as many moments drawn at random reach."""
    chance = random.Random(0)
    first, last = min(start for start, _ in sections), max(end for _, end in sections)
    return (
        fmean(
            reached([chance.uniform(first, last) for _ in range(count)], sections)
            for _ in range(DRAWS)
        )
        if count
        else 0.0
    )


def reported(told: Sequence[Overview]) -> Iterator[str]:
    """Write the section of the results."""
    yield f"{TITLE}\n\n`python {shlex.join(['bench/overviews.py', *sys.argv[1:]])}`: no language model, “{ASKED}” of each talk with {FEWEST} sections or more."
    yield "Shares of the sections that so many citations can reach, in which one is.\n"
    yield "| set | talks | sections | citations | as answers do it | from chunks alone | as many moments at random |\n|---|---:|---:|---:|---:|---:|---:|"
    for name in [*dict.fromkeys(one.set for one in told), "all"]:
        own = [one for one in told if name in (one.set, "all")]
        figures = (
            f"{fmean(one.sections for one in own):.1f} | {fmean(one.citations for one in own):.1f}"
        )
        shares = " | ".join(
            f"{fmean(values):.2f}"
            for values in zip(
                *((one.with_levels, one.flat, one.chance) for one in own), strict=True
            )
        )
        yield f"| {name} | {len(own)} | {figures} | {shares} |"
    yield ""


def note(text: str) -> None:
    """Say how far it is."""
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
