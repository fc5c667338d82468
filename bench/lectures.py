"""Measure what windows of real lectures cite, as Cuebase is installed: how many cards are right,
whether the first is, what is cited while nobody speaks about the subject, and how long it takes.

Run ``python bench/lectures.py`` from the repository. Three pairs of lectures and what was written
for them: MIT calculus and the pages of two textbooks (PDF), NYU deep learning and its notes, the
Hugging Face course and its pages. Each window comes after the windows before it in its lecture. All
documents lie in one library. *Nearest* are the passages by similarity alone, with the distance of
the settings.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import Any, Final
from unittest import mock

from harness.environment import DATA, arguments, boot, command, machine, note

boot(LIVE_RERANKER="none")

from harness.judged import add_pages, ingest
from harness.report import dotted, publish, spread, table
from harness.sets import SPEECH, cues, drawn, jsonl, windows, written
from harness.vectors import kept_vectors

from citations.documents import storage as document_storage
from citations.lectures import pipeline as lecture_pipeline
from citations.lectures import sessions, window_analysis
from citations.lectures import windows as lecture_windows
from citations.lectures.windows import Utterance
from citations.models import Chunk, LectureSession, Source, Window
from citations.search.judge import Relevance
from transcripts.core.scope import Scope
from transcripts.models import Collection

BOOKS: Final = ("openstax-calculus-1", "openstax-calculus-2")
TALKS: Final = {"calculus": "ocw1801", "nyudl": "nyudl", "hfcourse": "hfcourse"}
WINDOWS: Final = {
    "calculus": "calculus/windows",
    "calculus, read one by one": "calculus/windows_labelled",
    "nyudl": "nyudl/windows",
    "hfcourse": "hfcourse/windows",
}
OFF_TOPIC: Final = "off-topic"
SURE: Final = (0.98, 0.95, 0.9, 0.8)
LABELS: Final = "first · any · cited · silent"
BEFORE: Final = 6  # windows of the lecture before each one
MEMORY: Final = 300  # seconds in which they are looked for
APART: Final = 100  # indexes between two windows and what came before them
Place = tuple[str, int, int]  # title, first and last page
Right = Callable[[Place], bool]


@dataclass(frozen=True, slots=True)
class Shown:
    """A card: whether it is right, and its score."""

    is_right: bool
    score: float


@dataclass(frozen=True, slots=True)
class SpokenWindow:
    """A window, those before it, and how to tell a right passage; none where nothing is right."""

    text: str
    before: tuple[str, ...]
    right: Right | None


Sets = Mapping[str, Sequence[SpokenWindow]]
Run = dict[str, list[list[Shown]]]  # by sets and windows, the first card first


def main() -> None:
    most = arguments(__doc__, windows=150).windows
    collection = Collection.objects.create(name="Bench", slug="bench")
    with kept_vectors():
        fill(collection)
        sets = {name: drawn(list(spoken(path)), most) for name, path in WINDOWS.items()}
        sets[OFF_TOPIC] = list(asides(sets))
        alone = {name: [replace(each, before=()) for each in own] for name, own in sets.items()}
        with by_nearness():
            nearest = measure(collection, alone)
        with without_section():
            judged = measure(collection, alone)
        stages = times_of_stages()
        whole = measure(collection, sets)
    runs = {"nearest": nearest, "judge": judged, "judge and section": whole}
    publish(
        "Live lectures: quality",
        f"{command()}: windows of real lectures in one library of {Source.objects.count()}"
        f" documents, {Chunk.objects.count():,} chunks, by the nearest passages alone, by the"
        " judge, and by the judge with the section of the"
        f" {window_analysis.WINDOWS} windows before. {machine()}, all-MiniLM-L6-v2 (384), no"
        f" cross-encoder, {lecture_pipeline.CITED} passages a window at most.",
        "*First*: windows whose first passage is right; *any*: with a right one. *Cited*: share of"
        " the cited passages that are right. *Silent*: windows without any. Right for calculus: a"
        " page of a section that the lecture, or in the second row the window, is about; nyudl: its"
        " section of the notes; hfcourse: its page.",
        table(
            (LABELS, "windows", *runs),
            (
                (name, len(sets[name]), *(dotted(figures(run[name])) for run in runs.values()))
                for name in WINDOWS
            ),
        ),
        "\n".join(
            f"- {name}: of {len(run[OFF_TOPIC])} off-topic windows (each after three lectures),"
            f" {sum(map(bool, run[OFF_TOPIC]))} cite."
            for name, run in runs.items()
        ),
        "First passages of the last column by their score, all sets together:",
        table(("score", "passages", "right"), by_score(whole)),
        "Milliseconds of a window that is cited by itself, by stage, median / 95th percentile:",
        table(list(stages), [[spread(own) for own in stages.values()]], left=0),
    )


def figures(windows: Sequence[Sequence[Shown]]) -> tuple[float, ...]:
    """Return the shares of windows and passages that ``LABELS`` names."""
    cards = [card.is_right for window in windows for card in window]
    first = sum(window[0].is_right for window in windows if window)
    any_right = sum(any(card.is_right for card in window) for window in windows)
    silent = sum(not window for window in windows)
    shares = (count / len(windows) for count in (first, any_right, silent))
    return next(shares), next(shares), sum(cards) / max(1, len(cards)), next(shares)


def by_score(run: Run) -> Iterator[Sequence[object]]:
    """Yield how many first passages are right by their score."""
    first = [window[0] for name in WINDOWS for window in run[name] if window]
    for least, above in zip(SURE, (1.1, *SURE), strict=False):
        own = [card.is_right for card in first if least <= card.score < above]
        yield f"from {least}", len(own), f"{sum(own) / max(1, len(own)):.3f}"


def times_of_stages() -> dict[str, list[float]]:
    """Return the milliseconds of each stage of the windows cited last, one by one."""
    times: dict[str, list[float]] = {}
    last = LectureSession.objects.filter(title__in=WINDOWS).order_by("-pk")[: len(WINDOWS)]
    for window in Window.objects.filter(session__in=list(last)):
        for name, milliseconds in (window.stages | {"total": window.milliseconds or 0}).items():
            times.setdefault(name, []).append(milliseconds)
    return times


@contextmanager
def by_nearness() -> Iterator[None]:
    """Leave passages in the order of their similarity, and hold all for likely."""

    def unjudged(_: str, near: Sequence[Any], **__: Any) -> list[Relevance]:
        return [Relevance(order=1.0, likelihood=None, is_likely=True, base=0.0) for _ in near]

    with mock.patch.object(lecture_pipeline, "judge_candidates", unjudged):
        yield


@contextmanager
def without_section() -> Iterator[None]:
    """Prefer nothing for what the windows before cited."""
    with ExitStack() as changes:
        for name in ("ORDER", "LIKELIHOOD", "FLOOR"):
            changes.enter_context(mock.patch.object(window_analysis, name, 0.0))
        yield


def fill(collection: Collection) -> None:
    for book in BOOKS:
        with (DATA / "shared" / "documents" / f"{book}.pdf").open("rb") as file:
            document_storage.add(collection, file, name="book.pdf", title=book)
    ingest(collection)
    add_pages(collection, written("nyudl") | written("hfcourse"))
    note(f"{Source.objects.count()} documents, {Chunk.objects.count():,} chunks")


def spoken(path: str) -> Iterator[SpokenWindow]:
    ranges = {
        row["id"]: (row["doc"].removesuffix(".pdf"), row["page_start"], row["page_end"])
        for book in BOOKS
        for row in jsonl(f"shared/documents/{book}.sections.jsonl")
    }
    talks = SPEECH / TALKS[path.split("/")[0]]
    for row in windows(path):
        gold = row.get("gold_pages") or row["gold_sections"]
        if not gold:
            continue  # nothing in the books is right for it
        yield SpokenWindow(
            row["text"],
            said_before(cues(talks / f"{row['video']}.json"), row["start"]),
            _on_pages({ranges[section] for section in gold})
            if path.startswith("calculus")
            else _titled(set(gold)),
        )


def said_before(said: Sequence[Mapping[str, Any]], second: float) -> tuple[str, ...]:
    """Return the windows of a lecture before a second."""
    spoken = [
        Utterance(number, cue["text"], round(cue["start"] * 1000), round(stop * 1000))
        for number, cue in enumerate(said)
        if second - MEMORY < cue["start"] and (stop := cue["start"] + cue["duration"]) <= second
    ]
    buffer, full = lecture_windows.feed(lecture_windows.Buffer(), spoken)
    return tuple(window.text for window in (*full, *lecture_windows.flush(buffer)[1]))[-BEFORE:]


def asides(sets: Sets) -> Iterator[SpokenWindow]:
    """Yield each off-topic window after a stretch of a lecture of each pair."""
    rows = jsonl("dev/classifier/in_lecture.jsonl")
    texts = [row["text"] for row in rows if row["label"] == "off_topic"]
    for pair in TALKS:
        stretches = [
            [*window.before, window.text][-BEFORE:] for window in sets[pair] if window.before
        ]
        for number, text in enumerate(texts):
            yield SpokenWindow(text, tuple(stretches[number * 7 % len(stretches)]), None)


def _on_pages(pages: set[Place]) -> Right:
    return lambda passage: any(
        passage[0] == book and first <= passage[2] and passage[1] <= last
        for book, first, last in pages
    )


def _titled(titles: set[str]) -> Right:
    return lambda passage: passage[0] in titles


def measure(collection: Collection, sets: Sets) -> Run:
    """Cite all windows, each after those before it, a session a set."""
    scope = Scope(readable=frozenset({collection.pk}), writable=frozenset({collection.pk}))
    cited: Run = {}
    for name, own in sets.items():
        note(f"{name}, {len(own)} windows")
        session = sessions.start(scope, None, title=name, collection=collection)
        cited[name] = [cite(session, number * APART, window) for number, window in enumerate(own)]
    return cited


def cite(session: LectureSession, first: int, window: SpokenWindow) -> list[Shown]:
    """Cite a window and those before it together."""
    made = [
        Window.objects.create(session=session, index=first + number, text=text)
        for number, text in enumerate((*window.before, window.text))
    ]
    cards = []
    for citation in lecture_pipeline.cite(made)[-1].citations:
        page = citation.page or 0
        place = citation.source.title, page, citation.last_page or page
        is_right = bool(window.right and window.right(place))
        cards.append(Shown(is_right, citation.relevance_score or 0.0))
    return cards


if __name__ == "__main__":
    main()
