"""Count the Python calls of the trips that people make most: they are the same on every machine.

Run ``python bench/calls.py`` from the repository. In a library of the samples, it makes each trip
twice, and counts the functions of Python that the second calls (models compute in other threads).
"""

import platform
import sys
from collections import Counter
from collections.abc import Callable
from functools import partial
from statistics import fmean
from time import process_time
from types import FrameType
from typing import Any, Final

from harness.environment import ROOT, boot, command

boot()

from django.db import connection
from django.test.utils import CaptureQueriesContext
from harness.report import publish, table

from citations import samples
from citations.ingest import discovery
from citations.ingest import pipeline as ingest_pipeline
from citations.models import Chunk, Source
from citations.notebook import questions as notebook_questions
from citations.search import pipeline as search_pipeline
from kbsite.callers import SignedInCaller, everything
from kbsite.cli.users import owner
from kbsite.mcp import tools
from kbsite.mcp.tool_inputs import SearchKnowledgeBase
from transcripts import samples as talks
from transcripts.adding import storage
from transcripts.models import Collection

QUESTIONS: Final = (
    "Why does a service say no?",
    "how does BM25 rank documents",
    "timeouts and retries",
    "Why do captions have times?",
)
MISSPELT: Final = "What is a tokken bucket?"  # nothing answers it, and a word is corrected
PROJECT: Final = tuple(f"{ROOT / room}/" for room in ("transcripts", "citations", "kbsite"))
ROUNDS: Final = 20  # of which CPU time is the mean
Trip = tuple[str, float, float, float, float]  # calls of its own and in all, queries, CPU (ms)


def main() -> None:
    samples.load()
    ingest_pipeline.index_words()
    discovery.adopt()
    for source in Source.objects.order_by("pk"):
        ingest_pipeline.ingest(source.pk)
    trips = [*asking(), uploading()]
    publish(
        "Calls of a trip",
        f"{command()}: functions of Python that a trip calls in its thread when it is made again,"
        " in a library of the samples; they are the same on every machine. *Own* are those of the"
        " project, the others those of the packages that they call. *SQL* are its"
        f" statements, *CPU* the mean of {ROUNDS} more trips, in ms. Questions are"
        f" {len(QUESTIONS)} that the samples answer, and one with a misspelt word that they do"
        f" not. Python {platform.python_version()}.",
        table(
            ("trip", "own", "all", "SQL", "CPU"),
            [(name, *map(round, counts), f"{cpu:.1f}") for name, *counts, cpu in trips],
        ),
    )


def asking() -> list[Trip]:
    """Count the trips of questions, on average."""
    caller = SignedInCaller(user=(user := owner()), scope=everything())

    search = partial(search_pipeline.search, caller.scope, for_readers=True)

    def search_over_mcp(question: str) -> object:
        arguments = SearchKnowledgeBase.model_validate({"query": question})
        return tools.search_knowledge_base(caller, arguments)

    def ask(question: str) -> object:
        answer = notebook_questions.ask_first(caller.scope, user, question)
        return list(notebook_questions.respond(caller.scope, user, answer))

    ways: dict[str, Callable[[str], object]] = {
        "search, 10 results": search,
        "search over MCP, 8 of up to 50": search_over_mcp,
        "ask, no language model": ask,
    }
    trips = [counted("search, a word corrected", partial(search, MISSPELT))]
    for name, way in ways.items():
        made = [counted(name, partial(way, question))[1:] for question in QUESTIONS]
        own, calls, queries, cpu = map(fmean, zip(*made, strict=True))
        trips.append((name, own, calls, queries, cpu))
    return trips


def uploading() -> Trip:
    """Count the upload of a caption file up to its chunks, which words find."""
    data = next(talks.FOLDER.glob(f"{talks.SHORT}.*.vtt")).read_bytes()
    shelf = Collection.objects.default()
    numbers = iter(range(1_000))

    def upload() -> object:
        number = next(numbers)
        body = data + f"\n\n01:00:00.000 --> 01:00:02.000\nThis is file {number}.\n".encode()
        stored = storage.add_captions(shelf, body, name="a.en.vtt", key=f"file-{number}")
        ingest_pipeline.index_words()
        assert Chunk.objects.filter(source__transcript=stored.transcript).exists()
        return stored

    return counted("caption file → chunks", upload)


def counted(name: str, trip: Callable[[], object]) -> Trip:
    """Make a trip twice and count the second; then time more."""
    trip()
    files: Counter[str] = Counter()

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            files[frame.f_code.co_filename] += 1

    with CaptureQueriesContext(connection) as queries:
        trip()
    sys.setprofile(note)
    trip()
    sys.setprofile(None)
    started = process_time()
    for _ in range(ROUNDS):
        trip()
    cpu = (process_time() - started) * 1000 / ROUNDS
    own = sum(files[file] for file in files if file.startswith(PROJECT))
    return name, own, files.total(), len(queries), cpu


if __name__ == "__main__":
    main()
