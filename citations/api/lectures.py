"""The operations on lectures."""

import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Any, Final
from urllib.parse import quote

from django.http import HttpResponse, StreamingHttpResponse
from django.utils.text import slugify
from ninja import Query, Router, Status

from citations.api import shapes
from citations.lectures import events as lecture_events
from citations.lectures import report as lecture_report
from citations.lectures import sessions as lecture_sessions
from citations.lectures import speech
from citations.lectures import speech as lecture_recording
from citations.lectures import worker as lecture_worker
from citations.lectures.report import LectureStatistics
from citations.models import Citation, LectureSession, Window
from citations.schemas.lectures import (
    CitationOut,
    CitationsOut,
    LookedUpOut,
    SessionOut,
    SessionsOut,
    StatisticsOut,
    WindowCitationsOut,
    WindowsOut,
)
from transcripts.api.endpoints import Request
from transcripts.api.shapes import responses
from transcripts.core.access import AccessLevel, needs
from transcripts.core.headers import FILE_NAME, header, located
from transcripts.core.lists import page_of
from transcripts.core.views import events
from transcripts.core.views.requests import Caller
from transcripts.library import reading as library
from transcripts.models import Video
from transcripts.schemas import VideoOut
from transcripts.text.timecodes import milliseconds

RETRY_MS = 1_000  # after which a browser reconnects when the stream ends
NOTE: Final = "Cuebase-Note"
_PLAIN = " ,;:.()'/-"  # characters of a header's text that are not percent-encoded

router = Router(tags=["lectures"])


@router.post(
    "sessions",
    response=responses({201: SessionOut}, 404),
    openapi_extra=located(201),
    summary="Start a lecture",
)
@needs(AccessLevel.WRITE)
def begin_session(request: Request, body: shapes.SessionIn) -> Status[LectureSession]:
    """Start a lecture that cites sources of a collection: of speech that you send, or a video."""
    transcript = None
    if body.video_id:
        video = library.find_video(request.access, body.video_id)
        transcript = library.find_transcript(video, language=body.track)
    about = body.model_dump(include={"title", "collection", "sources", "language"})
    session = lecture_sessions.start(
        request.access, request.caller.user, transcript=transcript, **about
    )
    lecture_worker.prepare(session)
    lecture_sessions.fetch_related([session])
    request.answer["Location"] = f"/api/v1/sessions/{session.uuid}"
    return Status(201, session)


@router.get("sessions", response=responses({200: SessionsOut}, 404), summary="List lectures")
@needs(AccessLevel.READ)
def list_sessions(
    request: Request, query: Query[shapes.SessionsIn]
) -> lecture_sessions.SessionPage:
    """List the lectures of your collections, newest first."""
    page = lecture_sessions.list_sessions(request.access, **query.model_dump())
    lecture_sessions.fetch_related(page.sessions)
    return page


@router.get(
    "sessions/{session_id}",
    response=responses({200: SessionOut}, 404),
    summary="See a lecture's progress",
)
@needs(AccessLevel.READ)
def get_session(request: Request, session_id: shapes.SessionId) -> LectureSession:
    """Return what a lecture cites, its progress, and whether it has ended."""
    session = lecture_sessions.find_session(request.access, session_id)
    lecture_sessions.fetch_related([session])
    return session


@router.delete(
    "sessions/{session_id}", response=responses({204: None}, 404), summary="Delete a lecture"
)
@needs(AccessLevel.WRITE)
def delete_session(request: Request, session_id: shapes.SessionId) -> Status[Any]:
    """Delete a lecture with its speech and citations. Its sources stay."""
    lecture_sessions.delete(_find_writable(request, session_id))
    return Status(204, None)


# Speech


@router.post(
    "sessions/{session_id}/segments",
    response=responses({202: WindowsOut}, 404, 409, 413),
    summary="Send speech",
)
@needs(AccessLevel.WRITE)
def add_segments(
    request: Request, session_id: shapes.SessionId, body: shapes.SegmentsIn
) -> Status[Any]:
    """Take segments of speech, in any order and any number of times.

    Complete windows are searched for citations, which come as events.
    """
    session = _find_writable(request, session_id)
    return _submit(
        speech.say(session, body.text) if body.text else speech.push(session, body.utterances)
    )


@router.post(
    "sessions/{session_id}/replay",
    response=responses({202: WindowsOut}, 404),
    summary="Replay a recording up to a time",
)
@needs(AccessLevel.WRITE)
def replay_session(
    request: Request, session_id: shapes.SessionId, body: shapes.PositionIn
) -> Status[Any]:
    """Take the recording's speech up to a position; at its end the lecture ends.

    An earlier position changes nothing.
    """
    session = _find_writable(request, session_id)
    return _submit(speech.advance(session, milliseconds(body.position)))


@router.post(
    "sessions/{session_id}/end", response=responses({202: WindowsOut}, 404), summary="End a lecture"
)
@needs(AccessLevel.WRITE)
def end_session(request: Request, session_id: shapes.SessionId) -> Status[Any]:
    """Complete the last window and take no more speech. An ended lecture stays as it is."""
    return _submit(speech.end(_find_writable(request, session_id)))


@router.post(
    "sessions/{session_id}/recording",
    response=responses({200: VideoOut}, 404, 409),
    summary="Keep a lecture as a recording",
)
@needs(AccessLevel.WRITE)
def keep_session(request: Request, session_id: shapes.SessionId) -> Video:
    """Make a transcript of what was said in an ended lecture, in its collection.

    A lecture that replays a recording, or was kept before, gets no other: that one is returned.
    """
    return lecture_recording.keep_recording(
        _find_writable(request, session_id), request.caller.user
    )


@router.post(
    "sessions/{session_id}/look-up",
    response=responses({202: LookedUpOut}, 404),
    summary="Look up again what was said too early",
)
@needs(AccessLevel.WRITE)
def look_up_again(request: Request, session_id: shapes.SessionId) -> Status[Any]:
    """Cite again for windows that found nothing before what they may cite was ready.

    The citations come as events.
    """
    count = lecture_worker.look_up_again(_find_writable(request, session_id))
    return Status(202, {"windows": count})


# Citations

_NOTED: Final = {
    200: {"headers": {NOTE: header("Why there are no citations, or how they were found.")}}
}


@router.post(
    "rag/query",
    response=responses({200: WindowCitationsOut}, 404, 409, 413),
    openapi_extra={"responses": _NOTED},
    summary="Cite for one window",
)
@needs(AccessLevel.WRITE)
def query_window(request: Request, response: HttpResponse, body: shapes.WindowIn) -> dict[str, Any]:
    """Return the citations for one window of speech. The same text and index return the same.

    An index of another text, or of a window of the lecture's own speech, is refused (409). The
    header Cuebase-Note has the note, percent-encoded.
    """
    session = lecture_sessions.find_session(request.access, body.session_id, write=True)
    request.begin(None)  # its window is found by its index
    result = lecture_worker.query(request.access, session, body.transcript_text, body.window_index)
    if result.note:
        response[NOTE] = quote(result.note, safe=_PLAIN)
    return {
        "window_index": result.window_index,
        "citations": result.citations,
        "note": result.note,
        "query_metadata": result,
    }


@router.get(
    "citations/{citation_id}", response=responses({200: CitationOut}, 404), summary="See a citation"
)
@needs(AccessLevel.READ)
def get_citation(request: Request, citation_id: shapes.CitationId) -> Citation:
    """Return a citation with its whole passage."""
    return lecture_sessions.find_citation(request.access, citation_id)


_LISTED = ("uuid", "window_index", "rank", "snippet", "page", "created_at", "source__title")


@router.get(
    "sessions/{session_id}/citations",
    response=responses({200: CitationsOut}, 404),
    summary="List a lecture's citations",
)
@needs(AccessLevel.READ)
def list_citations(
    request: Request, session_id: shapes.SessionId, query: Query[shapes.CitationsIn]
) -> dict[str, Any]:
    """List a lecture's citations by window and rank: all of them, or a page.

    The field next is null unless more follow: it is the offset at which to go on.
    """
    session = lecture_sessions.find_session(request.access, session_id)
    citations = lecture_sessions.citations_of(session).filter(window_index__gte=query.from_window)
    light = citations.select_related(None).select_related("source").only(*_LISTED)
    page, following = page_of(light, query.offset, query.limit or shapes.MAX_LISTED)
    return {"citations": page, "total": citations.count(), "next": following}


@router.get(
    "sessions/{session_id}/statistics",
    response=responses({200: StatisticsOut}, 404),
    summary="See a lecture's statistics",
)
@needs(AccessLevel.READ)
def get_statistics(request: Request, session_id: shapes.SessionId) -> LectureStatistics:
    """Return how many windows have citations, what became of the others, and the stages' times."""
    return lecture_report.statistics(lecture_sessions.find_session(request.access, session_id))


_NOTES = {200: {"content": {"text/markdown": {"schema": {"type": "string"}}}, "headers": FILE_NAME}}


@router.get(
    "sessions/{session_id}/export",
    response=responses({200: None}, 404),
    openapi_extra={"responses": _NOTES},
    summary="Download a lecture's notes",
)
@needs(AccessLevel.READ)
def export_session(request: Request, session_id: shapes.SessionId) -> HttpResponse:
    """Return the speech as Markdown, with its citations as footnotes."""
    session = lecture_sessions.find_session(request.access, session_id)
    name = slugify(session.title)[:80] or "lecture"
    return HttpResponse(
        lecture_report.export(session),
        content_type="text/markdown; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}.md"'},
    )


# Events

_EVENTS = {
    200: {
        "description": "Events: segment, window, citations, ended; their ids count from 1.",
        "content": {"text/event-stream": {"schema": shapes.described(shapes.LECTURE)}},
    },
    204: {"description": "The lecture has ended and there are no more events. Do not reconnect."},
}


@router.get(
    "sessions/{session_id}/events",
    response=responses({200: None, 204: None}, 404),
    openapi_extra={"responses": _EVENTS},
    summary="Watch a lecture",
)
@needs(AccessLevel.READ)
def watch_session(
    request: Request,
    session_id: shapes.SessionId,
    query: Query[shapes.EventsIn],
    last_event_id: shapes.LastEventId = None,
) -> HttpResponse | StreamingHttpResponse:
    """Stream the events after a number as server-sent events, then new ones as they happen.

    The stream ends from time to time: continue with Last-Event-ID.
    """
    session = lecture_sessions.find_session(request.access, session_id)
    after = query.after if last_event_id is None else last_event_id
    if lecture_events.is_over(session, after):
        return HttpResponse(status=204)
    events.require_free(request.caller)
    return events.EventStream(_stream(request.caller, session, after))


async def _stream(caller: Caller, session: LectureSession, after: int) -> AsyncGenerator[str, None]:
    batches = lecture_events.watch(
        session, after, may_read=lambda: caller.still_reads(session.collection_id)
    )
    with events.counted(caller):
        async with aclosing(batches):
            yield f"retry: {RETRY_MS}\n\n"
            async for batch in batches:
                texts = (
                    f"id: {event.number}\n"
                    + events.event(event.kind, json.dumps(event.data, ensure_ascii=False))
                    for event in batch
                )
                yield "".join(texts) or events.HEARTBEAT


def _find_writable(request: Request, session_id: Any) -> LectureSession:
    return lecture_sessions.find_session(request.access, session_id, write=True)


def _submit(windows: Sequence[Window]) -> Status[Any]:
    lecture_worker.submit([window.pk for window in windows])
    return Status(202, {"windows": windows})
