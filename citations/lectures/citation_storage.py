"""The results of windows in the database."""

import logging
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, Final

from django.db import connection, transaction
from django.utils import timezone

from citations.lectures.events import CITATIONS, publish
from citations.lectures.stages import KEYWORDS, STORE, Decision, Vector
from citations.models import LOCATION, Citation, LectureSession, Source, Window, WindowOutcome
from citations.schemas.lectures import CitationsEventOut, CitedEventOut
from citations.text.passage_text import snippet

UNAVAILABLE: Final = "The database is unavailable."
DIED: Final = "Every process that tried to cite it died."

WHY_EMPTY: Final = {
    WindowOutcome.NO_DOCUMENTS: "no_documents",
    WindowOutcome.CITED: "no_documents",  # what it cited was deleted since
    WindowOutcome.NOT_INDEXED: "not_indexed_yet",
    WindowOutcome.OFF_TOPIC: "off_topic",
    WindowOutcome.TOO_FAR: "too_weak",
    WindowOutcome.TOO_WEAK: "too_weak",
}

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredWindow:
    """A window and its citations, best first; not stored if the database was unavailable.

    ``vector`` is that of its speech, if its keywords are still to be extracted.
    """

    window: Window
    citations: tuple[Citation, ...] = ()
    vector: Vector | None = field(default=None, compare=False)
    is_stored: bool = True

    @property
    def note(self) -> str:
        """Why it cites nothing, as a code of ``WHY_EMPTY``; if it failed or cites something, a
        sentence or "".
        """
        if not self.is_stored:
            return UNAVAILABLE
        code = "" if self.citations else WHY_EMPTY.get(WindowOutcome(self.window.outcome), "")
        return code or self.window.note


def give_up(window: Window) -> None:
    """Store and publish that a window failed."""
    logger.error(
        "Giving up window %s of lecture %s: every process that cited it died",
        window.index,
        window.session_id,
    )
    failed = Decision(window=window, outcome=WindowOutcome.FAILED, notes=(DIED,))
    _store(failed, perf_counter())


def store_in_order(
    windows: Sequence[Window], decisions: Iterable[Decision]
) -> Iterator[StoredWindow]:
    """Store decisions as they come, but none before an earlier window of its session; yield the
    results.
    """
    started, waiting, decided = perf_counter(), list(windows), dict[int, Decision]()
    for decision in decisions:
        decided[decision.window.pk] = decision
        while ready := _next_decided(waiting, decided):
            waiting.remove(ready)
            yield _store(decided[ready.pk], started)


def _next_decided(waiting: Iterable[Window], decided: Container[int]) -> Window | None:
    """Return the first window that is decided and follows no undecided one of its session."""
    held_up: set[int] = set()
    for window in waiting:
        if window.pk in decided and window.session_id not in held_up:
            return window
        held_up.add(window.session_id)
    return None


def store_keywords(stored: StoredWindow, keywords: Sequence[str], *, milliseconds: float) -> None:
    """Store keywords that were extracted after their window was stored, and their duration."""
    row = stored.window
    row.keywords, row.stages = [*keywords], {**row.stages, KEYWORDS: round(milliseconds, 3)}
    Window.objects.filter(pk=row.pk).update(keywords=row.keywords, stages=row.stages)


def stored_result(window: Window) -> StoredWindow:
    """Return the result of a finished window."""
    citations = window.citations.select_related("source").order_by("rank")
    return StoredWindow(window=window, citations=tuple(citations))


# Under the lock


def _store(decision: Decision, started: float) -> StoredWindow:
    """Store a window's result and publish it, unless it was finished or deleted meanwhile.

    Lock order: the session, as for speech and deletion; then each source before its chunks, as
    for the deletion of sources.
    """
    storing = perf_counter()
    window = decision.window
    with transaction.atomic():
        session = next(iter(LectureSession.objects.raw(_LOCK, [window.session_id])), None)
        row = next(iter(Window.objects.raw(_WINDOW, [window.pk])), None) if session else None
        if session is None or row is None:
            return StoredWindow(window=window)
        if row.outcome != WindowOutcome.WAITING:
            return stored_result(row)
        citations = _citations(decision, row, session)
        Citation.objects.bulk_create(citations)
        is_lost = decision.outcome is WindowOutcome.CITED and not citations
        notes = [*decision.notes, *(["The passages were deleted meanwhile."] * is_lost)]
        now = perf_counter()
        columns: dict[str, Any] = {
            "outcome": WindowOutcome.TOO_FAR if is_lost else decision.outcome,
            "note": " ".join(dict.fromkeys(notes)),
            "off_topic": decision.off_topic,
            "distance": decision.distance,
            # Without the commit.
            "stages": {**row.stages, **decision.stages, STORE: round((now - storing) * 1000, 3)},
            "milliseconds": round((now - started) * 1000, 3),
            "finished_at": timezone.now(),
        }
        for name, value in columns.items():
            setattr(row, name, value)
        row.save(update_fields=columns)
        stored = StoredWindow(window=row, citations=tuple(citations), vector=decision.vector)
        event = CitationsEventOut(
            window_index=row.index,
            outcome=row.outcome,
            note=stored.note,
            milliseconds=columns["milliseconds"],
            citations=[CitedEventOut.model_validate(citation) for citation in citations],
        )
        publish(session, [(CITATIONS, event)])
    return stored


# Raw SQL: each window needs them, and Django takes longer to build them than PostgreSQL to answer.
_LOCK = "SELECT id, uuid, collection_id FROM citations_lecturesession WHERE id = %s FOR UPDATE"
_WINDOW = "SELECT * FROM citations_window WHERE id = %s"
_SOURCES = "SELECT * FROM citations_source WHERE id = ANY(%s) ORDER BY id FOR KEY SHARE"
_CHUNKS = "SELECT id FROM citations_chunk WHERE id = ANY(%s) ORDER BY id FOR KEY SHARE"


_ANCHOR: Final = (*LOCATION, "digest")


def _citations(decision: Decision, row: Window, session: LectureSession) -> list[Citation]:
    """Make citations of the sources that still exist. They do without a deleted chunk."""
    if not decision.matches:
        return []
    keys = [match.candidate.source for match in decision.matches]
    sources = {source.pk: source for source in Source.objects.raw(_SOURCES, [keys])}
    with connection.cursor() as cursor:
        cursor.execute(_CHUNKS, [[match.candidate.chunk for match in decision.matches]])
        chunks = {pk for (pk,) in cursor.fetchall()}
    words = " ".join([*row.keywords, row.text])
    existing = [match for match in decision.matches if match.candidate.source in sources]
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
            quote=match.candidate.text,
            section_heading=match.candidate.heading,
            **{name: getattr(match.candidate, name) for name in _ANCHOR},
        )
        for rank, match in enumerate(existing, start=1)
    ]
