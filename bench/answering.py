"""Measure answers made of the sources' own sentences: whether what they cite is right, what is refused, how long checking takes.

Run ``python bench/answering.py`` from the repository; names of sets measure only these. Gold questions are asked of their own library, of one about something
else (which has no answer), and of their own without the talk that answers them (which may have another one). What is refused was trained on such questions,
these among them: how it does on others says ``bench/train_confidence.py``. The data come from ``CUEBASE_DATA`` (default: ``../shared/data`` beside the
repository).
"""

import argparse
import shlex
import sys
from collections.abc import Iterator, Sequence
from statistics import fmean, median
from typing import Final

from environment import boot

boot()

from bm25 import write
from kept import kept_vectors
from questions import FOREIGN, GOLD, LEFT_OUT, SETS, Asked, Library

TITLE: Final = "## Answers"


def main() -> None:
    """Measure, print, and replace this benchmark's section of the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "sets", nargs="*", metavar="SET", help=f"of {', '.join(SETS)} (default: all)"
    )
    parser.add_argument("--questions", type=int, default=60, help="of each set, at most")
    options = parser.parse_args()
    with kept_vectors():
        library = Library(options.sets or list(SETS), note)
        asked = list(
            library.ask_all(most=options.questions, kinds=(GOLD, FOREIGN, LEFT_OUT), tell=note)
        )
    report = "\n".join(reported(asked))
    print(report)
    write(report)


def reported(asked: Sequence[Asked]) -> Iterator[str]:
    """Write the section of the results."""
    yield f"{TITLE}\n\n`python {shlex.join(['bench/answering.py', *sys.argv[1:]])}`: no language model. A citation is right when it shares half of itself"
    yield "with the gold range; shares are of the answered. Milliseconds are medians; checking looks every quote up in its source's text.\n"
    yield "| set | questions | answered | first citation right | any right | foreign ones refused | left out refused | checking, ms | whole, ms |"
    yield "|---|---:|---:|---:|---:|---:|---:|---:|---:|"
    for name in [*dict.fromkeys(one.set for one in asked), "all"]:
        yield row(name, [one for one in asked if name in (one.set, "all")])
    yield ""


def row(name: str, asked: Sequence[Asked]) -> str:
    """Write a set's figures."""
    gold, foreign, left_out = (
        [one for one in asked if one.kind == kind] for kind in (GOLD, FOREIGN, LEFT_OUT)
    )
    answered = [one for one in gold if not one.is_refused]
    shares = [
        share([not one.is_refused for one in gold]),
        share([one.first_right for one in answered]),
        share([one.any_right for one in answered]),
        share([one.is_refused for one in foreign]),
        share([one.is_refused for one in left_out]),
    ]
    times = [
        median(times) if times else 0.0
        for times in (
            [one.milliseconds("ground") for one in answered],
            [one.milliseconds() for one in gold],
        )
    ]
    return f"| {name} | {len(gold)} | {' | '.join(shares)} | {times[0]:.1f} | {times[1]:.0f} |"


def share(said: Sequence[bool]) -> str:
    """Write which share is true."""
    return f"{fmean(said):.0%}" if said else "–"


def note(text: str) -> None:
    """Say how far it is."""
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
