"""Measure answers: right citations, refusals, and time.

Run ``python bench/answering.py`` from the repository; names of sets measure only these. Gold
questions are asked of their own library, of a foreign one without an answer, and of their own
without the talk that answers them, which may have another answer; near ones have no answer there.
Refusals were trained on such questions, these among them; ``bench/training/confidence.py`` measures
them on new ones. With a language model (``LLM_PROVIDER`` and the settings that belong to it), only
gold and near questions are asked, each with passages that are found without it.
"""

import os
from collections.abc import Iterator, Sequence
from statistics import median
from typing import Final

from harness.environment import arguments, boot, command

MODEL: Final = os.environ.get("LLM_PROVIDER") or "none"
boot(LLM_PROVIDER=MODEL, DISABLE_HYDE="true", DISABLE_CONTEXTUAL_RETRIEVAL="true")

from harness.asking import FOREIGN, GOLD, LEFT_OUT, NEAR_BY, AskedSets, Trial
from harness.report import publish, share, table
from harness.sets import TRANSCRIPTS
from harness.vectors import kept_vectors

HEADS: Final = (
    *("set", "questions", "answered", "first citation right", "one of three", "any right"),
    *("foreign ones refused", "left out refused", "near refused", "checking, ms", "whole, ms"),
)


def main() -> None:
    options = arguments(__doc__, questions=60, unmarked=False, sets=[*TRANSCRIPTS])
    with kept_vectors():
        sets = AskedSets(options.sets, unmarked=options.unmarked)
        others = (FOREIGN, LEFT_OUT) if MODEL == "none" else ()
        kinds = (GOLD, *others, NEAR_BY)
        trials = list(sets.ask_all(most=options.questions, kinds=kinds))
    models = ", ".join(sorted({trial.reply.model for trial in trials} - {""}))
    publish(
        "Answers" if MODEL == "none" else "Answers with a language model",
        f"{command()}: {models or 'no language model'}. A citation is right if it shares half of"
        " itself with the gold range; shares are of the answered; *one of three*: of the"
        " places that are quoted at once. Milliseconds are medians; checking looks every quote up"
        " in its source.",
        table(HEADS, rows(trials)),
    )


def rows(trials: Sequence[Trial]) -> Iterator[Sequence[object]]:
    """Yield the figures of each set, and of all."""
    for name in [*dict.fromkeys(trial.set for trial in trials), "all"]:
        own = [trial for trial in trials if name in (trial.set, "all")]
        gold, foreign, left_out, near = (
            [trial for trial in own if trial.kind == kind]
            for kind in (GOLD, FOREIGN, LEFT_OUT, NEAR_BY)
        )
        answered = [trial for trial in gold if not trial.is_refused]
        checking = [checking_time(trial) for trial in answered]
        yield (
            name,
            len(gold),
            share([not trial.is_refused for trial in gold]),
            share([trial.first_right for trial in answered]),
            share([trial.shown_right for trial in answered]),
            share([trial.any_right for trial in answered]),
            *(share([each.is_refused for each in kind]) for kind in (foreign, left_out, near)),
            f"{median(checking or [0.0]):.1f}",
            f"{median([trial.reply.milliseconds for trial in gold] or [0.0]):.0f}",
        )


def checking_time(trial: Trial) -> float:
    """Return the milliseconds in which quotes were looked up in their sources."""
    stages = trial.reply.trace.stages
    return sum(stage.milliseconds for stage in stages if stage.name == "ground")


if __name__ == "__main__":
    main()
