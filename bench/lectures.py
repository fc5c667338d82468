"""Measure what windows of real lectures cite: whether the right page is among it, and what is cited
while nobody speaks about the subject.

Run ``python bench/lectures.py`` from the repository. Three pairs of lectures and what was written
for them: MIT calculus and the pages of two textbooks (PDF), NYU deep learning and its notes, the
Hugging Face course and its pages. Everything goes through the project's own reading, cutting,
embedding and citing; vectors are kept in ``build/vectors``. All documents lie in one library. There
is no real cross-encoder on this machine, so passages are in the order of their similarity. The data
come from ``CUEBASE_DATA`` (default: ``../shared/data`` beside the repository).
"""

import argparse
import json
import platform
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import Any, Final

from environment import DATA, boot

boot(
    LIVE_RERANKER="none",
    LIVE_DISTANCE_THRESHOLD="4",  # nothing is left out: what would be is counted afterwards
    LIVE_OFF_TOPIC_CONFIDENCE="1",
)

from bm25 import write
from kept import kept_vectors

from citations.documents import storage as document_storage
from citations.ingest import lanes
from citations.ingest import pipeline as ingest_pipeline
from citations.lectures import calibration, sessions
from citations.lectures import pipeline as lecture_pipeline
from citations.lectures.pipeline import WindowQueryForm
from citations.models import Chunk, Citation, LectureSession, Source, State, Window
from transcripts.models import Collection
from transcripts.scope import Scope

BOOKS: Final = ("openstax-calculus-1", "openstax-calculus-2")
WINDOWS: Final = {
    "calculus": "calculus/windows",
    "calculus, read one by one": "calculus/windows_labelled",
    "nyudl": "nyudl/windows",
    "hfcourse": "hfcourse/windows",
}
SURE: Final = 0.8  # as the setting's default
FAR: Final = 1.5  # as the setting's default
WANTED: Final = 5.0  # false citations in 100 off-topic windows that is calibrated for
AT_ONCE: Final = 8
Right = Callable[[Citation], bool]


def main() -> None:
    """Measure, print, and replace this benchmark's section of the results."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    collection = Collection.objects.create(name="Bench", slug="bench")
    with kept_vectors():
        fill(collection)
        limits = {"as set": FAR, "calibrated": calibrated()}
        asked = {name: list(questions(path)) for name, path in WINDOWS.items()}
        off_topic = [
            (row["text"], row["kind"])
            for row in rows("dev/classifier/in_lecture.jsonl")
            if row["label"] == "off_topic"
        ]
        runs = {
            form: measure(collection, form, asked, [text for text, _ in off_topic])
            for form in WindowQueryForm
        }
    report = "\n".join(section(runs, limits, len(off_topic)))
    print(report)
    write(report)


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


def calibrated() -> float:
    """Return the distance that the calibration finds for this rate."""
    (found,) = calibration.calibrate(false_citations=WANTED).values()
    calibration.forget()
    return found.max_distance


# The windows


@dataclass(frozen=True, slots=True)
class Asked:
    """A window, and how to tell a right citation; none where nothing is right."""

    text: str
    right: Right | None


@dataclass(frozen=True, slots=True)
class Result:
    """What a window cites, with the distance of each citation and whether it is right, and how sure
    the gate was that it is off-topic.
    """

    cited: tuple[tuple[float, bool], ...]
    off_topic: float


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


def measure(
    collection: Collection,
    form: WindowQueryForm,
    asked: Mapping[str, Sequence[Asked]],
    off_topic: Sequence[str],
) -> dict[str, list[Result]]:
    """Cite all windows, a session a set."""
    scope = Scope(readable=frozenset({collection.pk}), writable=frozenset({collection.pk}))
    sets: dict[str, Sequence[Asked]] = {
        **asked,
        "off-topic": [Asked(text, None) for text in off_topic],
    }
    found = {}
    for name, windows in sets.items():
        note(f"{form}: {name}, {len(windows)} windows")
        session = sessions.start(scope, None, title=name, collection=collection)
        found[name] = [
            one
            for first in range(0, len(windows), AT_ONCE)
            for one in cite(session, form, first, windows[first : first + AT_ONCE])
        ]
    return found


def cite(
    session: LectureSession, form: WindowQueryForm, first: int, windows: Sequence[Asked]
) -> Iterator[Result]:
    """Cite some windows together."""
    made = [
        Window.objects.create(session=session, index=first + place, text=one.text)
        for place, one in enumerate(windows)
    ]
    for one, done in zip(windows, lecture_pipeline.cite(made, form=form), strict=True):
        cited = tuple(
            (2 - 2 * (citation.relevance_score or 0), bool(one.right and one.right(citation)))
            for citation in done.citations
        )
        yield Result(cited, done.window.off_topic or 0.0)


def rows(path: str) -> list[dict[str, Any]]:
    """Read a file of JSON lines."""
    return [json.loads(line) for line in (DATA / path).read_text().splitlines()]


def note(text: str) -> None:
    """Say how far it is."""
    print(text, file=sys.stderr, flush=True)


# Results


def section(
    runs: Mapping[WindowQueryForm, Mapping[str, Sequence[Result]]],
    limits: Mapping[str, float],
    off_topic: int,
) -> Iterator[str]:
    """Write the section of the results."""
    yield "## Live lectures: quality"
    yield ""
    yield (
        f"`python {shlex.join(['bench/lectures.py', *sys.argv[1:]])}`: windows of real"
        f" lectures in one library of {Source.objects.count()} documents,"
    )
    yield (
        f"{Chunk.objects.count():,} chunks. Python {platform.python_version()},"
        f" all-MiniLM-L6-v2 (384), no cross-encoder, 3 citations a window at most."
    )
    yield ""
    yield (
        "Share of windows with a right page among what they cite, with neither gate nor"
        " distance. Calculus: a page of a section that the lecture, or in"
    )
    yield (
        "the second row the window, is about; nyudl: its section of the notes; hfcourse: its"
        " page. *Plain*: looked for by the window's own vector;"
    )
    yield "*enriched*: by that of “text keywords”."
    yield ""
    yield (
        "| | windows | "
        + " | ".join(f"{form}: first" + f" | {form}: any of three" for form in runs)
        + " |"
    )
    yield "|---|" + "---:|" * (1 + 2 * len(runs))
    for name in WINDOWS:
        yield (
            f"| {name} | {len(labelled(next(iter(runs.values())), name))} | "
            + " | ".join(_hits(each, name) for each in runs.values())
            + " |"
        )
    yield ""
    yield from leaving_out(runs, limits, off_topic)


def labelled(run: Mapping[str, Sequence[Result]], name: str) -> list[Result]:
    """Return the results of a set."""
    return list(run[name])


def _hits(run: Mapping[str, Sequence[Result]], name: str) -> str:
    results = labelled(run, name)
    first = sum(bool(one.cited) and one.cited[0][1] for one in results)
    return (
        f"{first / len(results):.3f} |"
        f" {sum(any(right for _, right in one.cited) for one in results) / len(results):.3f}"
    )


def leaving_out(
    runs: Mapping[WindowQueryForm, Mapping[str, Sequence[Result]]],
    limits: Mapping[str, float],
    off_topic: int,
) -> Iterator[str]:
    """Write what gate and distance leave out: of off-topic windows, which is wanted, and of others,
    which is not.
    """
    yield (
        f"What is left out. *False*: of 100 windows of real lectures that are off-topic"
        f" ({off_topic}: organisation, tangents, fillers), how many cite"
    )
    yield (
        "something. *Right*: the share of the windows above that cite a right page. *Gate*:"
        " above 0.8 it leaves a window out. *Distance*: the default,"
    )
    yield (
        f"and the one that `kb calibrate` finds for {WANTED:g} false citations in 100"
        f" off-topic windows of its own, which are none of these."
    )
    yield ""
    yield (
        "| | gate | distance | false of 100 | "
        + " | ".join(f"right: {name}" for name in WINDOWS)
        + " |"
    )
    yield "|---|---|---|---:|" + "---:|" * len(WINDOWS)
    for form, run in runs.items():
        for gate in (False, True):
            for label, limit in {"none": 4.0, **limits}.items():
                false = (
                    sum(passes(one, gate, limit) for one in run["off-topic"])
                    / len(run["off-topic"])
                    * 100
                )
                right = [share(run[name], gate, limit) for name in WINDOWS]
                shown = "" if label == "none" else f" ({limit:.2f})"
                yield (
                    f"| {form} | {'on' if gate else 'off'} | {label}{shown} | {false:.0f} | "
                    + " | ".join(f"{one:.3f}" for one in right)
                    + " |"
                )


def passes(one: Result, gate: bool, limit: float) -> bool:
    """Say whether a window cites anything."""
    return not (gate and one.off_topic > SURE) and any(
        distance <= limit for distance, _ in one.cited
    )


def share(results: Sequence[Result], gate: bool, limit: float) -> float:
    """Return the share of windows that cite a right page."""
    return sum(
        not (gate and one.off_topic > SURE)
        and any(right and distance <= limit for distance, right in one.cited)
        for one in results
    ) / len(results)


if __name__ == "__main__":
    main()
