"""The operations on live lectures: each parses, makes one call, renders."""

import json
from collections.abc import AsyncIterator, Sequence
from typing import Any
from urllib.parse import quote

from django.db.models import Prefetch, prefetch_related_objects
from django.http import HttpResponse, StreamingHttpResponse
from django.utils.text import slugify
from ninja import Query, Router, Status

from citations.api.lectures_in import (
    CitationId,
    CitationsIn,
    EventsIn,
    LastEventId,
    PositionIn,
    SegmentsIn,
    SessionId,
    SessionIn,
    SessionsIn,
    WindowIn,
)
from citations.api.lectures_out import (
    AnswerOut,
    CitationOut,
    CitationsOut,
    SessionOut,
    SessionsOut,
    StatisticsOut,
    WindowsOut,
)
from citations.lectures import event_stream
from citations.lectures import sessions as lecture_sessions
from citations.lectures import worker as lecture_worker
from citations.lectures.report import LectureStatistics
from citations.models import Citation, LectureEvent, LectureSession, Window
from transcripts import library
from transcripts.api.endpoints import Request
from transcripts.api.out import answers
from transcripts.models import Transcript
from transcripts.views import events

RETRY_MS = 1_000  # after which a browser whose stream has ended connects again
_READABLE = " ,;:.()'/-"  # of a header's text, what is not written in percents

router = Router(tags=["lectures"])


# Sessions


@router.post("sessions", response=answers({201: SessionOut}, 404), summary="Begin a lecture")
def begin_session(request: Request, sent: SessionIn) -> Status[LectureSession]:
    """Begin a lecture that cites sources of a collection. What is said is sent to it, or it replays a video."""
    request.caller.require_write()
    replayed = (
        library.find_transcript(library.find_video(request.reach, sent.video), language=sent.track)
        if sent.video
        else None
    )
    session = lecture_sessions.start(
        request.reach,
        request.caller.user,
        title=sent.title,
        collection=sent.collection,
        sources=sent.sources,
        language=sent.language,
        transcript=replayed,
    )
    lecture_worker.prepare(session)
    _show([session])
    return Status(201, session)


@router.get("sessions", response=answers({200: SessionsOut}, 404), summary="List lectures")
def list_sessions(request: Request, wanted: Query[SessionsIn]) -> lecture_sessions.SessionPage:
    """List the lectures of your collections, newest first."""
    page = lecture_sessions.list_sessions(
        request.reach,
        words=wanted.words,
        collection=wanted.collection,
        offset=wanted.offset,
        limit=wanted.limit,
    )
    _show(page.sessions)
    return page


@router.get(
    "sessions/{session_id}",
    response=answers({200: SessionOut}, 404),
    summary="See how far a lecture is",
)
def get_session(request: Request, session_id: SessionId) -> LectureSession:
    """Say what a lecture cites, how far it is, and whether it has ended."""
    session = lecture_sessions.find_session(request.reach, session_id)
    _show([session])
    return session


@router.delete(
    "sessions/{session_id}", response=answers({204: None}, 404), summary="Delete a lecture"
)
def delete_session(request: Request, session_id: SessionId) -> Status[Any]:
    """Delete a lecture with all that was said and cited in it. Its sources stay."""
    lecture_sessions.delete(_changeable(request, session_id))
    return Status(204, None)


# What is said


@router.post(
    "sessions/{session_id}/segments",
    response=answers({202: WindowsOut}, 404, 409, 413),
    summary="Send what is said",
)
def add_segments(request: Request, session_id: SessionId, sent: SegmentsIn) -> Status[Any]:
    """Take pieces of speech, in whatever order and however often they come. The windows that are full now are looked up; citations come as events."""
    session = _changeable(request, session_id)
    return _looked_up(
        lecture_sessions.say(session, sent.text)
        if sent.text
        else lecture_sessions.push(session, sent.utterances)
    )


@router.post(
    "sessions/{session_id}/replay",
    response=answers({202: WindowsOut}, 404),
    summary="Replay a recording up to a time",
)
def replay_session(request: Request, session_id: SessionId, sent: PositionIn) -> Status[Any]:
    """Take what the recording says until then as said; at its end the lecture ends. An earlier position changes nothing."""
    return _looked_up(lecture_sessions.advance(_changeable(request, session_id), sent.position))


@router.post(
    "sessions/{session_id}/end", response=answers({202: WindowsOut}, 404), summary="End a lecture"
)
def end_session(request: Request, session_id: SessionId) -> Status[Any]:
    """Look up what is left, and let nothing more be said. A lecture that has ended stays as it is."""
    return _looked_up(lecture_sessions.end(_changeable(request, session_id)))


# What is cited


@router.post(
    "rag/query", response=answers({200: AnswerOut}, 404, 409, 413), summary="Cite for one window"
)
def query_window(
    request: Request, response: HttpResponse, sent: WindowIn
) -> lecture_worker.WindowResult:
    """Find what belongs beside one window of speech, and wait for it. The same text with the same index gets the same citations again.

    An index that belongs to another text, or to a window made of what was said in the lecture, is refused (409). What there is to say of an answer, that it
    was not re-ranked or why it is empty, is in the header Cuebase-Note.
    """
    request.caller.require_write()
    answer = lecture_worker.query(
        request.reach,
        lecture_sessions.find_session(request.reach, sent.session_id, write=True),
        sent.transcript_text,
        sent.window_index,
    )
    if answer.note:
        response["Cuebase-Note"] = quote(answer.note, safe=_READABLE)
    return answer


@router.get(
    "citations/{citation_id}", response=answers({200: CitationOut}, 404), summary="See a citation"
)
def get_citation(request: Request, citation_id: CitationId) -> Citation:
    """Give a citation with the whole passage."""
    return lecture_sessions.find_citation(request.reach, citation_id)


@router.get(
    "sessions/{session_id}/citations",
    response=answers({200: CitationsOut}, 404),
    summary="List what a lecture cites",
)
def list_citations(
    request: Request, session_id: SessionId, wanted: Query[CitationsIn]
) -> dict[str, Any]:
    """List a lecture's citations, in the order of its windows and their ranks."""
    found = lecture_sessions.citations_of(lecture_sessions.find_session(request.reach, session_id))
    return {"citations": found.filter(window_index__gte=wanted.from_window)}


@router.get(
    "sessions/{session_id}/statistics",
    response=answers({200: StatisticsOut}, 404),
    summary="See how a lecture's windows fared",
)
def get_statistics(request: Request, session_id: SessionId) -> LectureStatistics:
    """Say how many windows cite something, how many were left out and at which stage, and how long each stage took."""
    return lecture_sessions.statistics(lecture_sessions.find_session(request.reach, session_id))


_NOTES = {200: {"content": {"text/markdown": {"schema": {"type": "string"}}}}}


@router.get(
    "sessions/{session_id}/export",
    response=answers({200: None}, 404),
    openapi_extra={"responses": _NOTES},
    summary="Download a lecture's notes",
)
def export_session(request: Request, session_id: SessionId) -> HttpResponse:
    """Give what was said, with what it cites as footnotes, as Markdown."""
    session = lecture_sessions.find_session(request.reach, session_id)
    headers = {
        "Content-Disposition": f'attachment; filename="{slugify(session.title)[:80] or "lecture"}.md"'
    }
    return HttpResponse(
        lecture_sessions.export(session),
        content_type="text/markdown; charset=utf-8",
        headers=headers,
    )


# Watching

_EVENTS = {
    200: {
        "description": "Events: segment, window, citations, ended; their ids count from 1.",
        "content": {"text/event-stream": {"schema": {"type": "string"}}},
    },
    204: {
        "description": "The lecture is over, and nothing has happened since. A browser does not connect again."
    },
}


@router.get(
    "sessions/{session_id}/events",
    response=answers({200: None, 204: None}, 404, 429),
    openapi_extra={"responses": _EVENTS},
    summary="Watch a lecture",
)
def watch_session(
    request: Request,
    session_id: SessionId,
    wanted: Query[EventsIn],
    last_event_id: LastEventId = None,
) -> HttpResponse | StreamingHttpResponse:
    """Stream what happened after a number, then what happens, as server-sent events. The stream ends now and then: go on with Last-Event-ID."""
    session = lecture_sessions.find_session(request.reach, session_id)
    after = wanted.after if last_event_id is None else last_event_id
    if event_stream.is_over(session, after):
        return HttpResponse(status=204)
    event_stream.require_room(request.caller.user.pk)
    return events.streamed(_written(request, session, after))


async def _written(request: Request, session: LectureSession, after: int) -> AsyncIterator[str]:
    caller = request.caller
    yield f"retry: {RETRY_MS}\n\n"
    async for happened in event_stream.watch(
        session,
        after,
        user=caller.user.pk,
        may_read=lambda: caller.still_reads(session.collection_id),
    ):
        yield "".join(map(_event, happened)) or ": still here\n\n"


def _event(event: LectureEvent) -> str:
    return f"id: {event.number}\n{events.event(event.kind, json.dumps(event.data))}"


def _changeable(request: Request, session_id: Any) -> LectureSession:
    request.caller.require_write()
    return lecture_sessions.find_session(request.reach, session_id, write=True)


def _looked_up(made: Sequence[Window]) -> Status[Any]:
    lecture_worker.submit([window.pk for window in made])
    return Status(202, {"windows": made})


def _show(sessions: Sequence[LectureSession]) -> None:
    """Look up what is shown of sessions beside their own fields, and not the words of what they replay."""
    prefetch_related_objects(
        sessions,
        "sources",
        Prefetch("transcript", Transcript.objects.light().select_related("video")),
    )
