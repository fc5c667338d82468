"""The progress of windows through the pipeline, and their results in the database."""

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, Final, TypeAlias

from django.db import InterfaceError, OperationalError, connection, transaction
from django.utils import timezone
from numpy.typing import NDArray

from citations.lectures.events import CITATIONS, publish
from citations.lectures.sessions import event_data
from citations.library.filters import ResolvedFilter
from citations.models import Citation, LectureSession, Source, Window, WindowOutcome
from citations.search.chunk_rows import Candidate
from citations.search.judge import Relevance
from citations.text.snippets import snippet
from transcripts.stages import finish

STORE: Final = "store"
Vector: TypeAlias = NDArray[Any]
logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredWindow:
    """A window and its citations, best first; not stored if the database was unavailable."""

    window: Window
    citations: tuple[Citation, ...] = ()
    is_stored: bool = True


@dataclass(frozen=True, slots=True)
class CitationMatch:
    """A passage to cite, and its relevance, 0 to 1."""

    candidate: Candidate
    score: float


@dataclass(frozen=True, slots=True)
class NearPassage:
    """A passage near to a window, and what the judge says of it."""

    candidate: Candidate
    cosine: float
    relevance: Relevance

    @property
    def score(self) -> float:
        """The likelihood, or else the cosine, 0 to 1."""
        likelihood = self.relevance.likelihood
        return min(1.0, max(0.0, self.cosine)) if likelihood is None else likelihood


@dataclass(slots=True)
class WindowRun:
    """The state of one window in the pipeline."""

    window: Window
    started: float
    resolved: ResolvedFilter | None = None
    embedding: Vector | None = None  # of the speech, for the gate and the keywords
    text: str = ""  # the query
    vector: Vector | None = None  # of the query, in the library's space
    candidates: list[NearPassage] = field(default_factory=list)  # nearest first
    matches: list[CitationMatch] = field(default_factory=list)
    outcome: WindowOutcome | None = None
    notes: list[str] = field(default_factory=list)
    is_away: bool = False
    result: StoredWindow | None = None

    @property
    def is_open(self) -> bool:
        """Whether further stages concern it."""
        return self.outcome is None and not self.is_away

    def decide(self, outcome: WindowOutcome, note: str = "") -> None:
        """Set the outcome, so that no further stage concerns it."""
        self.outcome = outcome
        if note:
            self.notes.append(note)

    def lose_database(self, error: Exception) -> None:
        """Mark it as not storable: it keeps waiting and will be taken again."""
        logger.error(
            "Database unavailable; window %s of lecture %s waits: %s",
            self.window.index,
            self.window.session_id,
            error,
        )
        self.is_away = True
        self.notes.append("The database is unavailable.")


@contextmanager
def timed(stage: str, runs: Sequence[WindowRun]) -> Iterator[list[WindowRun]]:
    """Yield the open runs, and add the stage's duration to each: a batch waits for all of it."""
    open_runs = [run for run in runs if run.is_open]
    started = perf_counter()
    try:
        yield open_runs
    finally:
        milliseconds = (perf_counter() - started) * 1000
        finish("lecture", stage, milliseconds=milliseconds)
        for run in open_runs:
            run.window.stages[stage] = round(milliseconds, 3)


def for_each(
    runs: Sequence[WindowRun],
    work: Callable[[WindowRun], None],
    *,
    failing: Callable[[WindowRun], None],
) -> None:
    """Call ``work`` for each run; after an unexpected error, log it and call ``failing``."""
    for run in runs:
        try:
            work(run)
        except (OperationalError, InterfaceError):
            raise
        except Exception:
            logger.exception("Window %s of lecture %s", run.window.index, run.window.session_id)
            failing(run)


def give_up(window: Window) -> None:
    """Store and publish that a window failed."""
    logger.error(
        "Giving up window %s of lecture %s: every process that cited it died",
        window.index,
        window.session_id,
    )
    run = WindowRun(window, perf_counter())
    run.decide(WindowOutcome.FAILED, "Every process that tried to cite it died.")
    _store(run)


def store_in_order(runs: Sequence[WindowRun]) -> None:
    """Store decided runs, but none before an earlier undecided window of its session."""
    waiting: set[int] = set()
    for run in runs:
        if run.outcome is None:
            waiting.add(run.window.session_id)
        elif run.result is None and run.window.session_id not in waiting:
            run.result = _store(run)


def store_keywords(runs: Sequence[WindowRun]) -> None:
    """Store keywords that were extracted after their window was stored, and their duration."""
    for run in runs:
        if run.result is not None and run.window.keywords and not run.result.window.keywords:
            row = run.result.window
            row.keywords, row.stages = run.window.keywords, run.window.stages | row.stages
            Window.objects.filter(pk=row.pk).update(keywords=row.keywords, stages=row.stages)


def stored_result(window: Window) -> StoredWindow:
    """Return the result of a finished window."""
    citations = window.citations.select_related("source").order_by("rank")
    return StoredWindow(window=window, citations=tuple(citations))


def unstored_result(run: WindowRun) -> StoredWindow:
    """Return the result of a window that could not be stored."""
    run.window.note = " ".join(dict.fromkeys(run.notes))
    run.window.milliseconds = round((perf_counter() - run.started) * 1000, 3)
    return StoredWindow(window=run.window, is_stored=False)


# Under the lock


def _store(run: WindowRun) -> StoredWindow:
    """Store a window's result and publish it, unless it was finished or deleted meanwhile.

    Lock order: the session, as for speech and deletion; then each source before its chunks, as
    for the deletion of sources.
    """
    started = perf_counter()
    with transaction.atomic():
        session = next(iter(LectureSession.objects.raw(_LOCK, [run.window.session_id])), None)
        row = next(iter(Window.objects.raw(_WINDOW, [run.window.pk])), None) if session else None
        if session is None or row is None:
            return StoredWindow(window=run.window)
        if row.outcome != WindowOutcome.WAITING:
            return stored_result(row)
        citations = _citations(run, row, session)
        Citation.objects.bulk_create(citations)
        _finish(run, row, started, is_cited=bool(citations))
        data = {
            "window_index": row.index,
            "outcome": row.outcome,
            "note": row.note,
            "milliseconds": row.milliseconds,
            "citations": [event_data(citation) for citation in citations],
        }
        publish(session, [(CITATIONS, data)])
    return StoredWindow(window=row, citations=tuple(citations))


def _finish(run: WindowRun, row: Window, started: float, *, is_cited: bool) -> None:
    is_lost = run.outcome is WindowOutcome.CITED and not is_cited
    notes = [*dict.fromkeys(run.notes), *(["The passages were deleted meanwhile."] * is_lost)]
    now = perf_counter()
    columns = {
        "outcome": WindowOutcome.TOO_FAR if is_lost else run.outcome or WindowOutcome.FAILED,
        "note": " ".join(notes),
        "keywords": run.window.keywords,
        "off_topic": run.window.off_topic,
        "distance": run.window.distance,
        "stages": {**run.window.stages, STORE: round((now - started) * 1000, 3)},  # not the commit
        "milliseconds": round((now - run.started) * 1000, 3),
        "finished_at": timezone.now(),
    }
    for name, value in columns.items():
        setattr(row, name, value)
    row.save(update_fields=columns)


# Raw SQL: each window needs them, and Django takes longer to build them than PostgreSQL to answer.
_LOCK = "SELECT id, uuid, collection_id FROM citations_lecturesession WHERE id = %s FOR UPDATE"
_WINDOW = "SELECT * FROM citations_window WHERE id = %s"
_SOURCES = "SELECT * FROM citations_source WHERE id = ANY(%s) ORDER BY id FOR KEY SHARE"
_CHUNKS = "SELECT id FROM citations_chunk WHERE id = ANY(%s) ORDER BY id FOR KEY SHARE"


def _citations(run: WindowRun, row: Window, session: LectureSession) -> list[Citation]:
    """Make citations of the sources that still exist. They do without a deleted chunk."""
    if not run.matches:
        return []
    keys = [match.candidate.source for match in run.matches]
    sources = {source.pk: source for source in Source.objects.raw(_SOURCES, [keys])}
    with connection.cursor() as cursor:
        cursor.execute(_CHUNKS, [[match.candidate.chunk for match in run.matches]])
        chunks = {pk for (pk,) in cursor.fetchall()}
    words = " ".join([*run.window.keywords, run.window.text])
    existing = [match for match in run.matches if match.candidate.source in sources]
    return [
        Citation(
            session=session,
            window=row,
            window_index=row.index,
            rank=rank,
            source=sources[match.candidate.source],
            chunk_id=match.candidate.chunk if match.candidate.chunk in chunks else None,
            snippet=snippet(match.candidate.text, words, match.candidate.language),
            relevance_score=match.score,
            **_quoted(match.candidate),
        )
        for rank, match in enumerate(existing, start=1)
    ]


def _quoted(passage: Candidate) -> dict[str, Any]:
    same = ("page", "last_page", "start", "end", "span_start", "span_end", "digest")
    columns = {name: getattr(passage, name) for name in same}
    return {**columns, "quote": passage.text, "section_heading": passage.heading}
