"""The page of one source, how it is indexed, and a citation of it in detail."""

from contextlib import suppress
from typing import Final
from urllib.parse import urlencode
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from citations.documents import ocr
from citations.documents import pages as document_pages
from citations.documents import storage as document_storage
from citations.errors import CitationNotFound, PageNotFound
from citations.formats import VIDEO
from citations.ingest import lanes
from citations.library import sources
from citations.library.filters import find_source
from citations.models import Citation, Document, Source
from citations.outline import storage as outline_storage
from citations.quotes import verification
from citations.readers.ocr import engine as ocr_engine
from citations.reading.position import Position
from citations.tasks import send, send_opened
from citations.views import pages
from transcripts.core.installation import install_command
from transcripts.core.lists import row_of
from transcripts.core.views.requests import PageRequest, fragment, number_of, redirect_with_message
from transcripts.models import Transcript

PAGE_SIZE: Final = 50


@require_safe
def show_source(request: PageRequest, source_id: UUID) -> HttpResponse:
    """Open the reader: the recording, or a page of a document; else how it is indexed."""
    source = find_source(request.access, str(source_id))
    if source.video_id:
        question = f"?{urlencode({'lang': source.language})}" if source.language else ""
        return redirect(f"{reverse('video', args=(source.video_id,))}{question}")
    if Document.objects.filter(source=source, page_count__gt=0).exists():
        number = number_of(request.GET.get("page", ""))
        if not number:
            return pages.show_page(request, source_id, 1)
        others = request.GET.copy()
        del others["page"]
        question = f"?{others.urlencode()}" if others else ""
        return redirect(f"{reverse('source-page', args=(source_id, number))}{question}")
    return redirect("source-passages", source_id=source_id)


@require_safe
def show_passages(request: PageRequest, source_id: UUID) -> HttpResponse:
    """Show how a source is indexed: its chunks from ``offset``, or from ``page`` of a document."""
    source = find_source(request.access, str(source_id))
    location = sources.find_page(source, number_of(request.GET.get("page", "")) or 0)
    text = request.GET.get("offset")
    offset = location.offset if text is None else number_of(text) or 0
    page = sources.list_chunks(source, offset=offset, limit=PAGE_SIZE)
    writable = request.access.writable
    context = {
        "source": source,
        "page": page,
        "at": location.chunks,
        "is_read_otherwise": document_storage.read_otherwise(
            Source.objects.filter(pk=source.pk)
        ).exists(),
        "has_ocr": ocr_engine.is_installed(),
        "ocr_command": install_command("ocr"),
        "writable": writable,
        "may_write": source.collection_id in writable,
    }
    return render(request, "citations/source.html", context)


@require_safe
def show_guide(request: PageRequest, source_id: UUID) -> HttpResponse:
    """Show the guide to a source: a fragment that polls until it is made, then ``open`` or not.

    It tells the rest of the page when the source is ready.
    """
    source = find_source(request.access, str(source_id))
    if not request.htmx:
        return redirect("source", source_id=source_id)
    context = {"source": source, "is_first_visit": "open" in request.GET}
    response = fragment(request, "citations/_guide_alone.html", context)
    if not source.is_unfinished:
        response["HX-Trigger"] = "source-ready"
    return response


@require_safe
def show_outline(request: PageRequest, source_id: UUID) -> HttpResponse:
    """Show the parts of a source's outline: a fragment that unfolding asks for, or a page."""
    source = find_source(request.access, str(source_id))
    context = {"source": source, "outline": outline_storage.outline(source)}
    if request.htmx:
        return fragment(request, "citations/_outline_parts.html", context)
    return render(request, "citations/outline.html", context)


@require_POST
def index(request: PageRequest, source_id: UUID) -> HttpResponse:
    """Index a source again."""
    source = _find_writable(request, source_id)
    source.start_anew()
    send(source)
    return redirect_with_message(
        request,
        _("“%(title)s” will be indexed again.") % {"title": source},
        "source-passages",
        source_id=source_id,
    )


@require_POST
def read_by_ocr(request: PageRequest, source_id: UUID) -> HttpResponse:
    """Read by OCR the pages of a document that have no words, or ``stop`` doing so."""
    source = _find_writable(request, source_id)
    if "stop" in request.POST:
        ocr.cancel(source)
        message = _("“%(title)s” keeps the pages that were read by OCR.")
    else:
        ocr.request(source)
        send(source)
        message = _("“%(title)s” is being read by OCR.")
    return redirect_with_message(
        request, message % {"title": source}, "source-passages", source_id=source_id
    )


@require_POST
def note_opened(request: PageRequest, source_id: UUID) -> HttpResponse:
    """Have a source that somebody reads indexed, or its guide made, before others.

    Its page sends this, so that a browser that fetches pages ahead changes nothing. Every reader
    may do it, and it counts once until both are there.
    """
    send_opened(find_source(request.access, str(source_id)))
    return HttpResponse(status=204, headers={"HX-Trigger": "source-opened"})


@require_POST
def put_first(request: PageRequest, source_id: UUID) -> HttpResponse:
    """Index a source before all others that wait."""
    source = _find_writable(request, source_id)
    if lanes.put_first(Source.objects.filter(pk=source.pk)):
        send(source)
        message = _("“%(title)s” is indexed next.")
    else:
        message = _("“%(title)s” is no longer waiting to be indexed.")
    return redirect_with_message(
        request, message % {"title": source}, "source", source_id=source_id
    )


def _find_writable(request: PageRequest, source_id: UUID) -> Source:
    return find_source(request.access, str(source_id), write=True)


@require_safe
def show_citation(request: PageRequest, citation_id: UUID) -> HttpResponse:
    """Show a citation at its current location in the source."""
    visible = Citation.objects.visible(request.access)
    shown = visible.select_related("source__video__media", "source__collection")
    citation = row_of(shown, citation_id, CitationNotFound)
    at = verification.locator_of(citation)
    link = citation.source.path_to(at) if at else ""
    video = citation.source.video
    clip: Position | None = None
    if at and at.start is not None and video and video.player:
        clip = Position(begin=at.start, until=at.end)
    view = None
    if at and at.page is not None and citation.source.kind != VIDEO:
        with suppress(PageNotFound):
            uuid = citation.source.uuid
            view = document_pages.show_page(request.access, uuid, at.page, quote=at.span)
    context = {
        "citation": citation,
        "prefix": citation.prefix[citation.prefix.find(" ") + 1 :],  # whole words
        "suffix": citation.suffix[: citation.suffix.rfind(" ") + 1],
        "at": at,
        "link": link,
        "permanent": request.build_absolute_uri(citation.permalink),
        "clip": clip,
        "heard": Transcript.objects.light()
        .filter(source=citation.source_id)
        .exclude(made_by="")
        .first(),
        "may_share": citation.source.collection_id in request.access.writable,
        "view": view,
    }
    return fragment(request, "citations/_citation.html", context)


@require_safe
def go(request: PageRequest, citation_id: UUID) -> HttpResponse:
    """Redirect to the current position of a citation."""
    return redirect(verification.address_of(request.access, citation_id))
