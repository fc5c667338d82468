"""The library: everything that was added, on one page."""

from typing import Any, Final

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from citations.library import items, sources
from citations.library.filters import facets
from citations.library.item import KINDS
from citations.library.items import GROUPS, READING
from citations.models import Deletion, Source
from citations.vectors import language_gap
from citations.vectors import space as vector_space
from citations.views.library_form import SORT_LABELS, LibraryForm
from transcripts import clock
from transcripts.models import Collection
from transcripts.views.requests import PageRequest, fragment

PAGE: Final = 60
A_YEAR: Final = 365 * 24 * 3600  # seconds


@require_safe
def show_library(request: PageRequest) -> HttpResponse:
    """Show a page of the list; HTMX gets the list alone, or what comes after an offset."""
    parameters = LibraryForm(request.GET).parameters(view=request.COOKIES.get("library", ""))
    page = items.list_items(
        request.access,
        parameters.listing,
        reader=request.user,
        offset=parameters.offset,
        limit=PAGE,
    )
    context = {
        "parameters": parameters,
        "listing": parameters.listing,
        "page": page,
        "writable": request.access.writable,
        "may_change": bool(request.access.writable),
    }
    if request.htmx:
        name = "_library_rows" if parameters.offset else "_library_list"
        response = fragment(request, f"citations/{name}.html", context)
    else:
        response = render(request, "citations/library.html", context | _around(request))
    if "view" in request.GET:
        response.set_cookie("library", parameters.view, max_age=A_YEAR, samesite="Lax")
    return response


def _around(request: PageRequest) -> dict[str, Any]:
    """Return what stands around the list: values to filter by, and what is to be known."""
    visible = Source.objects.visible(request.access)
    return {
        "targets": Collection.objects.filter(pk__in=request.access.writable),
        "deletions": Deletion.objects.filter(created_by=request.user, run_after__gt=clock.now()),
        "known": facets(request.access),
        "kinds": KINDS,
        "reading": READING,
        "groups": GROUPS,
        "sorts": SORT_LABELS.items(),
        "counts": sources.count(visible),
        "error": vector_space.mismatch(),
        "split_otherwise": sources.split_otherwise(visible).count(),
        "language_gap": language_gap.find(visible),
    }
