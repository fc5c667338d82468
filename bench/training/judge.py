"""Train and measure the judge of relevance: the order of candidates, and the floor below which
nothing is relevant.

Run ``python bench/training/judge.py`` from the repository; ``--save`` writes the judge that is
shipped to ``citations/search/judge_….json``; with ``EMBEDDING_PROVIDER=e5-small`` that of this
model. Each set is measured with judges that were trained without its family. The shipped judge
learns only from sets whose licences permit that (``SHIPPED``). Candidates and signs are those of
the product's own search.
"""

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

sys.path.append("bench")

from harness.environment import PROVIDER, arguments, boot, command

boot(RERANKER="none", EMBEDDING_PROVIDER=PROVIDER)

import lightgbm
import numpy as np
from harness.judged import SETS, TERMS, WINDOWS
from harness.report import dotted, publish, share, table
from harness.sets import SHORT
from harness.vectors import kept_vectors
from queries import (
    ASIDE,
    FOREIGN,
    GIBBERISH,
    OWN,
    TALK,
    WINDOW,
    Judged,
    JudgedQuery,
    Numbers,
    balanced,
    left_out,
    read_or_gather,
    scored,
)
from reader import NO_READER, Reading, best_weights, read, with_reader
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from citations.lectures import pipeline as lecture_pipeline
from citations.providers import embedding
from citations.search import judge
from citations.search.signs import OF_SOURCE, ORDER, SIGNS

MODEL: Final = embedding.LOCAL[PROVIDER].model
SHIPPED: Final = ("bitcoin_headings", "tinyrec_topics", "qmsum", "hf_windows", "scifact", *TERMS)
BREADTH: Final = 50
LOST: Final = 0.05  # share of own questions with nothing above the floor
FALSE: Final = 0.02  # share of windows about something else with a passage above the floor
TREES: Final = 40  # of each of three rankers: the mean of several is less a matter of chance
SEEDS: Final = (1, 2, 3)
RANKER: Final = {
    "objective": "lambdarank",
    "lambdarank_truncation_level": 5,
    "num_leaves": 10,
    "max_depth": 5,
    "learning_rate": 0.1,
    "min_data_in_leaf": 60,
    "feature_fraction": 0.6,
    "bagging_fraction": 0.8,
    "bagging_freq": 1,
    "lambda_l2": 5.0,
    "deterministic": True,
    "force_col_wise": True,
    "num_threads": 2,
    "verbose": -1,
}
STRENGTH: Final = 0.3  # inverse regularisation of the likelihood, of signs with equal variance
# More signs are better on the sets that they were trained with, and worse on others.
LIVE_SIGNS: Final = ("cosine", "cosine with neighbours", "coverage with neighbours")
LIKELIHOOD_SIGNS: Final = (*LIVE_SIGNS, "size of the library")
ODD: Final = (SHORT, *TERMS)  # sets that choose no floor: asked in other words, or in the same ones


def main() -> None:
    options = arguments(__doc__, questions=180, kept="", save=False, sets=[*SETS])
    with kept_vectors():
        judged = read_or_gather(options.kept, options.sets, options.questions)
    # Short documents only measure: what is learnt from them makes the order of others worse.
    learnt = {name: queries for name, queries in judged.items() if name != SHORT}
    folds = {name: train(others, others) for name in judged for others in [left_out(learnt, name)]}
    readings = {name: list(read(judged[name], folds[name].judge())) for name in judged}
    for name, fold in folds.items():
        fold.read_like(left_out(readings, name))
    if options.save:
        everything = [query for queries in judged.values() for query in queries]
        shipped = train([query for query in everything if query.set in SHIPPED], everything)
        shipped.read_like([own for name in SHIPPED for own in readings[name]])
        path = judge.path_of(MODEL)
        path.write_text(json.dumps(shipped.to_json()) + "\n", encoding="utf-8")
    report(judged, folds, readings)


def report(
    judged: Judged, folds: dict[str, "TrainedJudge"], readings: Mapping[str, Sequence[Reading]]
) -> None:
    own = {
        name: [query for query in queries if query.kind == OWN] for name, queries in judged.items()
    }
    speech = [name for name in judged if name in WINDOWS]
    floors = {name: fold.judge() for name, fold in folds.items()}
    publish(
        f"The judge of relevance{'' if PROVIDER == 'local' else f': {PROVIDER}'}",
        f"{command()}: the {BREADTH} best of words and vectors by their fused ranks, in the order"
        " of these (RRF), of the judge without and with signs of the source, and in a perfect"
        " order. Each set is measured with a judge that was trained without its family. Of large"
        " sets, some talks are left out. In brackets: 95 % by bootstrap.",
        table(
            (
                *("nDCG@10 · hit@1", "questions", "RRF", "live judge", "judge", "judge − RRF"),
                "perfect",
            ),
            ((name, len(own[name]), *orders(own[name], floors[name])) for name in judged),
        ),
        "Beside a cross-encoder, for which a stand-in is drawn by chance that is as often right as"
        " published ones (development figures: no model was on the machine), and beside one that"
        " knows nothing; nDCG@10 · hit@1, mean of the sets.",
        table(
            ("", "read", "sets", "judge", "and stand-in", "and one that knows nothing"),
            with_reader(judged, readings, floors),
        ),
        f"The floor, set so that {LOST:.0%} of the other sets' questions are below: the share of"
        " each kind of question with nothing relevant. *AUC*: own questions against foreign ones.",
        table(
            ("set", "own", "foreign", "gibberish", "AUC"),
            (
                (name, *below(own, floors[name].search.floor, (OWN, FOREIGN, GIBBERISH)))
                for name, own in judged.items()
            ),
        ),
        f"Windows of speech and their {lecture_pipeline.CANDIDATES} nearest passages: is the first"
        " right, by nearness and by the judge; the share with a likely one, and of these the"
        " first.",
        table(
            ("set", "windows", "nearest right", "judge right", "shown", "right of shown"),
            ((name, *first_shown(judged[name], floors[name])) for name in speech),
        ),
        table(
            ("silent", "windows", "other talks", "asides", "AUC"),
            (
                (name, *below(judged[name], floors[name].live.floor, (WINDOW, TALK, ASIDE)))
                for name in speech
            ),
        ),
    )


def orders(own: Sequence[JudgedQuery], made: judge.Judge) -> Sequence[str]:
    """Return the figures of each order of the candidates."""
    ways: dict[str, Callable[[JudgedQuery], Numbers]] = {
        "RRF": lambda query: -np.arange(len(query.relevant), dtype=float),
        "live": lambda query: made.live.order.shares(query.rows).sum(axis=1),
        "judge": lambda query: made.search.order.shares(query.rows).sum(axis=1),
        "perfect": lambda query: query.relevant.astype(float),
    }
    scores = {
        name: np.array([scored(query, way(query)) for query in own]) for name, way in ways.items()
    }
    means = {name: dotted(values.mean(axis=0)) for name, values in scores.items()}
    apart = scores["judge"] - scores["RRF"]
    draws = np.random.default_rng(1).integers(len(own), size=(1_000, len(own)))
    low, high = np.quantile(apart[draws].mean(axis=1), (0.025, 0.975), axis=0)
    change = " · ".join(
        f"{mean:+.3f} ({first:+.3f}..{last:+.3f})"
        for mean, first, last in zip(apart.mean(axis=0), low, high, strict=True)
    )
    return means["RRF"], means["live"], means["judge"], change, means["perfect"]


def below(
    queries: Sequence[JudgedQuery], floor: judge.Floor, kinds: Sequence[str]
) -> Iterator[str]:
    """Yield the shares of kinds of queries below a floor, and the AUC of the first two kinds."""
    best = {
        kind: np.array(
            [floor.likelihood.predict(query.rows).max() for query in queries if query.kind == kind]
        )
        for kind in kinds
    }
    for values in best.values():
        yield share(values < floor.least, 1)
    own, foreign, *_ = best.values()
    labels = [True] * len(own) + [False] * len(foreign)
    yield f"{roc_auc_score(labels, np.concatenate((own, foreign))):.3f}"


def first_shown(queries: Sequence[JudgedQuery], made: judge.Judge) -> Sequence[object]:
    """Compare what windows show first: the nearest, and what the judge puts first."""
    order, floor = made.live.order, made.live.floor
    windows = [query for query in queries if query.kind == WINDOW]
    nearest = np.array([window.relevant[0] for window in windows])
    first = np.array(
        [window.relevant[np.argmax(order.shares(window.rows).sum(axis=1))] for window in windows]
    )
    shown = np.array(
        [floor.likelihood.predict(window.rows).max() >= floor.least for window in windows]
    )
    shares = nearest.mean(), first.mean(), shown.mean(), first[shown].mean()
    return len(windows), *(f"{value:.3f}" for value in shares)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class TrainedJudge:
    """Trees as JSON has them, the weights of the likelihood, and the floor."""

    search: dict[str, Any]
    live: dict[str, Any]

    def read_like(self, readings: Sequence[Reading]) -> None:
        """Learn the weights of a cross-encoder."""
        self.search["reader"] = self.live["reader"] = best_weights(readings)

    def to_json(self) -> dict[str, Any]:
        return {"model": MODEL, "search": self.search, "live": self.live}

    def judge(self) -> judge.Judge:
        return judge.Judge.from_json(self.to_json())


def train(queries: Sequence[JudgedQuery], choosing: Sequence[JudgedQuery]) -> TrainedJudge:
    """Train with queries, and choose the floors with others."""
    questions, speech = (OWN, FOREIGN, GIBBERISH), (WINDOW, OWN, TALK, ASIDE, FOREIGN)
    own = [query for query in choosing if query.kind == OWN and query.set not in ODD]
    foreign = [question for question in choosing if question.kind in (TALK, ASIDE)]
    search = train_likelihood(queries, questions)
    live = train_likelihood(queries, speech, LIVE_SIGNS)
    return TrainedJudge(
        search={
            "order": train_ranker(queries, (*ORDER, *OF_SOURCE)),
            "likelihood": search,
            "floor": quantile(search, own, LOST),
            "reader": NO_READER,
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
            "reader": NO_READER,
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
    rankers = [lightgbm.train({**RANKER, "seed": seed}, data, TREES) for seed in SEEDS]
    return {"signs": list(names), **flattened(rankers)}


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


def flattened(boosters: Sequence[lightgbm.Booster]) -> dict[str, Any]:
    """Return all nodes of all trees, whose sum is the mean of the boosters, in one list for each of
    their fields.
    """
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
        value = node["leaf_value" if is_leaf else "internal_value"] / len(boosters)
        nodes["value"].append(round(value, 5))
        nodes["left"].append(number)
        nodes["right"].append(number)
        if not is_leaf:
            nodes["left"][number] = add(node["left_child"], level + 1)
            nodes["right"][number] = add(node["right_child"], level + 1)
        return number

    trees = [tree for booster in boosters for tree in booster.dump_model()["tree_info"]]
    roots = [add(tree["tree_structure"], 0) for tree in trees]
    return {"roots": roots, "depth": depth, **nodes}


if __name__ == "__main__":
    main()
