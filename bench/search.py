"""Time searches of a large library: hybrid ones from end to end, over the socket of `kb serve` and
inside a process, and the nearest neighbours of a vector by the index and by looking at all.

Run ``python bench/search.py 10000 100000`` (numbers of chunks) from the repository;
``--questions N`` for more.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from http.client import HTTPConnection
from statistics import fmean, median
from typing import Any, Final
from urllib.parse import quote

from harness.environment import arguments, boot, command, machine

boot(RERANKER="none", API_CALLS_PER_MINUTE="0")

from harness.large import JITTER, LargeLibrary, questions
from harness.report import publish, spread, table
from harness.server import new_token, serving
from harness.turns import Times, Way, in_turn, timed
from harness.vectors import Vectors

from citations.lexical import index as lexical_index
from citations.lexical.query import parse
from citations.library.filters import Filter, resolve
from citations.search import pipeline as search_pipeline
from citations.vectors import space as vector_space

LIMIT, BREADTH = 10, 50
WARM: Final = 5  # queries that are not counted
GOAL: Final = (45, 90)  # ms, median and 95th percentile of what is served at 100,000 chunks
ALONE: Final = ("alone: embed", "alone: lexical", "alone: vector", "alone: sum")
NEAREST: Final = ("nearest: index", "nearest: exact", "nearest: search")


def main() -> None:
    options = arguments(__doc__, questions=200, sizes=[10_000, 100_000])
    library = LargeLibrary()
    each = options.questions + WARM
    queries = questions(each * len(options.sizes))  # none twice: its vector would be remembered
    results = []
    for turn, size in enumerate(sorted(options.sizes)):
        library.grow(size)
        with serving("--no-worker") as server:
            headers = {"Authorization": f"Bearer {new_token()}"}
            client = server.connect()
            own = queries[turn * each : (turn + 1) * each]
            served = partial(over_rest, client, headers)
            results.append(measure(library, own, served))
            client.close()
    publish(
        "Hybrid search and nearest neighbours",
        f"{command()}: milliseconds, median / 95th percentile, of {options.questions} questions"
        f" that people asked, none asked before. {machine()}, the embedded PostgreSQL with its"
        " standard settings, all-MiniLM-L6-v2 (384). The first"
        f" {len(library.texts):,} chunks are pieces of real transcripts with their vectors; each"
        " further one is half of one piece and half of another, its vector the middle of theirs and"
        f" a random part of {JITTER} of its length.",
        *hybrid(results),
        *nearest(results),
    )


@dataclass(frozen=True, slots=True)
class Results:
    """Milliseconds of each query by name, and the index's recall of the ten nearest."""

    size: int
    built: float
    times: Times
    recall: Sequence[float]


def measure(library: LargeLibrary, queries: Sequence[str], served: Way[str]) -> Results:
    """Ask everything in turn, question by question."""
    recall: list[float] = []
    ways: list[Way[str]] = [
        partial(alone, library),
        partial(whole, library),
        served,
        partial(neighbours, library, recall),
    ]
    times = in_turn(ways, queries, warm=WARM)
    return Results(library.size, library.built, times, recall[WARM:])


def alone(library: LargeLibrary, query: str) -> dict[str, float]:
    """Time embedding the question and the two look-ups, each by itself."""
    parsed, resolved = parse(query), resolve(library.scope, Filter())
    model = vector_space.embedder_of(library.space)
    made: list[Vectors] = []
    parts: tuple[Callable[[], object], ...] = (
        # The blank keeps it apart from what the search embeds, which would be remembered.
        lambda: made.append(model.embed_query(f"{query} ")),
        lambda: lexical_index.search(parsed, limit=BREADTH, resolved=resolved),
        lambda: vector_space.nearest(
            made[0], space=library.space, limit=BREADTH, resolved=resolved
        ),
    )
    times = [timed(part) for part in parts]
    return dict(zip(ALONE, (*times, sum(times)), strict=True))


def whole(library: LargeLibrary, query: str) -> dict[str, float]:
    """Time a hybrid search and its stages."""
    result = search_pipeline.search(library.scope, query, limit=LIMIT)
    stages = {stage.name: stage.milliseconds for stage in result.stages}
    return {**stages, "hybrid": result.milliseconds}


def over_rest(client: HTTPConnection, headers: dict[str, str], query: str) -> dict[str, float]:
    """Time a search through the socket of the server."""

    def search() -> None:
        client.request("GET", f"/api/v1/search?q={quote(query)}", headers=headers)
        response = client.getresponse()
        response.read()
        assert response.status == 200, response.status

    return {"served": timed(search)}


def neighbours(library: LargeLibrary, recall: list[float], query: str) -> dict[str, float]:
    """Time the ten nearest by the index and by looking at all, and compare them."""
    vector = vector_space.embedder_of(library.space).embed_query(query)
    resolved = resolve(library.scope, Filter())
    neighbourhoods: list[set[int]] = []

    def look_up(way: Callable[..., Sequence[Any]]) -> None:
        hits = way(vector, space=library.space, limit=LIMIT, resolved=resolved)
        neighbourhoods.append({hit.chunk for hit in hits})

    ways = (vector_space._by_index, vector_space._exact, vector_space.nearest)
    times = [timed(partial(look_up, way)) for way in ways]
    recall.append(len(neighbourhoods[0] & neighbourhoods[1]) / LIMIT)
    return dict(zip(NEAREST, times, strict=True))


def hybrid(results: Sequence[Results]) -> tuple[str, str]:
    stages = (name for name in search_pipeline.STAGES if name in results[0].times)
    names = [*ALONE, "served", "hybrid", *stages]

    def overhead(times: Times) -> str:
        return f"{median(times['hybrid']) / median(times['alone: sum']) - 1:+.0%}"

    rows = (
        (each.size, *(spread(each.times[name], 2) for name in names), overhead(each.times))
        for each in results
    )
    about = (
        f"*Alone*: embedding the question and the two look-ups ({BREADTH} each), one after the"
        " other. *served*: a search over REST, through the socket of `kb serve`; the goal at"
        f" 100,000 chunks is {GOAL[0]} / {GOAL[1]}. *hybrid*: the same inside a process; its stages"
        " follow, of which embed and lexical run at the same time. The overhead is what the median"
        " search takes beyond the median sum."
    )
    return about, table(("chunks", *names, "overhead"), rows)


def nearest(results: Sequence[Results]) -> tuple[str, str]:
    rows = (
        (
            each.size,
            *(spread(each.times[name], 2) for name in NEAREST),
            f"{fmean(each.recall):.4f}",
            f"{each.built:.0f}",
        )
        for each in results
    )
    about = (
        f"The {LIMIT} nearest: *search* is what a search does (it looks at all of up to"
        f" {vector_space.INDEXED_FROM:,} chunks)."
    )
    names = ("by the index", "looking at all", "search", f"recall@{LIMIT} of the index")
    return about, table(("chunks", *names, "index built in s"), rows)


if __name__ == "__main__":
    main()
