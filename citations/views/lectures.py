"""The pages of live lectures."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from django.db import transaction
from django.db.models import Count
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import content_disposition_header
from django.utils.text import slugify
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from citations.errors import LectureNotFound
from citations.lectures import cards as lecture_cards
from citations.lectures import report as lecture_report
from citations.lectures import sessions as lecture_sessions
from citations.lectures import speech
from citations.lectures import worker as lecture_worker
from citations.lectures.cards import CardGroup
from citations.library.filters import languages_of
from citations.models import (
    UNFINISHED,
    LectureSession,
    Segment,
    Source,
    State,
    Window,
    WindowOutcome,
)
from citations.schemas.requests import MAX_ASKED
from citations.text import sentences
from citations.views import undo
from citations.views.forms import AdvanceForm, NewLectureForm, speech_of
from transcripts.core import languages
from transcripts.core.errors import (
    Conflict,
    Forbidden,
    InvalidInput,
    KnowledgeBaseError,
    TranscriptNotFound,
)
from transcripts.core.views.requests import PageRequest, fragment, number_of, offset_of
from transcripts.models import Collection, Transcript, Video

TALKS_SHOWN: Final = 200  # recordings offered
PAGE_SIZE: Final = 30  # lectures per page
GROUPS: Final = 40  # groups of cards shown at first
LINES: Final = 3_000  # segments shown
NAMED: Final = 3  # sources that are not ready
USUAL: Final = "library"  # the default collection
REFUSALS: Final = (InvalidInput, Conflict)  # of speech


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeechLine:
    """A segment in parts: text, and the groups of cards that belong to the sentence it ends."""

    segment: Segment
    parts: tuple[tuple[str, tuple[CardGroup, ...]], ...]


@require_safe
def show_lectures(request: PageRequest) -> HttpResponse:
    offset = offset_of(request)
    page = lecture_sessions.list_sessions(request.access, offset=offset, limit=PAGE_SIZE)
    context = {
        "lectures": page.sessions,
        "next": page.next,
        "offset": offset,
        "writable": request.access.writable,
        "undo_offers": undo.lecture_offers(request),
    }
    return render(request, "citations/lectures.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def new(request: PageRequest) -> HttpResponse:
    """Show the form of a new lecture, or start it."""
    values = NewLectureForm(request.POST if request.method == "POST" else request.GET).values()
    if request.method != "POST":
        return render(request, "citations/lecture_new.html", _choices(request, values))
    settings = {name: values[name] for name in ("title", "collection", "sources")}
    try:
        talk = None
        if values["transcript"]:
            visible = Transcript.objects.visible(request.access).select_related("video")
            talk = visible.filter(pk=values["transcript"]).first()
            if talk is None:
                raise TranscriptNotFound(
                    "This recording no longer exists.", hint="Choose another one."
                )
        settings["language"] = languages.parse(values["language"])
        session = lecture_sessions.start(request.access, request.user, transcript=talk, **settings)
    except Forbidden:
        raise
    except KnowledgeBaseError as error:
        context = {**_choices(request, values), "error": error}
        return render(request, "citations/lecture_new.html", context, status=422)
    lecture_worker.prepare(session)
    return redirect("lecture", lecture_id=session.uuid)


@require_safe
def show_lecture(request: PageRequest, lecture_id: UUID) -> HttpResponse:
    """Show a lecture: the speech with citation numbers, and cards."""
    lecture = lecture_sessions.find_session(request.access, lecture_id)
    context = _page(request, lecture) | {"is_pasting": "paste" in request.GET}
    return render(request, "citations/lecture.html", context)


def _page(request: PageRequest, lecture: LectureSession) -> dict[str, Any]:
    recordings = Transcript.objects.light().select_related("video")
    talk = recordings.filter(pk=lecture.transcript_id or 0).first()
    groups = lecture_cards.list_groups(lecture)  # once: each card must have its number
    return {
        "lecture": lecture,
        "may_write": _may_write(request, lecture),
        "talk": talk,
        "recording": _recording(request, lecture),
        **_sources(lecture),
        **_figures(lecture),
        **_speech(lecture, groups, everything="all" in request.GET),
        **_cards(request, lecture, groups),
    }


@require_safe
def show_window(request: PageRequest, lecture_id: UUID, index: int) -> HttpResponse:
    """Show the cards that a window brings or extends, and its citation numbers."""
    lecture = lecture_sessions.find_session(request.access, lecture_id)
    groups = lecture_cards.groups_at(lecture, index)
    if not groups:
        raise LectureNotFound("This window cites nothing.")
    context = {"lecture": lecture, "groups": groups, "recording": _recording(request, lecture)}
    return fragment(request, "citations/_window.html", context)


@require_safe
def show_citations(request: PageRequest, lecture_id: UUID) -> HttpResponse:
    """Show older cards, or later ones."""
    lecture = lecture_sessions.find_session(request.access, lecture_id)
    cards = _cards(request, lecture, lecture_cards.list_groups(lecture))
    context = {"lecture": lecture, "recording": _recording(request, lecture), **cards}
    return fragment(request, "citations/_card_groups.html", context)


@require_safe
def show_sources(request: PageRequest, lecture_id: UUID) -> HttpResponse:
    """Show what is not indexed yet, or that there are passages to look up now."""
    lecture = lecture_sessions.find_session(request.access, lecture_id)
    context = {"lecture": lecture, "may_write": _may_write(request, lecture), **_sources(lecture)}
    return fragment(request, "citations/_lecture_sources.html", context)


@require_safe
def show_figures(request: PageRequest, lecture_id: UUID) -> HttpResponse:
    lecture = lecture_sessions.find_session(request.access, lecture_id)
    return fragment(request, "citations/_lecture_figures.html", _figures(lecture))


@require_safe
def notes(request: PageRequest, lecture_id: UUID) -> HttpResponse:
    """Download the transcript with citations as Markdown."""
    lecture = lecture_sessions.find_session(request.access, lecture_id)
    text = lecture_report.export(lecture)
    response = HttpResponse(text, content_type="text/markdown; charset=utf-8")
    name = f"{slugify(lecture.title)[:80] or 'lecture'}.md"
    response["Content-Disposition"] = content_disposition_header(True, name)
    return response


@require_POST
def say(request: PageRequest, lecture_id: UUID) -> HttpResponse:
    """Take pasted text or a browser's speech recognition: citations follow each sentence."""
    lecture = _find_writable(request, lecture_id)
    try:
        if not (text := speech_of(request.POST)):
            raise InvalidInput("The text is empty.", hint="Type or paste what was said.")
        windows = _say(lecture, text)
    except REFUSALS as error:
        return _refused(request, lecture, error)
    return _submitted(request, lecture, windows, "?paste=1")


@require_POST
def advance(request: PageRequest, lecture_id: UUID) -> HttpResponse:
    """Replay the recording up to a position."""
    lecture = _find_writable(request, lecture_id)
    position = AdvanceForm(request.POST).position_ms()
    return _submitted(request, lecture, speech.advance(lecture, position))


@require_POST
def end(request: PageRequest, lecture_id: UUID) -> HttpResponse:
    """Add the text that was not added yet, then end; if it is refused, the lecture goes on."""
    lecture = _find_writable(request, lecture_id)
    text = speech_of(request.POST)
    try:
        with transaction.atomic():
            windows = [*(_say(lecture, text) if text else ()), *speech.end(lecture)]
    except REFUSALS as error:
        return _refused(request, lecture, error)
    return _submitted(request, lecture, windows)


@require_POST
def look_up(request: PageRequest, lecture_id: UUID) -> HttpResponse:
    """Look up again what was said before the sources were ready."""
    lecture = _find_writable(request, lecture_id)
    lecture_worker.look_up_again(lecture)
    return redirect("lecture", lecture_id=lecture.uuid)


@require_POST
def keep(request: PageRequest, lecture_id: UUID) -> HttpResponse:
    """Keep an ended lecture as a recording, and open that."""
    lecture = _find_writable(request, lecture_id)
    return redirect("video", pk=speech.keep_recording(lecture, request.user).pk)


@require_POST
def again(request: PageRequest, lecture_id: UUID) -> HttpResponse:
    """Start a lecture with the same settings, to replay its recording again."""
    lecture = _find_writable(request, lecture_id)
    session = lecture_sessions.start_again(request.access, request.user, lecture)
    lecture_worker.prepare(session)
    return redirect("lecture", lecture_id=session.uuid)


def _may_write(request: PageRequest, lecture: LectureSession) -> bool:
    return lecture.collection_id in request.access.writable


def _recording(request: PageRequest, lecture: LectureSession) -> Video | None:
    """Return what it replays or was kept as, if the reader may see that."""
    visible = Video.objects.visible(request.access)
    return visible.filter(transcripts=lecture.transcript_id or 0).first()


def _find_writable(request: PageRequest, lecture_id: UUID) -> LectureSession:
    return lecture_sessions.find_session(request.access, lecture_id, write=True)


def _say(lecture: LectureSession, text: str) -> list[Window]:
    """Take text sentence by sentence. Raises what ``speech.say`` does."""
    speech.check_length(text)
    lines = (" ".join(text[first:last].split()) for first, last in sentences.split(text))
    return speech.say(lecture, "\n".join(lines))


def _refused(
    request: PageRequest, lecture: LectureSession, error: KnowledgeBaseError
) -> HttpResponse:
    """Show the lecture with its text that was not added, and why."""
    if request.htmx:
        raise error
    context = _page(request, lecture) | {
        "is_pasting": True,
        "unadded": speech_of(request.POST),
        "error": error,
        "listed_at": reverse("lecture", args=[lecture.uuid]),  # this address takes no GET
    }
    return render(request, "citations/lecture.html", context, status=422)


def _submitted(
    request: PageRequest, lecture: LectureSession, windows: Sequence[Window], query: str = ""
) -> HttpResponse:
    """Submit windows to be cited; the page receives the events itself."""
    lecture_worker.submit([window.pk for window in windows])
    if request.htmx:
        return HttpResponse(status=204)
    return redirect(reverse("lecture", args=[lecture.uuid]) + query)


def _choices(request: PageRequest, values: dict[str, Any]) -> dict[str, Any]:
    """Return the choices for a new lecture; an address may preset a recording, else the collection
    is the one that has most to cite.
    """
    writable = request.access.writable
    visible = Transcript.objects.visible(request.access).light().select_related("video")
    talks = visible.order_by("-created_at", "-pk")
    video = number_of(request.GET.get("video", ""))
    preset = talks.filter(video=video).first() if video is not None else None
    citable = Source.objects.visible(request.access).filter(collection__in=writable)
    citable = citable.exclude(state=State.FAILED, chunk_count=0)  # they could not be read
    if preset is not None:
        values = {
            **values,
            "transcript": preset.pk,
            "collection": values["collection"] or preset.video.collection.slug,
        }
    by_size = citable.order_by().values_list("collection__slug").annotate(count=Count("pk"))
    fullest, _ = by_size.order_by("-count", "collection__slug").first() or (USUAL, 0)
    unready = citable.filter(state__in=UNFINISHED).order_by().values_list("collection")
    counts = dict(unready.annotate(Count("pk")))
    return {
        "values": {**values, "collection": values["collection"] or fullest},
        "collections": Collection.objects.filter(pk__in=writable),
        "talks": dict.fromkeys([*filter(None, [preset]), *talks[:TALKS_SHOWN]]),
        "sources": citable.select_related("collection", "video__media")[:MAX_ASKED],
        "unready": [(row, counts[row.pk]) for row in Collection.objects.filter(pk__in=counts)],
        "languages": languages.choices(languages_of(request.access)),
    }


def _sources(lecture: LectureSession) -> dict[str, Any]:
    """Count the citable sources, those not ready yet, and what was said too early for them."""
    citable = lecture_sessions.citable_sources(lecture)
    unready = citable.filter(state__in=UNFINISHED)
    return {
        "source_count": citable.count(),
        "unready": unready.count(),
        "unready_titles": unready.values_list("title", flat=True)[:NAMED],
        "early": lecture_sessions.early_windows(lecture).count(),
        "is_chosen": lecture.names_sources,
    }


def _figures(lecture: LectureSession) -> dict[str, Any]:
    figures = lecture_report.statistics(lecture)
    return {
        "figures": figures,
        "outcomes": [
            (label, figures.outcomes[value])
            for value, label in WindowOutcome.choices
            if figures.outcomes.get(value)
        ],
    }


def _speech(
    lecture: LectureSession, groups: Sequence[CardGroup], *, everything: bool
) -> dict[str, Any]:
    count = lecture.segments.count()
    skipped = 0 if everything else max(0, count - LINES)
    cited: dict[int | None, list[CardGroup]] = {}
    for group in groups:
        cited.setdefault(group.said.segment, []).append(group)
    lines = [
        SpeechLine(
            segment=segment,
            parts=tuple(
                lecture_cards.parted(" ".join(segment.text.split()), cited.get(segment.number, ()))
            ),
        )
        for segment in lecture.segments.order_by("number")[skipped:]
    ]
    waiting = lecture.windows.filter(outcome=WindowOutcome.WAITING).values_list("index", flat=True)
    finished = lecture.windows.exclude(outcome=WindowOutcome.WAITING)
    telling = finished.filter(outcome__in=(WindowOutcome.CITED, WindowOutcome.FAILED))
    last = telling.order_by("-index").first()
    return {
        "lines": lines,
        "earlier": skipped,
        "waiting": list(waiting),
        "looked": finished.count(),
        "note": last.note if last else "",
    }


def _cards(
    request: PageRequest, lecture: LectureSession, groups: Sequence[CardGroup]
) -> dict[str, Any]:
    """Return groups of cards, and where the address goes on from there: the newest ones first, or,
    once the lecture has ended, in the order of its speech.
    """
    before, begin = (number_of(request.GET.get(name, "")) for name in ("before", "from"))
    count = sum(len(group.cards) for group in groups)
    if lecture.ended_at is not None and before is None:
        later = [group for group in groups if group.first.index >= (begin or 0)]
        rest = later[GROUPS:]
        following = rest[0].first.index if rest else None
        return {"groups": later[:GROUPS], "count": count, "later": following}
    earlier = [group for group in groups if before is None or group.first.index < before]
    latest = earlier[-GROUPS:]
    older = latest[0].first.index if len(latest) < len(earlier) else None
    return {"groups": latest[::-1], "count": count, "older": older}
