"""What becomes of windows: on their way, and in the database, where it is written under locks of a moment and told to whoever watches."""

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, Final, TypeAlias

from django.db import InterfaceError, OperationalError, connection, transaction
from django.utils import timezone
from numpy.typing import NDArray

from citations.lectures.events import tell
from citations.lectures.sessions import CITATIONS, told
from citations.library.filters import ResolvedFilter
from citations.models import Citation, LectureSession, Source, Window, WindowOutcome
from citations.search.candidates import Candidate
from citations.text.snippets import snippet

STORE: Final = "store"  # the stage of writing it down
Vector: TypeAlias = NDArray[Any]
logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredWindow:
    """What came of a window: its row as it is stored now, and what it cites, best first. ``is_stored`` is false while the database is away."""

    window: Window
    citations: tuple[Citation, ...] = ()
    is_stored: bool = True


@dataclass(frozen=True, slots=True)
class CitationMatch:
    """A passage that is to be cited, and how relevant it is, 0 to 1."""

    candidate: Candidate
    score: float


@dataclass(slots=True)
class WindowRun:
    """One window on its way. It is decided once it has an outcome, or the database went away."""

    window: Window
    started: float
    reach: ResolvedFilter | None = None
    sense: Vector | None = (
        None  # of what is said, by the model that the gate and the keywords go by
    )
    text: str = ""  # what is looked for
    vector: Vector | None = None  # of that, in the library's space
    near: list[tuple[Candidate, float]] = field(default_factory=list)  # nearest first, with cosines
    found: list[CitationMatch] = field(default_factory=list)
    outcome: WindowOutcome | None = None
    notes: list[str] = field(default_factory=list)
    is_away: bool = False
    result: StoredWindow | None = None

    @property
    def is_open(self) -> bool:
        """Whether the next stage concerns it."""
        return self.outcome is None and not self.is_away

    def decide(self, outcome: WindowOutcome, note: str = "") -> None:
        """Note what becomes of it: no further stage concerns it."""
        self.outcome = outcome
        if note:
            self.notes.append(note)

    def lose_database(self, error: Exception) -> None:
        """Note that nothing can be stored: it waits on, and is taken again."""
        logger.error(
            "The database does not answer; window %s of lecture %s waits: %s",
            self.window.index,
            self.window.session_id,
            error,
        )
        self.is_away = True
        self.notes.append("The database does not answer.")


@contextmanager
def timed(stage: str, runs: Sequence[WindowRun]) -> Iterator[list[WindowRun]]:
    """Give the windows that are still open to a stage, and write down how long it took: whoever is in a batch waits for all of it."""
    concerned = [run for run in runs if run.is_open]
    started = perf_counter()
    try:
        yield concerned
    finally:
        for run in concerned:
            run.window.stages[stage] = round((perf_counter() - started) * 1000, 3)


def each(
    runs: Sequence[WindowRun],
    work: Callable[[WindowRun], None],
    *,
    failing: Callable[[WindowRun], None],
) -> None:
    """Do something for each window; an unexpected failure is logged, and what follows from it concerns that window alone."""
    for run in runs:
        try:
            work(run)
        except (OperationalError, InterfaceError):
            raise
        except Exception:
            logger.exception("window %s of lecture %s", run.window.index, run.window.session_id)
            failing(run)


def give_up(window: Window, note: str) -> StoredWindow:
    """Store that a window failed, and tell of it."""
    run = WindowRun(window, perf_counter())
    run.decide(WindowOutcome.FAILED, note)
    return _stored(run)


def settle(runs: Sequence[WindowRun]) -> None:
    """Store what is decided and not stored yet, but nothing before the windows of its session that come first: citations are told in their order."""
    waiting: set[int] = set()
    for run in runs:
        if run.outcome is None:
            waiting.add(run.window.session_id)
        elif run.result is None and run.window.session_id not in waiting:
            run.result = _stored(run)


def note_keywords(runs: Sequence[WindowRun]) -> None:
    """Write down keywords that were found after their window was stored, and how long that took."""
    for run in runs:
        if run.result is not None and run.window.keywords and not run.result.window.keywords:
            row = run.result.window
            row.keywords, row.stages = run.window.keywords, run.window.stages | row.stages
            Window.objects.filter(pk=row.pk).update(keywords=row.keywords, stages=row.stages)


def unstored(run: WindowRun) -> StoredWindow:
    """Return what is known of a window that could not be stored."""
    run.window.note = " ".join(dict.fromkeys(run.notes))
    run.window.milliseconds = round((perf_counter() - run.started) * 1000, 3)
    return StoredWindow(window=run.window, is_stored=False)


# Under the lock


def _stored(run: WindowRun) -> StoredWindow:
    """Write what came of a window and tell of it, unless somebody else did meanwhile or it was deleted.

    The session is locked first, as by whoever speaks in it or deletes it; then what is cited, each source before its chunks, as by whoever deletes those.
    """
    started = perf_counter()
    with transaction.atomic():
        session = next(iter(LectureSession.objects.raw(_LOCK, [run.window.session_id])), None)
        row = next(iter(Window.objects.raw(_WINDOW, [run.window.pk])), None) if session else None
        if session is None or row is None:
            return StoredWindow(window=run.window)
        if row.outcome != WindowOutcome.WAITING:
            return StoredWindow(
                window=row, citations=tuple(row.citations.select_related("source").order_by("rank"))
            )
        citations = _citations(run, row, session)
        Citation.objects.bulk_create(citations)
        _finish(run, row, started, is_cited=bool(citations))
        cited = [told(one) for one in citations]
        about = {
            "window_index": row.index,
            "outcome": row.outcome,
            "note": row.note,
            "milliseconds": row.milliseconds,
        }
        tell(session, [(CITATIONS, {**about, "citations": cited})])
    return StoredWindow(window=row, citations=tuple(citations))


def _finish(run: WindowRun, row: Window, started: float, *, is_cited: bool) -> None:
    gone = run.outcome is WindowOutcome.CITED and not is_cited
    now = perf_counter()
    row.outcome = WindowOutcome.TOO_FAR if gone else run.outcome or WindowOutcome.FAILED
    row.note = " ".join(
        [*dict.fromkeys(run.notes), *(["What was found was deleted meanwhile."] if gone else [])]
    )
    row.keywords, row.off_topic, row.distance = (
        run.window.keywords,
        run.window.off_topic,
        run.window.distance,
    )
    row.stages = {
        **run.window.stages,
        STORE: round((now - started) * 1000, 3),
    }  # but for the commit
    row.milliseconds = round((now - run.started) * 1000, 3)
    row.finished_at = timezone.now()
    row.save(
        update_fields=(
            "outcome",
            "note",
            "keywords",
            "off_topic",
            "distance",
            "stages",
            "milliseconds",
            "finished_at",
        )
    )


def _citations(run: WindowRun, row: Window, session: LectureSession) -> list[Citation]:
    """Make the citations of what is still there: without the chunk where only that is gone, for the quote stands in the source's text as it was."""
    sources = (
        {
            one.pk: one
            for one in Source.objects.raw(_SOURCES, [[one.candidate.source for one in run.found]])
        }
        if run.found
        else {}
    )
    with connection.cursor() as cursor:
        cursor.execute(_CHUNKS, [[one.candidate.chunk for one in run.found]])
        chunks = {pk for (pk,) in cursor.fetchall()}
    words = " ".join([*run.window.keywords, run.window.text])
    living = [one for one in run.found if one.candidate.source in sources]
    return [
        _citation(
            one,
            Citation(session=session, window=row, window_index=row.index, rank=rank),
            sources,
            chunks,
            words,
        )
        for rank, one in enumerate(living, start=1)
    ]


# Written out: every window asks them, and Django takes longer to put them together than PostgreSQL to answer.
_LOCK = "SELECT id, uuid, collection_id FROM citations_lecturesession WHERE id = %s FOR UPDATE"
_WINDOW = "SELECT * FROM citations_window WHERE id = %s"
_SOURCES = "SELECT * FROM citations_source WHERE id = ANY(%s) ORDER BY id FOR KEY SHARE"
_CHUNKS = "SELECT id FROM citations_chunk WHERE id = ANY(%s) ORDER BY id FOR KEY SHARE"


def _citation(
    found: CitationMatch,
    citation: Citation,
    sources: dict[int, Source],
    chunks: set[int],
    words: str,
) -> Citation:
    one = found.candidate
    citation.source, citation.chunk_id = (
        sources[one.source],
        one.chunk if one.chunk in chunks else None,
    )
    citation.page, citation.last_page, citation.start, citation.end = (
        one.page,
        one.last_page,
        one.start,
        one.end,
    )
    citation.section_heading, citation.quote, citation.digest = one.heading, one.text, one.digest
    citation.span_start, citation.span_end = one.span_start, one.span_end
    citation.snippet, citation.relevance_score = snippet(one.text, words), found.score
    return citation
