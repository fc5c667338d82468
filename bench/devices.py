"""Measure what each part of a sentence's score is worth: answers with it and without it.

Run ``python bench/devices.py`` from the repository; names of sets measure only these. Passages are
looked up once for each question. The data come from ``CUEBASE_DATA`` (default: ``../shared/data``
beside the repository); vectors are kept in ``build/vectors``.
"""

import argparse
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from statistics import fmean
from typing import Any, Final

from environment import boot

boot()

from answering import note
from bm25 import write
from kept import kept_vectors
from questions import GOLD, SETS, Library, Trial

from citations.answers import evidence
from citations.answers.writing import sentence_ranking

TITLE: Final = "## What each part of a sentence's score is worth"
WEIGHT: Final = sentence_ranking.WORDS + sentence_ranking.MEANING
REMOVED: Final[Mapping[str, Mapping[str, Any]]] = {
    "nothing": {},
    "the passage's distance from the best": {"PASSAGE": 0.0},
    "the sentence's words": {"WORDS": 0.0, "MEANING": WEIGHT},
    "its nearness in meaning": {"WORDS": WEIGHT, "MEANING": 0.0},
    "rarity of words": {"_weights": lambda question, sentences, own: {}},
    "words of the sentence before": {"NEIGHBOUR": 0.0},
    "following a question": {"REPLYING": 0.0},
    "following the same question": {"RESTATED": 2.0},
    "doubt about sentences that ask": {"ASKING": 1.0},
    "defining the term that is asked for": {"FITTING": 0.0},
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "sets", nargs="*", metavar="SET", help=f"of {', '.join(SETS)} (default: all)"
    )
    parser.add_argument("--questions", type=int, default=120, help="of each set, at most")
    options = parser.parse_args()
    measured: dict[str, list[Trial]] = {}
    with kept_vectors(), values(evidence, {"find": cache(evidence.find)}):
        library = Library(options.sets or list(SETS), note)
        for name, changed in REMOVED.items():
            with values(sentence_ranking, changed):
                questions = library.ask_all(
                    most=options.questions, kinds=(GOLD,), tell=lambda _: None
                )
                measured[name] = list(questions)
            note(name)
    report = "\n".join(reported(measured))
    print(report)
    write(report)


@contextmanager
def values(module: Any, changed: Mapping[str, Any]) -> Iterator[None]:
    """Give names of a module other values for a while."""
    before = {name: getattr(module, name) for name in changed}
    try:
        for name, value in changed.items():
            setattr(module, name, value)
        yield
    finally:
        for name, value in before.items():
            setattr(module, name, value)


def reported(measured: Mapping[str, Sequence[Trial]]) -> Iterator[str]:
    command = shlex.join(["bench/devices.py", *sys.argv[1:]])
    kept = measured["nothing"]
    yield f"{TITLE}\n\n`python {command}`: {len(kept):,} questions, no"
    yield "language model. Shares of all questions, as the mean of the sets; refused ones count as"
    yield "wrong. *Lost* and *gained* are first citations that are right with the part alone, and"
    yield "without it alone.\n"
    yield "| removed | first citation right | any right | lost | gained |"
    yield "|---|---:|---:|---:|---:|"
    for name, trials in measured.items():
        pairs = [(old.first_right, new.first_right) for old, new in zip(kept, trials, strict=True)]
        shares = (
            mean(trials, [trial.first_right for trial in trials]),
            mean(trials, [trial.any_right for trial in trials]),
        )
        lost, gained = pairs.count((True, False)), pairs.count((False, True))
        yield f"| {name} | {shares[0]:.1%} | {shares[1]:.1%} | {lost} | {gained} |"
    yield ""


def mean(trials: Sequence[Trial], right: Sequence[bool]) -> float:
    """Return the mean over the sets of the shares that are right."""
    sets: dict[str, list[bool]] = {}
    for trial, is_right in zip(trials, right, strict=True):
        sets.setdefault(trial.set, []).append(is_right)
    return fmean(fmean(own) for own in sets.values())


if __name__ == "__main__":
    main()
