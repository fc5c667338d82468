"""What `kb live` and `kb lectures` do: a recording is replayed in the terminal, and what it cites lands beside it."""

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from citations.errors import LectureNotFound
from citations.lectures import events
from citations.lectures import sessions as lecture_sessions
from citations.lectures import worker as lecture_worker
from citations.models import Happening, LectureSession, WindowOutcome
from kbsite.cli.terminal import note, say, table
from transcripts import library
from transcripts.errors import Conflict, InvalidInput
from transcripts.scope import Scope
from transcripts.timecodes import clock

TICK: Final = 0.2  # seconds between two looks
MOST: Final = 1_000  # lectures that are listed
ID_LENGTH: Final = 6  # characters of an id that tell which one is meant


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayOptions:
    """What is to be replayed, in which lecture, and what it may cite."""

    reference: str = ""
    session: str = ""
    speed: float = 1.0
    sources: tuple[str, ...] = ()
    language: str = ""
    collection: str = ""


def open_lecture(scope: Scope, wishes: ReplayOptions) -> LectureSession:
    """Return the lecture that is named by its id, or begin one. Raises ``InvalidInput``, ``Conflict`` and what ``lectures.start`` raises."""
    known = _named(scope, wishes.session)
    if known is not None:
        _check_same(scope, known, wishes)
        return known
    if not wishes.reference:
        raise InvalidInput(
            "Nothing is named that could be replayed.",
            hint="`kb live ID` replays a video; `kb live --session ID` goes on with a lecture.",
        )
    video = library.find_video(scope, wishes.reference)
    transcript = library.find_transcript(video, language=wishes.language)
    shelf = wishes.collection or video.collection.slug
    made = lecture_sessions.start(
        scope,
        None,
        title=wishes.session,
        collection=shelf,
        sources=wishes.sources,
        transcript=transcript,
    )
    lecture_worker.prepare(made)
    return made


def find(scope: Scope, reference: str) -> LectureSession:
    """Return the lecture of this id, or whose id begins so. Raises ``LectureNotFound``."""
    found = _named(scope, reference)
    if found is None:
        raise LectureNotFound(
            f"There is no lecture “{reference[:60]}”.", hint="`kb lectures` lists them."
        )
    return found


def replay(lecture: LectureSession, *, speed: float, quiet: bool = False) -> None:
    """Let a lecture go on from where it is until its recording ends and all is cited; what happens is printed as it happens."""
    lecture.refresh_from_db(fields=["position", "event_count", "ended_at"])
    heard, began, first = lecture.event_count, time.monotonic(), lecture.position
    if not quiet:
        say(f"{lecture.title} · {lecture.uuid}", "bold")
    while True:
        position = first + round((time.monotonic() - began) * 1000 * speed)
        lecture_worker.submit([window.pk for window in lecture_sessions.advance(lecture, position)])
        happened = events.after(lecture, heard)
        for one in happened:
            heard = one.number
            if not quiet:
                _print(one)
        if not happened and _is_over(lecture):
            return
        time.sleep(TICK)


def listed(scope: Scope) -> Sequence[LectureSession]:
    """Return the lectures, newest first."""
    return lecture_sessions.list_sessions(scope, limit=MOST).sessions


def shape(lecture: Any) -> dict[str, Any]:
    """Return a lecture of a list for programs."""
    return {
        "id": str(lecture.uuid),
        "title": lecture.title,
        "collection": lecture.collection.slug,
        "language": lecture.language,
        "windows": lecture.window_count,
        "citations": lecture.citation_count,
        "created_at": lecture.created_at.isoformat(),
        "ended_at": lecture.ended_at.isoformat() if lecture.ended_at else None,
    }


def figures(lecture: LectureSession) -> dict[str, Any]:
    """Return what became of a lecture's windows, and how long that took (ms), for programs."""
    found = lecture_sessions.statistics(lecture)
    shares = {
        "cited": found.cited,
        "off_topic": found.off_topic,
        "too_far": found.too_far,
        "too_weak": found.too_weak,
    }
    return {"id": str(lecture.uuid), "title": lecture.title, **asdict(found), "shares": shares}


def whole(lecture: LectureSession) -> dict[str, Any]:
    """Return a lecture's figures and all that it cites, for programs."""
    cited = [
        {"window_index": one.window_index, **lecture_sessions.told(one)}
        for one in lecture_sessions.citations_of(lecture)
    ]
    return {**figures(lecture), "cited": cited}


def print_list(found: Sequence[Any]) -> None:
    """Show lectures."""
    rows = [
        (
            str(one.uuid),
            one.title,
            one.collection.slug,
            one.window_count,
            one.citation_count,
            "ended" if one.ended_at else "open",
        )
        for one in found
    ]
    table(
        ("Lecture", "Title", "Collection", "Windows", "Citations", "State"),
        rows,
        empty="No lecture has been listened to.",
    )


def print_figures(lecture: LectureSession) -> None:
    """Show what became of a lecture's windows, and how long that took."""
    found = lecture_sessions.statistics(lecture)
    shares = [
        ("cited", found.cited),
        ("off-topic", found.off_topic),
        ("too far", found.too_far),
        ("too weak", found.too_weak),
    ]
    say(
        f"{found.windows:,} windows, {found.citations:,} citations; "
        + ", ".join(f"{name} {share:.0%}" for name, share in shares),
        "bold",
    )
    times = (*found.stages, *([found.total] if found.total else []))
    table(
        ("Stage", "p50 ms", "p95 ms", "Windows"),
        [(one.name, f"{one.p50:.1f}", f"{one.p95:.1f}", one.count) for one in times],
    )
    for told, count in found.notes.items():
        note(f"{count}× {told}")


def _named(scope: Scope, reference: str) -> LectureSession | None:
    try:
        return lecture_sessions.find_session(scope, reference)
    except LectureNotFound:
        if len(reference) < ID_LENGTH:
            return None
    found = list(
        LectureSession.objects.visible(scope)
        .select_related("collection")
        .filter(uuid__istartswith=reference)[:2]
    )
    return found[0] if len(found) == 1 else None


def _check_same(scope: Scope, lecture: LectureSession, wishes: ReplayOptions) -> None:
    scope.require_write(lecture.collection_id)
    if wishes.reference and (
        lecture.transcript is None
        or lecture.transcript.video != library.find_video(scope, wishes.reference)
    ):
        raise Conflict(
            "That lecture replays something else.",
            hint="Leave the video out to go on with it, or name another lecture.",
        )


def _is_over(lecture: LectureSession) -> bool:
    lecture.refresh_from_db(fields=["ended_at"])
    return (
        lecture.ended_at is not None
        and not lecture.windows.filter(outcome=WindowOutcome.WAITING).exists()
    )


def _print(one: Happening) -> None:
    data = one.data
    if one.kind == lecture_sessions.SEGMENT:
        at = f"{clock(data['start']):>8}  " if data["start"] is not None else ""
        say(f"{at}{data['text']}")
    elif one.kind == lecture_sessions.CITATIONS:
        for cited in data["citations"]:
            where = (
                f"page {cited['page_number']}"
                if cited["page_number"] is not None
                else clock(cited["start"] or 0)
            )
            say(
                f"{'':>8}  [{cited['rank']}] {cited['document_name']}, {where} · {cited['relevance_score']:.2f} · {cited['snippet']}",
                "cyan",
            )
