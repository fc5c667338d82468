"""Cite the waiting windows of live lectures in the background, or one window on request.

The table of windows is the queue, so a dying process loses none. The oldest windows go first, those
of a session in order. A lease in the row marks the windows a process works on. Any process may
help: the web server's threads, a worker's sweep, `kb live`.
"""

import logging
import threading
from collections import deque
from collections.abc import Callable, Collection, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from itertools import islice
from typing import Any, Final
from uuid import uuid4

from django.db import InterfaceError, OperationalError, connection, transaction
from django.db.models import Exists, OuterRef
from django.utils import timezone

from citations.errors import WindowTaken
from citations.lectures import citation_storage, speech
from citations.lectures.citation_storage import UNAVAILABLE, StoredWindow
from citations.lectures.events import WINDOW, publish
from citations.lectures.pipeline import cite, describe, resolve_sources
from citations.lectures.sessions import early_windows
from citations.models import Chunk, Citation, LectureSession, Window, WindowOutcome
from citations.providers import registry
from citations.providers.keywords import Keywords
from citations.schemas.lectures import WindowOut
from transcripts.core import locks
from transcripts.core.errors import InvalidInput, KnowledgeBaseError
from transcripts.core.locks import Lock, release_connection
from transcripts.core.sanitize import clean
from transcripts.core.scope import Scope
from transcripts.library import reading as library
from transcripts.models import Transcript

THREADS: Final = 2  # of a process that cite: a model is asked by one thread a core
BATCH: Final = 8  # windows that are cited together, so many at most
GRACE: Final = timedelta(seconds=10)  # a sweep leaves newer windows to the process that made them
MAX_SWEPT: Final = 64  # windows of one sweep at most
MAX_TEXT: Final = 10_000  # characters of a question's text
MAX_INDEX: Final = 1_000_000
WARM_CHUNKS: Final = 2_000  # chunks of a session's sources whose words are learnt before it begins
WARM_BATCH: Final = 100  # of them, or of a recording's cues
MAX_PREPARATIONS: Final = 20  # sessions that wait for that at most
MAX_UNDESCRIBED: Final = 1_000  # windows kept until none waits; older ones have no keywords

logger = logging.getLogger(__name__)
warm_slots: Final = threading.BoundedSemaphore(MAX_PREPARATIONS)
_warming: Final = threading.Lock()


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowResult:
    """The citations of a window, best first; ``note`` as in ``StoredWindow``."""

    window_index: int
    outcome: str
    citations: tuple[Citation, ...] = ()
    keywords: tuple[str, ...] = ()
    milliseconds: int = 0
    note: str = ""


# Direct queries


def query(scope: Scope, session: LectureSession, text: str, index: int) -> WindowResult:
    """Cite a window now and store it as window ``index``; the same text gets the same answer.

    While the database is unavailable, the result is empty with a note. Raises ``InvalidInput``
    for an empty or long text and an index outside 0 to ``MAX_INDEX``, ``WindowTaken`` if the
    window has another text, ``LectureEnded``, ``Forbidden``.
    """
    scope.require_write(session.collection_id)
    words = " ".join(clean(text, MAX_TEXT + 1).split())
    if not words:
        raise InvalidInput("The text is empty.", hint="Send the text of the window.")
    if len(text) > MAX_TEXT:
        raise InvalidInput(f"A window has at most {MAX_TEXT:,} characters.", hint="Send less.")
    if not 0 <= index <= MAX_INDEX:
        raise InvalidInput(f"The index of a window must be an integer from 0 to {MAX_INDEX:,}.")
    try:
        window = _get_or_create(session, words, index)
        if window.outcome == WindowOutcome.WAITING:
            [stored] = cite([window])
            with suppress(OperationalError, InterfaceError):
                describe(stored)
        else:
            stored = citation_storage.stored_result(window)
        transaction.on_commit(pool.notify)  # speech of the lecture has waited for this window
        return _result(index, stored)
    except (OperationalError, InterfaceError) as error:
        logger.warning("Database unavailable for a query in lecture %s: %s", session.pk, error)
        return _result(index, None)


def _get_or_create(session: LectureSession, text: str, index: int) -> Window:
    """Return the window of this index and text, existing or new; a new one is leased."""
    with transaction.atomic():
        locked = speech.lock(session)
        existing = locked.windows.select_related("session").filter(index=index).first()
        if existing is not None and existing.text == text:
            return existing
        speech.require_open(locked)
        if existing is not None:
            raise WindowTaken(
                f"Window {index} has another text.",
                hint=f"The next free index is {locked.window_count}.",
            )
        columns: dict[str, Any] = {"session": locked, "index": index, "text": text}
        window = Window.objects.create(**columns, holder=uuid4(), attempts=1)
        count = max(locked.window_count, index + 1)
        LectureSession.objects.filter(pk=locked.pk).update(window_count=count)
        publish(locked, [(WINDOW, WindowOut.model_validate(window))])
        return window


def _result(index: int, cited: StoredWindow | None) -> WindowResult:
    if cited is None or not cited.is_stored:
        return WindowResult(window_index=index, outcome=WindowOutcome.FAILED, note=UNAVAILABLE)
    window = cited.window
    return WindowResult(
        window_index=index,
        outcome=window.outcome,
        citations=cited.citations,
        keywords=tuple(window.keywords),
        milliseconds=round(window.milliseconds or 0),
        note=cited.note,
    )


# Background work


def submit(pks: Collection[int]) -> None:
    """Have this process's threads cite waiting windows once the transaction has committed."""
    if pks:
        transaction.on_commit(pool.notify)


def look_up_again(session: LectureSession) -> int:
    """Cite again for the windows that found nothing before what they may cite was ready; return how
    many these are. Their results come as events, as the first ones did.
    """
    with transaction.atomic():
        locked = speech.lock(session)
        early = early_windows(locked)
        pks = list(early.values_list("pk", flat=True))
        waiting = {"outcome": WindowOutcome.WAITING, "finished_at": None, "note": ""}
        Window.objects.filter(pk__in=pks).update(**waiting, holder=None, attempts=0)
        submit(pks)
    return len(pks)


def prepare(session: LectureSession) -> None:
    """Load a session's models and warm its keyword cache in the background."""
    transaction.on_commit(partial(_start_warming, session.pk))


def sweep() -> int:
    """Cite windows that have waited too long, after a crash or overload; return how many."""
    count = 0
    while count < MAX_SWEPT and (claimed := claim(waiting=GRACE)):
        results = cite(claimed)
        if not all(result.is_stored for result in results):
            break
        for result in results:
            describe(result)
        count += len(claimed)
    return count


# Claims


def claim(*, waiting: timedelta = timedelta(0)) -> list[Window]:
    """Lease the oldest waiting windows of sessions in which no other process holds any."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL synchronous_commit = off")  # a lost lease is harmless
        locks.hold_for_transaction(Lock.WINDOWS)
        queue = Window.objects.waiting()
        due = queue.free().filter(created_at__lte=timezone.now() - waiting)
        others = queue.leased().filter(session=OuterRef("session"))
        pks = due.exclude(Exists(others)).order_by("created_at", "pk").values_list("pk", flat=True)
        chosen = list(pks.select_for_update(of=("self",), skip_locked=True)[:BATCH])
        Window.objects.filter(pk__in=chosen).claim(uuid4())
    rows = Window.objects.filter(pk__in=chosen).select_related("session")
    claimed = list(rows.order_by("created_at", "pk"))
    for window in claimed:
        if window.attempts > Window.MAX_CRASHES:
            citation_storage.give_up(window)
    return [window for window in claimed if window.attempts <= Window.MAX_CRASHES]


# Threads


class Pool:
    """Runs turns in threads while there is work, ``active`` of them now; on shutdown only running
    ones are awaited.
    """

    def __init__(self, threads: int, turn: Callable[[], bool]) -> None:
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="live")
        self._size = threads
        self._turn = turn
        self._lock = threading.Lock()
        self._is_notified = False
        self.active = 0

    def notify(self) -> None:
        """Start another thread; if all are active, they look again before they stop."""
        with self._lock:
            self._is_notified = True
            if self.active == self._size:
                return
            self.active += 1
        self._submit()

    def _submit(self) -> None:
        with suppress(RuntimeError):  # the process ends
            self._threads.submit(self._run_turn)

    def _run_turn(self) -> None:
        with self._lock:
            self._is_notified = False  # this turn sees earlier work
        is_more = self._turn()
        with self._lock:
            if not (is_more or self._is_notified):
                self.active -= 1
                return
        self._submit()


def work() -> bool:
    """Cite a batch of waiting windows or else extract keywords; say whether more may wait."""
    try:
        if claimed := claim():
            results = cite(claimed)
            _undescribed.extend(result for result in results if result.vector is not None)
            # Else the database is unavailable, and a sweep will cite them.
            return all(result.is_stored for result in results)
        try:
            cited = _undescribed.pop()
        except IndexError:
            return False
        describe(cited)
        return True
    except (OperationalError, InterfaceError) as error:
        logger.warning("Database unavailable; windows wait: %s", error)
    except Exception:
        logger.exception("Windows wait after an unexpected error")
    finally:
        release_connection()
    return False


pool: Final = Pool(THREADS, work)
_undescribed: Final[deque[StoredWindow]] = deque(maxlen=MAX_UNDESCRIBED)


# Warming up


def _start_warming(pk: int) -> None:
    if warm_slots.acquire(blocking=False):  # else keywords are embedded when they occur
        # Outside the pool, so that no window waits for it.
        threading.Thread(target=_warm_in_turn, args=(pk,), name="learn").start()


def _warm_in_turn(pk: int) -> None:
    try:
        with _warming:
            warm_keywords(pk)
    except (KnowledgeBaseError, OperationalError, InterfaceError) as error:
        logger.warning("Lecture %s starts with a cold keyword cache: %s", pk, error)
    finally:
        release_connection()
        warm_slots.release()


def warm_keywords(pk: int) -> None:
    """Load the models of a lecture, and learn the words that will be said in it.

    Raises ``KnowledgeBaseError``.
    """
    session = LectureSession.objects.filter(pk=pk).first()
    extractor = registry.keywords()
    registry.live_reranker()
    if session is not None and extractor is not None:
        learn(extractor, expected_texts(session), language=session.language or "en")


def learn(extractor: Keywords, texts: Iterable[str], *, language: str) -> None:
    """Learn the words of texts until the process ends."""
    rest = iter(texts)
    # The main thread ends with the process: this thread is of no executor, so nobody joins it.
    while threading.main_thread().is_alive() and (batch := list(islice(rest, WARM_BATCH))):
        extractor.warm(batch, language=language)


def expected_texts(session: LectureSession) -> Iterable[str]:
    """Yield texts like the coming speech: the recording's, or else the sources'."""
    transcript = Transcript.objects.light().filter(pk=session.transcript_id or 0).first()
    if transcript is not None:
        yield from (cue.text for cue in library.cues_of(transcript))
        return
    sources = resolve_sources([session.pk])[session.pk].sources or frozenset()
    chunks = Chunk.objects.filter(source__in=sources).order_by("source", "ordinal")
    yield from islice(chunks.values_list("text", flat=True).iterator(), WARM_CHUNKS)
