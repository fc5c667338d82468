"""Train and measure the judge of relevance: the order of candidates, and the floor below which
nothing is relevant.

Run ``python bench/train_judge.py`` from the repository; ``--save`` writes the judge that is shipped
to ``citations/search/judge_….json``; with ``EMBEDDING_PROVIDER=e5-small`` that of this model. Each
set is measured with judges that were trained without its family. The shipped judge learns only from
sets whose licences permit that (``SHIPPED``). Candidates and signs are those of the product's own
search. The data come from ``CUEBASE_DATA`` (default: ``../shared/data`` beside the repository);
vectors are kept in ``build/vectors``.
"""

import argparse
import json
import pickle
import random
import string
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast
from unittest import mock

from environment import PROVIDER, boot, command

boot(RERANKER="none", EMBEDDING_PROVIDER=PROVIDER)

import lightgbm
import numpy as np
import quality
from bm25 import write
from judged import FAMILIES, SETS, WINDOW_SETS, JudgedSet, fill
from kept import kept_vectors
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from citations.evaluation.questions import Question
from citations.evaluation.relevance import RelevanceJudge
from citations.lectures import pipeline as lecture_pipeline
from citations.lexical import merging, query
from citations.library.filters import Filter, resolve
from citations.models import Chunk, SourceKind
from citations.passages import SearchMode
from citations.providers import embedding
from citations.search import candidates, chunk_rows, judge, signs
from citations.search.chunk_rows import Candidate
from citations.search.judge import Relevance
from citations.search.relevance import describe
from citations.search.signs import OF_SOURCE, ORDER, SIGNS, CandidateTable
from citations.vectors import space as vector_space
from transcripts.core.scope import Scope

TITLE: Final = "## The judge of relevance"
ASIDES: Final = Path(__file__).parent / "gate" / "asides.txt"
SHIPPED: Final = ("bitcoin_headings", "tinyrec_topics", "qmsum", "hf_windows", "scifact")
OWN, FOREIGN, GIBBERISH = "own", "foreign", "gibberish"  # questions
WINDOW, TALK, ASIDE = "window", "talk", "aside"  # speech: on the subject, foreign, about nothing
OTHERS: Final = 60  # foreign questions, and gibberish, of each set
LIMIT: Final = 10
BREADTH: Final = 50
LOST: Final = 0.05  # share of own questions with nothing above the floor
FALSE: Final = 0.02  # share of windows about something else with a passage above the floor
TREES: Final = 100
RANKER: Final = {
    "objective": "lambdarank",
    "lambdarank_truncation_level": 5,
    "num_leaves": 10,
    "max_depth": 5,
    "learning_rate": 0.06,
    "min_data_in_leaf": 60,
    "feature_fraction": 0.6,
    "bagging_fraction": 0.8,
    "bagging_freq": 1,
    "lambda_l2": 5.0,
    "seed": 1,
    "deterministic": True,
    "force_col_wise": True,
    "num_threads": 2,
    "verbose": -1,
}
STRENGTH: Final = 0.3  # inverse regularisation of the likelihood, of signs with equal variance
# More signs are better on the sets that they were trained with, and worse on others.
LIKELIHOOD_SIGNS: Final = ("cosine", "cosine with neighbours", "coverage with neighbours")
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "sets", nargs="*", metavar="SET", help=f"of {', '.join(SETS)} (default: all)"
    )
    parser.add_argument("--questions", type=int, default=180, help="of each set, at most")
    parser.add_argument("--kept", type=Path, help="keep signs in this file, or read them there")
    parser.add_argument("--save", action="store_true", help="write the judge that is shipped")
    options = parser.parse_args()
    judged = read_or_gather(options.kept, lambda: gathered(options.sets or SETS, options.questions))
    folds = {name: train(others, others) for name in judged for others in [left_out(judged, name)]}
    if options.save:
        everything = [query for queries in judged.values() for query in queries]
        shipped = train(
            [question for question in everything if question.set in SHIPPED], everything
        )
        path = judge.path_of(model_name())
        path.write_text(json.dumps(shipped.to_json()) + "\n", encoding="utf-8")
    report = "\n".join(reported(judged, folds))
    print(report)
    write(report)


def read_or_gather(path: Path | None, gather: Callable[[], Judged]) -> Judged:
    """Read the signs that are kept in a file; gather and keep them there if it does not exist."""
    if path and path.exists():
        return cast(Judged, pickle.loads(path.read_bytes()))
    judged = gather()
    if path:
        path.write_bytes(pickle.dumps(judged))
    return judged


def model_name() -> str:
    """Return the name of the embedding model whose judge is trained."""
    return embedding.LOCAL[PROVIDER].model


def gathered(names: Sequence[str], most: int) -> dict[str, list[JudgedQuery]]:
    """Search for the questions of all sets."""
    with kept_vectors():
        sets = [fill(name, most=most) for name in names]
        merging.merge()
        return {set_.name: list(judged_queries(set_, sets)) for set_ in sets}


def left_out(judged: dict[str, list[JudgedQuery]], name: str) -> list[JudgedQuery]:
    """Return the queries of all sets but those of a set's family."""
    family = FAMILIES.get(name, name)
    return [
        query
        for other, queries in judged.items()
        if FAMILIES.get(other, other) != family
        for query in queries
    ]


# Candidates


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
    own: JudgedSet, sets: Sequence[JudgedSet], *, has_speech: bool = True
) -> Iterator[JudgedQuery]:
    """Yield a set's own questions, those of other families, and gibberish, with candidates; then,
    with ``has_speech``, its windows of speech.
    """
    chance = random.Random(own.name)
    family = FAMILIES.get(own.name, own.name)
    others = [set_ for set_ in sets if FAMILIES.get(set_.name, set_.name) != family]
    relevance = RelevanceJudge(own.scope)
    quality.note(f"{own.name}: {len(own.questions)} questions")
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
        source__collection__in=[pk for other in others for pk in other.scope.readable or ()],
        source__kind=SourceKind.VIDEO,
    ).order_by("pk")
    texts = list(foreign.values_list("text", flat=True))
    for text in chance.sample(texts, min(OTHERS * 2, len(texts))):
        yield from with_nearest(own, text, TALK)
    for text in ASIDES.read_text(encoding="utf-8").split("\n\n"):
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
        hits = candidates.find(request(own.scope, text)).hits
    if recorder.table is None or not hits:
        return
    rows = [hit.candidate for hit in hits]
    yield judged_query(own, kind, recorder.table, rows, question, relevance)


def request(scope: Scope, text: str) -> candidates.SearchRequest:
    return candidates.SearchRequest(
        scope=scope,
        query=query.parse(text),
        mode=SearchMode.BOTH,
        limit=10,
        filter=Filter(),
        explain=False,
        reranks=False,
        expands=False,
        user=None,
        space=None,
    )


# Training


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class TrainedJudge:
    """Trees as JSON has them, the weights of the likelihood, and the floor."""

    search: dict[str, Any]
    live: dict[str, Any]

    def to_json(self) -> dict[str, Any]:
        return {"model": model_name(), "search": self.search, "live": self.live}

    def judge(self) -> judge.Judge:
        return judge.Judge.from_json(self.to_json())


def train(queries: Sequence[JudgedQuery], choosing: Sequence[JudgedQuery]) -> TrainedJudge:
    """Train with queries, and choose the floors with others."""
    questions, speech = (OWN, FOREIGN, GIBBERISH), (WINDOW, OWN, TALK, ASIDE, FOREIGN)
    own = [question for question in choosing if question.kind == OWN]
    foreign = [question for question in choosing if question.kind in (TALK, ASIDE)]
    search, live = train_likelihood(queries, questions), train_likelihood(queries, speech)
    return TrainedJudge(
        search={
            "order": train_ranker(queries, (*ORDER, *OF_SOURCE)),
            "likelihood": search,
            "floor": quantile(search, own, LOST),
        },
        live={
            "order": train_ranker(queries, ORDER),
            "likelihood": live,
            "floor": max(
                quantile(
                    live, [question for question in foreign if question.set == name], 1 - FALSE
                )
                for name in {question.set for question in foreign}
            ),
        },
    )


def train_ranker(queries: Sequence[JudgedQuery], names: Sequence[str]) -> dict[str, Any]:
    """Train LambdaMART on questions and windows with a relevant candidate."""
    own = [query for query in queries if query.relevant.any()]
    columns = [SIGNS.index(name) for name in names]
    data = lightgbm.Dataset(
        np.concatenate([question.rows[:, columns] for question in own]),
        np.concatenate([question.relevant for question in own]).astype(int),
        group=[len(question.relevant) for question in own],
        weight=np.repeat(balanced(own), [len(question.relevant) for question in own]),
    )
    return {"signs": list(names), **flattened(lightgbm.train(RANKER, data, TREES))}


def balanced(queries: Sequence[JudgedQuery]) -> list[float]:
    """Weight queries so that each set counts the same, 1 on average."""
    sizes: dict[tuple[str, str], int] = {}
    for question in queries:
        sizes[question.set, question.kind] = sizes.get((question.set, question.kind), 0) + 1
    mean = len(queries) / len(sizes)
    return [mean / sizes[query.set, query.kind] for query in queries]


def train_likelihood(
    queries: Sequence[JudgedQuery], kinds: Sequence[str], names: Sequence[str] = LIKELIHOOD_SIGNS
) -> dict[str, Any]:
    """Train to tell the first passage of queries on the subject from that of others."""
    queries = [query for query in queries if query.kind in kinds]
    columns = [SIGNS.index(name) for name in names]
    rows = np.stack([query.rows[0, columns] for query in queries])
    labels = [query.kind in (OWN, WINDOW) for query in queries]
    spread = rows.std(axis=0) + 1e-9
    model = LogisticRegression(C=STRENGTH, max_iter=3_000)
    model.fit(rows / spread, labels, sample_weight=balanced(queries))
    return {
        "signs": list(names),
        "weights": [round(float(weight), 4) for weight in model.coef_[0] / spread],
        "bias": round(float(model.intercept_[0]), 4),
    }


def quantile(likelihood: dict[str, Any], queries: Sequence[JudgedQuery], share: float) -> float:
    """Return the likelihood that the best passage of a share of queries, balanced, is below."""
    model = judge.LikelihoodModel.from_json(likelihood)
    best = np.array([float(model.predict(query.rows).max()) for query in queries])
    order, counted = np.argsort(best), np.array(balanced(queries))
    reached = np.cumsum(counted[order]) / counted.sum()
    return round(float(best[order][np.searchsorted(reached, share)]), 4)


def flattened(booster: lightgbm.Booster) -> dict[str, Any]:
    """Return all nodes of all trees in one list for each of their fields."""
    nodes: dict[str, list[Any]] = {
        name: [] for name in ("sign", "threshold", "left", "right", "value")
    }
    depth = 0

    def add(node: dict[str, Any], level: int) -> int:
        nonlocal depth
        depth, number = max(depth, level), len(nodes["sign"])
        is_leaf = "leaf_value" in node
        nodes["sign"].append(0 if is_leaf else node["split_feature"])
        nodes["threshold"].append(0 if is_leaf else round(node["threshold"], 5))
        nodes["value"].append(round(node["leaf_value" if is_leaf else "internal_value"], 5))
        nodes["left"].append(number)
        nodes["right"].append(number)
        if not is_leaf:
            nodes["left"][number] = add(node["left_child"], level + 1)
            nodes["right"][number] = add(node["right_child"], level + 1)
        return number

    roots = [add(tree["tree_structure"], 0) for tree in booster.dump_model()["tree_info"]]
    return {"roots": roots, "depth": depth, **nodes}


# Measuring

Score = Callable[[JudgedQuery], Numbers]


def reported(judged: dict[str, list[JudgedQuery]], folds: dict[str, TrainedJudge]) -> Iterator[str]:
    """Write the section of the results."""
    yield TITLE if PROVIDER == "local" else f"{TITLE}: {PROVIDER}"
    yield ""
    yield (
        f"`{command('bench/train_judge.py')}`: the {BREADTH}"
        " best of words and vectors by their fused ranks, in the order of these (RRF), of the judge"
    )
    yield (
        "without and with signs of the source, and in a perfect order. Each set is measured with"
        " a judge that was trained without its family. In brackets: 95 % by bootstrap."
    )
    yield ""
    yield "| nDCG@10 · hit@1 | questions | RRF | live judge | judge | judge − RRF | perfect |"
    yield "|---|---:|---|---|---|---|---|"
    for name, queries in judged.items():
        yield order_row(name, [query for query in queries if query.kind == OWN], folds[name])
    yield ""
    yield (
        f"The floor, set so that {LOST:.0%} of the other sets' questions are below: the share of"
        " each kind of question with nothing relevant. *AUC*: own questions against foreign ones."
    )
    yield ""
    yield "| set | own | foreign | gibberish | AUC |"
    yield "|---|---:|---:|---:|---:|"
    for name, queries in judged.items():
        yield floor_row(name, queries, folds[name].judge().search.floor, (OWN, FOREIGN, GIBBERISH))
    yield ""
    yield (
        f"Windows of speech and their {lecture_pipeline.CANDIDATES} nearest passages: is the first"
        " right, by nearness and by the judge; the share with a likely one, and of these the first."
    )
    yield ""
    yield "| set | windows | nearest right | judge right | shown | right of shown |"
    yield "|---|---:|---:|---:|---:|---:|"
    speech = [name for name in judged if name in WINDOW_SETS]
    for name in speech:
        yield window_row(name, judged[name], folds[name])
    yield ""
    yield "| silent | windows | other talks | asides | AUC |"
    yield "|---|---:|---:|---:|---:|"
    for name in speech:
        yield floor_row(name, judged[name], folds[name].judge().live.floor, (WINDOW, TALK, ASIDE))
    yield ""


def order_row(name: str, own: Sequence[JudgedQuery], fold: TrainedJudge) -> str:
    made = fold.judge()
    orders: dict[str, Score] = {
        "RRF": lambda question: -np.arange(len(question.relevant), dtype=float),
        "live": lambda question: made.live.order.shares(question.rows).sum(axis=1),
        "judge": lambda question: made.search.order.shares(question.rows).sum(axis=1),
        "perfect": lambda question: question.relevant.astype(float),
    }
    scores = {
        label: np.array([scored(question, order(question)) for question in own])
        for label, order in orders.items()
    }
    shown = {label: cell(values.mean(axis=0)) for label, values in scores.items()}
    apart = scores["judge"] - scores["RRF"]
    draws = np.random.default_rng(1).integers(len(own), size=(1_000, len(own)))
    low, high = np.quantile(apart[draws].mean(axis=1), (0.025, 0.975), axis=0)
    change = " · ".join(
        f"{mean:+.3f} ({first:+.3f}..{last:+.3f})"
        for mean, first, last in zip(apart.mean(axis=0), low, high, strict=True)
    )
    row = (shown["RRF"], shown["live"], shown["judge"], change, shown["perfect"])
    return f"| {name} | {len(own)} | {' | '.join(row)} |"


def cell(values: Numbers) -> str:
    return " · ".join(f"{value:.3f}" for value in values)


def scored(question: JudgedQuery, order: Numbers) -> tuple[float, float]:
    """Return nDCG@10 and hit@1 of the candidates by descending score."""
    gains = question.relevant[np.argsort(-order, kind="stable")][:LIMIT].astype(float)
    discounts = 1 / np.log2(np.arange(2, LIMIT + 2))
    best = discounts[: min(question.total, LIMIT)].sum()
    return float((gains * discounts[: len(gains)]).sum() / best), float(gains[0])


def floor_row(
    name: str, queries: Sequence[JudgedQuery], floor: judge.Floor, kinds: Sequence[str]
) -> str:
    best = {
        kind: np.array(
            [floor.likelihood.predict(query.rows).max() for query in queries if query.kind == kind]
        )
        for kind in kinds
    }
    shares = " | ".join(f"{(values < floor.least).mean():.1%}" for values in best.values())
    own, foreign, *_ = best.values()
    labels = [True] * len(own) + [False] * len(foreign)
    return f"| {name} | {shares} | {roc_auc_score(labels, np.concatenate((own, foreign))):.3f} |"


def window_row(name: str, queries: Sequence[JudgedQuery], fold: TrainedJudge) -> str:
    """Compare what windows show first: the nearest, and what the judge puts first."""
    head = fold.judge().live
    windows = [query for query in queries if query.kind == WINDOW]
    nearest = np.array([window.relevant[0] for window in windows])
    first = np.array(
        [
            window.relevant[np.argmax(head.order.shares(window.rows).sum(axis=1))]
            for window in windows
        ]
    )
    shown = np.array(
        [head.floor.likelihood.predict(window.rows).max() >= head.floor.least for window in windows]
    )
    return (
        f"| {name} | {len(windows)} | {nearest.mean():.3f} | {first.mean():.3f} |"
        f" {shown.mean():.3f} | {first[shown].mean():.3f} |"
    )


if __name__ == "__main__":
    main()
