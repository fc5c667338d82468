"""Measure what windows of real lectures cite, as Cuebase is installed: how many cards are right,
whether the first is, and what is cited while nobody speaks about the subject.

Run ``python bench/lectures.py`` from the repository. Three pairs of lectures and what was written
for them: MIT calculus and the pages of two textbooks (PDF), NYU deep learning and its notes, the
Hugging Face course and its pages. Everything goes through the project's own reading, cutting,
embedding and citing; vectors are kept in ``build/vectors``. All documents lie in one library.
*Nearest* are the passages by similarity alone, with the distance of the settings. There is no real
cross-encoder on this machine. The data come from ``CUEBASE_DATA`` (default: ``../shared/data``
beside the repository).
"""

import argparse
import json
import platform
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from typing import Any, Final
from unittest import mock

from environment import DATA, boot

boot(LIVE_RERANKER="none")

from bm25 import write
from kept import kept_vectors

from citations.documents import storage as document_storage
from citations.ingest import lanes
from citations.ingest import pipeline as ingest_pipeline
from citations.lectures import pipeline as lecture_pipeline
from citations.lectures import sessions
from citations.models import Chunk, Citation, LectureSession, Source, State, Window
from citations.search.judge import Relevance
from transcripts.models import Collection
from transcripts.scope import Scope

BOOKS: Final = ("openstax-calculus-1", "openstax-calculus-2")
WINDOWS: Final = {
    "calculus": "calculus/windows",
    "calculus, read one by one": "calculus/windows_labelled",
    "nyudl": "nyudl/windows",
    "hfcourse": "hfcourse/windows",
}
OFF_TOPIC: Final = "off-topic"
AT_ONCE: Final = 8
Right = Callable[[Citation], bool]


def main() -> None:
    """Measure, print, and replace this benchmark's section of the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--windows", type=int, default=150, help="of each set, at most")
    most = parser.parse_args().windows
    collection = Collection.objects.create(name="Bench", slug="bench")
    with kept_vectors():
        fill(collection)
        sets = {name: drawn(list(questions(path)), most) for name, path in WINDOWS.items()}
        sets[OFF_TOPIC] = [
            Asked(row["text"], None)
            for row in rows("dev/classifier/in_lecture.jsonl")
            if row["label"] == "off_topic"
        ]
        judged = measure(collection, sets)
        with by_nearness():
            nearest = measure(collection, sets)
    report = "\n".join(section({"nearest": nearest, "judge": judged}))
    print(report)
    write(report)


def drawn(windows: Sequence["Asked"], most: int) -> Sequence["Asked"]:
    """Return at most so many windows, evenly drawn."""
    return windows[:: -(-len(windows) // most)]


@contextmanager
def by_nearness() -> Iterator[None]:
    """Leave passages in the order of their similarity, and hold all for likely."""

    def unjudged(_: str, near: Sequence[Any], **__: Any) -> list[Relevance]:
        return [
            Relevance(order=1.0, likelihood=None, is_likely=True, base=0.0, shares=()) for _ in near
        ]

    with mock.patch.object(lecture_pipeline, "judge_candidates", unjudged):
        yield


# The library


def fill(collection: Collection) -> None:
    """Add the documents, and index them."""
    for book in BOOKS:
        with (DATA / "shared" / "documents" / f"{book}.pdf").open("rb") as file:
            document_storage.add(collection, file, name="book.pdf", title=book)
    for section in rows("dev/pairs/nyudl/sections.jsonl"):
        added(collection, section["id"], f"# {section['heading']}\n\n{section['text']}")
    pages: dict[str, list[str]] = {}
    for section in rows("shared/hfcourse_pages/sections.jsonl"):
        pages.setdefault(section["page"], []).append(
            f"## {section['heading']}\n\n{section['text']}"
        )
    for page, parts in pages.items():
        added(collection, page, "\n\n".join(parts))
    while waiting := lanes.waiting().first():
        ingest_pipeline.ingest(waiting.pk)
    failed = Source.objects.exclude(state=State.READY)
    assert not failed, [(one.title, one.error) for one in failed]
    note(f"{Source.objects.count()} documents, {Chunk.objects.count():,} chunks")


def added(collection: Collection, title: str, text: str) -> None:
    """Add a Markdown file."""
    document_storage.add(collection, BytesIO(text.encode()), name="section.md", title=title)


# The windows


@dataclass(frozen=True, slots=True)
class Asked:
    """A window, and how to tell a right citation; none where nothing is right."""

    text: str
    right: Right | None


Cards = Sequence[bool]  # whether each citation of a window is right, the first first


def questions(path: str) -> Iterator[Asked]:
    """Yield a set's windows."""
    ranges = {
        one["id"]: (one["doc"].removesuffix(".pdf"), one["page_start"], one["page_end"])
        for book in BOOKS
        for one in rows(f"shared/documents/{book}.sections.jsonl")
    }
    for row in rows(f"dev/pairs/{path}.jsonl"):
        gold = row.get("gold_pages") or row["gold_sections"]
        if not gold:
            continue  # nothing in the books is right for it
        yield Asked(
            row["text"],
            _on_pages({ranges[one] for one in gold})
            if path.startswith("calculus")
            else _titled(set(gold)),
        )


def _on_pages(pages: set[tuple[str, int, int]]) -> Right:
    return lambda one: any(
        one.source.title == book
        and first <= (one.last_page or one.page or 0)
        and (one.page or 0) <= last
        for book, first, last in pages
    )


def _titled(titles: set[str]) -> Right:
    return lambda one: one.source.title in titles


def measure(collection: Collection, sets: Mapping[str, Sequence[Asked]]) -> dict[str, list[Cards]]:
    """Cite all windows, a session a set."""
    scope = Scope(readable=frozenset({collection.pk}), writable=frozenset({collection.pk}))
    cited = {}
    for name, windows in sets.items():
        note(f"{name}, {len(windows)} windows")
        session = sessions.start(scope, None, title=name, collection=collection)
        cited[name] = [
            cards
            for first in range(0, len(windows), AT_ONCE)
            for cards in cite(session, first, windows[first : first + AT_ONCE])
        ]
    return cited


def cite(session: LectureSession, first: int, windows: Sequence[Asked]) -> Iterator[Cards]:
    """Cite some windows together."""
    made = [
        Window.objects.create(session=session, index=first + place, text=one.text)
        for place, one in enumerate(windows)
    ]
    for one, done in zip(windows, lecture_pipeline.cite(made), strict=True):
        yield [bool(one.right and one.right(citation)) for citation in done.citations]


def rows(path: str) -> list[dict[str, Any]]:
    """Read a file of JSON lines."""
    return [json.loads(line) for line in (DATA / path).read_text().splitlines()]


def note(text: str) -> None:
    """Say how far it is."""
    print(text, file=sys.stderr, flush=True)


# Results


def section(runs: Mapping[str, Mapping[str, Sequence[Cards]]]) -> Iterator[str]:
    """Write the section of the results."""
    yield "## Live lectures: quality"
    yield ""
    yield (
        f"`python {shlex.join(['bench/lectures.py', *sys.argv[1:]])}`: windows of real lectures in"
        f" one library of {Source.objects.count()} documents, {Chunk.objects.count():,} chunks, by"
    )
    yield (
        f"the nearest passages alone and by the judge. Python {platform.python_version()},"
        f" all-MiniLM-L6-v2 (384), no cross-encoder, {lecture_pipeline.CITED} cards a window."
    )
    yield ""
    yield (
        "*First*: windows whose first card is right; *any*: with a right card. *Cards*: share of"
        " the shown cards that are right. *Silent*: windows without a card. Right for calculus: a"
    )
    yield (
        "page of a section that the lecture, or in the second row the window, is about; nyudl: its"
        " section of the notes; hfcourse: its page."
    )
    yield ""
    yield "| | windows | " + " | ".join(f"{name}: {LABELS}" for name in runs) + " |"
    yield "|---|---:|" + "---|" * len(runs)
    for name in WINDOWS:
        counts = [run[name] for run in runs.values()]
        yield f"| {name} | {len(counts[0])} | {' | '.join(map(shares, counts))} |"
    yield ""
    for name, run in runs.items():
        silent = sum(not cards for cards in run[OFF_TOPIC])
        total = len(run[OFF_TOPIC])
        yield f"- {name}: of {total} off-topic windows of real lectures, {total - silent} cite."
    yield ""


LABELS: Final = "first · any · cards · silent"


def shares(windows: Sequence[Cards]) -> str:
    cards = [is_right for window in windows for is_right in window]
    first = sum(window[0] for window in windows if window) / len(windows)
    any_right = sum(any(window) for window in windows) / len(windows)
    silent = sum(not window for window in windows) / len(windows)
    right = sum(cards) / max(1, len(cards))
    return f"{first:.3f} · {any_right:.3f} · {right:.3f} · {silent:.3f}"


if __name__ == "__main__":
    main()
