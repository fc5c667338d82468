"""Join hits that stand side by side in their source, and part those that overlap. Pure."""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from typing import Final

from citations.passages import Locator

MAX_JOINED: Final = 3  # chunks of one hit: more are no place to read, but a whole talk


def join(
    places: Sequence[tuple[Hashable, int]], *, most: int = MAX_JOINED
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


def apart(place: Locator, taken: Iterable[Locator]) -> Locator:
    """Return the part of a place that none of these places of its source has: it begins where one
    ends, or ends where one begins. What lies within one of them stays whole.
    """
    rest = place
    for other in taken:
        (first, last), (start, stop) = rest.span, other.span
        if start <= first < stop < last:
            rest = replace(rest, span=(stop, last), start=other.end)
        elif first < start < last <= stop:
            rest = replace(rest, span=(first, start), end=other.start)
    return rest
