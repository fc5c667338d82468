"""Live lectures as they run: windows that wait are taken and cited beside what goes on, and a question about one window is answered at once.

The queue is the table of windows. Nothing is kept in memory of those that wait, so none is lost when a process dies, and none is dropped when they come
faster than they can be cited: the oldest are cited first, and those of a session in their order. Who takes some notes so in their rows, in a transaction
of a moment; who died with them is found out by the time that has passed. Any process may help: the web server's threads, a worker's sweep, `kb live`.
"""

import logging
import threading
from collections import deque
from collections.abc import Callable, Collection, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from itertools import islice
from typing import Final
from uuid import uuid4

from django.db import InterfaceError, OperationalError, connection, connections, transaction
from django.db.models import Exists, OuterRef
from django.utils import timezone

from citations.errors import WindowTaken
from citations.lectures import citation_storage
from citations.lectures import pipeline as lecture_pipeline
from citations.lectures.citation_storage import StoredWindow, WindowRun
from citations.lectures.events import tell
from citations.lectures.pipeline import WindowQueryForm, cite
from citations.lectures.sessions import WINDOW, opened
from citations.models import Chunk, Citation, LectureSession, Window, WindowOutcome
from citations.providers import registry
from transcripts import library, locks
from transcripts.errors import InvalidInput, KnowledgeBaseError
from transcripts.locks import Lock
from transcripts.models import Transcript
from transcripts.sanitize import clean
from transcripts.scope import Scope

__all__ = [
    "WindowResult",
    "StoredWindow",
    "WindowQueryForm",
    "catch_up",
    "cite",
    "prepare",
    "query",
    "submit",
    "sweep",
    "warm",
]

THREADS: Final = 2  # of a process that cite: a model is asked by one thread a core
BATCH: Final = 8  # windows that are cited together, so many at most
GRACE: Final = timedelta(
    seconds=10
)  # how long a sweep leaves windows to the process that has made them
SWEPT: Final = 64  # windows of one sweep at most
MAX_TEXT: Final = 10_000  # characters of a question's text
MAX_INDEX: Final = 1_000_000
LEARNT: Final = 2_000  # chunks of a session's sources whose words are learnt before it begins
LEARNT_AT_ONCE: Final = 100  # of them, or of a recording's cues
PREPARED: Final = 20  # sessions that wait for that at most
UNDESCRIBED: Final = (
    1_000  # windows without keywords that are kept until no window waits; older ones remain without
)

logger = logging.getLogger(__name__)
_to_learn: Final = threading.BoundedSemaphore(PREPARED)
_learning: Final = threading.Lock()


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowResult:
    """What a window of speech cites, best first. ``note`` says what a reader should know: not re-ranked, why nothing was looked up."""

    window_index: int
    outcome: str
    citations: tuple[Citation, ...] = ()
    keywords: tuple[str, ...] = ()
    expanded_concepts: tuple[str, ...] = ()  # none: there is nothing here that could tell them
    milliseconds: int = 0
    note: str = ""


# Asked and answered


def query(scope: Scope, session: LectureSession, text: str, index: int) -> WindowResult:
    """Cite a window of speech now, and store it as the session's window ``index``; the same text is answered again as it was.

    While the database is away the answer is empty, and says so. Raises ``InvalidInput`` for an empty or too long text and an index outside 0 to
    ``MAX_INDEX``, ``WindowTaken`` where that window has another text, ``LectureEnded``, ``Forbidden`` for who may only read.
    """
    scope.require_write(session.collection_id)
    said = _checked(text, index)
    try:
        window = _asked(session, said, index)
        cited = (
            cite([window])[0]
            if window.outcome == WindowOutcome.WAITING
            else StoredWindow(window=window, citations=_cited_by(window))
        )
        transaction.on_commit(
            _crew.ring
        )  # what was said in the lecture meanwhile has waited for this window
        return _answer(index, cited)
    except (OperationalError, InterfaceError) as error:
        logger.warning(
            "The database does not answer; a question about lecture %s is answered with nothing: %s",
            session.pk,
            error,
        )
        return WindowResult(
            window_index=index, outcome=WindowOutcome.FAILED, note="The database does not answer."
        )


def _checked(text: str, index: int) -> str:
    said = " ".join(clean(text, MAX_TEXT + 1).split())
    if not said:
        raise InvalidInput("Nothing was said.", hint="Send the text of the window.")
    if len(text) > MAX_TEXT:
        raise InvalidInput(
            f"A window has at most {MAX_TEXT:,} characters.", hint="Send a few sentences."
        )
    if not 0 <= index <= MAX_INDEX:
        raise InvalidInput(f"The index of a window is a whole number from 0 to {MAX_INDEX:,}.")
    return said


def _asked(session: LectureSession, text: str, index: int) -> Window:
    """Return the window of that index and text: the one there is, or a new one that nobody else takes."""
    with transaction.atomic():
        locked = opened(session)
        known = locked.windows.select_related("session").filter(index=index).first()
        if known is not None and known.text == text:
            return known
        if known is not None:
            raise WindowTaken(
                f"Window {index} is another one already.",
                hint=f"The next index that is free: {locked.window_count}.",
            )
        made = Window.objects.create(
            session=locked, index=index, text=text, holder=uuid4(), attempts=1
        )
        LectureSession.objects.filter(pk=locked.pk).update(
            window_count=max(locked.window_count, index + 1)
        )
        where = {"first": None, "last": None, "start": None, "end": None}
        tell(locked, [(WINDOW, {"index": index, "text": text, **where})])
        return made


def _cited_by(window: Window) -> tuple[Citation, ...]:
    return tuple(window.citations.select_related("source").order_by("rank"))


def _answer(index: int, cited: StoredWindow) -> WindowResult:
    window = cited.window
    return WindowResult(
        window_index=index,
        outcome=window.outcome if cited.is_stored else WindowOutcome.FAILED,
        citations=cited.citations,
        keywords=tuple(window.keywords),
        milliseconds=round(window.milliseconds or 0),
        note=window.note,
    )


# Beside what goes on


def submit(pks: Collection[int]) -> None:
    """Let windows be cited by this process's threads once the transaction has ended; returns at once. Which ones they are their rows say."""
    if pks:
        transaction.on_commit(_crew.ring)


def prepare(session: LectureSession) -> None:
    """Let this process's threads load the models of a session and learn the words that will be said, so that no window waits for it; returns at once."""
    transaction.on_commit(partial(_prepare, session.pk))


def warm() -> None:
    """Load each model of lectures that was made ready for this machine, and run it once. What cannot be loaded is logged; whoever needs it gets the error."""
    registry.warm()


def catch_up(session: LectureSession) -> list[StoredWindow]:
    """Cite here and now what waits in a session; return what came of each window."""
    done: list[StoredWindow] = []
    while taken := _take(session=session):
        done += cite(taken)
        if not all(one.is_stored for one in done):
            break
    return done


def sweep(*, most: int = SWEPT) -> int:
    """Cite windows that wait for longer than they should: of a process that died, or has too much to do. Returns how many."""
    done = 0
    while done < most and (taken := _take(waiting=GRACE)):
        if not all(one.is_stored for one in cite(taken)):
            break
        done += len(taken)
    return done


# Taking


def _take(
    *, session: LectureSession | None = None, waiting: timedelta = timedelta(0)
) -> list[Window]:
    """Take the oldest windows that wait for so long; none of a session that somebody else has windows of, or its citations would come out of order."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL synchronous_commit = off")  # if it is lost, they wait as before
        locks.hold_for_transaction(Lock.WINDOWS)
        queue = Window.objects.waiting()
        due = queue.free().filter(created_at__lte=timezone.now() - waiting)
        if session is not None:
            due = due.filter(session=session)
        others = queue.leased().filter(session=OuterRef("session"))
        pks = due.exclude(Exists(others)).order_by("created_at", "pk").values_list("pk", flat=True)
        chosen = list(pks.select_for_update(of=("self",), skip_locked=True)[:BATCH])
        Window.objects.filter(pk__in=chosen).claim(uuid4())
    taken = list(
        Window.objects.filter(pk__in=chosen).select_related("session").order_by("created_at", "pk")
    )
    _give_up([window for window in taken if window.attempts > Window.MAX_CRASHES])
    return [window for window in taken if window.attempts <= Window.MAX_CRASHES]


def _give_up(windows: Sequence[Window]) -> None:
    for window in windows:
        logger.error(
            "window %s of lecture %s is given up: every process that cited it died",
            window.index,
            window.session_id,
        )
        citation_storage.give_up(window, "It could not be cited: every process that tried died.")


# The threads of this process


class _Crew:
    """Keeps as many threads at work as there is work for, a turn each: it is rung when windows are stored, and counts those who heard it.

    A process that ends waits for the turns that are under way, and for no others: what is left waits in the database.
    """

    def __init__(self, threads: int, turn: Callable[[], bool]) -> None:
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="live")
        self._most = threads
        self._turn = turn
        self._lock = threading.Lock()
        self._rung = False
        self.at_work = 0

    def ring(self) -> None:
        """Let another thread go to work; if all are, they look again before they leave."""
        with self._lock:
            self._rung = True
            if self.at_work == self._most:
                return
            self.at_work += 1
        self._go_on()

    def _go_on(self) -> None:
        with suppress(RuntimeError):  # the process ends
            self._threads.submit(self._take_turn)

    def _take_turn(self) -> None:
        with self._lock:
            self._rung = False  # what rang before is seen in this turn
        is_more = self._turn()
        with self._lock:
            if not (is_more or self._rung):
                self.at_work -= 1
                return
        self._go_on()


def _work() -> bool:
    """Cite what waits, as much as is cited together, or else find keywords of what was cited; say whether more may wait."""
    try:
        if taken := _take():
            return all(
                one.is_stored for one in cite(taken, describing=_undescribed.extend)
            )  # else the database is away; a sweep cites them when it is back
        return _describe_next()
    except (OperationalError, InterfaceError) as error:
        logger.warning("The database does not answer; what was said waits to be cited: %s", error)
    except Exception:
        logger.exception("windows wait to be cited")
    finally:
        _release()
    return False


def _describe_next() -> bool:
    """Find the keywords of the window that was cited last without them: nobody waits for them, so they come when no window does."""
    try:
        run = _undescribed.pop()
    except IndexError:
        return False
    lecture_pipeline.describe([run])
    return True


_crew: Final = _Crew(THREADS, _work)
_undescribed: Final[deque[WindowRun]] = deque(maxlen=UNDESCRIBED)


def _release() -> None:
    """Give the database connection back: Django does so at the end of a request, of which these threads know nothing."""
    for one in connections.all(initialized_only=True):
        if not one.in_atomic_block:
            one.close()


# Learning


def _prepare(pk: int) -> None:
    if _to_learn.acquire(blocking=False):  # else its words are learnt when they are said
        threading.Thread(
            target=_learn_in_turn, args=(pk,), name="learn"
        ).start()  # not of the crew: whoever begins many lectures keeps no window waiting


def _learn_in_turn(pk: int) -> None:
    try:
        with _learning:
            _learn(pk)
    finally:
        _to_learn.release()


def _is_running() -> bool:
    """Say whether the process goes on. To be asked in threads of no executor: those are waited for before the main thread counts as dead."""
    return threading.main_thread().is_alive()


def _learn(pk: int) -> None:
    try:
        session = LectureSession.objects.filter(pk=pk).first()
        extractor = registry.keywords()
        registry.live_reranker()
        if session is None or extractor is None:
            return
        texts = iter(_likely(session))
        while _is_running() and (some := list(islice(texts, LEARNT_AT_ONCE))):
            extractor.warm(some, language=session.language or "en")
    except (KnowledgeBaseError, OperationalError, InterfaceError) as error:
        logger.warning("The words of lecture %s are learnt when they are said: %s", pk, error)
    finally:
        _release()


def _likely(session: LectureSession) -> Iterable[str]:
    """Yield texts like those that will be said: the recording's own, or else what the sources say."""
    transcript = (
        Transcript.objects.light().filter(pk=session.transcript_id).first()
        if session.transcript_id
        else None
    )
    if transcript is not None:
        yield from (cue.text for cue in library.cues_of(transcript))
        return
    sources = lecture_pipeline.reaches([session.pk])[session.pk].sources or frozenset()
    yield from islice(
        Chunk.objects.filter(source__in=sources)
        .order_by("source", "ordinal")
        .values_list("text", flat=True)
        .iterator(),
        LEARNT,
    )
