"""The reader of a recording: its transcript as captions, paragraphs or chapters, and find in it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from citations.ingest import item_details
from citations.library import reading_progress
from citations.listening import recognition
from citations.models import LectureSession, Source
from citations.notebook import highlights, notes
from citations.notebook.highlights import PlacedHighlight
from citations.quotes import source_texts
from citations.quotes.anchoring import SelectedText
from citations.reading import comparison
from citations.reading import transcript as reading_transcript
from citations.reading.page import (
    SpokenParagraph,
    TranscriptPart,
    chapters_of,
    paragraphs_of,
    part_of,
)
from citations.reading.position import Position, clip_at, find_position
from citations.reading.spoken_text import speakers
from citations.reading.transcript import TranscriptText
from citations.tasks import send, send_for_abstracts
from citations.text import occurrences
from citations.views.highlights import passage_form
from citations.views.reader import VIEWS, ReaderForm, ReaderParameters, resume_recording
from citations.views.search_hits import carried_place
from transcripts import conf
from transcripts.core.errors import InvalidInput, TranscriptNotFound
from transcripts.core.views.requests import PageRequest, fragment, remember_view
from transcripts.library import collections
from transcripts.library import reading as library
from transcripts.library.exports import TranscriptFormat
from transcripts.models import Transcript, Video
from transcripts.text.timecodes import clock, milliseconds

LISTED: Final = 200  # matches that are listed at once
NOTES: Final = 20
LECTURES: Final = 3
HIGHLIGHTS: Final = 100  # that are listed beside the text; all of the shown part are marked in it
TURNS: Final = 100  # of a speaker that are shown at once
STRIP: Final = 1_000  # units of its width


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedMatch:
    """A sentence with words of the query; ``number`` counts all matches from 1."""

    number: int
    start: int  # ms
    text: str
    spans: tuple[tuple[int, int], ...]  # of the words


@require_safe
def show_recording(request: PageRequest, pk: int) -> HttpResponse:
    """Show a transcript at a moment, a sentence, or the first match of ``q``."""
    parameters = ReaderForm(request.GET).parameters(view=request.COOKIES.get("reader", ""))
    response = _recording(request, collections.find_video(request.access, pk), parameters)
    remember_view(request, response, "reader", parameters.view)
    return response


def _recording(
    request: PageRequest, video: Video, parameters: ReaderParameters, **more: Any
) -> HttpResponse:
    visible_lectures = LectureSession.objects.visible(request.access)
    lectures = visible_lectures.filter(transcript__video=video)
    context: dict[str, Any] = {
        "video": video,
        "parameters": parameters,
        "hit_place": carried_place(request.GET),
        "views": VIEWS,
        "may_write": video.collection_id in request.access.writable,
        "transcripts": video.transcripts.light(),
        "formats": list(TranscriptFormat),
        # The newest ones that replay it, or that it was kept of.
        "lectures": lectures.only("uuid", "title", "created_at")[:LECTURES],
        "can_listen": recognition.is_available(video.collection),
        "listening_minutes": recognition.minutes(video.duration),
        "most_media_megabytes": max(1, conf.max_media_bytes() // 1_000_000),
        **more,
    }
    try:
        transcript = library.find_transcript(video, language=parameters.language)
    except TranscriptNotFound as error:
        context["missing"] = error
        status = 404 if parameters.language else 200
        return render(request, "citations/recording.html", context, status=status)
    context |= _reading(request, video, transcript, parameters)
    context |= _compared(transcript, context["transcripts"])
    if context["missed"]:
        # The page is scrolled to its end: a notice is in sight there, too.
        places = {"time": clock(context["missed"]), "end": clock(context["duration"])}
        text = _("This link is to %(time)s, but the recording ends at %(end)s; this is its end.")
        messages.warning(request, text % places)
    path, moment = reverse("video", args=(video.pk,)), context["position"].from_ms
    title = str(video).replace("[", "(").replace("]", ")")
    context["notes"] = notes.list_notes(request.access, words=path, limit=NOTES).notes
    context["note_start"] = f"[{title} at {clock(moment)}]({path}?t={moment // 1000}s): "
    context |= _progress(request, video, parameters, context)
    if context["source"]:
        send_for_abstracts(context["source"])
    status = 422 if "error" in more else 200
    return render(request, "citations/recording.html", context, status=status)


def _compared(transcript: Transcript, transcripts: Sequence[Transcript]) -> dict[str, Any]:
    """Compare heard captions with others of the language, and those with heard ones."""
    for other in transcripts:
        if other.language == transcript.language and bool(other.made_by) != bool(
            transcript.made_by
        ):
            texts = library.cues_of(transcript), library.cues_of(other)
            return {"compared": comparison.compare(*texts), "compared_with": other}
    return {}


@require_safe
def show_part(request: PageRequest, pk: int, index: int) -> HttpResponse:
    """Show a time chunk as a fragment for infinite scroll."""
    if not request.htmx:
        return redirect(f"{reverse('video', args=(pk,))}?chunk={index}")
    video, transcript, parameters = _part_of_reading(request, pk)
    text = reading_transcript.read(transcript)
    source = Source.objects.filter(transcript=transcript).first()
    placed = _highlights(request, source, text.chunk(index).span)
    position = Position(matches=text.find(parameters.query))
    context = {
        "video": video,
        "parameters": parameters,
        "part": _part(video, text, position, index=index, placed=placed),
        "only": request.GET.get("only", ""),
    }
    return fragment(request, "citations/_transcript_part.html", context)


@require_safe
def find(request: PageRequest, pk: int) -> HttpResponse:
    """Show the matches of ``q``, and the transcript at one of them, as a fragment."""
    if not request.htmx:
        return redirect(f"{reverse('video', args=(pk,))}?{request.GET.urlencode()}")
    video, transcript, parameters = _part_of_reading(request, pk)
    context: dict[str, Any] = {
        "video": video,
        "parameters": parameters,
        "views": VIEWS,
        "may_write": video.collection_id in request.access.writable,
        "is_swap": True,
    }
    context |= _reading(request, video, transcript, parameters)
    response = fragment(request, "citations/_find.html", context)
    position = context["position"]
    position_query = {"t": f"{position.from_ms // 1000}s", "n": position.number or ""}
    response["HX-Replace-Url"] = (
        f"{reverse('video', args=(pk,))}{parameters.query_string(**position_query)}"
    )
    return response


@require_safe
def show_clip(request: PageRequest, pk: int) -> HttpResponse:
    """Show the player of a recording from ``t`` until ``until``, as a fragment."""
    video = collections.find_video(request.access, pk)
    if not request.htmx:
        return redirect(f"{reverse('video', args=(pk,))}?{request.GET.urlencode()}")
    parameters = ReaderForm(request.GET).parameters()
    clip = Position(begin=milliseconds(parameters.moment), until=milliseconds(parameters.until))
    return fragment(request, "citations/_player.html", {"video": video, "position": clip})


@require_POST
def rename_speaker(request: PageRequest, pk: int) -> HttpResponse:
    """Give a speaker another name; show what they say, or what is wrong with the name."""
    video = collections.find_video(request.access, pk)
    request.access.require_write(video.collection_id)
    language = request.POST.get("lang", "")
    transcript = library.find_transcript(video, language=language)
    speaker, new_name = request.POST.get("speaker", ""), request.POST.get("name", "")
    try:
        name, sources = item_details.rename_speaker(transcript, speaker, new_name)
    except InvalidInput as error:
        shown = ReaderParameters(speaker=speaker, language=language)
        return _recording(request, video, shown, error=error, wanted_name=new_name)
    for source in sources:
        send(source)
    if name != speaker:
        text = _("“%(speaker)s” is now called “%(name)s”.")
        messages.success(request, text % {"speaker": speaker, "name": name})
    shown = ReaderParameters(speaker=name, language=language)
    return redirect(f"{reverse('video', args=(pk,))}{shown.query_string()}")


def _part_of_reading(request: PageRequest, pk: int) -> tuple[Video, Transcript, ReaderParameters]:
    """Return what a part of the page needs: the view is the one that was chosen last."""
    video = collections.find_video(request.access, pk)
    last = request.COOKIES.get("reader", "")
    parameters = ReaderForm(request.GET).parameters(view=last, is_part=True)
    return video, library.find_transcript(video, language=parameters.language), parameters


def _reading(
    request: PageRequest, video: Video, transcript: Transcript, parameters: ReaderParameters
) -> dict[str, Any]:
    text = reading_transcript.read(transcript)
    source = Source.objects.filter(transcript=transcript).first()
    duration = max(video.duration or 0, text.duration, 1)
    missed = milliseconds(parameters.moment) or 0
    if is_beyond := missed > duration:
        last = text.sentences[-1].start if text.sentences else 0
        parameters = replace(parameters, moment=last / 1000, until=None)
    span = None  # where the words of a copied link are now
    if source and parameters.passage:
        selected, near = SelectedText(exact=parameters.passage), milliseconds(parameters.moment)
        span = source_texts.find(source, selected, start=near)
    position = find_position(
        text,
        query=parameters.query,
        number=parameters.number,
        span=span or parameters.span,
        moment=parameters.moment,
        until=parameters.until,
        near=parameters.near,
    )
    index = text.chunk_at(position.latest) if parameters.chunk is None else parameters.chunk
    placed = _highlights(request, source, None if parameters.speaker else text.chunk(index).span)
    part = _part(video, text, position, index=index, placed=placed)
    listed = _listed(text, position)
    lines = part.paragraphs if parameters.view == "paragraphs" else part.captions
    count = highlights.count_in_source(request.access, request.user, source) if source else 0
    matched = [text.sentences[number].start for number in position.matches.numbers]
    context: dict[str, Any] = {
        "transcript": transcript,
        "speakers": speakers(text.speeches),
        "source": source,
        "highlights": placed[:HIGHLIGHTS],
        "highlight_count": count,
        "passage": passage_form(source, text.text, position.marked, start=position.from_ms),
        "position": position,
        "clip": clip_at(text, position),
        "part": part,
        "at": _line_at(lines, position),
        "listed": listed,
        "last_listed": listed[-1] if listed else None,
        "duration": duration,
        "missed": missed if is_beyond else None,
        "now": round(STRIP * position.from_ms / duration),
        "match_ticks": _ticks(matched, duration),
        "chapter_ticks": _ticks([int(start) for start, _ in video.chapters], duration),
    }
    if parameters.speaker:
        colored = highlights.colored(placed)
        paragraphs = paragraphs_of(text, parameters.speaker, highlights=colored)
        later = parameters.turn + TURNS
        page = paragraphs[parameters.turn : later]
        context |= {
            "said": page,
            "said_count": len(paragraphs),
            "later_turn": later if later < len(paragraphs) else None,
            "at": _line_at(page, position),
        }
    elif parameters.view == "chapters":
        context["chapters"] = chapters_of(video, source, text, duration=duration)
    return context


def _progress(
    request: PageRequest, video: Video, parameters: ReaderParameters, context: dict[str, Any]
) -> dict[str, Any]:
    """Return where the reader was before, and keep where they are now.

    Who follows a hit or a citation only looks something up, and stays where they were; so does who
    chooses another view.
    """
    progress = reading_progress.find(request.user, video)
    position, duration = context["position"], context["duration"]
    is_peek = bool(parameters.query or parameters.span or parameters.passage or parameters.until)
    is_peek = is_peek or "view" in request.GET
    at = None
    if parameters.moment is not None and not is_peek:
        at = position.from_ms
    elif parameters.chunk is not None and not is_peek:
        at = context["part"].start
    if request.method == "GET":
        reading_progress.keep(request.user, video, position=at, length=duration)
    return {
        "is_first_visit": progress is None,
        "is_finished": progress is not None and progress.is_finished,
        "resume": resume_recording(
            progress, opened_at=position.from_ms, duration=duration, carried=parameters.carried
        ),
    }


def _highlights(
    request: PageRequest, source: Source | None, within: tuple[int, int] | None
) -> tuple[PlacedHighlight, ...]:
    if source is None:
        return ()
    return highlights.in_source(request.access, request.user, source, within=within)


def _part(
    video: Video,
    text: TranscriptText,
    position: Position,
    *,
    index: int,
    placed: Sequence[PlacedHighlight],
) -> TranscriptPart:
    """Return the time chunk of an index. Raises ``ChunkNotFound``."""
    return part_of(
        text,
        index=index,
        terms=position.matches.terms,
        marked=position.marked,
        highlights=highlights.colored(placed),
        chapters=[(int(start), str(title)) for start, title in video.chapters],
    )


def _line_at(paragraphs: Sequence[SpokenParagraph], position: Position) -> int | None:
    """Return the start of the line of a position, None at the beginning."""
    starts = [line.start for paragraph in paragraphs for line in paragraph.lines]
    if position.begin is None or not starts:
        return None
    return max((start for start in starts if start <= position.latest), default=starts[0])


def _listed(text: TranscriptText, position: Position) -> list[ListedMatch]:
    """Return the matches around the current one, in whole pages."""
    first = ((position.number or position.next or 1) - 1) // LISTED * LISTED
    numbers = position.matches.numbers[first : first + LISTED]
    return [
        ListedMatch(
            number=count,
            start=sentence.start,
            text=(words := text.text[sentence.first : sentence.last]),
            spans=tuple(occurrences.find(words, position.matches.terms)),
        )
        for count, number in enumerate(numbers, start=first + 1)
        for sentence in [text.sentences[number]]
    ]


def _ticks(times: Sequence[int], duration: int) -> str:
    """Return the strokes of the strip at these times (ms), as SVG writes a path."""
    places = sorted({round(STRIP * time / duration) for time in times})
    return " ".join(f"M{place} 0v20" for place in places)
