"""Measure how well evidence for answers is found: chunks alone against levels of detail, on questions whose answers people have marked.

Run ``python bench/answers.py`` from the repository; names of sets measure only these, ``--questions N`` at most so many of each, evenly drawn. It prints a
table and writes it into ``bench/RESULTS.md``. Library, ingest, kept vectors and data are those of ``bench/quality.py``.
"""

import argparse
import platform
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import fmean

from environment import boot

boot()

import quality
from bm25 import write
from kept import kept_vectors

from citations.answers import evidence as answer_evidence
from citations.answers.answer import Breadth, Evidence, QuestionPart
from citations.answers.evidence import Strategy
from citations.answers.question import breadth as question_breadth
from citations.answers.question import router
from citations.evaluation.metrics import Scores, compare, mean, score
from citations.evaluation.questions import Question
from citations.evaluation.relevance import RelevanceJudge
from citations.lexical import index as lexical_index
from citations.models import Chunk, Node, Source
from citations.providers import registry
from transcripts.models import Collection
from transcripts.scope import Scope

LIMIT = 10
ALL = "all sets"
Way = Callable[[Scope, QuestionPart], answer_evidence.EvidenceSet]


def main() -> None:
    """Measure, print, and replace this benchmark's section of the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "sets", nargs="*", metavar="SET", help=f"of {', '.join(quality.TRANSCRIPTS)} (default: all)"
    )
    parser.add_argument(
        "--questions", type=int, default=10_000, help="of each set, at most (default: all)"
    )
    parser.add_argument(
        "--remark",
        default="",
        help="a sentence for the results: under which circumstances this was measured",
    )
    options = parser.parse_args()
    with kept_vectors():
        measured = [
            measure(name, options.questions) for name in options.sets or quality.TRANSCRIPTS
        ]
    report = section(measured, options.remark)
    print(report)
    write(report)


def ways() -> dict[str, Way]:
    """Return the ways to look for evidence, by the names that they have in the results."""

    def way(
        strategy: Strategy | None, breadth: Breadth | None, scope: Scope, part: QuestionPart
    ) -> answer_evidence.EvidenceSet:
        return answer_evidence.find(
            scope,
            part if breadth is None else asked(part.text, breadth),
            limit=LIMIT,
            strategy=strategy,
        )

    return {
        "flat": partial(way, Strategy.FLAT, None),
        "collapsed": partial(way, Strategy.COLLAPSED_TREE, None),
        "descent": partial(way, Strategy.TREE_TRAVERSAL, None),
        "as answers do it": partial(way, None, None),
        "collapsed, all as broad": partial(way, Strategy.COLLAPSED_TREE, Breadth.BROAD),
    }


# A set, and what was measured with it


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """How good each way is on one set, how many characters its evidence has on average, and how the questions were routed."""

    name: str
    chunks: int
    nodes: int
    questions: int
    broad: int
    several: int
    scores: Mapping[str, Sequence[Scores]]
    characters: Mapping[str, float]


def measure(name: str, most: int) -> Measured:
    """Fill a library with a set's transcripts, and look for evidence in every way."""
    collection = Collection.objects.create(name=name, slug=name)
    questions = quality.transcripts(collection, name)
    lexical_index.merge()
    scope = Scope(readable=frozenset({collection.pk}))
    library = Library(scope)
    judged = [
        question for question in questions[:: -(-len(questions) // most)] if library.count(question)
    ]
    quality.note(
        f"{name}: {Chunk.objects.count():,} chunks, {Node.objects.count():,} nodes, {len(judged):,} questions"
    )
    embed = registry.embedder("local").embed_queries
    routes = [router.route(question.query, embed=embed) for question in judged]
    scores: dict[str, list[Scores]] = {way: [] for way in ways()}
    characters: dict[str, list[int]] = {way: [] for way in ways()}
    for number, (question, route) in enumerate(zip(judged, routes, strict=True)):
        quality.tell(name, number, len(judged))
        part = asked(question.query, route.parts[0].breadth)
        for way, find in ways().items():
            found = find(scope, part).evidence
            scores[way].append(
                score([library.is_answer(question, one) for one in found], library.count(question))
            )
            characters[way].append(sum(len(one.text) for one in found))
    made = Measured(
        name=name,
        chunks=Chunk.objects.count(),
        nodes=Node.objects.count(),
        questions=len(judged),
        broad=sum(route.parts[0].breadth == Breadth.BROAD for route in routes),
        several=sum(len(route.parts) > 1 for route in routes),
        scores=scores,
        characters={way: fmean(found) for way, found in characters.items()},
    )
    quality.note("  " + ", ".join(f"{way} {cell(found)}" for way, found in scores.items()))
    collection.delete()
    return made


def asked(question: str, breadth: Breadth) -> QuestionPart:
    """Return a question in one part, as routing would."""
    return QuestionPart(
        text=question,
        breadth=breadth,
        about=question_breadth.subject(question) if breadth == Breadth.BROAD else "",
    )


class Library:
    """What answers, by the rule of ``kb eval``; of a summary at least half of what it tells of has to lie in the answer."""

    def __init__(self, scope: Scope) -> None:
        self._library = RelevanceJudge(scope)
        self._called = {
            str(uuid): {str(uuid), key or ""}
            for uuid, key in Source.objects.visible(scope).values_list("uuid", "video__key")
        }

    def count(self, question: Question) -> int:
        """Count the chunks that answer."""
        return self._library.count(question)

    def is_answer(self, question: Question, one: Evidence) -> bool:
        """Say whether evidence answers."""
        if one.level == 0:
            return self._library.is_answer(question, one.origin.id, one.locator)
        if one.locator.start is None or one.locator.end is None:
            return False
        start, end = one.locator.start / 1000, one.locator.end / 1000
        ranges = [
            pair
            for answer in question.answers
            if answer.source in self._called[str(one.origin.id)]
            for pair in answer.ranges
        ]
        return any(
            2 * (min(end, last) - max(start, first)) >= end - start for first, last in ranges
        )


# Results


def section(measured: Sequence[Measured], remark: str) -> str:
    """Write the section of the results."""
    names = list(ways())
    lines = [
        "## Evidence for answers: chunks alone against levels",
        "",
        f"`python {shlex.join(['bench/answers.py', *without_remark(sys.argv[1:])])}`: nDCG@10 · hit@1 · hit@5 · MRR@10 of the first {LIMIT} passages, and how"
        " many characters these have together. A chunk counts when it shares at least half of itself, or half of the answer, with the answer; a summary only"
        " when half of all that it tells of lies in the answer. Questions without an answer in the set are skipped. *Flat* are chunks alone;"
        " *collapsed* looks at all levels at once, *descent* from the documents downwards, both as broad as the question was routed (rules, then likeness to"
        f" known questions); *all as broad* looks for sections and documents whatever is asked. Python {platform.python_version()}."
        f" {reranker()}{remark}".rstrip(),
        "",
        "| set | chunks | nodes | questions | broad | in parts | " + " | ".join(names) + " |",
        "|---|---:|---:|---:|---:|---:|" + "---|" * len(names),
        *(
            row(one.name, one, {way: (cell(one.scores[way]), one.characters[way]) for way in names})
            for one in measured
        ),
        *([total(measured, names)] if len(measured) > 1 else []),
        "",
        *compared(measured, names),
        "",
    ]
    return "\n".join(lines)


def without_remark(arguments: Sequence[str]) -> list[str]:
    """Leave out of a command what is written in the text already."""
    kept = list(arguments)
    if "--remark" in kept:
        place = kept.index("--remark")
        del kept[place : place + 2]
    return kept


def reranker() -> str:
    """Say whether a cross-encoder was there."""
    return "" if registry.reranker() else "No cross-encoder was on the machine. "


def row(name: str, one: Measured, cells: Mapping[str, tuple[str, float]]) -> str:
    """Write a line of the table."""
    told = " | ".join(f"{scores} ({characters:,.0f})" for scores, characters in cells.values())
    return f"| {name} | {one.chunks:,} | {one.nodes:,} | {one.questions:,} | {one.broad:,} | {one.several:,} | {told} |"


def total(measured: Sequence[Measured], names: Sequence[str]) -> str:
    """Write the last line of the table: sets count alike, however many questions they have."""
    told = " | ".join(
        f"{numbers(mean([mean(one.scores[way]) for one in measured]))} ({fmean(one.characters[way] for one in measured):,.0f})"
        for way in names
    )
    sums = (
        sum(getattr(one, name) for one in measured)
        for name in ("chunks", "nodes", "questions", "broad", "several")
    )
    return f"| {ALL} (mean) | " + " | ".join(f"{number:,}" for number in sums) + f" | {told} |"


def cell(scores: Sequence[Scores]) -> str:
    """Write the mean scores of one way."""
    return numbers(mean(scores))


def numbers(scores: Scores) -> str:
    """Write scores."""
    return " · ".join(
        f"{value:.3f}".lstrip("0") if value < 1 else "1"
        for value in (scores.ndcg10, scores.hit1, scores.hit5, scores.mrr10)
    )


def compared(measured: Sequence[Measured], names: Sequence[str]) -> list[str]:
    """Say how far each way is from chunks alone, question by question, and whether that is beyond chance."""
    lines = []
    for way in names[1:]:
        for what in ("ndcg10", "hit1", "hit5", "mrr10"):
            before, after = (
                [getattr(found, what) for one in measured for found in one.scores[name]]
                for name in ("flat", way)
            )
            change = compare(before, after)
            chance = "" if change.low > 0 or change.high < 0 else ", within chance"
            lines.append(
                f"- {way}: {what} {change.mean:+.3f} against flat (95 %: {change.low:+.3f} to {change.high:+.3f}{chance})"
            )
    return lines


if __name__ == "__main__":
    main()
