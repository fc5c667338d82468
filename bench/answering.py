"""Measure answers: right citations, refusals, and time.

Run ``python bench/answering.py`` from the repository; names of sets measure only these. Gold
questions are asked of their own library, of a foreign one without an answer, and of their own
without the talk that answers them, which may have another answer. Refusals were trained on such
questions, these among them; ``bench/train_confidence.py`` measures them on new ones. With a
language model (``LLM_PROVIDER`` and the settings that belong to it), gold questions are asked, and
near ones that have no answer, each with passages that are found without it. The data come from
``CUEBASE_DATA`` (default: ``../shared/data`` beside the repository).
"""

import argparse
import os
import shlex
import sys
from collections.abc import Iterator, Sequence
from statistics import fmean, median
from typing import Final

from environment import boot

MODEL = os.environ.get("LLM_PROVIDER") or "none"
boot(LLM_PROVIDER=MODEL, DISABLE_HYDE="true", DISABLE_CONTEXTUAL_RETRIEVAL="true")

from bm25 import write
from kept import kept_vectors
from questions import FOREIGN, GOLD, LEFT_OUT, NEAR_BY, SETS, Library, Trial

TITLE: Final = "## Answers" if MODEL == "none" else "## Answers with a language model"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "sets", nargs="*", metavar="SET", help=f"of {', '.join(SETS)} (default: all)"
    )
    parser.add_argument("--questions", type=int, default=60, help="of each set, at most")
    parser.add_argument("--unmarked", action="store_true", help="captions without full stops")
    options = parser.parse_args()
    with kept_vectors():
        library = Library(options.sets or list(SETS), note, unmarked=options.unmarked)
        kinds = (GOLD, FOREIGN, LEFT_OUT) if MODEL == "none" else (GOLD, NEAR_BY)
        trials = list(library.ask_all(most=options.questions, kinds=kinds, tell=note))
    report = "\n".join(reported(trials))
    print(report)
    write(report)


def reported(trials: Sequence[Trial]) -> Iterator[str]:
    command = shlex.join(["bench/answering.py", *sys.argv[1:]])
    setting = "" if MODEL == "none" else f"LLM_PROVIDER={MODEL} "
    names = {trial.reply.model for trial in trials} - {""}
    model = ", ".join(sorted(names)) or "no language model"
    yield f"{TITLE}\n\n`{setting}python {command}`: {model}."
    yield "A citation is right if it shares half of itself with the gold range; shares are of the"
    yield "answered. Milliseconds are medians; checking looks every quote up in its source.\n"
    yield (
        "| set | questions | answered | first citation right | any right | foreign ones refused"
        " | left out refused | near refused | checking, ms | whole, ms |"
    )
    yield "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|"
    for name in [*dict.fromkeys(trial.set for trial in trials), "all"]:
        yield row(name, [trial for trial in trials if name in (trial.set, "all")])
    yield ""


def row(name: str, trials: Sequence[Trial]) -> str:
    gold, foreign, left_out, near = (
        [trial for trial in trials if trial.kind == kind]
        for kind in (GOLD, FOREIGN, LEFT_OUT, NEAR_BY)
    )
    answered = [trial for trial in gold if not trial.is_refused]
    shares = [
        share([not trial.is_refused for trial in gold]),
        share([trial.first_right for trial in answered]),
        share([trial.any_right for trial in answered]),
        share([trial.is_refused for trial in foreign]),
        share([trial.is_refused for trial in left_out]),
        share([trial.is_refused for trial in near]),
    ]
    checking = [trial.milliseconds("ground") for trial in answered]
    whole = [trial.milliseconds() for trial in gold]
    times = [median(values) if values else 0.0 for values in (checking, whole)]
    return f"| {name} | {len(gold)} | {' | '.join(shares)} | {times[0]:.1f} | {times[1]:.0f} |"


def share(values: Sequence[bool]) -> str:
    return f"{fmean(values):.0%}" if values else "–"


def note(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
