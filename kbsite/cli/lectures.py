"""`kb lectures` and `kb live`: manage lectures; replay a recording as one, with its citations."""

import time
from typing import Annotated, Any, Final

import typer

from citations.errors import LectureNotFound
from citations.lectures import events, speech
from citations.lectures import report as lecture_report
from citations.lectures import sessions as lecture_sessions
from citations.lectures import worker as lecture_worker
from citations.lectures.cards import groups_at, printed_place
from citations.models import LectureEvent, LectureSession, WindowOutcome
from citations.schemas.lectures import ListedSessionOut, ReplayOut, StatisticsOut
from kbsite.cli.options import (
    InCollection,
    Json,
    Language,
    ListGroup,
    Many,
    Yes,
    argument,
    option,
    video_ids,
)
from kbsite.cli.terminal import confirm, note, print_json, print_result, say, table
from kbsite.library.database import open_library
from transcripts.core.errors import Conflict, InvalidInput
from transcripts.core.scope import Scope
from transcripts.library import reading as library
from transcripts.schemas import VideoOut
from transcripts.text.timecodes import clock, milliseconds

LIST_LIMIT: Final = 1_000
MIN_PREFIX: Final = 6  # characters that may stand for a whole id
POLL_SECONDS: Final = 0.2

app = typer.Typer(cls=ListGroup, add_completion=False)
LectureId = Annotated[str, argument("ID", "The lecture's id, or the beginning of the id.")]


@app.callback(invoke_without_command=True)
def list_lectures(context: typer.Context, as_json: Json = False) -> None:
    """List, measure, export, keep or delete lectures."""
    if context.invoked_subcommand:
        return
    lectures: Any = lecture_sessions.list_sessions(open_library(), limit=LIST_LIMIT).sessions
    lecture_sessions.fetch_related(lectures)
    rows = [ListedSessionOut.model_validate(lecture) for lecture in lectures]
    if as_json:
        print_json(rows)
        return
    table(
        ("Lecture", "Title", "Collection", "Windows", "Citations", "State"),
        [
            (row.id, row.title, row.collection, row.windows, row.citations, lecture.state.label)
            for row, lecture in zip(rows, lectures, strict=True)
        ],
        empty="No lectures.",
        main="Title",
    )


@app.command("figures")
def show_figures(reference: LectureId, as_json: Json = False) -> None:
    """Show the outcomes of a lecture's windows and the time of each stage."""
    lecture = _find(open_library(), reference)
    if as_json:
        print_json(StatisticsOut.model_validate(lecture_report.statistics(lecture)))
    else:
        _print_figures(lecture)


@app.command()
def notes(reference: LectureId) -> None:
    """Print a lecture's notes with its citations, as Markdown."""
    typer.echo(lecture_report.export(_find(open_library(), reference)), nl=False)


@app.command()
def keep(reference: LectureId, as_json: Json = False) -> None:
    """Keep an ended lecture as a recording in its collection, and index it.

    If the lecture already has a recording (replayed or kept), that one is shown.
    """
    lecture = _find(open_library(), reference)
    video = speech.keep_recording(lecture, None)
    said = f"“{lecture.title}” is kept as a recording: `kb show {video.key}` reads it."
    print_result(said, {"video": VideoOut.model_validate(video)}, as_json=as_json)


@app.command()
def delete(reference: LectureId, yes: Yes = False, as_json: Json = False) -> None:
    """Delete a lecture with its text and citations; its sources stay."""
    lecture = _find(open_library(), reference)
    count = lecture_sessions.citations_of(lecture).count()
    confirm(f"Delete the lecture “{lecture.title}” with {count:,} citations?", yes=yes)
    lecture_sessions.delete(lecture)
    print_result(f"Deleted “{lecture.title}”.", {"deleted": str(lecture.uuid)}, as_json=as_json)


def live(
    reference: Annotated[
        str,
        argument(
            "[ID]",
            "The recording to replay: its id, or its YouTube address.",
            autocompletion=video_ids,
        ),
    ] = "",
    named: Annotated[
        str,
        option(
            "--lecture",
            "-l",
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
    """Replay a recording as a lecture and show its citations.

    Ctrl-C interrupts the lecture; `kb live --lecture ID` continues it.
    """
    scope = open_library()
    lecture = _find_or_none(scope, named)
    if lecture is not None:
        _check_video(scope, lecture, reference)
    elif reference:
        video = library.find_video(scope, reference)
        lecture = lecture_sessions.start(
            scope,
            None,
            title=named,
            collection=collection or video.collection.slug,
            sources=tuple(source or ()),
            transcript=library.find_transcript(video, language=lang),
        )
        lecture_worker.prepare(lecture)
    else:
        raise InvalidInput(
            "There is no recording to replay.",
            hint="`kb live ID` replays a recording; `kb live --lecture ID` continues a lecture.",
        )
    try:
        _replay(lecture, speed=speed, quiet=as_json)
    except KeyboardInterrupt:
        note(f"Stopped; `kb live --lecture {lecture.uuid}` continues it.")
        raise typer.Exit(130) from None
    if as_json:
        lecture.refresh_from_db()
        lecture_sessions.fetch_related([lecture])
        replay = {
            "lecture": lecture,
            "statistics": lecture_report.statistics(lecture),
            "cited": list(lecture_sessions.citations_of(lecture)),
        }
        print_json(ReplayOut.model_validate(replay))
    else:
        _print_figures(lecture)


def _find(scope: Scope, reference: str) -> LectureSession:
    """Return a lecture by id or beginning of an id. Raises ``LectureNotFound``."""
    lecture = _find_or_none(scope, reference)
    if lecture is None:
        raise LectureNotFound(
            f"There is no lecture “{reference[:60]}”.", hint="`kb lectures` lists them."
        )
    return lecture


def _find_or_none(scope: Scope, reference: str) -> LectureSession | None:
    """Return a lecture by id or unique beginning of an id, if there is one."""
    try:
        return lecture_sessions.find_session(scope, reference)
    except LectureNotFound:
        if len(reference) < MIN_PREFIX:
            return None
    lectures = LectureSession.objects.visible(scope).select_related("collection")
    matches = list(lectures.filter(uuid__istartswith=reference)[:2])
    return matches[0] if len(matches) == 1 else None


def _print_figures(lecture: LectureSession) -> None:
    statistics = lecture_report.statistics(lecture)
    say(
        f"{statistics.windows:,} windows, {statistics.citations:,} citations;"
        f" cited {statistics.cited:.0%}, off-topic {statistics.off_topic:.0%},"
        f" too far {statistics.too_far:.0%}, too weak {statistics.too_weak:.0%}",
        "bold",
    )
    times = (*statistics.stages, *filter(None, [statistics.total]))
    table(
        ("Stage", "p50 ms", "p95 ms", "Windows"),
        [(time.name, f"{time.p50:.1f}", f"{time.p95:.1f}", time.count) for time in times],
    )
    for text, count in statistics.notes.items():
        note(f"{count}× {text}")


def _check_video(scope: Scope, lecture: LectureSession, reference: str) -> None:
    scope.require_write(lecture.collection_id)
    transcript = lecture.transcript
    if reference and (
        transcript is None or transcript.video != library.find_video(scope, reference)
    ):
        raise Conflict(
            "That lecture replays another recording.",
            hint="Leave the recording out to continue the lecture, or name another lecture.",
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
        new_events = events.events_after(lecture, last_event)
        for event in new_events:
            last_event = event.number
            if not quiet:
                _print_event(lecture, event)
        if not new_events:
            lecture.refresh_from_db(fields=["ended_at"])
            waiting = lecture.windows.filter(outcome=WindowOutcome.WAITING)
            if lecture.ended_at and not waiting.exists():
                return
        time.sleep(POLL_SECONDS)


def _print_event(lecture: LectureSession, event: LectureEvent) -> None:
    data = event.data
    if event.kind == events.SEGMENT:
        start = milliseconds(data["start"])
        time_ = "" if start is None else f"{clock(start):>8}  "
        say(f"{time_}{data['text']}")
    elif event.kind == events.CITATIONS and data["citations"]:
        for group in groups_at(lecture, data["window_index"]):
            if group.first.index == data["window_index"]:  # else it shows what an earlier one cited
                for rank, citation in enumerate(group.cards, start=1):
                    say(
                        f"{'':>8}  [{rank}] {citation.source.title}, {printed_place(citation)}"
                        f" · {citation.relevance_score or 0:.2f} · {citation.snippet}",
                        "cyan",
                    )
