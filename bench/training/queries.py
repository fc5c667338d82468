"""The queries that models of relevance learn from: candidates, signs, and which are relevant.

Import it once Django is set up.
"""

import pickle
import random
import string
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar, cast
from unittest import mock

import numpy as np
from harness.environment import note
from harness.judged import FAMILIES, JudgedSet, fill
from numpy.typing import NDArray

from citations.evaluation.questions import Question, RelevanceJudge
from citations.lectures import pipeline as lecture_pipeline
from citations.lexical import merging, query
from citations.library.filters import Filter, resolve
from citations.models import Chunk
from citations.passages import SearchMode
from citations.search import candidates, chunk_rows, judge, signs
from citations.search.chunk_rows import Candidate
from citations.search.judge import Relevance
from citations.search.relevance import describe
from citations.search.signs import CandidateTable
from citations.vectors import space as vector_space

OWN, FOREIGN, GIBBERISH = "own", "foreign", "gibberish"  # questions
WINDOW, TALK, ASIDE = "window", "talk", "aside"  # speech: on the subject, foreign, about nothing
OTHERS: Final = 60  # foreign questions, and gibberish, of each set
UNANSWERED: Final = 700  # documents of a classic collection without an answer to any question
LIMIT: Final = 10
Numbers = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class JudgedQuery:
    """A query's candidates in the order of their fused ranks: signs, and which are relevant."""

    set: str
    kind: str
    rows: Numbers  # (n, signs)
    relevant: NDArray[np.bool_]  # (n,)
    total: int  # relevant chunks of the library


Judged = dict[str, list[JudgedQuery]]  # by sets
T = TypeVar("T")


def read_or_gather(
    kept: str, names: Sequence[str], most: int, *, has_speech: bool = True
) -> Judged:
    """Read the queries that are kept in a file, if any; search, and keep them there, if not.

    ``most`` limits the questions of each set.
    """
    path = Path(kept)
    if path.is_file():
        return cast(Judged, pickle.loads(path.read_bytes()))
    sets = [fill(name, most=most, others=UNANSWERED) for name in names]
    merging.merge()
    judged = {own.name: list(judged_queries(own, sets, has_speech=has_speech)) for own in sets}
    if kept:
        path.write_bytes(pickle.dumps(judged))
    return judged


def left_out(judged: Mapping[str, Sequence[T]], name: str) -> list[T]:
    """Return what there is of all sets but those of a set's family: queries, or more of them."""
    family = FAMILIES.get(name, name)
    return [
        query
        for other, queries in judged.items()
        if FAMILIES.get(other, other) != family
        for query in queries
    ]


def scored(question: JudgedQuery, order: Numbers) -> tuple[float, float]:
    """Return nDCG@10 and hit@1 of the candidates by descending score."""
    gains = question.relevant[np.argsort(-order, kind="stable")][:LIMIT].astype(float)
    discounts = 1 / np.log2(np.arange(2, LIMIT + 2))
    best = discounts[: min(question.total, LIMIT)].sum()
    return float((gains * discounts[: len(gains)]).sum() / best), float(gains[0])


def balanced(queries: Sequence[JudgedQuery]) -> list[float]:
    """Weight queries so that each set counts the same, 1 on average."""
    sizes: dict[tuple[str, str], int] = {}
    for question in queries:
        sizes[question.set, question.kind] = sizes.get((question.set, question.kind), 0) + 1
    mean = len(queries) / len(sizes)
    return [mean / sizes[query.set, query.kind] for query in queries]


class Recorder:
    """Stands in for the judge: keeps the table of candidates, and leaves their order."""

    def __init__(self) -> None:
        self.table: CandidateTable | None = None

    def judge(self, table: CandidateTable, **_: Any) -> list[Relevance]:
        self.table = table
        unjudged = Relevance(order=0.5, likelihood=None, is_likely=True, base=0.0)
        return [unjudged] * len(table.bm25)


@contextmanager
def recording() -> Iterator[Recorder]:
    recorder = Recorder()
    with mock.patch.object(judge, "trained", return_value=recorder):
        yield recorder


def judged_queries(
    own: JudgedSet, sets: Sequence[JudgedSet], *, has_speech: bool
) -> Iterator[JudgedQuery]:
    """Yield a set's own questions, those of other families, and gibberish, with candidates; then,
    with ``has_speech``, its windows of speech.
    """
    chance = random.Random(own.name)
    others = [each for each in sets if each.family != own.family]
    relevance = RelevanceJudge(own.scope)
    note(f"{own.name}: {len(own.questions)} questions")
    for question in own.questions:
        yield from with_candidates(own, question.query, OWN, question, relevance)
    for _ in range(OTHERS if others else 0):
        foreign = chance.choice(chance.choice(others).questions)
        yield from with_candidates(own, foreign.query, FOREIGN)
    for _ in range(OTHERS):
        yield from with_candidates(own, gibberish(chance), GIBBERISH)
    if has_speech and own.is_speech:
        yield from judged_speech(own, others, relevance, chance)


def judged_speech(
    own: JudgedSet, others: Sequence[JudgedSet], relevance: RelevanceJudge, chance: random.Random
) -> Iterator[JudgedQuery]:
    """Yield windows of speech with the candidates that a lecture has."""
    for question in own.questions:
        yield from with_nearest(own, question.query, WINDOW, question, relevance)
    foreign = Chunk.objects.filter(
        source__collection__in=[other.collection for other in others], source__kind="video"
    ).order_by("pk")
    texts = list(foreign.values_list("text", flat=True))
    for text in chance.sample(texts, min(OTHERS * 2, len(texts))):
        yield from with_nearest(own, text, TALK)
    for text in Path(__file__).with_name("asides.txt").read_text(encoding="utf-8").split("\n\n"):
        yield from with_nearest(own, text.strip(), ASIDE)


def with_nearest(
    own: JudgedSet,
    text: str,
    kind: str,
    question: Question | None = None,
    relevance: RelevanceJudge | None = None,
) -> Iterator[JudgedQuery]:
    space = vector_space.active()
    assert space is not None
    vector = vector_space.embedder_of(space).embed_query(text)
    resolved = resolve(own.scope, Filter())
    near = vector_space.nearest(
        vector, space=space, limit=lecture_pipeline.CANDIDATES, resolved=resolved
    )
    rows = chunk_rows.fetch(own.scope, [hit.position for hit in near])
    hits = [rows[hit.position] for hit in near]
    table = describe(text, hits, vector=vector, space=space, resolved=resolved)
    yield judged_query(own, kind, table, hits, question, relevance)


def judged_query(
    own: JudgedSet,
    kind: str,
    table: CandidateTable,
    hits: Sequence[Candidate],
    question: Question | None,
    relevance: RelevanceJudge | None,
) -> JudgedQuery:
    relevant = [
        relevance.is_answer(question, hit.uuid, hit.locator) if question and relevance else False
        for hit in hits
    ]
    return JudgedQuery(
        set=own.name,
        kind=kind,
        rows=signs.compute(table),
        relevant=np.array(relevant),
        total=relevance.count(question) if question and relevance else 0,
    )


def gibberish(chance: random.Random) -> str:
    """Return two to five words of random letters."""
    return " ".join(
        "".join(chance.choices(string.ascii_lowercase, k=chance.randint(3, 12)))
        for _ in range(chance.randint(2, 5))
    )


def with_candidates(
    own: JudgedSet,
    text: str,
    kind: str,
    question: Question | None = None,
    relevance: RelevanceJudge | None = None,
) -> Iterator[JudgedQuery]:
    if question and relevance and not relevance.count(question):
        return
    with recording() as recorder:
        request = candidates.SearchRequest(
            scope=own.scope,
            query=query.parse(text),
            mode=SearchMode.BOTH,
            limit=10,
            filter=Filter(),
            explain=False,
            reads=0,
            expands=False,
            user=None,
            space=None,
        )
        hits = candidates.find(request).hits
    if recorder.table is None or not hits:
        return
    rows = [hit.candidate for hit in hits]
    yield judged_query(own, kind, recorder.table, rows, question, relevance)
