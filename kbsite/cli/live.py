"""`kb live`: replay a recording as a lecture and print its citations as they are found."""

import time
from dataclasses import dataclass
from typing import Annotated, Final

import typer

from citations.lectures import events, speech
from citations.lectures import sessions as lecture_sessions
from citations.lectures import worker as lecture_worker
from citations.models import LectureEvent, LectureSession, WindowOutcome
from kbsite.cli import completion, lectures
from kbsite.cli.database import open_library
from kbsite.cli.options import InCollection, Json, Language, Many, argument, option
from kbsite.cli.terminal import note, print_json, say
from transcripts import library
from transcripts.errors import Conflict, InvalidInput
from transcripts.scope import Scope
from transcripts.timecodes import clock

POLL_SECONDS: Final = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayOptions:
    """The video to replay, the lecture to continue, and the sources to cite."""

    reference: str = ""
    session: str = ""
    sources: tuple[str, ...] = ()
    language: str = ""
    collection: str = ""


def live(
    reference: Annotated[
        str,
        argument(
            "[ID]",
            "The video to replay: its id, or its YouTube address.",
            autocompletion=completion.video_ids,
        ),
    ] = "",
    session: Annotated[
        str,
        option(
            "--session",
            "-s",
            metavar="S",
            help="A lecture to continue, by its id; or the title of a new one.",
        ),
    ] = "",
    speed: Annotated[
        float, typer.Option("--speed", min=0.1, max=1_000, help="Speed factor of the replay.")
    ] = 1.0,
    source: Annotated[
        Many, option("--in", metavar="ID", help="Cite only this source; repeatable.")
    ] = None,
    lang: Language = "",
    collection: InCollection = "",
    as_json: Json = False,
) -> None:
    """Replay a video as a lecture and show what it cites.

    Ctrl-C interrupts the lecture; `kb live --session ID` continues it.
    """
    options = ReplayOptions(
        reference=reference,
        session=session,
        sources=tuple(source or ()),
        language=lang,
        collection=collection,
    )
    lecture = _open_lecture(open_library(), options)
    try:
        _replay(lecture, speed=speed, quiet=as_json)
    except KeyboardInterrupt:
        note(f"Stopped; `kb live --session {lecture.uuid}` continues it.")
        raise typer.Exit(130) from None
    if as_json:
        cited = [
            {"window_index": citation.window_index, **lecture_sessions.event_data(citation)}
            for citation in lecture_sessions.citations_of(lecture)
        ]
        print_json({**lectures.figures(lecture), "cited": cited})
    else:
        lectures.print_figures(lecture)


def _open_lecture(scope: Scope, options: ReplayOptions) -> LectureSession:
    """Return the lecture to continue, or start a new one."""
    known = lectures.find_or_none(scope, options.session)
    if known is not None:
        _check_video(scope, known, options.reference)
        return known
    if not options.reference:
        raise InvalidInput(
            "There is no video to replay.",
            hint="`kb live ID` replays a video; `kb live --session ID` continues a lecture.",
        )
    video = library.find_video(scope, options.reference)
    lecture = lecture_sessions.start(
        scope,
        None,
        title=options.session,
        collection=options.collection or video.collection.slug,
        sources=options.sources,
        transcript=library.find_transcript(video, language=options.language),
    )
    lecture_worker.prepare(lecture)
    return lecture


def _check_video(scope: Scope, lecture: LectureSession, reference: str) -> None:
    scope.require_write(lecture.collection_id)
    transcript = lecture.transcript
    if reference and (
        transcript is None or transcript.video != library.find_video(scope, reference)
    ):
        raise Conflict(
            "That lecture replays another video.",
            hint="Leave the video out to continue the lecture, or name another lecture.",
        )


def _replay(lecture: LectureSession, *, speed: float, quiet: bool) -> None:
    """Continue a lecture until its recording ends and all windows are done; print its events."""
    lecture.refresh_from_db(fields=["position", "event_count", "ended_at"])
    last_event, started, first = lecture.event_count, time.monotonic(), lecture.position
    if not quiet:
        say(f"{lecture.title} · {lecture.uuid}", "bold")
    while True:
        position = first + round((time.monotonic() - started) * 1000 * speed)
        lecture_worker.submit([window.pk for window in speech.advance(lecture, position)])
        new_events = events.after(lecture, last_event)
        for event in new_events:
            last_event = event.number
            if not quiet:
                _print_event(event)
        if not new_events and _is_over(lecture):
            return
        time.sleep(POLL_SECONDS)


def _is_over(lecture: LectureSession) -> bool:
    lecture.refresh_from_db(fields=["ended_at"])
    waiting = lecture.windows.filter(outcome=WindowOutcome.WAITING)
    return lecture.ended_at is not None and not waiting.exists()


def _print_event(event: LectureEvent) -> None:
    data = event.data
    if event.kind == events.SEGMENT:
        start = f"{clock(data['start']):>8}  " if data["start"] is not None else ""
        say(f"{start}{data['text']}")
    elif event.kind == events.CITATIONS:
        for citation in data["citations"]:
            page = citation["page_number"]
            location = clock(citation["start"] or 0) if page is None else f"page {page}"
            say(
                f"{'':>8}  [{citation['rank']}] {citation['document_name']}, {location}"
                f" · {citation['relevance_score']:.2f} · {citation['snippet']}",
                "cyan",
            )
