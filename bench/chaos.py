"""Kill every process of a busy server at random, and see whether anything is lost and how soon all
is well again.

Run ``python bench/chaos.py`` from the repository; ``--kills``, ``--seed`` for others; Ctrl-C ends
it early. Clients add, delete, ask, search, speak and listen through all doors of a `kb serve`, and
migrate and back up the library. After each kill, what is there is compared with what was
acknowledged; after every tenth, when all work has ended, everything that is stored is checked.
"""

import argparse
import os
import random
import statistics
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from harness.environment import HOME, boot, command, machine

boot(database=False)

from harness.report import publish, table

from tests.chaos.ledger import Promise
from tests.chaos.run import Chaos
from tests.chaos.victims import KINDS

GOAL: Final = 10.0  # s
WARM_UP: Final = 5.0  # s
CHECK_EVERY: Final = 10  # kills
BUSY: Final = (1.0, 4.0)  # s between the end of a check and the next kill


class Kill(NamedTuple):
    """One kill, and the seconds until requests were served and until work went on."""

    kind: str
    served: float
    worked: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    parser.add_argument("--only", choices=KINDS, action="append", help="Kill only these.")
    options = parser.parse_args()
    print(f"Seed {options.seed}; the log is {HOME}/home.log.")
    chance = random.Random(options.seed)
    with Chaos(Path(HOME) / "home", seed=options.seed) as chaos:
        kills: list[Kill] = []
        ended: list[float] = []
        with suppress(KeyboardInterrupt):  # what was measured is told
            time.sleep(WARM_UP)
            while len(kills) < options.kills:
                time.sleep(chance.uniform(*BUSY))
                kind = chance.choice(options.only or list(KINDS))
                faults = len(chaos.ledger.faults)
                if (served := chaos.kill(kind)) is None:
                    continue
                kills.append(Kill(kind, served, served + chaos.work()))
                chaos.compare()
                if len(kills) % CHECK_EVERY == 0:
                    ended.append(chaos.settle())
                print(
                    len(kills), kills[-1], *chaos.ledger.faults[faults:], sep="\n    ", flush=True
                )
        ended.append(chaos.settle())
    report(kills, ended, chaos, options.seed)
    print(*chaos.ledger.faults, sep="\n")


def report(kills: Sequence[Kill], ended: Sequence[float], chaos: Chaos, seed: int) -> None:
    ledger, promises = chaos.ledger, Counter(chaos.ledger.titles.values())
    recovered = statistics.median(kill.worked for kill in kills)
    groups = {kind: [kill for kill in kills if kill.kind == kind] for kind in KINDS}
    publish(
        "Kills",
        f"{command()}: seconds after a SIGKILL, median / most, of {len(kills)} kills, seed {seed}."
        " *Served*: every door answers again. *Works*: captions that were added after that are"
        f" stored; the goal is a median of at most {GOAL:.0f} s, and it is {recovered:.1f} s. When"
        " the clients paused, after every tenth kill, all work had ended after"
        f" {spread(ended)} s. {machine()} with a load of {os.getloadavg()[2]:.0f}.",
        table(
            ("killed", "times", "served", "works"),
            (
                (kind, len(those), *map(spread, list(zip(*those, strict=True))[1:]))
                for kind, those in (*groups.items(), ("**all**", kills))
                if those
            ),
        ),
        f"{ledger.requests:,} requests, of which {ledger.refusals:,} were answered 503 or 429;"
        f" {promises[Promise.KEPT]} sources acknowledged and kept, {promises[Promise.DELETED]}"
        f" deleted, {len(ledger.backups)} backups, {len(ledger.models)} migrations,"
        f" {len(ledger.questions)} questions, {len(ledger.segments)} lectures. Lost, doubled, come"
        f" back, answered 500 or left for a person: {len(ledger.faults) or 'nothing'}.",
    )


def spread(values: Sequence[float]) -> str:
    return f"{statistics.median(values):.1f} / {max(values):.1f}"


if __name__ == "__main__":
    main()
