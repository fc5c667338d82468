"""Kill every process of a busy server at random, and see whether anything is lost and how soon all
is well again.

Run ``python bench/chaos.py`` from the repository; ``--kills``, ``--seed`` for others; Ctrl-C ends
it early. The server is `kb serve` with its embedded PostgreSQL and its worker. Clients add, delete,
ask, search, speak and listen through all doors, and migrate and back up the library. After each
kill, what is there is compared with what was acknowledged. After every tenth, the clients pause
until all work has ended, and everything is checked: pages, chunks, vectors, lexicon, lectures,
searches, backups, files.
"""

import argparse
import os
import platform
import random
import shlex
import statistics
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from environment import HOME, boot

boot(database=False)

from bm25 import write

from tests.chaos.ledger import Promise
from tests.chaos.run import Chaos
from tests.chaos.victims import KINDS

GOAL: Final = 10.0  # s
WARM_UP: Final = 5.0  # s
COLUMNS: Final = ("served", "worked")
CHECK_EVERY: Final = 10  # kills
BUSY: Final = (1.0, 4.0)  # s between the end of a check and the next kill


@dataclass(frozen=True, slots=True)
class Kill:
    """One kill, and the seconds until requests were served and until work went on."""

    kind: str
    served: float
    worked: float


def main() -> None:
    """Kill, print, and replace this benchmark's section of the results."""
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
    report = "\n".join(section(kills, ended, chaos, options.seed))
    print(report, *chaos.ledger.faults, sep="\n")
    write(report)


def section(
    kills: Sequence[Kill], ended: Sequence[float], chaos: Chaos, seed: int
) -> Iterator[str]:
    """Yield the section of the results."""
    ledger, promises = chaos.ledger, Counter(chaos.ledger.titles.values())
    recovered = statistics.median(kill.worked for kill in kills)
    yield "## Kills"
    yield ""
    yield f"`{shlex.join(['python', 'bench/chaos.py', *sys.argv[1:]])}`: seconds after a SIGKILL,"
    yield f"median / most, of {len(kills)} kills, seed {seed}. *Served*: every door answers again."
    yield "*Works*: captions that were added after that are stored; the goal is a median of at most"
    yield f"{GOAL:.0f} s, and it is {recovered:.1f} s. When the clients paused, after every tenth"
    yield f"kill, all work had ended after {spread(ended)} s. Python {platform.python_version()},"
    yield f"{os.cpu_count()} cores with a load of {os.getloadavg()[2]:.0f}."
    yield ""
    yield "| killed | times | served | works |"
    yield "|---|---:|---:|---:|"
    for kind in KINDS:
        if those := [kill for kill in kills if kill.kind == kind]:
            columns = (spread([getattr(kill, name) for kill in those]) for name in COLUMNS)
            yield f"| {kind} | {len(those)} | {' | '.join(columns)} |"
    columns = (spread([getattr(kill, name) for kill in kills]) for name in COLUMNS)
    yield f"| **all** | {len(kills)} | {' | '.join(columns)} |"
    yield ""
    yield f"{ledger.requests:,} requests, of which {ledger.refusals:,} were answered 503 or 429;"
    yield f"{promises[Promise.KEPT]} sources acknowledged and kept,"
    yield f"{promises[Promise.DELETED]} deleted,"
    yield f"{len(ledger.backups)} backups, {len(ledger.models)} migrations, {len(ledger.questions)}"
    yield f"questions, {len(ledger.segments)} lectures. Lost, doubled, come back, answered 500 or"
    yield f"left for a person: {len(ledger.faults) or 'nothing'}."


def spread(values: Sequence[float]) -> str:
    """Return the median and the largest value."""
    return f"{statistics.median(values):.1f} / {max(values):.1f}"


if __name__ == "__main__":
    main()
