"""Join hits that stand side by side in their source. Pure."""

from collections.abc import Hashable, Sequence
from typing import Final

MOST_JOINED: Final = 3  # chunks of one hit: more are no place to read, but a whole talk


def join(
    places: Sequence[tuple[Hashable, int]], *, most: int = MOST_JOINED
) -> list[tuple[int, ...]]:
    """Group the hits at places (source and ordinal, best first) into runs of up to ``most``.

    A hit joins the run beside it that has the better first hit, and links both where they are short
    enough. Returns the indexes of the hits of each run, best first, runs by their best hit.
    """
    runs: dict[tuple[Hashable, int], list[int]] = {}
    for index, (source, ordinal) in enumerate(places):
        run = runs[source, ordinal] = [index]
        beside = (runs.get((source, ordinal - 1)), runs.get((source, ordinal + 1)))
        for other in sorted(filter(None, beside)):
            if len(other) + len(run) <= most:
                run = sorted([*run, *other])
                runs |= {places[member]: run for member in run}
    return sorted({tuple(run) for run in runs.values()})
