"""Measure the retrieval of evidence for answers: chunks alone against the summary tree.

Run ``python bench/answers.py`` from the repository; names of sets measure only these,
``--questions N`` at most so many of each, evenly drawn. People have marked the answers. It prints a
table and writes it into ``bench/RESULTS.md``. Library, ingest, kept vectors and data are those of
``bench/quality.py``.
"""

import argparse
import platform
import shlex
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
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
from citations.answers.question import router
from citations.evaluation.metrics import Scores, compare, mean, score
from citations.evaluation.questions import Question
from citations.evaluation.relevance import RelevanceJudge
from citations.lexical import merging
from citations.models import Chunk, Node, Source
from citations.providers import registry
from transcripts.core.scope import Scope
from transcripts.models import Collection

LIMIT = 10
ALL = "all sets"
COUNTS = ("chunks", "nodes", "questions", "broad", "several")
Way = Callable[[Scope, QuestionPart], answer_evidence.EvidenceSet]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "sets", nargs="*", metavar="SET", help=f"of {', '.join(quality.TRANSCRIPTS)} (default: all)"
    )
    parser.add_argument(
        "--questions", type=int, default=10_000, help="of each set, at most (default: all)"
    )
    parser.add_argument(
        "--remark", default="", help="a sentence for the results, on the circumstances"
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
    """Return the ways to find evidence, by their names in the results."""

    def way(
        breadth: Breadth | None, scope: Scope, part: QuestionPart
    ) -> answer_evidence.EvidenceSet:
        own = whole_part(part.text, breadth) if breadth else part
        return answer_evidence.find(scope, own, limit=LIMIT)

    return {
        "flat": partial(way, Breadth.SPECIFIC),
        "as answers do it": partial(way, None),
        "all as broad": partial(way, Breadth.BROAD),
    }


# A set, and what was measured with it


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """A set, how its questions were routed, and each way's scores and mean characters."""

    name: str
    chunks: int
    nodes: int
    questions: int
    broad: int
    several: int
    scores: Mapping[str, Sequence[Scores]]
    characters: Mapping[str, float]


def measure(name: str, most: int) -> Measured:
    """Fill a library with a set's transcripts, and find evidence in every way."""
    collection = Collection.objects.create(name=name, slug=name)
    questions = quality.transcripts(collection, name)
    merging.merge()
    scope = Scope(readable=frozenset({collection.pk}))
    library = Library(scope)
    judged = [
        question for question in questions[:: -(-len(questions) // most)] if library.count(question)
    ]
    counts = f"{Chunk.objects.count():,} chunks, {Node.objects.count():,} nodes"
    quality.note(f"{name}: {counts}, {len(judged):,} questions")
    routes = [router.route(question.query) for question in judged]
    scores: dict[str, list[Scores]] = {way: [] for way in ways()}
    characters: dict[str, list[int]] = {way: [] for way in ways()}
    for number, (question, route) in enumerate(zip(judged, routes, strict=True)):
        quality.tell(name, number, len(judged))
        part = whole_part(question.query, route.parts[0].breadth)
        for way, find in ways().items():
            evidence = find(scope, part).evidence
            hits = [library.is_answer(question, passage) for passage in evidence]
            scores[way].append(score(hits, library.count(question)))
            characters[way].append(sum(len(passage.text) for passage in evidence))
    measured = Measured(
        name=name,
        chunks=Chunk.objects.count(),
        nodes=Node.objects.count(),
        questions=len(judged),
        broad=sum(route.parts[0].breadth == Breadth.BROAD for route in routes),
        several=sum(len(route.parts) > 1 for route in routes),
        scores=scores,
        characters={way: fmean(counts) for way, counts in characters.items()},
    )
    quality.note("  " + ", ".join(f"{way} {cell(own)}" for way, own in scores.items()))
    collection.delete()
    return measured


def whole_part(question: str, breadth: Breadth) -> QuestionPart:
    """Return a question in one part, as routing would."""
    return QuestionPart(
        text=question,
        breadth=breadth,
        about=router.subject(question) if breadth == Breadth.BROAD else "",
    )


class Library:
    """Judges evidence by the rule of ``kb eval``; half of a summary's range must be the answer."""

    def __init__(self, scope: Scope) -> None:
        self._judge = RelevanceJudge(scope)
        self._names = {
            str(uuid): {str(uuid), key or ""}
            for uuid, key in Source.objects.visible(scope).values_list("uuid", "video__key")
        }

    def count(self, question: Question) -> int:
        """Count the chunks that answer a question."""
        return self._judge.count(question)

    def is_answer(self, question: Question, passage: Evidence) -> bool:
        locator = passage.locator
        if passage.level == 0:
            return self._judge.is_answer(question, passage.origin.id, locator)
        if locator.start is None or locator.end is None:
            return False
        start, end = locator.start / 1000, locator.end / 1000
        ranges = [
            pair
            for answer in question.answers
            if answer.source in self._names[str(passage.origin.id)]
            for pair in answer.ranges
        ]
        return any(
            2 * (min(end, last) - max(start, first)) >= end - start for first, last in ranges
        )


# Results


def section(measured: Sequence[Measured], remark: str) -> str:
    """Write the section of the results."""
    names = list(ways())
    command = shlex.join(["bench/answers.py", *without_remark(sys.argv[1:])])
    lines = [
        "## Evidence for answers: chunks alone against levels",
        "",
        f"`python {command}`: nDCG@10 · hit@1 · hit@5 · MRR@10 of the first {LIMIT} passages, and\n"
        "how many characters these have together. A chunk counts if it shares half of itself, or\n"
        "half of the answer, with the answer; a summary only if half of its range lies in the\n"
        "answer. Questions without an answer in the set are skipped. *Flat* are chunks alone;\n"
        "*as answers do it* searches the summary tree for questions that were routed as broad;\n"
        "*all as broad* searches its sections and documents always.\n"
        f"Python {platform.python_version()}. {reranker()}{remark}".rstrip(),
        "",
        "| set | chunks | nodes | questions | broad | in parts | " + " | ".join(names) + " |",
        "|---|---:|---:|---:|---:|---:|" + "---|" * len(names),
        *(
            row(own.name, own, {way: (cell(own.scores[way]), own.characters[way]) for way in names})
            for own in measured
        ),
        *([total(measured, names)] if len(measured) > 1 else []),
        "",
        *compared(measured, names),
        "",
    ]
    return "\n".join(lines)


def without_remark(arguments: Sequence[str]) -> list[str]:
    rest = list(arguments)
    if "--remark" in rest:
        index = rest.index("--remark")
        del rest[index : index + 2]
    return rest


def reranker() -> str:
    return "" if registry.reranker() else "No cross-encoder was on the machine. "


def row(name: str, measured: Measured, cells: Mapping[str, tuple[str, float]]) -> str:
    counts = (getattr(measured, count) for count in COUNTS)
    return line(name, counts, (f"{scores} ({count:,.0f})" for scores, count in cells.values()))


def total(measured: Sequence[Measured], names: Sequence[str]) -> str:
    """Write the last line of the table: sets count alike, however many questions they have."""
    sums = (sum(getattr(own, count) for own in measured) for count in COUNTS)
    cells = (
        f"{numbers(mean([mean(own.scores[way]) for own in measured]))}"
        f" ({fmean(own.characters[way] for own in measured):,.0f})"
        for way in names
    )
    return line(f"{ALL} (mean)", sums, cells)


def line(name: str, counts: Iterable[int], cells: Iterable[str]) -> str:
    return f"| {' | '.join([name, *(f'{count:,}' for count in counts), *cells])} |"


def cell(scores: Sequence[Scores]) -> str:
    return numbers(mean(scores))


def numbers(scores: Scores) -> str:
    return " · ".join(
        f"{value:.3f}".lstrip("0") if value < 1 else "1"
        for value in (scores.ndcg10, scores.hit1, scores.hit5, scores.mrr10)
    )


def compared(measured: Sequence[Measured], names: Sequence[str]) -> list[str]:
    """Compare each way with chunks alone, question by question."""
    lines = []
    for way in names[1:]:
        for metric in ("ndcg10", "hit1", "hit5", "mrr10"):
            before, after = (
                [getattr(scores, metric) for own in measured for scores in own.scores[name]]
                for name in ("flat", way)
            )
            change = compare(before, after)
            chance = "" if change.low > 0 or change.high < 0 else ", within chance"
            interval = f"95 %: {change.low:+.3f} to {change.high:+.3f}{chance}"
            lines.append(f"- {way}: {metric} {change.mean:+.3f} against flat ({interval})")
    return lines


if __name__ == "__main__":
    main()
