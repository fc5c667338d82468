"""`kb lectures`: list, measure, export and delete lectures."""

from dataclasses import asdict
from typing import Annotated, Any, Final

import typer

from citations.errors import LectureNotFound
from citations.lectures import report as lecture_report
from citations.lectures import sessions as lecture_sessions
from citations.models import LectureSession
from kbsite.cli.database import open_library
from kbsite.cli.options import Json, Yes, argument
from kbsite.cli.terminal import confirm, note, print_json, print_result, say, table
from transcripts.scope import Scope

LIST_LIMIT: Final = 1_000
MIN_PREFIX: Final = 6  # characters that may stand for a whole id

app = typer.Typer(help="List, measure, export or delete lectures.")
LectureId = Annotated[str, argument("ID", "The lecture's id, or its beginning.")]


@app.callback(invoke_without_command=True)
def list_lectures(context: typer.Context, as_json: Json = False) -> None:
    """List, measure, export or delete lectures."""
    if context.invoked_subcommand:
        return
    lectures: Any = lecture_sessions.list_sessions(open_library(), limit=LIST_LIMIT).sessions
    if as_json:
        print_json([_as_json(lecture) for lecture in lectures])
        return
    rows = [
        (
            str(lecture.uuid),
            lecture.title,
            lecture.collection.slug,
            lecture.window_count,
            lecture.citation_count,
            "ended" if lecture.ended_at else "open",
        )
        for lecture in lectures
    ]
    columns = ("Lecture", "Title", "Collection", "Windows", "Citations", "State")
    table(columns, rows, empty="No lectures.")


@app.command("figures")
def show_figures(reference: LectureId, as_json: Json = False) -> None:
    """Show the outcomes of a lecture's windows and the time of each stage."""
    lecture = find(open_library(), reference)
    if as_json:
        print_json(figures(lecture))
    else:
        print_figures(lecture)


@app.command()
def notes(reference: LectureId) -> None:
    """Print a lecture's notes with its citations, as Markdown."""
    typer.echo(lecture_report.export(find(open_library(), reference)), nl=False)


@app.command()
def delete(reference: LectureId, yes: Yes = False, as_json: Json = False) -> None:
    """Delete a lecture with its text and citations; its sources stay."""
    lecture = find(open_library(), reference)
    count = lecture_sessions.citations_of(lecture).count()
    confirm(f"Delete the lecture “{lecture.title}” with {count:,} citations?", yes=yes)
    lecture_sessions.delete(lecture)
    print_result(f"Deleted “{lecture.title}”.", {"deleted": str(lecture.uuid)}, as_json=as_json)


def find(scope: Scope, reference: str) -> LectureSession:
    """Return a lecture by id or beginning of an id. Raises ``LectureNotFound``."""
    lecture = find_or_none(scope, reference)
    if lecture is None:
        raise LectureNotFound(
            f"There is no lecture “{reference[:60]}”.", hint="`kb lectures` lists them."
        )
    return lecture


def find_or_none(scope: Scope, reference: str) -> LectureSession | None:
    """Return a lecture by id or unique beginning of an id, if there is one."""
    try:
        return lecture_sessions.find_session(scope, reference)
    except LectureNotFound:
        if len(reference) < MIN_PREFIX:
            return None
    lectures = LectureSession.objects.visible(scope).select_related("collection")
    matches = list(lectures.filter(uuid__istartswith=reference)[:2])
    return matches[0] if len(matches) == 1 else None


def figures(lecture: LectureSession) -> dict[str, Any]:
    """Return the outcomes of a lecture's windows and the stage times (ms)."""
    statistics = lecture_report.statistics(lecture)
    shares = {
        "cited": statistics.cited,
        "off_topic": statistics.off_topic,
        "too_far": statistics.too_far,
        "too_weak": statistics.too_weak,
    }
    about = {"id": str(lecture.uuid), "title": lecture.title}
    return {**about, **asdict(statistics), "shares": shares}


def print_figures(lecture: LectureSession) -> None:
    """Print the outcomes of a lecture's windows and the stage times."""
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


def _as_json(lecture: Any) -> dict[str, Any]:
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
