"""Measure what a search shows when neighbouring hits are joined.

Run ``python bench/neighbours.py`` from the repository. Each set is a library of its own, searched
with the judge that is shipped. The data come from ``CUEBASE_DATA`` (default: ``../shared/data``
beside the repository); vectors are kept in ``build/vectors``.
"""

import argparse
import shlex
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from environment import boot

boot(RERANKER="none")

import numpy as np
from bm25 import write
from judged import SETS, JudgedSet, fill
from kept import kept_vectors

from citations.evaluation.questions import Question
from citations.evaluation.relevance import RelevanceJudge
from citations.lexical import merging
from citations.models import Chunk
from citations.passages import Passage
from citations.search import pipeline as search_pipeline
from citations.search.neighbours import MAX_JOINED

TITLE: Final = "## Neighbouring hits as one"
LIMIT: Final = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownList:
    """What the first ten hits of a question hold; nDCG against the best list of their kind."""

    ndcg: float
    hit1: float
    right: int  # different passages that answer
    joined: int  # hits of several passages


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "sets", nargs="*", metavar="SET", help=f"of {', '.join(SETS)} (default: all)"
    )
    parser.add_argument("--questions", type=int, default=180, help="of each set, at most")
    options = parser.parse_args()
    with kept_vectors():
        sets = [fill(name, most=options.questions) for name in options.sets or SETS]
        merging.merge()
        report = "\n".join(reported(sets))
    print(report)
    write(report)


def reported(sets: Sequence[JudgedSet]) -> Iterator[str]:
    """Write the section of the results."""
    yield TITLE
    yield ""
    yield (
        f"`python {shlex.join(['bench/neighbours.py', *sys.argv[1:]])}`: the first {LIMIT} hits,"
        f" each passage alone, and with up to {MAX_JOINED} neighbouring ones as one hit. A joined"
        " hit is right if one of its passages is; nDCG is relative to the best list of the same"
        " kind. *Right*: different right passages in the list, on average. The judge is the shipped"
        " one, which learnt from some of these sets; compare the columns."
    )
    yield ""
    yield "| set | questions | alone: nDCG@10 · hit@1 · right | joined: the same | joined hits |"
    yield "|---|---:|---|---|---:|"
    means = []
    for set_ in sets:
        alone, joined = (measured(set_, joins=joins) for joins in (False, True))
        cells = [mean(lists) for lists in (alone, joined)]
        means.append([*cells[0], *cells[1]])
        yield row(set_.name, str(len(alone)), *cells)
    macro = np.mean(means, axis=0)
    yield row("mean", "", macro[:4], macro[4:])
    yield ""


def row(name: str, count: str, alone: Sequence[float], joined: Sequence[float]) -> str:
    shown = [" · ".join(f"{value:.3f}" for value in cell[:3]) for cell in (alone, joined)]
    return f"| {name} | {count} | {shown[0]} | {shown[1]} | {joined[3]:.1f} |"


def mean(lists: Sequence[ShownList]) -> list[float]:
    return [
        float(np.mean([getattr(list_, name) for list_ in lists]))
        for name in ("ndcg", "hit1", "right", "joined")
    ]


def measured(own: JudgedSet, *, joins: bool) -> list[ShownList]:
    relevance = RelevanceJudge(own.scope)
    chunks = list(
        Chunk.objects.filter(source__collection__in=own.scope.readable or ())
        .defer("text", "context")
        .select_related("source")
        .order_by("source", "ordinal")
    )
    lists = []
    for question in own.questions:
        answers = {
            (chunk.source_id, chunk.ordinal): chunk.pk
            for chunk in chunks
            if relevance.is_answer(question, chunk.source.uuid, chunk.locator)
        }
        if answers:
            most = best_count(list(answers), MAX_JOINED if joins else 1)
            lists.append(shown_list(own, question, {*answers.values()}, most, joins=joins))
    return lists


def best_count(places: Sequence[tuple[int, int]], most: int) -> int:
    """Count the hits of a perfect list: of runs of up to ``most`` neighbours."""
    runs = groupby(enumerate(places), key=lambda pair: (pair[1][0], pair[1][1] - pair[0]))
    return sum(-(-len(list(run)) // most) for _, run in runs)


def shown_list(
    own: JudgedSet, question: Question, right: set[int], most: int, *, joins: bool
) -> ShownList:
    result = search_pipeline.search(
        own.scope, question.query, limit=LIMIT, rerank=False, for_readers=joins
    ).passages
    held = [chunks_of(passage) & right for passage in result]
    gains = np.array([bool(own) for own in held], float)
    discounts = 1 / np.log2(np.arange(2, LIMIT + 2))
    return ShownList(
        ndcg=float((gains * discounts[: len(gains)]).sum() / discounts[:most].sum()),
        hit1=float(gains[0]) if len(gains) else 0.0,
        right=len(set().union(*held)),
        joined=sum(bool(passage.parts) for passage in result),
    )


def chunks_of(passage: Passage) -> set[int]:
    return {passage.chunk, *(part.chunk for part in passage.parts)}


if __name__ == "__main__":
    main()
