"""Train and measure two estimates: that a question has an answer, that its first citation is right.

Run ``python bench/training/confidence.py`` from the repository; ``--save`` writes the models to
``citations/answers/writing/confidence.json``. They learn from gold questions, questions of foreign
libraries, and near ones, which their own library does not answer. Gold questions without the talk
that answers them are only measured: another talk may answer. Each half is measured with what was
trained on the other one. Answers are made without a language model.
"""

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Final
from unittest import mock

import numpy as np

sys.path.append("bench")

from harness.environment import arguments, boot, command

boot()

from harness.asking import FOREIGN, GOLD, LEFT_OUT, NEAR_BY, AskedSets, Trial
from harness.report import publish, share, table
from harness.sets import TRANSCRIPTS
from harness.vectors import kept_vectors
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from citations.answers.writing import sentence_ranking
from citations.answers.writing.sentence_ranking import ALWAYS, FUSED, MODEL_SIGNS, LogisticModel
from citations.evaluation.answer_quality import calibration_error, reliability
from citations.providers import weights

HEADS: Final = (
    *("signs", "refused: gold, first citation right", "gold, wrong", "foreign", "left out"),
    *("near", "AUC", "calibration error", "near, AUC", "near at 8 %"),
)
ALL: Final = "always+fused+near"
KINDS: Final = {
    "always": ALWAYS,
    "always+fused": ALWAYS + FUSED,
    "always+near": ALWAYS + MODEL_SIGNS,
    ALL: ALWAYS + FUSED + MODEL_SIGNS,
}
LOST: Final = 0.04  # share of right answers that may be refused
STRENGTH: Final = 1.0  # inverse regularisation, of signs with equal variance
MISSED: Final = 0.08  # share of gold questions that a border for near ones may refuse
WHERE: Final = ("score", "margin", "lead", "share")  # signs of the best location, not of an answer
WHAT: Final = ("names", "meaning", "subject")  # signs of an answer, wherever it is

Numbers = NDArray[np.float64]


def main() -> None:
    options = arguments(__doc__, questions=120, save=False, sets=[*TRANSCRIPTS])
    # Every question is answered, however unlikely the answer, without the models that are shipped.
    with (
        kept_vectors(),
        mock.patch.object(sentence_ranking, "is_answered", return_value=True),
        mock.patch.object(sentence_ranking, "confidence", lambda signs, *, proven=1.0: proven),
    ):
        sets = AskedSets(options.sets)
        kinds = (GOLD, FOREIGN, LEFT_OUT, NEAR_BY)
        trials = list(sets.ask_all(most=options.questions, kinds=kinds))
    halves = trials[::2], trials[1::2]
    folds = [Fold(trained=train(known), new=usable(new)) for known, new in (halves, halves[::-1])]
    if options.save:
        sentence_ranking.TRAINED.write_text(shipped(train(trials)), encoding="utf-8")
    parts = reliability([pair for fold in folds for pair in fold.pairs(ALL)])
    publish(
        "Confidence",
        f"{command()}: {sum(len(fold.new) for fold in folds):,} questions. Each half is measured"
        " with the models of the other one; all of them train the models that are shipped."
        " *Foreign* questions are about something else, *left out* ones lack the talk that answers"
        " them, *near* ones are those of `bench/near_unanswerable.json`. The AUC and the"
        " calibration error are those of the confidence in the first citations of answered gold"
        " questions. *Near, AUC* is that of gold against near questions, *near at 8 %* the share"
        " refused by a border that refuses 8 % of the gold ones.",
        table(HEADS, ((name, *measured(folds, name)) for name in KINDS)),
        "Reliability with all signs:",
        table(
            ("confidence", "answers", "estimated", "right"),
            (
                (
                    f"{part.low:.1f}–{part.high:.1f}",
                    part.answers,
                    f"{part.estimated:.2f}",
                    f"{part.right:.2f}",
                )
                for part in parts
            ),
        ),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Trained:
    """The models of both estimates, by the names of the known signs."""

    present: dict[str, LogisticModel]
    right: dict[str, LogisticModel]


def train(trials: Sequence[Trial]) -> Trained:
    present = {name: presence(trials, names) for name, names in KINDS.items()}
    answered = {
        name: [trial for trial in usable(trials) if is_answered(present[name], trial)]
        for name in KINDS
    }
    right = {name: rightness(answered[name], names) for name, names in KINDS.items()}
    return Trained(present=present, right=right)


def presence(trials: Sequence[Trial], names: Sequence[str]) -> LogisticModel:
    """Train to tell gold questions from the others; the border refuses few right answers."""
    rows = [trial for trial in usable(trials) if trial.kind != LEFT_OUT]
    own = [name for name in names if name not in WHERE]
    model = fitted(rows, [trial.kind == GOLD for trial in rows], own)
    right = [model.estimate(trial.signs) for trial in rows if trial.first_right]
    return replace(model, border=round(float(np.quantile(right, LOST)), 4))


def rightness(answered: Sequence[Trial], names: Sequence[str]) -> LogisticModel:
    """Train to tell right first citations, of gold and foreign questions that are answered."""
    rows = [trial for trial in answered if trial.kind in (GOLD, FOREIGN)]
    own = [name for name in names if name not in WHAT]
    return fitted(rows, [trial.first_right for trial in rows], own)


def is_answered(present: LogisticModel, trial: Trial) -> bool:
    return present.estimate(trial.signs) >= present.border


def fitted(rows: Sequence[Trial], labels: Sequence[bool], names: Sequence[str]) -> LogisticModel:
    numbers = numbers_of(rows, names)
    spread = numbers.std(axis=0) + 1e-9
    model = LogisticRegression(C=STRENGTH, max_iter=3_000).fit(numbers / spread, labels)
    return LogisticModel(
        tuple(names),
        tuple(round(float(weight), 4) for weight in model.coef_[0] / spread),
        round(float(model.intercept_[0]), 4),
    )


def usable(trials: Sequence[Trial]) -> list[Trial]:
    """Return the trials with all signs."""
    names = set(KINDS[ALL])
    return [trial for trial in trials if names <= trial.signs.keys()]


def numbers_of(rows: Sequence[Trial], names: Sequence[str]) -> Numbers:
    """Return signs, shape (rows, names)."""
    return np.array([[trial.signs[name] for name in names] for trial in rows], dtype=np.float64)


def shipped(trained: Trained) -> str:
    estimates = {sentence_ranking.PRESENT: trained.present, sentence_ranking.RIGHT: trained.right}
    stored = {
        estimate: {name: asdict(model) for name, model in models.items()}
        for estimate, models in estimates.items()
    }
    return json.dumps({"model": weights.MINILM, **stored}, indent=1) + "\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fold:
    """The models of one half of the questions, and the other half."""

    trained: Trained
    new: Sequence[Trial]

    def answered(self, name: str, kind: str) -> list[tuple[Trial, bool]]:
        """Return the questions of a kind, and whether each is answered."""
        present = self.trained.present[name]
        return [(trial, is_answered(present, trial)) for trial in self.new if trial.kind == kind]

    def nearness(self, name: str) -> tuple[list[float], list[float]]:
        """Return the estimates that gold and near questions have an answer."""
        gold, near = (
            [
                self.trained.present[name].estimate(trial.signs)
                for trial in self.new
                if trial.kind == kind
            ]
            for kind in (GOLD, NEAR_BY)
        )
        return gold, near

    def pairs(self, name: str) -> list[tuple[float, bool]]:
        """Return (confidence, is right) of the first citation of each answered gold question."""
        right = self.trained.right[name]
        return [
            (right.estimate(trial.signs), trial.first_right)
            for trial, has_answer in self.answered(name, GOLD)
            if has_answer
        ]


def measured(folds: Sequence[Fold], name: str) -> Iterator[str]:
    """Write the figures of one kind of signs."""
    gold, foreign, left_out, near = (
        [pair for fold in folds for pair in fold.answered(name, kind)]
        for kind in (GOLD, FOREIGN, LEFT_OUT, NEAR_BY)
    )
    right = [pair for pair in gold if pair[0].first_right]
    wrong = [pair for pair in gold if not pair[0].first_right]
    for group in (right, wrong, foreign, left_out, near):
        yield f"{share([not has_answer for _, has_answer in group])} of {len(group)}"
    pairs = [pair for fold in folds for pair in fold.pairs(name)]
    estimates, labels = zip(*pairs, strict=True)
    yield f"{roc_auc_score(labels, estimates):.3f}"
    yield f"{calibration_error(reliability(pairs)):.3f}"
    parts = [fold.nearness(name) for fold in folds]
    aucs = [
        roc_auc_score([1] * len(answered) + [0] * len(others), answered + others)
        for answered, others in parts
    ]
    lost = [np.mean(np.array(others) < np.quantile(answered, MISSED)) for answered, others in parts]
    yield f"{np.mean(aucs):.3f}"
    yield f"{np.mean(lost):.0%}"


if __name__ == "__main__":
    main()
