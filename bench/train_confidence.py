"""Train how likely an answer is there at all, and how likely its first citation is right; measure both.

Run ``python bench/train_confidence.py`` from the repository; with ``--save`` what was trained is written to ``citations/confidence.json``. It learns from gold
questions, from questions about other things than the library is about, and from gold questions without the talk that answers them; it is measured with each
half of them after it was trained on the other one.
Answers are the sources' own sentences. The data come from ``CUEBASE_DATA`` (default: ``../shared/data`` beside the repository); vectors are kept in
``build/vectors``.
"""

import argparse
import json
import shlex
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

from environment import boot

boot()

import numpy as np
from bm25 import write
from kept import kept_vectors
from numpy.typing import NDArray
from questions import FOREIGN, GOLD, LEFT_OUT, SETS, Asked, Library
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from citations.answers import confidence
from citations.answers.confidence import ALWAYS, FUSED, NEAR, LogisticModel
from citations.providers import weights

TITLE: Final = "## Confidence"
KINDS: Final = {
    "always": ALWAYS,
    "always+fused": ALWAYS + FUSED,
    "always+near": ALWAYS + NEAR,
    "always+fused+near": ALWAYS + FUSED + NEAR,
}
LOST: Final = 0.04  # of the answers that are right that may be refused
STRENGTH: Final = 1.0  # inverse of the regularisation, of signs that all spread alike
WHERE: Final = (
    "lead",
    "share",
)  # signs that tell which place is the right one, not whether there is one

Numbers = NDArray[np.float64]


def main() -> None:
    """Train, measure, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "sets", nargs="*", metavar="SET", help=f"of {', '.join(SETS)} (default: all)"
    )
    parser.add_argument("--questions", type=int, default=120, help="of each set, at most")
    parser.add_argument("--save", action="store_true", help="ship what was trained")
    parser.add_argument("--dump", type=Path, help="where to keep what was asked, for a closer look")
    options = parser.parse_args()
    with kept_vectors(), nothing_refused():
        library = Library(options.sets or list(SETS), note)
        asked = list(
            library.ask_all(most=options.questions, kinds=(GOLD, FOREIGN, LEFT_OUT), tell=note)
        )
    if options.dump:
        options.dump.write_text(json.dumps([row(one) for one in asked]), encoding="utf-8")
    halves = asked[::2], asked[1::2]
    folds = [Fold(trained=train(known), new=usable(new)) for known, new in (halves, halves[::-1])]
    if options.save:
        confidence.TRAINED.write_text(shipped(train(asked)), encoding="utf-8")
    report = "\n".join(reported(folds))
    print(report)
    write(report)


def row(one: Asked) -> dict[str, Any]:
    """Return what is known of a question for a closer look."""
    first = one.reply.quotes[0].text if one.reply.quotes else ""
    return {
        "set": one.set,
        "kind": one.kind,
        "query": one.question.query,
        "first": first,
        "right": one.first_right,
        "any": one.any_right,
        **one.signs,
    }


@contextmanager
def nothing_refused() -> Iterator[None]:
    """Let every question have an answer, however unlikely: what it is worth is what is measured."""
    before = confidence.is_answered
    confidence.is_answered = lambda signs: True
    try:
        yield
    finally:
        confidence.is_answered = before


# Training


@dataclass(frozen=True, slots=True, kw_only=True)
class Trained:
    """Whether an answer is there, and whether its first citation is right, by the names of the signs that are known."""

    present: dict[str, LogisticModel]
    right: dict[str, LogisticModel]


def train(asked: Sequence[Asked]) -> Trained:
    """Train both on all kinds of signs."""
    present = {name: presence(asked, names) for name, names in KINDS.items()}
    return Trained(
        present=present,
        right={
            name: rightness([one for one in usable(asked) if seems(present[name], one)], names)
            for name, names in KINDS.items()
        },
    )


def presence(asked: Sequence[Asked], names: Sequence[str]) -> LogisticModel:
    """Train on whether a question is one of the library's own, with the talk that answers it; few of the right answers may be refused."""
    rows = usable(asked)
    made = fitted(
        rows, [one.kind == GOLD for one in rows], [name for name in names if name not in WHERE]
    )
    sure = [made.estimate(one.signs) for one in rows if one.first_right]
    return replace(made, border=round(float(np.quantile(sure, LOST)), 4))


def rightness(answered: Sequence[Asked], names: Sequence[str]) -> LogisticModel:
    """Train on whether the first citation is right, of gold and foreign questions that are answered: of the latter none is."""
    rows = [one for one in answered if one.kind in (GOLD, FOREIGN)]
    return fitted(rows, [one.first_right for one in rows], names)


def seems(present: LogisticModel, one: Asked) -> bool:
    """Say whether an answer to a question is taken to be there."""
    return present.estimate(one.signs) >= present.border


def fitted(rows: Sequence[Asked], so: Sequence[bool], names: Sequence[str]) -> LogisticModel:
    """Learn from some signs of questions whether it is so."""
    numbers = table(rows, names)
    spread = numbers.std(axis=0) + 1e-9
    model = LogisticRegression(C=STRENGTH, max_iter=3_000).fit(numbers / spread, so)
    return LogisticModel(
        tuple(names),
        tuple(round(float(one), 4) for one in model.coef_[0] / spread),
        round(float(model.intercept_[0]), 4),
    )


def usable(asked: Sequence[Asked]) -> list[Asked]:
    """Return those of whose answer everything is known."""
    return [
        one
        for one in asked
        if one.signs and all(name in one.signs for name in KINDS["always+fused+near"])
    ]


def table(rows: Sequence[Asked], names: Sequence[str]) -> Numbers:
    """Return the signs as a table, shape (rows, names)."""
    return np.array([[one.signs[name] for name in names] for one in rows], dtype=np.float64)


def shipped(trained: Trained) -> str:
    """Write what is shipped."""
    kept = {
        what: {name: asdict(one) for name, one in made.items()}
        for what, made in ((confidence.PRESENT, trained.present), (confidence.RIGHT, trained.right))
    }
    return json.dumps({"model": weights.MINILM, **kept}, indent=1) + "\n"


# Measuring


@dataclass(frozen=True, slots=True, kw_only=True)
class Fold:
    """What was trained on one half of the questions, and the other half."""

    trained: Trained
    new: Sequence[Asked]

    def seem(self, name: str, *kinds: str) -> list[tuple[Asked, bool]]:
        """Return the questions of these kinds, and whether an answer to each is taken to be there."""
        return [
            (row, seems(self.trained.present[name], row)) for row in self.new if row.kind in kinds
        ]

    def pairs(self, name: str) -> list[tuple[float, bool]]:
        """Return the confidence in each gold question that is answered, and whether its first citation is right."""
        return [
            (self.trained.right[name].estimate(row.signs), row.first_right)
            for row, is_there in self.seem(name, GOLD)
            if is_there
        ]


def reported(folds: Sequence[Fold]) -> Iterator[str]:
    """Say how well each half does on the questions of the other one."""
    yield f"{TITLE}\n\n`python {shlex.join(['bench/train_confidence.py', *sys.argv[1:]])}`:"
    yield f"{sum(len(fold.new) for fold in folds):,} questions, each half measured with what was trained on the other; all of them train what is shipped."
    yield "*Refused* is what is taken to have no answer; *foreign* questions are about something else, *left out* ones lack the talk that answers them."
    yield "The AUC and the calibration error are those of the confidence in first citations, over gold questions that are answered.\n"
    yield "| signs | refused: gold, first citation right | gold, wrong | foreign | left out | AUC | calibration error |"
    yield "|---|---:|---:|---:|---:|---:|---:|"
    for name in KINDS:
        yield f"| {name} | {' | '.join(measured(folds, name))} |"
    yield "\nReliability with all signs:\n\n| confidence | answers | estimated | right |\n|---|---:|---:|---:|"
    for part in confidence.reliability(
        [pair for fold in folds for pair in fold.pairs("always+fused+near")]
    ):
        yield f"| {part.low:.1f}–{part.high:.1f} | {part.answers} | {part.estimated:.2f} | {part.right:.2f} |"
    yield ""


def measured(folds: Sequence[Fold], name: str) -> Iterator[str]:
    """Write the figures of one kind of signs."""
    gold = [pair for fold in folds for pair in fold.seem(name, GOLD)]
    groups = [
        [there for row, there in gold if row.first_right],
        [there for row, there in gold if not row.first_right],
    ]
    groups += [
        [there for fold in folds for _, there in fold.seem(name, kind)]
        for kind in (FOREIGN, LEFT_OUT)
    ]
    yield from (
        f"{group.count(False) / len(group):.0%} of {len(group)}" if group else "–"
        for group in groups
    )
    pairs = [pair for fold in folds for pair in fold.pairs(name)]
    yield f"{roc_auc_score([right for _, right in pairs], [sure for sure, _ in pairs]):.3f}"
    yield f"{confidence.error(confidence.reliability(pairs)):.3f}"


def note(text: str) -> None:
    """Say how far it is."""
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
