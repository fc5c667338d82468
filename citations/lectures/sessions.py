"""The write and read side of live lectures: sessions, their segments and windows.

Whatever is said in a session is taken under the lock of its row, so that segments, windows and what is told of them have one order. No model is asked
here: a window is stored as waiting, and whoever called hands it on to be cited once the transaction has ended.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Final
from uuid import UUID

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count
from django.utils import timezone

from citations.errors import CitationNotFound, InvalidFilter, LectureEnded, LectureNotFound
from citations.lectures import windows
from citations.lectures.events import tell
from citations.lectures.report import LectureStatistics, export, statistics
from citations.lectures.windows import Utterance
from citations.library.filters import Filter, matching
from citations.models import Citation, CitationQuerySet, LectureSession, Segment, Source, Window
from transcripts import library
from transcripts.cues import Cue
from transcripts.errors import InvalidInput, TooLarge, TranscriptNotFound
from transcripts.models import Collection, Transcript
from transcripts.sanitize import clean, uuid_of
from transcripts.scope import Scope

__all__ = [
    "SessionPage",
    "LectureStatistics",
    "advance",
    "citations_of",
    "delete",
    "end",
    "export",
    "find_citation",
    "find_session",
    "flush",
    "list_sessions",
    "opened",
    "push",
    "say",
    "start",
    "start_again",
    "statistics",
    "told",
]

MAX_TEXT: Final = 5_000  # characters of a segment
MAX_SAID: Final = 500_000  # characters of what is said at once: a long lecture that is pasted
MAX_AT_ONCE: Final = 1_000  # segments
MAX_SOURCES: Final = 500  # that a session names
MAX_EVENTS: Final = 1_000_000  # of a session: weeks of speech
GREATEST: Final = 2**31 - 1  # of numbers and times (ms), as the database keeps them

SEGMENT, WINDOW, CITATIONS, ENDED = "segment", "window", "citations", "ended"


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionPage:
    """Some sessions, newest first, each with ``citation_count``; ``next`` goes on after the last one, None at the end."""

    sessions: tuple[LectureSession, ...]
    total: int
    next: int | None


# Sessions


def start(
    scope: Scope,
    user: User | None,
    *,
    title: str = "",
    collection: Collection | str = "",
    sources: Sequence[str] = (),
    language: str = "",
    transcript: Transcript | None = None,
) -> LectureSession:
    """Begin a lecture in a collection that the caller may change ("": their usual one), citing ``sources`` of it (their ids; none: all, also later ones).

    ``transcript`` is what is to be replayed. Raises ``Forbidden``, ``CollectionNotFound``, ``SourceNotFound``, ``TranscriptNotFound``, ``InvalidInput``.
    """
    shelf = (
        collection
        if isinstance(collection, Collection)
        else library.target_collection(scope, collection)
    )
    scope.require_write(shelf.pk)
    _check_visible(scope, transcript)
    chosen = _chosen(shelf, sources)
    name = clean(title, 300) or (
        transcript.video.title
        if transcript
        else f"Lecture of {timezone.localtime():%-d %B %Y, %H:%M}"
    )
    spoken = clean(language, 35) or (transcript.language if transcript else "")
    with transaction.atomic():
        about = {
            "title": name,
            "language": spoken,
            "transcript": transcript,
            "names_sources": bool(chosen),
        }
        session = LectureSession.objects.create(collection=shelf, owner=user, **about)
        session.sources.set(chosen)
    return session


def start_again(scope: Scope, user: User | None, session: LectureSession) -> LectureSession:
    """Begin a lecture like another one, which cites what that one may still cite and replays the same. Raises ``Forbidden``, ``TranscriptNotFound``."""
    scope.require_write(session.collection_id)
    _check_visible(scope, session.transcript)
    about = {
        name: getattr(session, name)
        for name in ("collection", "title", "language", "transcript", "names_sources")
    }
    with transaction.atomic():
        made = LectureSession.objects.create(owner=user, **about)
        made.sources.set(session.sources.filter(collection=session.collection_id))
    return made


def list_sessions(
    scope: Scope, *, words: str = "", collection: str = "", offset: int = 0, limit: int = 24
) -> SessionPage:
    """Return a page of sessions in whose title every one of ``words`` occurs, newest first. Raises ``CollectionNotFound``."""
    found = LectureSession.objects.visible(scope)
    if collection:
        found = found.filter(collection=library.find_collection(scope, collection))
    for word in clean(words, 1_000).split()[:10]:
        found = found.filter(title__icontains=word)
    rows = tuple(
        found.select_related("collection", "owner")
        .defer("buffer")
        .annotate(citation_count=Count("citations"))
        .order_by("-created_at", "-pk")[offset : offset + limit + 1]
    )
    return SessionPage(
        sessions=rows[:limit],
        total=found.count(),
        next=offset + limit if len(rows) > limit else None,
    )


def find_session(scope: Scope, reference: UUID | str, *, write: bool = False) -> LectureSession:
    """Return the visible session of this id. Raises ``LectureNotFound``, and ``Forbidden`` where it is to be changed and may only be read."""
    session = (
        LectureSession.objects.visible(scope)
        .select_related("collection")
        .filter(uuid=uuid_of(reference))
        .first()
    )
    if session is None:
        raise LectureNotFound("There is no such lecture.")
    if write:
        scope.require_write(session.collection_id)
    return session


def delete(session: LectureSession) -> None:
    """Delete a session with all that was said and cited in it. Its sources stay."""
    with transaction.atomic():
        LectureSession.objects.select_for_update().filter(
            pk=session.pk
        ).first()  # who cites for it just now comes first, or finds it gone
        LectureSession.objects.filter(pk=session.pk).delete()


def citations_of(session: LectureSession) -> CitationQuerySet:
    """Return a session's citations in the order of their windows and ranks, with their sources: those that whoever may read the session may see."""
    mine = Scope(readable=frozenset({session.collection_id}))
    return (
        Citation.objects.visible(mine)
        .filter(session=session)
        .select_related("source")
        .order_by("window_index", "rank")
    )


def find_citation(scope: Scope, reference: UUID | str) -> Citation:
    """Return the visible citation of this id, with its source and session. Raises ``CitationNotFound``."""
    found = (
        Citation.objects.in_lectures()
        .visible(scope)
        .select_related("source", "session", "window")
        .filter(uuid=uuid_of(reference))
        .first()
    )
    if found is None:
        raise CitationNotFound("There is no such citation.")
    return found


def told(citation: Citation) -> dict[str, Any]:
    """Return a citation as those who watch the session are told it: plain values, times in ms."""
    return {
        "id": str(citation.uuid),
        "rank": citation.rank,
        "document_id": str(citation.source.uuid),
        "document_name": citation.source.title,
        "kind": citation.source.kind,
        "page_number": citation.page,
        "start": citation.start,
        "end": citation.end,
        "section_heading": citation.section_heading or None,
        "snippet": citation.snippet,
        "relevance_score": citation.relevance_score,
    }


# What is said


def push(session: LectureSession, utterances: Iterable[Utterance]) -> list[Window]:
    """Take segments, in whatever order and however often they come, and return the windows that are full now, waiting to be cited.

    Raises ``LectureEnded``, ``LectureNotFound`` (it was deleted), ``InvalidInput`` for more than ``MAX_AT_ONCE`` of them, texts of more than ``MAX_TEXT``
    characters, and numbers or times that no database keeps.
    """
    cleaned = _cleaned(utterances)
    with transaction.atomic():
        return _take(opened(session), cleaned)


def say(
    session: LectureSession, text: str, *, start: int | None = None, end: int | None = None
) -> list[Window]:
    """Take what is said next, without a number of the sender's: typed or pasted text, a browser's speech recognition. Times in ms. Raises as ``push`` does."""
    if len(text) > MAX_SAID:
        raise TooLarge(
            f"At most {MAX_SAID:,} characters can be said at once.", hint="Send it in parts."
        )
    pieces = list(_pieces(text))
    with transaction.atomic():
        locked = opened(session)
        first = _buffer(locked).following
        return _take(
            locked,
            _cleaned(
                [Utterance(first + n, piece, start, end) for n, piece in enumerate(pieces)],
                most=MAX_SAID,
            ),
        )


def advance(session: LectureSession, position_ms: int) -> list[Window]:
    """Replay: what the stored transcript says until then is taken as said, and the session ends with it. Returns the windows that are full now.

    A cue counts as said when it has ended, behind whatever else was said by then. A position before the one that was reached changes nothing. Raises
    ``InvalidInput`` where nothing is replayed.
    """
    cues, ends = _transcript(session)
    position = max(0, min(position_ms, GREATEST))
    with transaction.atomic():
        locked = _locked(session)
        if locked.ended_at is not None or position <= locked.position:
            return []
        first = bisect_right(ends, locked.position) if locked.position else 0
        until = bisect_right(ends, position)
        locked.position = position
        following = _buffer(
            locked
        ).following  # as in speech: somebody may have said something besides
        made = _take(
            locked,
            [
                Utterance(following + n, cue.text, cue.start, cue.end)
                for n, cue in enumerate(cues[first:until])
            ],
        )
        return made + _finish(locked) if until == len(cues) else made


def flush(session: LectureSession) -> list[Window]:
    """Make windows of what was said and is in none yet, however little it is; speech may go on. Returns them. Raises as ``push`` does."""
    with transaction.atomic():
        return _rest(opened(session))


def end(session: LectureSession) -> list[Window]:
    """End a session; return the windows of what was left. One that has ended stays as it is."""
    with transaction.atomic():
        locked = _locked(session)
        return [] if locked.ended_at else _finish(locked)


# Under the lock


def _locked(session: LectureSession) -> LectureSession:
    locked = LectureSession.objects.select_for_update(of=("self",)).filter(pk=session.pk).first()
    if locked is None:
        raise LectureNotFound("This lecture was deleted.")
    return locked


def opened(session: LectureSession) -> LectureSession:
    """Lock the row of a session in which something can be said, and return it. Raises ``LectureEnded``, ``LectureNotFound`` (it was deleted)."""
    locked = _locked(session)
    if locked.ended_at is not None:
        raise LectureEnded("This lecture has ended.")
    if locked.event_count > MAX_EVENTS:
        raise LectureEnded("This lecture has become too long.")
    return locked


def _buffer(locked: LectureSession) -> windows.Buffer:
    return windows.Buffer.from_json(locked.buffer)


def _take(locked: LectureSession, utterances: Sequence[Utterance]) -> list[Window]:
    fresh = _new(locked, utterances)
    spoken = [one for one in fresh if one.text]
    Segment.objects.bulk_create(
        [
            Segment(session=locked, number=one.number, text=one.text, start=one.start, end=one.end)
            for one in spoken
        ]
    )
    buffer, made = windows.feed(_buffer(locked), fresh)
    return _keep(locked, buffer, made, [(SEGMENT, _segment(one)) for one in spoken])


def _new(locked: LectureSession, utterances: Sequence[Utterance]) -> list[Utterance]:
    """Leave out what came before; of two with the same number the first counts."""
    known = set(
        locked.segments.filter(number__in=[one.number for one in utterances]).values_list(
            "number", flat=True
        )
    )
    first: dict[int, Utterance] = {}
    for one in utterances:
        if one.number not in known:
            first.setdefault(one.number, one)
    return list(first.values())


def _rest(locked: LectureSession) -> list[Window]:
    buffer, made = windows.flush(_buffer(locked))
    return _keep(locked, buffer, made, [])


def _finish(locked: LectureSession) -> list[Window]:
    made = _rest(locked)
    LectureSession.objects.filter(pk=locked.pk).update(ended_at=timezone.now())
    tell(locked, [(ENDED, {})])
    return made


def _keep(
    locked: LectureSession,
    buffer: windows.Buffer,
    made: Sequence[windows.SpeechWindow],
    said: Sequence[tuple[str, Mapping[str, Any]]],
) -> list[Window]:
    """Store windows and buffer, and tell of them after what was said. Windows are counted by the session: others than these may have been asked for."""
    first = locked.window_count
    places = [
        {"first": one.first, "last": one.last, "start": one.start, "end": one.end} for one in made
    ]
    rows = [
        Window(session=locked, index=first + n, text=one.text, **where)
        for n, (one, where) in enumerate(zip(made, places, strict=True))
    ]
    Window.objects.bulk_create(rows)
    locked.buffer, locked.window_count = buffer.to_json(), first + len(rows)
    LectureSession.objects.filter(pk=locked.pk).update(
        buffer=locked.buffer, window_count=locked.window_count, position=locked.position
    )
    tell(
        locked,
        [
            *said,
            *(
                (WINDOW, {"index": row.index, "text": row.text, **where})
                for row, where in zip(rows, places, strict=True)
            ),
        ],
    )
    return rows


def _segment(one: Utterance) -> dict[str, Any]:
    return {"number": one.number, "text": one.text, "start": one.start, "end": one.end}


# What comes from outside


def _check_visible(scope: Scope, transcript: Transcript | None) -> None:
    if (
        transcript is not None
        and not Transcript.objects.visible(scope).filter(pk=transcript.pk).exists()
    ):
        raise TranscriptNotFound("There is no such transcript.")


def _chosen(shelf: Collection, references: Sequence[str]) -> list[Source]:
    """Look up sources of one collection: whoever may read a lecture may read all that it cites."""
    if len(references) > MAX_SOURCES:
        raise InvalidFilter(
            f"A lecture names at most {MAX_SOURCES} sources; it cites all of its collection when it names none."
        )
    batches = [tuple(references[at : at + 100]) for at in range(0, len(references), 100)]
    there = Scope(readable=frozenset({shelf.pk}))
    return [source for batch in batches for source in matching(there, Filter(sources=batch))]


def _cleaned(utterances: Iterable[Utterance], *, most: int = MAX_AT_ONCE) -> list[Utterance]:
    result: list[Utterance] = []
    for one in utterances:
        if len(result) == most:
            raise TooLarge(
                f"At most {most:,} segments are taken at once.", hint="Send them in parts."
            )
        if len(one.text) > MAX_TEXT:
            raise TooLarge(
                f"A segment has at most {MAX_TEXT:,} characters; number {one.number} has {len(one.text):,}.",
                hint="Send it in parts.",
            )
        if not 0 <= one.number <= GREATEST:
            raise InvalidInput("The numbers of segments are whole numbers from 0 on.")
        result.append(
            Utterance(one.number, " ".join(clean(one.text, MAX_TEXT).split()), *_times(one))
        )
    return result


def _times(one: Utterance) -> tuple[int | None, int | None]:
    for time in (one.start, one.end):
        if time is not None and not 0 <= time <= GREATEST:
            raise InvalidInput("Times are milliseconds from the lecture's start.")
    if one.start is None or one.end is None:
        return one.start, one.end
    return one.start, max(one.start, one.end)


def _pieces(text: str) -> Iterator[str]:
    """Cut what was said into segments at its lines, and long lines at blanks."""
    for line in clean(text, MAX_SAID).splitlines():
        while len(line) > MAX_TEXT:
            at = line.rfind(" ", 0, MAX_TEXT) + 1 or MAX_TEXT
            yield line[:at]
            line = line[at:]
        if line.strip():
            yield line


def _transcript(session: LectureSession) -> tuple[tuple[Cue, ...], list[int]]:
    """Return the cues that are replayed, and until when (ms) each of them and all before it are said."""
    transcript = (
        Transcript.objects.light().filter(pk=session.transcript_id).first()
        if session.transcript_id
        else None
    )
    if transcript is None:
        raise InvalidInput(
            "This lecture replays nothing.",
            hint="Start one from a recording, or send what is said.",
        )
    cues = library.cues_of(transcript)
    return cues, list(accumulate((cue.end for cue in cues), max))
