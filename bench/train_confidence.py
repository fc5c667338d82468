"""Train how likely an answer is there at all, and how likely its first citation is right; measure both.

Run ``python bench/train_confidence.py`` from the repository; with ``--save`` what was trained is written to ``citations/confidence.json``. It learns from
every second of the gold questions (and from questions about other things than the library is about, which have no answer) and measures with the others.
Answers are the sources' own sentences. The data come from ``CUEBASE_DATA`` (default: ``../shared/data`` beside the repository); vectors are kept in
``build/vectors``.
"""

import argparse
import atexit
import json
import os
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

ROOT = Path(__file__).resolve().parent.parent
HOME = tempfile.mkdtemp(prefix="cuebase-bench-")
sys.path[:0] = [str(ROOT), str(ROOT / "bench")]
os.environ.update(YOUTUBE_KB_DATA_DIR=HOME, SECRET_KEY="only-for-benchmarks-" * 3, LLM_PROVIDER="none", EMBEDDING_PROVIDER="local")
os.environ.pop("DATABASE_URL", None)

from kbsite.boot import boot  # noqa: E402

if __name__ == "__main__":
    boot()

import numpy as np  # noqa: E402
from bm25 import write  # noqa: E402
from kept import kept_vectors  # noqa: E402
from numpy.typing import NDArray  # noqa: E402
from questions import FOREIGN, GOLD, LEFT_OUT, SETS, Asked, Library  # noqa: E402
from sklearn.linear_model import LogisticRegression  # noqa: E402
from sklearn.metrics import roc_auc_score  # noqa: E402

from citations import confidence  # noqa: E402
from citations.confidence import ALWAYS, FUSED, NEAR, Calibration  # noqa: E402
from citations.providers import weights  # noqa: E402

TITLE: Final = "## Confidence"
KINDS: Final = {"always": ALWAYS, "always+fused": ALWAYS + FUSED, "always+near": ALWAYS + NEAR, "always+fused+near": ALWAYS + FUSED + NEAR}
LOST: Final = 0.02  # of the answers that are right that may be refused
SHARE: Final = 0.2  # of the weight of all questions, that foreign ones have
STRENGTH: Final = 1.0  # inverse of the regularisation

Numbers = NDArray[np.float64]


def main() -> None:
    """Train, measure, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="*", metavar="SET", help=f"of {', '.join(SETS)} (default: all)")
    parser.add_argument("--questions", type=int, default=120, help="of each set, at most")
    parser.add_argument("--save", action="store_true", help="ship what was trained")
    parser.add_argument("--dump", type=Path, help="where to keep what was asked, for a closer look")
    options = parser.parse_args()
    atexit.register(shutil.rmtree, HOME, ignore_errors=True)
    with kept_vectors(), nothing_refused():
        library = Library(options.sets or list(SETS), note)
        asked = list(library.ask_all(most=options.questions, kinds=(GOLD, FOREIGN, LEFT_OUT), tell=note))
    if options.dump:
        options.dump.write_text(json.dumps([row(one) for one in asked]), encoding="utf-8")
    known, new = asked[::2], asked[1::2]
    trained = train(known)
    if options.save:
        confidence.TRAINED.write_text(shipped(trained), encoding="utf-8")
    report = "\n".join(reported(trained, known, new))
    print(report)
    write(report)


def row(one: Asked) -> dict[str, Any]:
    """Return what is known of a question for a closer look."""
    first = one.reply.quotes[0].text if one.reply.quotes else ""
    return {"set": one.set, "kind": one.kind, "query": one.question.query, "first": first, "right": one.first_right, "any": one.any_right, **one.signs}


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

    present: dict[str, Calibration]
    right: dict[str, Calibration]


def train(asked: Sequence[Asked]) -> Trained:
    """Train both on all kinds of signs."""
    return Trained(
        present={name: presence(asked, names) for name, names in KINDS.items()},
        right={name: rightness(asked, names) for name, names in KINDS.items()},
    )


def presence(asked: Sequence[Asked], names: Sequence[str]) -> Calibration:
    """Train on whether a question is one of the library's own, with the talk that answers it; few of the right answers may be refused."""
    rows = usable(asked)
    own = np.array([one.kind == GOLD for one in rows])
    made = fitted(LogisticRegression(C=STRENGTH, max_iter=3_000).fit(table(rows, names), own), names)
    sure = [made.estimate(one.signs) for one in rows if one.first_right]
    return replace(made, border=round(float(np.quantile(sure, LOST)), 4))


def rightness(asked: Sequence[Asked], names: Sequence[str]) -> Calibration:
    """Train on whether the first citation is right; foreign questions, which have none, count as a fifth of all."""
    rows = [one for one in usable(asked) if one.kind in (GOLD, FOREIGN)]
    right = np.array([one.first_right for one in rows])
    gold = np.array([one.kind == GOLD for one in rows])
    weighed = np.where(gold, 1.0, SHARE / (1 - SHARE) * gold.sum() / max(1, (~gold).sum()))
    return fitted(LogisticRegression(C=STRENGTH, max_iter=3_000).fit(table(rows, names), right, sample_weight=weighed), names)


def fitted(model: Any, names: Sequence[str]) -> Calibration:
    """Return what a model has learnt."""
    return Calibration(tuple(names), tuple(round(float(one), 4) for one in model.coef_[0]), round(float(model.intercept_[0]), 4))


def usable(asked: Sequence[Asked]) -> list[Asked]:
    """Return those of whose answer everything is known."""
    return [one for one in asked if one.signs and all(name in one.signs for name in KINDS["always+fused+near"])]


def table(rows: Sequence[Asked], names: Sequence[str]) -> Numbers:
    """Return the signs as a table, shape (rows, names)."""
    return np.array([[one.signs[name] for name in names] for one in rows], dtype=np.float64)


def shipped(trained: Trained) -> str:
    """Write what is shipped."""
    kept = {
        what: {name: asdict(one) for name, one in made.items()} for what, made in ((confidence.PRESENT, trained.present), (confidence.RIGHT, trained.right))
    }
    return json.dumps({"model": weights.MINILM, **kept}, indent=1) + "\n"


# Measuring


def reported(trained: Trained, known: Sequence[Asked], new: Sequence[Asked]) -> Iterator[str]:
    """Say how well it does on the questions that it was not trained on."""
    yield f"{TITLE}\n\n`python {shlex.join(['bench/train_confidence.py', *sys.argv[1:]])}`:"
    yield f"trained on {len(known):,} questions, measured with {len(new):,} others."
    yield "*Refused* is what is taken to have no answer; *foreign* questions are about something else, *left out* ones lack the talk that answers them.\n"
    yield "| signs | refused: gold, first citation right | gold, wrong | foreign | left out | AUC, first citation right | calibration error |"
    yield "|---|---:|---:|---:|---:|---:|---:|"
    rows = usable(new)
    for name in KINDS:
        yield f"| {name} | {' | '.join(measured(trained.present[name], trained.right[name], rows))} |"
    present, right = (one["always+fused+near"] for one in (trained.present, trained.right))
    pairs = [(right.estimate(row.signs), row.first_right) for row in rows if row.kind == GOLD and present.estimate(row.signs) >= present.border]
    yield "\nReliability with all signs, on gold questions that are answered:\n\n| confidence | answers | estimated | right |\n|---|---:|---:|---:|"
    for part in confidence.reliability(pairs):
        yield f"| {part.low:.1f}–{part.high:.1f} | {part.answers} | {part.estimated:.2f} | {part.right:.2f} |"
    for name, one in (("an answer is there", present), ("its first citation is right", right)):
        yield f"\nWeights, {name}: {', '.join(f'{sign} {weight:+.2f}' for sign, weight in zip(one.signs, one.weights, strict=True))}"
    yield ""


def measured(present: Calibration, right: Calibration, rows: Sequence[Asked]) -> Iterator[str]:
    """Write the figures of one kind of signs."""
    gold = [row for row in rows if row.kind == GOLD]
    groups = [[row for row in gold if row.first_right], [row for row in gold if not row.first_right]]
    groups += [[row for row in rows if row.kind == kind] for kind in (FOREIGN, LEFT_OUT)]
    for group in groups:
        refused = sum(present.estimate(row.signs) < present.border for row in group)
        yield f"{refused / len(group):.0%} of {len(group)}" if group else "–"
    pairs = [(right.estimate(row.signs), row.first_right) for row in gold]
    yield f"{roc_auc_score([found for _, found in pairs], [sure for sure, _ in pairs]):.3f}"
    yield f"{confidence.error(confidence.reliability(pairs)):.3f}"


def note(text: str) -> None:
    """Say how far it is."""
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
