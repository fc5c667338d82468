"""Highlights: list, keep, change, delete."""

from typing import Any, Final
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from citations.ingest import selection
from citations.models import Highlight, HighlightColor
from citations.notebook import highlight_lists, highlights
from citations.notebook.highlights import HighlightFilter, PlacedHighlight
from citations.views.highlight_form import NotesForm, PassageForm, address, filter_of, notes_of
from transcripts.core.errors import Forbidden, KnowledgeBaseError, NotFound
from transcripts.core.views.requests import (
    PageRequest,
    back,
    fragment,
    offset_of,
    own_address,
    redirect_with_message,
    without_empty,
)
from transcripts.library import reading as library

BESIDE: Final = 1_000  # characters around a new highlight whose highlights are listed with it
PAGE_SIZE: Final = 30  # highlights per page


@require_safe
def show_highlights(request: PageRequest) -> HttpResponse:
    """List highlights by source, of a source, collection, tag, colour, day or words; HTMX gets the
    list alone.
    """
    filled = without_empty(request)
    if filled and not request.htmx:
        return redirect(filled)
    filter = filter_of(request.GET)
    offset = offset_of(request)
    page = highlight_lists.list_groups(
        request.access, request.user, filter, offset=offset, limit=PAGE_SIZE
    )
    if offset and not page.groups:
        return redirect(f"{reverse('highlights')}{address(filter)}")
    context = {
        "page": page,
        "hidden_words": highlight_lists.hidden_words(page.highlights),
        "address_of_cards": address(filter.model_copy(update={"cards": True})),
        "offset": offset,
        "filter": filter,
        "is_filtered": filter != HighlightFilter(),
        "address": address(filter),
    }
    if request.htmx:
        response = fragment(request, "citations/_highlights_list.html", context)
        if filled:
            response["HX-Replace-Url"] = filled
        return response
    context |= {
        "choices": highlight_lists.choices(request.access, request.user),
        "collections": library.collections(request.access),
        "colors": HighlightColor.choices,
        "hidden": Highlight.objects.hidden(request.access, request.user).count(),
    }
    return render(request, "citations/highlights.html", context)


@require_POST
def add(request: PageRequest) -> HttpResponse:
    """Highlight a passage; scripts get the list that a reader shows beside the text."""
    form = PassageForm(request.POST)
    try:
        selected = form.selected()
        source = str(form.cleaned_data["source"])
        highlight = highlights.keep(
            request.access,
            request.user,
            source,
            selected,
            form.notes(),
            **form.place(),
            only=form.filled_fields,
        )
    except (Forbidden, NotFound):
        raise
    except KnowledgeBaseError as error:
        if request.htmx:
            raise
        names = [name for name in form.fields if name in form.data]
        hidden = [(name, form.data[name]) for name in names if name not in ("quote", "note")]
        context = {"error": error, "values": form.data, "hidden": hidden}
        return render(request, "citations/highlight_refused.html", context, status=422)
    if request.htmx:
        return _beside(request, highlight.placed)
    return back(request, _address_of(request, highlight.placed))


@require_http_methods(["GET", "HEAD", "POST"])
def change(request: PageRequest, highlight_id: UUID) -> HttpResponse:
    """Show a highlight with its place, or change its colour, note, tags and hidden words.

    Scripts get what its toolbar shows in the text.
    """
    placed = _find(request, highlight_id, write=request.method == "POST")
    form = NotesForm(request.POST)
    context: dict[str, Any] = {
        "placed": placed,
        "gap": placed.gap,
        "notes": form.typed() if request.method == "POST" else notes_of(placed),
        "next": request.POST.get("next", request.GET.get("next", "")),
        "colors": HighlightColor.choices,
        "is_own": placed.row.author_id == request.user.pk,
        "may_share": placed.row.source.collection_id in request.access.writable,
    }
    if request.htmx and request.method != "POST":
        return fragment(request, "citations/_highlight_details.html", {"each": placed})
    if request.method != "POST":
        return render(request, "citations/highlight.html", context)
    try:
        highlights.change(request.access, placed.row, form.notes())
    except Forbidden:
        raise
    except KnowledgeBaseError as error:
        context |= {"error": error}
        return render(request, "citations/highlight.html", context, status=422)
    return back(request, _address_of(request, placed))


@require_http_methods(["GET", "HEAD", "POST"])
def delete(request: PageRequest, highlight_id: UUID) -> HttpResponse:
    """Confirm, then delete a highlight, and return to the list that it was in, or to its place."""
    placed = _find(request, highlight_id, write=True)
    data = request.POST if request.method == "POST" else request.GET
    page = own_address(request, data.get("next", "")) or placed.link
    if request.method != "POST":
        context = {"placed": placed, "next": page}
        return render(request, "citations/delete_highlight.html", context)
    deletion = selection.discard(by=request.user, highlights=[placed.row])
    return redirect_with_message(request, _("The highlight was deleted."), page, undo=deletion.uuid)


def _address_of(request: PageRequest, placed: PlacedHighlight) -> str:
    """Return where the list of its source has a highlight."""
    row = placed.row
    offset = highlight_lists.offset_of(request.access, request.user, row, limit=PAGE_SIZE)
    later = f"&offset={offset}" if offset else ""
    return f"{reverse('highlights')}?source={row.source.uuid}{later}#highlight-{row.uuid}"


def _find(request: PageRequest, highlight_id: UUID, *, write: bool) -> PlacedHighlight:
    return highlights.find(request.access, request.user, highlight_id, write=write)


def _beside(request: PageRequest, placed: PlacedHighlight) -> HttpResponse:
    source = placed.row.source
    within = None
    if placed.locator is not None:
        first, last = placed.locator.span
        within = (first - BESIDE, last + BESIDE)
    context = {
        "highlights": highlights.in_source(request.access, request.user, source, within=within),
        "highlight_count": highlights.count_in_source(request.access, request.user, source),
        "latest": placed,
    }
    return fragment(request, "citations/_highlights_beside.html", context)
