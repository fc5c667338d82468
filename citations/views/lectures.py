"""The pages of live lectures: the list, a new one, and one with its transcript, its citations, and what can be done to it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from django.db.models import Prefetch
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.http import content_disposition_header
from django.utils.text import slugify
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from citations.errors import LectureNotFound
from citations.lectures import sessions as lecture_sessions
from citations.lectures import worker as lecture_worker
from citations.models import (
    Citation,
    LectureSession,
    Segment,
    Source,
    SourceQuerySet,
    State,
    Window,
    WindowOutcome,
)
from citations.text import sentences
from citations.views.lecture_form import (
    MOST_SHOWN,
    TALKS_SHOWN,
    AdvanceForm,
    NewLectureForm,
    SayForm,
    number_of,
)
from transcripts.errors import Forbidden, KnowledgeBaseError, TranscriptNotFound
from transcripts.models import Collection, Transcript
from transcripts.views.requests import PageRequest, done, fragment

PAGE: Final = 30  # lectures on a page of the list
WINDOWS: Final = 60  # windows whose cards a page shows at first
LINES: Final = 3_000  # pieces of speech that it shows
USUAL: Final = "library"  # the collection that is proposed


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeechLine:
    """A piece of speech, and the windows that end in it and cite something."""

    segment: Segment
    windows: tuple[Window, ...]


@require_safe
def show_lectures(request: PageRequest) -> HttpResponse:
    """List lectures, newest first."""
    offset = number_of(request.GET.get("offset", "")) or 0
    page = lecture_sessions.list_sessions(request.reach, offset=offset, limit=PAGE)
    context = {
        "lectures": page.sessions,
        "next": page.next,
        "offset": offset,
        "writable": request.reach.writable,
    }
    return render(request, "citations/lectures.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def new(request: PageRequest) -> HttpResponse:
    """Ask what the lecture is, then begin it."""
    values = NewLectureForm(request.POST if request.method == "POST" else request.GET).values()
    if request.method != "POST":
        return render(request, "citations/lecture_new.html", _offered(request, values))
    request.caller.require_write()
    try:
        session = _begun(request, values)
    except Forbidden:
        raise
    except KnowledgeBaseError as error:
        return render(
            request,
            "citations/lecture_new.html",
            {**_offered(request, values), "error": error},
            status=422,
        )
    lecture_worker.prepare(session)
    return redirect("lecture", lecture_id=session.uuid)


@require_safe
def show_lecture(request: PageRequest, lecture_id: UUID) -> HttpResponse:
    """Show a lecture: what was said with the numbers of what it cites, and the newest cards beside it."""
    lecture = lecture_sessions.find_session(request.reach, lecture_id)
    context = {
        "lecture": lecture,
        "may_write": lecture.collection_id in request.reach.writable,
        "talk": _talk(lecture),
        "count": lecture_sessions.citations_of(lecture).count(),
        **_documents(lecture),
        **_figures(lecture),
        **_heard(lecture, everything="all" in request.GET),
        **_cards(lecture, before=number_of(request.GET.get("before", ""))),
    }
    return render(request, "citations/lecture.html", context)


@require_safe
def show_window(request: PageRequest, lecture_id: UUID, index: int) -> HttpResponse:
    """Show what one window cites: its cards, and its numbers for the transcript."""
    lecture = lecture_sessions.find_session(request.reach, lecture_id)
    window = _citing(lecture).filter(index=index).first()
    if window is None:
        raise LectureNotFound("Nothing is cited there.")
    return fragment(request, "citations/_cited_live.html", {"lecture": lecture, "window": window})


@require_safe
def show_citations(request: PageRequest, lecture_id: UUID) -> HttpResponse:
    """Show the cards of the windows before one: what the button below the newest asks for."""
    lecture = lecture_sessions.find_session(request.reach, lecture_id)
    return fragment(
        request,
        "citations/_cited_more.html",
        {"lecture": lecture, **_cards(lecture, before=number_of(request.GET.get("before", "")))},
    )


@require_safe
def show_figures(request: PageRequest, lecture_id: UUID) -> HttpResponse:
    """Show what became of a lecture's windows, and how long that took."""
    lecture = lecture_sessions.find_session(request.reach, lecture_id)
    return fragment(request, "citations/_lecture_figures.html", _figures(lecture))


@require_safe
def notes(request: PageRequest, lecture_id: UUID) -> HttpResponse:
    """Give what was said, with its citations, as a Markdown file."""
    lecture = lecture_sessions.find_session(request.reach, lecture_id)
    response = HttpResponse(
        lecture_sessions.export(lecture), content_type="text/markdown; charset=utf-8"
    )
    response["Content-Disposition"] = content_disposition_header(
        True, f"{slugify(lecture.title)[:80] or 'lecture'}.md"
    )
    return response


@require_POST
def say(request: PageRequest, lecture_id: UUID) -> HttpResponse:
    """Take what was said: pasted text, or what the browser has recognised."""
    lecture = _changeable(request, lecture_id)
    return _went_on(
        request,
        lecture,
        lecture_sessions.say(lecture, _one_sentence_a_line(SayForm(request.POST).said())),
    )


@require_POST
def advance(request: PageRequest, lecture_id: UUID) -> HttpResponse:
    """Take what a stored talk says up to a position."""
    lecture = _changeable(request, lecture_id)
    return _went_on(
        request, lecture, lecture_sessions.advance(lecture, AdvanceForm(request.POST).reached())
    )


@require_POST
def end(request: PageRequest, lecture_id: UUID) -> HttpResponse:
    """End a lecture."""
    lecture = _changeable(request, lecture_id)
    return _went_on(request, lecture, lecture_sessions.end(lecture))


@require_POST
def again(request: PageRequest, lecture_id: UUID) -> HttpResponse:
    """Begin a lecture like this one, so that its talk is replayed from the start."""
    lecture = _changeable(request, lecture_id)
    session = lecture_sessions.start_again(request.reach, request.user, lecture)
    lecture_worker.prepare(session)
    return redirect("lecture", lecture_id=session.uuid)


@require_http_methods(["GET", "HEAD", "POST"])
def delete(request: PageRequest, lecture_id: UUID) -> HttpResponse:
    """Ask, then delete a lecture with all that was said and cited in it."""
    lecture = _changeable(request, lecture_id)
    if request.method != "POST":
        return render(
            request,
            "citations/delete_lecture.html",
            {"lecture": lecture, "count": lecture_sessions.citations_of(lecture).count()},
        )
    lecture_sessions.delete(lecture)
    return done(request, f"“{lecture}” was deleted.", "lectures")


def _changeable(request: PageRequest, lecture_id: UUID) -> LectureSession:
    request.caller.require_write()
    return lecture_sessions.find_session(request.reach, lecture_id, write=True)


def _went_on(
    request: PageRequest, lecture: LectureSession, windows: Sequence[Window]
) -> HttpResponse:
    """Hand windows on to be cited; the page hears of what follows by itself."""
    lecture_worker.submit([window.pk for window in windows])
    return (
        HttpResponse(status=204) if request.htmx else redirect("lecture", lecture_id=lecture.uuid)
    )


def _one_sentence_a_line(text: str) -> str:
    """Put every sentence on a line of its own: each becomes a piece of speech, and what is cited stands right behind the sentence it belongs to."""
    return "\n".join(" ".join(text[first:last].split()) for first, last in sentences.split(text))


# A new lecture


def _begun(request: PageRequest, values: dict[str, Any]) -> LectureSession:
    talk = None
    if values["transcript"]:
        talk = (
            Transcript.objects.visible(request.reach)
            .select_related("video")
            .filter(pk=values["transcript"])
            .first()
        )
        if talk is None:
            raise TranscriptNotFound("That talk is not there any more.", hint="Choose another one.")
    about = {name: values[name] for name in ("title", "collection", "language", "sources")}
    return lecture_sessions.start(request.reach, request.user, transcript=talk, **about)


def _offered(request: PageRequest, values: dict[str, Any]) -> dict[str, Any]:
    """What a new lecture can be made of; an address may name a talk by its video."""
    writable = request.reach.writable
    talks = (
        Transcript.objects.visible(request.reach)
        .light()
        .select_related("video")
        .order_by("-created_at", "-pk")
    )
    wanted = number_of(request.GET.get("video", ""))
    chosen = talks.filter(video=wanted).first() if wanted is not None else None
    if chosen is not None:
        values = {
            **values,
            "transcript": chosen.pk,
            "collection": values["collection"] or chosen.video.collection.slug,
        }
    return {
        "values": {**values, "collection": values["collection"] or USUAL},
        "shelves": Collection.objects.filter(pk__in=writable),
        "talks": [
            *([chosen] if chosen else []),
            *(talk for talk in talks[:TALKS_SHOWN] if talk != chosen),
        ],
        "sources": _citable(request, writable)[:MOST_SHOWN],
    }


# One lecture


def _talk(lecture: LectureSession) -> Transcript | None:
    """Return what is replayed, without its long columns."""
    if lecture.transcript_id is None:
        return None
    return (
        Transcript.objects.light().select_related("video").filter(pk=lecture.transcript_id).first()
    )


def _citable(request: PageRequest, shelves: Iterable[int]) -> SourceQuerySet:
    """Return the sources of those collections that can be chosen: not those that could not be read at all."""
    found: SourceQuerySet = (
        Source.objects.visible(request.reach)
        .filter(collection__in=shelves)
        .exclude(state=State.FAILED, chunk_count=0)
    )
    return found.select_related("collection")


def _documents(lecture: LectureSession) -> dict[str, Any]:
    """Count what may be cited, and what of it cannot be yet."""
    among: SourceQuerySet = lecture.sources.all() if lecture.names_sources else Source.objects.all()
    found = among.filter(collection=lecture.collection)
    own = found.exclude(transcript=lecture.transcript_id) if lecture.transcript_id else found
    return {
        "source_count": own.count(),
        "unready": own.exclude(state=State.READY).count(),
        "is_chosen": lecture.names_sources,
    }


def _figures(lecture: LectureSession) -> dict[str, Any]:
    figures = lecture_sessions.statistics(lecture)
    return {
        "figures": figures,
        "outcomes": [
            (label, figures.outcomes[value])
            for value, label in WindowOutcome.choices
            if figures.outcomes.get(value)
        ],
    }


def _heard(lecture: LectureSession, *, everything: bool) -> dict[str, Any]:
    count = lecture.segments.count()
    skipped = 0 if everything else max(0, count - LINES)
    ends: dict[int | None, list[Window]] = {}
    for window in _citing(lecture):
        ends.setdefault(window.last, []).append(window)
    lines = [
        SpeechLine(segment=one, windows=tuple(ends.get(one.number, ())))
        for one in lecture.segments.order_by("number")[skipped:]
    ]
    waiting = lecture.windows.filter(outcome=WindowOutcome.WAITING).values_list("index", flat=True)
    looked = lecture.windows.exclude(outcome=WindowOutcome.WAITING)
    last = (
        looked.filter(outcome__in=(WindowOutcome.CITED, WindowOutcome.FAILED))
        .order_by("-index")
        .first()
    )
    return {
        "lines": lines,
        "earlier": skipped,
        "waiting": list(waiting),
        "looked": looked.count(),
        "note": last.note if last else "",
    }


def _cards(lecture: LectureSession, *, before: int | None) -> dict[str, Any]:
    found = _citing(lecture).order_by("-index")
    if before is not None:
        found = found.filter(index__lt=before)
    windows = list(found[: WINDOWS + 1])
    return {
        "windows": windows[:WINDOWS],
        "older": windows[WINDOWS - 1].index if len(windows) > WINDOWS else None,
    }


def _citing(lecture: LectureSession) -> Any:
    """Return the windows that cite something, each with its ``cited``."""
    cited = (
        Citation.objects.filter(pk__in=lecture_sessions.citations_of(lecture).values("pk"))
        .select_related("source")
        .order_by("rank")
    )
    found = (
        Window.objects.filter(session=lecture, citations__in=lecture_sessions.citations_of(lecture))
        .distinct()
        .order_by("index")
    )
    return found.prefetch_related(Prefetch("citations", queryset=cited, to_attr="cited"))
