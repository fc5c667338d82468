"""A page of a document, its image, and the original file."""

from collections.abc import AsyncIterator
from typing import Any, Final
from uuid import UUID

from asgiref.sync import sync_to_async
from django.db import close_old_connections
from django.http import HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.cache import get_conditional_response
from django.utils.http import content_disposition_header
from django.views.decorators.http import require_safe

from citations.documents import page_images, page_search, pages
from citations.documents.page_search import MatchPlace, PageMatches
from citations.errors import PageNotFound
from citations.library import reading_progress
from citations.library.filters import find_source
from citations.library.item import COVER_WIDTH
from citations.models import Document, Source
from citations.notebook import highlights, notes
from citations.quotes import source_texts
from citations.quotes.anchoring import SelectedText
from citations.readers.pdf import reader as pdf_reader
from citations.reading import contents as document_contents
from citations.reading.places import page_place
from citations.tasks import send_for_abstracts
from citations.views.highlights import passage_form
from citations.views.reader import resume_document
from citations.views.search_form import PageForm, PageParameters
from citations.views.search_hits import carried_place
from transcripts.core.views.requests import PageRequest, fragment, number_of

NOTES: Final = 20

# Browsers must not run a file's content as part of this site: no sniffing, no scripts.
HARMLESS: Final = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; sandbox",
}


@require_safe
def show_page(request: PageRequest, source_id: UUID, number: int) -> HttpResponse:
    """Show a page with a quote marked; HTMX gets the fragment for the dialog."""
    source = find_source(request.access, str(source_id))
    if source.video_id:
        return redirect("source", source_id=source_id)
    parameters = PageForm(request.GET).parameters()
    quote = parameters.quote
    if parameters.citation:
        quote = pages.find_quote_span(request.access, source.uuid, parameters.citation)
    elif parameters.passage:  # the words of a copied link
        quote = source_texts.find(source, SelectedText(exact=parameters.passage), page=number)
    search = page_search.find_pages(request.access, source_id, parameters.words)
    place = _match_place(parameters, search, number)
    if place.page != number:
        page = reverse("source-page", args=(source_id, place.page))
        return redirect(f"{page}{parameters.matching}{place.number}")
    within = pages.span_of_page(source, number)
    placed = highlights.in_source(request.access, request.user, source, within=within)
    view = pages.show_page(
        request.access,
        source_id,
        number,
        quote=quote,
        terms=search.terms,
        fewest=search.fewest,
        match=place.number,
        highlights=highlights.colored(placed),
    )
    context: dict[str, Any] = {
        "view": view,
        "search": search if parameters.words else None,
        "match_number": search.number_of(place),
        "previous_match": search.previous(place),
        "next_match": search.next(place),
        "is_lost": bool(parameters.citation or parameters.passage) and quote is None,
        "parameters": parameters,
        "hit_place": carried_place(request.GET),
        "is_modal": bool(request.htmx),
    }
    if request.htmx:
        return fragment(request, "citations/_page.html", context)
    send_for_abstracts(source)
    contents = document_contents.of(source.document.outline)
    part, entry = contents.at(number)
    path = reverse("source", args=(source_id,))
    title = source.title.replace("[", "(").replace("]", ")")
    here = reverse("source-page", args=(source_id, number))
    context |= {
        "source": source,
        "contents": contents,
        "part_here": part,
        "entry_here": entry,
        "highlights": placed,
        "highlight_count": highlights.count_in_source(request.access, request.user, source),
        "passage": passage_form(
            source,
            view.page.text,
            next(iter(view.quote), None) if parameters.has_quote else None,
            page=number,
        ),
        "may_write": source.collection_id in request.access.writable,
        "notes": notes.list_notes(request.access, words=path, limit=NOTES).notes,
        "note_start": f"[{title}, {page_place(number, source)}]({here}): ",
    }
    context |= _progress(request, source, number, parameters, count=view.count)
    return render(request, "citations/page.html", context)


def _match_place(parameters: PageParameters, search: PageMatches, number: int) -> MatchPlace:
    """Return the place of the match to mark; its number is 0 where none is."""
    if parameters.match or parameters.has_quote:
        return MatchPlace(number, parameters.match)
    first = MatchPlace(number, 1)
    is_beyond = search.is_cut and number > search.hits[-1].number
    if parameters.is_find and search.hits and not is_beyond and search.number_of(first) is None:
        return search.next(MatchPlace(number, 0)) or search.next(MatchPlace(0, 0)) or first
    return first if search.number_of(first) else MatchPlace(number, 0)


def _progress(
    request: PageRequest, source: Source, number: int, parameters: PageParameters, *, count: int
) -> dict[str, Any]:
    """Return where the reader was before, and keep where they are now.

    Who follows a hit or a citation only looks something up, and stays where they were; so does who
    opens the document without naming a page. Who turns page after page reads on.
    """
    progress = reading_progress.find(request.user, source)
    is_peek = bool(parameters.has_quote or parameters.words)
    is_opened = request.resolver_match is not None and request.resolver_match.url_name == "source"
    has_place = progress is not None and progress.position > 0
    at = None if is_peek or (is_opened and has_place) else number
    if request.method == "GET":
        before = progress.position if progress else 0
        reading_progress.keep(
            request.user, source, position=at, length=count, reads_on=number == before + 1
        )
    return {
        "is_first_visit": progress is None,
        "is_finished": progress is not None and progress.is_finished,
        "resume": resume_document(progress, source, number) if at is None else None,
    }


@require_safe
def show_contents(request: PageRequest, source_id: UUID, number: int) -> HttpResponse:
    """Show the headings within a part of a document: a fragment for its fold, or a page."""
    source = find_source(request.access, str(source_id))
    document = pages.find_document(request.access, source_id)
    parts = document_contents.of(document.outline).parts
    if not 0 < number <= len(parts):
        raise PageNotFound("The contents have no such part.", hint="Reload the page.")
    parameters = PageForm(request.GET).parameters()
    context = {"source": source, "part": parts[number - 1], "parameters": parameters}
    if request.htmx:
        return fragment(request, "citations/_contents_part.html", context)
    return render(request, "citations/contents.html", context)


@require_safe
def page_image(request: PageRequest, source_id: UUID, number: int) -> HttpResponseBase:
    """Return a page's image in the width nearest to the requested one; supports ETags."""
    document = pages.find_image_document(request.access, source_id, number)
    size = number_of(request.GET.get("width", "")) or page_images.WIDTHS[0]
    offered = (COVER_WIDTH, *page_images.WIDTHS)
    width = min(offered, key=lambda width: abs(width - size))
    etag = f'"{page_images.name(document, number, width=width)}"'
    response = get_conditional_response(request, etag=etag)
    if response is None:
        data = page_images.render_page(document, number, width=width).read_bytes()
        response = HttpResponse(data, content_type=pdf_reader.PICTURE_TYPE)
    for name, value in {**HARMLESS, "ETag": etag}.items():
        response[name] = value
    if width == COVER_WIDTH:  # a list has many, and their addresses name the version
        response["Cache-Control"] = "private, max-age=300"
    return response


@require_safe
def plain_file(request: PageRequest, source_id: UUID) -> HttpResponseBase:
    """Return the original file as a download."""
    document = pages.find_document(request.access, source_id)
    media_type = document.media_type if document.format.is_binary else "application/octet-stream"
    disposition = content_disposition_header(as_attachment=True, filename=document.name)
    headers = {
        **HARMLESS,
        "Content-Type": media_type,
        "Content-Length": str(document.size),
        "Content-Disposition": disposition or "attachment",
    }
    if request.method == "GET":
        return StreamingHttpResponse(_parts(document), headers=headers)
    return HttpResponse(headers=headers)


async def _parts(document: Document) -> AsyncIterator[bytes]:
    """Yield the file's parts, without holding a connection while a slow client reads."""
    for ordinal in await sync_to_async(pages.part_ordinals)(document):
        yield await sync_to_async(_part)(document, ordinal)


def _part(document: Document, ordinal: int) -> bytes:
    try:
        return pages.read_part(document, ordinal)
    finally:
        close_old_connections()
