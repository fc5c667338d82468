"""Measure what windows of real lectures cite, as Cuebase is installed: how many cards are right,
whether the first is, and what is cited while nobody speaks about the subject.

Run ``python bench/lectures.py`` from the repository. Three pairs of lectures and what was written
for them: MIT calculus and the pages of two textbooks (PDF), NYU deep learning and its notes, the
Hugging Face course and its pages. Each window comes after the windows before it in its lecture.
Everything goes through the project's own reading, cutting, embedding and citing; vectors are kept
in ``build/vectors``. All documents lie in one library. *Nearest* are the passages by similarity
alone, with the distance of the settings. There is no real cross-encoder on this machine. The data
come from ``CUEBASE_DATA`` (default: ``../shared/data`` beside the repository).
"""

import argparse
import json
import platform
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from io import BytesIO
from itertools import product
from typing import Any, Final
from unittest import mock

from environment import DATA, boot

boot(LIVE_RERANKER="none")

from bm25 import write
from card_figures import (
    LABELS,
    OFF_TOPIC,
    PAIRS,
    WINDOWS,
    Cards,
    Shown,
    Weighed,
    aside_count,
    by_score,
    shares,
    weights,
)
from kept import kept_vectors

from citations import conf
from citations.documents import storage as document_storage
from citations.ingest import lanes
from citations.ingest import pipeline as ingest_pipeline
from citations.lectures import continuity, sessions
from citations.lectures import pipeline as lecture_pipeline
from citations.lectures import windows as lecture_windows
from citations.lectures.continuity import RecentCitation
from citations.lectures.stages import CitationMatch, Decision, NearestPassages, NearPassage
from citations.lectures.windows import Utterance
from citations.models import Chunk, LectureSession, Source, State, Window
from citations.providers.weights import MINILM
from citations.search.judge import Relevance
from transcripts.core.scope import Scope
from transcripts.models import Collection

BOOKS: Final = ("openstax-calculus-1", "openstax-calculus-2")
TALKS: Final = {"calculus": "ocw1801", "nyudl": "nyudl", "hfcourse": "hfcourse"}
BEFORE: Final = 6  # windows of the lecture before each one
MEMORY: Final = 300  # seconds in which they are looked for
STEP: Final = 5  # of the windows that asides are tried after, while weights are chosen
APART: Final = 100  # indexes between two windows and what came before them
WEIGHTS: Final = (  # in the order, in the likelihood, and the floor: to choose from
    (0.0, 0.0, 0.0),
    *product((1.0, 2.0), (1.0, 2.0, 3.0), (0.0, 0.75, 0.8)),
)
Place = tuple[str, int, int]  # title, first and last page
Right = Callable[[Place], bool]


def main() -> None:
    """Measure, print, and replace this benchmark's section of the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--windows", type=int, default=150, help="of each set, at most")
    most = parser.parse_args().windows
    collection = Collection.objects.create(name="Bench", slug="bench")
    with kept_vectors():
        fill(collection)
        sets = {name: drawn(list(questions(path)), most) for name, path in WINDOWS.items()}
        sets[OFF_TOPIC] = list(asides(sets))
        alone = {name: [window.alone() for window in windows] for name, windows in sets.items()}
        with by_nearness():
            nearest = measure(collection, alone)
        with weighing(0.0, 0.0, 0.0):
            judged = measure(collection, alone)
        runs = {"nearest": nearest, "judge": judged, "judge and section": measure(collection, sets)}
        with recorded() as records:
            measure(collection, sets)
    weighed = list(choices(sets, records))
    report = "\n".join([*section(runs), *weights(weighed), ""])
    print(report)
    write(report)


def drawn(windows: Sequence["Asked"], most: int) -> Sequence["Asked"]:
    """Return at most so many windows, evenly drawn."""
    return windows[:: -(-len(windows) // most)]


@contextmanager
def by_nearness() -> Iterator[None]:
    """Leave passages in the order of their similarity, and hold all for likely."""

    def unjudged(_: str, near: Sequence[Any], **__: Any) -> list[Relevance]:
        return [Relevance(order=1.0, likelihood=None, is_likely=True, base=0.0) for _ in near]

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
    assert not failed, [(source.title, source.error) for source in failed]
    note(f"{Source.objects.count()} documents, {Chunk.objects.count():,} chunks")


def added(collection: Collection, title: str, text: str) -> None:
    """Add a Markdown file."""
    document_storage.add(collection, BytesIO(text.encode()), name="section.md", title=title)


# The windows


@dataclass(frozen=True, slots=True)
class Asked:
    """A window, those before it, and how to tell a right passage; none where nothing is right."""

    text: str
    before: tuple[str, ...]
    right: Right | None

    def alone(self) -> "Asked":
        """Return it without those before it."""
        return Asked(self.text, (), self.right)


def questions(path: str) -> Iterator[Asked]:
    """Yield a set's windows."""
    ranges = {
        row["id"]: (row["doc"].removesuffix(".pdf"), row["page_start"], row["page_end"])
        for book in BOOKS
        for row in rows(f"shared/documents/{book}.sections.jsonl")
    }
    talks = DATA / "dev" / "transcripts" / TALKS[path.split("/")[0]]
    for row in rows(f"dev/pairs/{path}.jsonl"):
        gold = row.get("gold_pages") or row["gold_sections"]
        if not gold:
            continue  # nothing in the books is right for it
        cues = json.loads((talks / f"{row['video']}.json").read_text())["cues"]
        yield Asked(
            row["text"],
            said_before(cues, row["start"]),
            _on_pages({ranges[section] for section in gold})
            if path.startswith("calculus")
            else _titled(set(gold)),
        )


def said_before(cues: Sequence[Mapping[str, Any]], second: float) -> tuple[str, ...]:
    """Return the windows of a lecture before a second."""
    spoken = [
        Utterance(number, cue["text"], round(cue["start"] * 1000), round(stop * 1000))
        for number, cue in enumerate(cues)
        if second - MEMORY < cue["start"] and (stop := cue["start"] + cue["duration"]) <= second
    ]
    buffer, full = lecture_windows.feed(lecture_windows.Buffer(), spoken)
    return tuple(window.text for window in (*full, *lecture_windows.flush(buffer)[1]))[-BEFORE:]


def asides(sets: Mapping[str, Sequence[Asked]]) -> Iterator[Asked]:
    """Yield each off-topic window after a stretch of a lecture of each pair."""
    texts = [
        row["text"]
        for row in rows("dev/classifier/in_lecture.jsonl")
        if row["label"] == "off_topic"
    ]
    for pair in PAIRS:
        stretches = [
            [*window.before, window.text][-BEFORE:] for window in sets[pair] if window.before
        ]
        for number, text in enumerate(texts):
            yield Asked(text, tuple(stretches[number * 7 % len(stretches)]), None)


def _on_pages(pages: set[Place]) -> Right:
    return lambda passage: any(
        passage[0] == book and first <= passage[2] and passage[1] <= last
        for book, first, last in pages
    )


def _titled(titles: set[str]) -> Right:
    return lambda passage: passage[0] in titles


def place(title: str, passage: Any) -> Place:
    """Return where a citation or candidate is."""
    return title, passage.page or 0, passage.last_page or passage.page or 0


def measure(collection: Collection, sets: Mapping[str, Sequence[Asked]]) -> dict[str, list[Cards]]:
    """Cite all windows, each after those before it, a session a set."""
    scope = Scope(readable=frozenset({collection.pk}), writable=frozenset({collection.pk}))
    cited = {}
    for name, windows in sets.items():
        note(f"{name}, {len(windows)} windows")
        session = sessions.start(scope, None, title=name, collection=collection)
        cited[name] = [
            cite(session, number * APART, window) for number, window in enumerate(windows)
        ]
    return cited


def cite(session: LectureSession, first: int, window: Asked) -> Cards:
    """Cite a window and those before it together."""
    made = [
        Window.objects.create(session=session, index=first + number, text=text)
        for number, text in enumerate((*window.before, window.text))
    ]
    last = lecture_pipeline.cite(made)[-1]
    return [
        Shown(
            bool(window.right and window.right(place(citation.source.title, citation))),
            citation.relevance_score or 0.0,
        )
        for citation in last.citations
    ]


# The weights


Chosen = Sequence[CitationMatch]
Record = dict[tuple[str, int], list[NearPassage]]  # by title of the session and index of the window


@contextmanager
def recorded() -> Iterator[Record]:
    """Record the candidates of each window, as judged without those before it."""
    record: Record = {}
    choose = lecture_pipeline._choose

    def kept(nearest: Sequence[NearestPassages], *, farthest: float) -> list[Decision]:
        for near in nearest:
            record[near.window.session.title, near.window.index] = list(near.passages)
        return choose(nearest, farthest=farthest)

    with weighing(0.0, 0.0, 0.0), mock.patch.object(lecture_pipeline, "_choose", kept):
        yield record


@contextmanager
def weighing(*weights: float) -> Iterator[None]:
    """Weigh the windows before with other weights, and set another floor."""
    with ExitStack() as changes:
        for name, value in zip(("ORDER", "LIKELIHOOD", "FLOOR"), weights, strict=True):
            changes.enter_context(mock.patch.object(continuity, name, value))
        yield


def choices(sets: Mapping[str, Sequence[Asked]], records: Record) -> Iterator[Weighed]:
    """Yield what each pair of weights would have shown: an aside comes after many windows."""
    record = {
        name: [
            [
                records.get((name, number * APART + place), [])
                for place in range(len(window.before) + 1)
            ]
            for number, window in enumerate(windows)
        ]
        for name, windows in sets.items()
    }
    different = len(sets[OFF_TOPIC]) // len(PAIRS)
    last = [candidates[-1] for candidates in record[OFF_TOPIC][:different]]
    for numbers in WEIGHTS:
        with weighing(*numbers):
            runs = {name: [replayed(stretch) for stretch in record[name]] for name in WINDOWS}
            shown: dict[str, list[Cards]] = {
                name: [
                    cards(window.right, own[-1])
                    for window, own in zip(sets[name], runs[name], strict=True)
                ]
                for name in WINDOWS
            }
            shown[OFF_TOPIC] = [
                cards(None, follow(own, near))
                for pair in PAIRS
                for own in runs[pair][::STEP]
                for near in last
            ]
        yield numbers, shown


def replayed(candidates: Sequence[Sequence[NearPassage]]) -> list[Chosen]:
    """Choose among the candidates of windows in a row."""
    runs: list[Chosen] = []
    for near in candidates:
        runs.append(follow(runs, near))
    return runs


def follow(runs: Sequence[Chosen], candidates: Sequence[NearPassage]) -> Chosen:
    """Choose among the candidates of the window after some."""
    recent = [
        RecentCitation(age, candidate.source, candidate.ordinal, candidate.heading)
        for age, earlier in enumerate(reversed(runs[-continuity.WINDOWS :]), start=1)
        for candidate in (match.candidate for match in earlier)
    ]
    passages = []
    for candidate in candidates:
        near = continuity.nearness(candidate.candidate, recent)
        relevance = continuity.preferred(candidate.relevance, near, model=MINILM)
        passages.append(NearPassage(candidate.candidate, candidate.cosine, relevance))
    ranked = lecture_pipeline.rank_by_judge(passages, conf.live_distance())
    return lecture_pipeline.by_score(ranked[: lecture_pipeline.CITED])


def cards(right: Right | None, run: Chosen) -> Cards:
    """Return what a window shows."""
    return [
        Shown(bool(right and right(place(match.candidate.title, match.candidate))), match.score)
        for match in run
    ]


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
        f"the nearest passages alone, by the judge, and by the judge with the section of the"
        f" {continuity.WINDOWS} windows"
    )
    yield (
        f"before. Python {platform.python_version()}, all-MiniLM-L6-v2 (384), no cross-encoder,"
        f" {lecture_pipeline.CITED} passages a window at most."
    )
    yield ""
    yield (
        "*First*: windows whose first passage is right; *any*: with a right one. *Cited*: share of"
        " the cited passages that are right. *Silent*: windows without any. Right for calculus: a"
    )
    yield (
        "page of a section that the lecture, or in the second row the window, is about; nyudl: its"
        " section of the notes; hfcourse: its page."
    )
    yield ""
    yield f"| {LABELS} | windows | " + " | ".join(runs) + " |"
    yield "|---|---:|" + "---|" * len(runs)
    for name in WINDOWS:
        counts = [run[name] for run in runs.values()]
        yield f"| {name} | {len(counts[0])} | {' | '.join(map(shares, counts))} |"
    yield ""
    for name, run in runs.items():
        yield f"- {name}: {aside_count(run[OFF_TOPIC])}"
    yield ""
    yield from by_score(list(runs.values())[-1])


if __name__ == "__main__":
    main()
