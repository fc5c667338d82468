"""Measure how well searches find what people say is right, stage by stage, on real transcripts and
two classic collections.

Run ``python bench/quality.py`` from the repository; names of sets measure only these, ``--questions
N`` at most so many of each, evenly drawn; ``EMBEDDING_PROVIDER`` chooses another model. Each set is
a library of its own, filled by the project's own ingest; vectors are kept in ``build/vectors``.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from harness.environment import PROVIDER, arguments, boot, command, machine, note

boot(EMBEDDING_PROVIDER=PROVIDER)

import bm25s
from harness.judged import DOCUMENTS, JudgedSet, fill
from harness.report import publish, table
from harness.sets import SHORT, TRANSCRIPTS
from harness.vectors import kept_vectors

from citations.evaluation import search_quality
from citations.evaluation.metrics import Scores, mean, score
from citations.evaluation.questions import RelevanceJudge
from citations.evaluation.search_quality import Approach
from citations.lexical import merging
from citations.models import Chunk
from citations.providers.embedding import LOCAL
from citations.search import relevance
from citations.search.judge import Relevance
from transcripts.text.stemming import ALGORITHMS, stemmed_as
from transcripts.text.terms import term_of, terms_of
from transcripts.text.tokenizer import tokenize

WITHIN: Final = 0.01  # nDCG@10
PUBLISHED: Final = (0.665, 0.679)  # BM25 on SciFact's test questions, as published
LIMIT: Final = 10
PLAIN, BM25S = "RRF alone", "bm25s"
APPROACHES: Final = ("words", BM25S, "meaning", PLAIN, "both", "both+rerank")


def main() -> None:
    options = arguments(__doc__, questions=10_000, sets=[*TRANSCRIPTS, *DOCUMENTS, SHORT])
    measured = [measure(name, options.questions) for name in options.sets]
    shown = [each for each in APPROACHES if any(each in own.rows for own in measured)]
    missing = "" if "both+rerank" in shown else " No cross-encoder was on the machine."
    publish(
        "Quality of searches",
        f"{command()}: nDCG@10 · hit@1 · hit@5 · MRR@10, over all sources of a set, which are a"
        " library of their own. Chunks and vectors are those of the project's own ingest"
        f" ({LOCAL[PROVIDER].model}); a hit counts when it shares at least half of itself, or half"
        " of the answer, with the answer. Titles that make sense only inside one video are left"
        f" out. *bm25s* ranks the same chunks with the same tokens; *{PLAIN}* is the hybrid search"
        f" in the order of its fused ranks, without the judge. {machine('bm25s')}.{missing}",
        table(
            ("set", "chunks", "questions", *shown),
            (
                (each.name, each.chunks, each.questions, *(cell(each, way) for way in shown))
                for each in measured
            ),
        ),
        "\n".join(check for each in measured for check in checks(each)),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """How good each way to search is on one set, and how much there is."""

    name: str
    chunks: int
    questions: int
    rows: Mapping[str, Scores]


def measure(name: str, most: int) -> Measured:
    """Fill a library with a set's texts, and ask."""
    with kept_vectors():
        own = fill(name, most=most)
        merging.merge()
        report = search_quality.evaluate(own.scope, own.questions, limit=LIMIT)
        with plain_fusion():
            plain = search_quality.evaluate(
                own.scope, own.questions, modes=[Approach.BOTH], limit=LIMIT
            )
    rows = {row.approach: row.scores for row in report.rows}
    rows |= {PLAIN: plain.rows[0].scores, BM25S: with_bm25s(own)}
    measured = Measured(
        name=name, chunks=Chunk.objects.count(), questions=report.questions, rows=rows
    )
    note("  " + ", ".join(f"{key} {scores.ndcg10:.3f}" for key, scores in rows.items()))
    own.collection.delete()
    return measured


@contextmanager
def plain_fusion() -> Iterator[None]:
    """Leave candidates in the order of their fused ranks."""
    judged = relevance.judge_candidates
    relevance.judge_candidates = lambda words, hits, **_: [
        Relevance(order=1 / number, likelihood=None, is_likely=True, base=0.0)
        for number in range(1, len(hits) + 1)
    ]
    try:
        yield
    finally:
        relevance.judge_candidates = judged


def with_bm25s(own: JudgedSet) -> Scores:
    """Rank the same chunks, in one language, with bm25s and the same terms, and score by the same
    rule.
    """
    judge = RelevanceJudge(own.scope)
    chunks = list(Chunk.objects.select_related("source").order_by("position"))
    index = bm25s.BM25(k1=1.5, b=0.75, method="lucene")
    index.index(
        [
            [term_of(word, stemmed_as(chunk.source.language)) for word in tokenize(chunk.text)]
            for chunk in chunks
        ],
        show_progress=False,
    )
    scores = []
    for question in own.questions:
        relevant = judge.count(question)
        terms = [
            term for word in tokenize(question.query) for term in terms_of(word, ("", *ALGORITHMS))
        ]
        tokens = [term for term in terms if term in index.vocab_dict]
        ranked: list[Chunk] = []
        if tokens:
            hits = index.retrieve(
                [tokens], k=min(LIMIT, len(chunks)), show_progress=False, sorted=True
            )
            pairs = zip(hits.documents[0], hits.scores[0], strict=True)
            ranked = [chunks[place] for place, value in pairs if value > 0]
        if relevant:
            right = [judge.is_answer(question, hit.source.uuid, hit.locator) for hit in ranked]
            scores.append(score(right, relevant))
    return mean(scores)


def cell(result: Measured, approach: str) -> str:
    """Write the scores of one way to search."""
    if approach not in result.rows:
        return "–"
    scores = result.rows[approach]
    return " · ".join(
        f"{value:.3f}".lstrip("0") if value < 1 else "1"
        for value in (scores.ndcg10, scores.hit1, scores.hit5, scores.mrr10)
    )


def checks(result: Measured) -> Iterator[str]:
    scores = {name: scores.ndcg10 for name, scores in result.rows.items()}
    apart = scores["words"] - scores[BM25S]
    best = max(scores["words"], scores["meaning"])
    yield (
        f"- {result.name}: lexical {verdict(apart >= -WITHIN)} within {WITHIN} of bm25s"
        f" ({apart:+.3f}); hybrid {verdict(scores['both'] > best)} above both branches"
        f" ({scores['both'] - best:+.3f}); {PLAIN} {scores[PLAIN] - best:+.3f}"
    )
    if result.name == "scifact":
        yield (
            f"- scifact: lexical {scores['words']:.3f}; published for BM25 on its test questions"
            f" (these are its training questions): {PUBLISHED[0]} to {PUBLISHED[1]}."
        )


def verdict(holds: bool) -> str:
    return "is" if holds else "is NOT"


if __name__ == "__main__":
    main()
