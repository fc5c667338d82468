"""Measure how well searches find what people say is right, stage by stage, on real transcripts and
two classic collections.

Run ``python bench/quality.py`` from the repository; names of sets measure only these, ``--questions
N`` at most so many of each, evenly drawn; ``EMBEDDING_PROVIDER`` chooses another model. It prints a
table, says whether what is promised holds, and writes both into ``bench/RESULTS.md``. The library
is one of its own, in an embedded PostgreSQL in a temporary folder, filled by the project's own
ingest; vectors are kept in ``build/vectors``, since making them takes an hour. The data come from
``CUEBASE_DATA`` (default: ``../shared/data`` beside the repository).
"""

import argparse
import json
import platform
import random
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from environment import DATA, PROVIDER, boot, command

boot(EMBEDDING_PROVIDER=PROVIDER)

import bm25s
from bm25 import installed, write
from django.db import transaction
from kept import kept_vectors

from citations.evaluation import questions as gold_questions
from citations.evaluation import search_quality
from citations.evaluation.gold import Gold
from citations.evaluation.metrics import Scores, mean, score
from citations.evaluation.questions import Question
from citations.evaluation.relevance import RelevanceJudge
from citations.evaluation.search_quality import Approach
from citations.ingest import discovery
from citations.ingest import pipeline as ingest_pipeline
from citations.ingest.chunk_storage import digest_of
from citations.lexical import index as lexical_index
from citations.lexical import merging
from citations.lexical.postings import term_of, terms_of
from citations.models import Chunk, Source, SourceKind, State
from citations.passages import Locator
from citations.providers.embedding import LOCAL
from citations.search import relevance
from citations.search.judge import Relevance
from citations.vectors import space as vector_space
from citations.vectors import store as vector_store
from transcripts.adding import storage
from transcripts.core.scope import Scope
from transcripts.models import Collection
from transcripts.text.stemming import stemmed_as
from transcripts.text.tokenizer import tokenize

TRANSCRIPTS = {
    "ocw6012_titles": "ocw6012",
    "nyudl_headings": "nyudl",
    "bitcoin_headings": "bitcoin",
    "tinyrec_topics": "tinyrec",
    "ergo_qa": "ergo",
    "tutorialvqa": "tutorialvqa",
    "qmsum": "qmsum",
}
TRANSLATED = {  # into the language that stands last; asked for in English, by the same gold
    "nyudl_fr": "nyudl_headings",
    "nyudl_pt": "nyudl_headings",
    "nyudl_ar": "nyudl_headings",
}
DOCUMENTS = {
    "scifact": ("shared/scifact/corpus.jsonl", "dev/ir/scifact_train"),
    "cacm": ("dev/ir/cacm/corpus.jsonl", "dev/ir/cacm"),
}
WITHIN = 0.01  # nDCG@10
PUBLISHED = (
    0.665  # of BM25 on SciFact's test questions, the lowest of those published (0.665 to 0.679)
)
LIMIT = 10
PLAIN = "RRF alone"


def main() -> None:
    """Measure, print, and replace this benchmark's section of the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "sets",
        nargs="*",
        metavar="SET",
        help=f"of {', '.join([*TRANSCRIPTS, *DOCUMENTS])} (default: all), or of"
        f" {', '.join(TRANSLATED)}",
    )
    parser.add_argument(
        "--questions", type=int, default=10_000, help="of each set, at most (default: all)"
    )
    options = parser.parse_args()
    measured = [
        measure(name, options.questions) for name in options.sets or [*TRANSCRIPTS, *DOCUMENTS]
    ]
    report = section(measured)
    print(report)
    write(report)


# A set, and what was measured with it


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """How good each way to search is on one set, how good bm25s with the same tokens, and how much
    there is.
    """

    name: str
    chunks: int
    questions: int
    rows: Mapping[str, Scores]
    milliseconds: Mapping[str, float]

    @property
    def best_branch(self) -> float:
        """The nDCG@10 of the better branch."""
        return max(self.rows["words"].ndcg10, self.rows["meaning"].ndcg10)


def measure(name: str, most: int) -> Measured:
    """Fill a library with a set's texts, and ask."""
    collection = Collection.objects.create(name=name, slug=name)
    with kept_vectors():
        questions = (
            documents(collection, name) if name in DOCUMENTS else transcripts(collection, name)
        )
        questions = questions[:: -(-len(questions) // most)]
        merging.merge()
        scope = Scope(readable=frozenset({collection.pk}))
        note(f"{name}: {Chunk.objects.count():,} chunks, {len(questions):,} questions")
        report = search_quality.evaluate(
            scope, questions, limit=LIMIT, progress=partial(tell, name)
        )
        with plain_fusion():
            plain = search_quality.evaluate(
                scope,
                questions,
                modes=[Approach.BOTH],
                limit=LIMIT,
                progress=partial(tell, f"{name}, {PLAIN}"),
            )
    rows = {row.approach: row.scores for row in report.rows} | {
        PLAIN: plain.rows[0].scores,
        "bm25s": with_bm25s(scope, questions),
    }
    made = Measured(
        name=name,
        chunks=Chunk.objects.count(),
        questions=report.questions,
        rows=rows,
        milliseconds={row.approach: row.milliseconds for row in report.rows},
    )
    note("  " + ", ".join(f"{key} {scores.ndcg10:.3f}" for key, scores in rows.items()))
    collection.delete()
    return made


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


def transcripts(collection: Collection, name: str) -> list[Question]:
    """Ingest a set's transcripts as an upload would; titles that make sense only inside one video
    are no questions.
    """
    folder = DATA / "dev" / "transcripts" / TRANSCRIPTS.get(name, name)
    for path in sorted(folder.glob("*.json")):
        storage.add_captions(collection, path.read_bytes(), name=path.name)
    discovery.adopt()
    own = Source.objects.filter(collection=collection).order_by("pk")
    for number, pk in enumerate(pks := list(own.values_list("pk", flat=True))):
        tell(f"{name}, ingest", number, len(pks))
        ingest_pipeline.ingest(pk)
    unfinished = Source.objects.exclude(state=State.READY)
    if unfinished:
        raise SystemExit(f"{name}: {[(source.title, source.error) for source in unfinished[:3]]}")
    gold = DATA / "dev" / "gold" / f"{TRANSLATED.get(name, name)}.jsonl"
    lines = gold.read_text().splitlines()
    questions, rejected = gold_questions.from_file(
        "\n".join(line for line in lines if not json.loads(line).get("generic"))
    )
    assert not rejected, rejected
    return questions


def plain(document: str) -> str:
    """Return a document's id without the noughts that some files of one collection write and others
    do not: "CACM-0756" is "CACM-756".
    """
    return re.sub(r"-0+(?=\d)", "-", document)


def documents(collection: Collection, name: str, *, others: int | None = None) -> list[Question]:
    """Store a classic collection, a source and a chunk for each document, and return its questions;
    the quotes in them were not meant to be obeyed.

    ``others`` limits the documents that answer no question; they are drawn by chance.
    """
    corpus, folder = DOCUMENTS[name]
    stored: dict[str, tuple[str, int]] = {}
    for row in drawn(list(jsonl(DATA / corpus)), answering(folder), others):
        text = f"{row.get('title', '')} {row['text']}".strip()
        stored[plain(row["_id"])] = str(store(collection, text, title=row["_id"]).uuid), len(text)
    space = vector_space.claim()
    done = 0
    for count in vector_store.make(
        space, vector_space.embedder_of(space), vector_store.in_batches(vector_store.missing(space))
    ):
        tell(f"{name}, ingest", done := done + count, len(stored))
    relevant: dict[str, list[str]] = {}
    for line in (DATA / folder / "qrels.tsv").read_text().splitlines()[1:]:
        question, document, grade = line.split("\t")
        if int(grade) > 0:
            relevant.setdefault(question, []).append(plain(document))
    return [
        Question(
            query=row["text"][:1000].replace('"', " "),
            answers=tuple(
                whole(row["text"], *stored[document]) for document in relevant[row["_id"]]
            ),
            by_characters=True,
        )
        for row in jsonl(DATA / folder / "queries.jsonl")
        if row["_id"] in relevant
    ]


def answering(folder: str) -> set[str]:
    """Return the documents that answer any question."""
    lines = (DATA / folder / "qrels.tsv").read_text().splitlines()[1:]
    return {plain(line.split("\t")[1]) for line in lines}


def drawn(
    rows: list[dict[str, str]], answering: set[str], others: int | None
) -> list[dict[str, str]]:
    """Return the rows that answer, and at most ``others`` of the rest."""
    rest = [row for row in rows if plain(row["_id"]) not in answering]
    random.Random(1).shuffle(rest)
    return [row for row in rows if plain(row["_id"]) in answering] + rest[:others]


@transaction.atomic
def store(collection: Collection, text: str, *, title: str) -> Source:
    """Store a document that is one chunk."""
    source = Source.objects.create(
        collection=collection,
        kind=SourceKind.TEXT,
        title=title[:300],
        state=State.READY,
        chunk_count=1,
    )
    place = lexical_index.index(source.pk, [text])
    Chunk.objects.create(
        source=source,
        ordinal=0,
        position=place,
        text=text,
        span_start=0,
        span_end=len(text),
        digest=digest_of("", text),
    )
    return source


def whole(query: str, uuid: str, length: int) -> Gold:
    """Say that a whole document answers."""
    return Gold(query=query, source=uuid, ranges=((0, length),))


def jsonl(path: Path) -> Iterator[dict[str, str]]:
    """Read a file of a JSON object a line."""
    return (json.loads(line) for line in path.read_text().splitlines() if line.strip())


def with_bm25s(scope: Scope, questions: Sequence[Question]) -> Scores:
    """Rank the same chunks, in one language, with bm25s and the same terms, and score by the same
    rule.
    """
    judge = RelevanceJudge(scope)
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
    for question in questions:
        relevant = judge.count(question)
        terms = [term for word in tokenize(question.query) for term in terms_of(word)]
        tokens = [term for term in terms if term in index.vocab_dict]
        if relevant and tokens:
            hits = index.retrieve(
                [tokens], k=min(LIMIT, len(chunks)), show_progress=False, sorted=True
            )
            ranked = [
                chunks[place]
                for place, value in zip(hits.documents[0], hits.scores[0], strict=True)
                if value > 0
            ]
            scores.append(score([answers(judge, question, chunk) for chunk in ranked], relevant))
        elif relevant:
            scores.append(score([], relevant))
    return mean(scores)


def answers(judge: RelevanceJudge, question: Question, chunk: Chunk) -> bool:
    """Say whether a chunk answers."""
    where = Locator(span=(chunk.span_start, chunk.span_end), start=chunk.start, end=chunk.end)
    return judge.is_answer(question, chunk.source.uuid, where)


def tell(what: str, done: int, total: int) -> None:
    """Show how far it is, where somebody looks."""
    if sys.stderr.isatty():
        print(f"\r{what}: {done:,} of {total:,}   ", end="", file=sys.stderr, flush=True)


def note(text: str) -> None:
    """Say how far it is."""
    print(text, file=sys.stderr, flush=True)


# Results

Check = Callable[[Sequence[Measured]], tuple[str, bool]]


def section(measured: Sequence[Measured]) -> str:
    """Write the section of the results."""
    approaches = ["words", "bm25s", "meaning", PLAIN, "both", "both+rerank"]
    shown = [approach for approach in approaches if any(approach in set_.rows for set_ in measured)]
    model = LOCAL[PROVIDER].model
    lines = [
        "## Quality of searches",
        "",
        f"`{command('bench/quality.py')}`: nDCG@10 · hit@1 · hit@5 ·"
        " MRR@10, over all sources of a set, which are a library of their own. Chunks and vectors"
        f" are those of the project's own ingest ({model}); a hit counts when it shares at least"
        " half of itself, or half of the answer, with the answer. Titles that make sense only"
        " inside one video are left out.",
        f"*bm25s* ranks the same chunks with the same tokens; *{PLAIN}* is the hybrid search"
        f" in the order of its fused ranks, without the judge. Python"
        f" {platform.python_version()}, bm25s {installed('bm25s')}. {rerank_note(measured)}",
        "",
        "| set | chunks | questions | " + " | ".join(shown) + " |",
        "|---|---:|---:|" + "---|" * len(shown),
        *(
            f"| {result.name} | {result.chunks:,} | {result.questions:,} | "
            + " | ".join(cell(result, approach) for approach in shown)
            + " |"
            for result in measured
        ),
        "",
        *checks(measured),
        "",
    ]
    return "\n".join(lines)


def rerank_note(measured: Sequence[Measured]) -> str:
    """Say whether a cross-encoder was there."""
    return (
        ""
        if any("both+rerank" in result.rows for result in measured)
        else "No cross-encoder was on the machine."
    )


def cell(result: Measured, approach: str) -> str:
    """Write the scores of one way to search, and its time where it has one."""
    if approach not in result.rows:
        return "–"
    scores = result.rows[approach]
    return " · ".join(
        f"{value:.3f}".lstrip("0") if value < 1 else "1"
        for value in (scores.ndcg10, scores.hit1, scores.hit5, scores.mrr10)
    )


def checks(measured: Sequence[Measured]) -> Iterator[str]:
    """Say what holds and what does not."""
    for result in measured:
        apart = result.rows["words"].ndcg10 - result.rows["bm25s"].ndcg10
        yield (
            f"- {result.name}: lexical {verdict(apart >= -WITHIN)} within {WITHIN} of bm25s"
            f" ({apart:+.3f});"
            + (
                f" hybrid {verdict(result.rows['both'].ndcg10 > result.best_branch)} above both"
                f" branches ({result.rows['both'].ndcg10 - result.best_branch:+.3f})"
                f"; {PLAIN} {result.rows[PLAIN].ndcg10 - result.best_branch:+.3f}"
            )
        )
        if result.name == "scifact":
            ndcg = result.rows["words"].ndcg10
            yield (
                f"- scifact: lexical {ndcg:.3f}; published for BM25 on its test questions"
                f" (these are its training questions): {PUBLISHED} to 0.679."
            )


def verdict(holds: bool) -> str:
    """Write whether something holds."""
    return "is" if holds else "is NOT"


if __name__ == "__main__":
    main()
