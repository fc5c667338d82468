"""The library: everything that was added, on one page."""

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from citations.documents import storage as document_storage
from citations.library import items, sources
from citations.library.filters import collections_of, languages_of, tags
from citations.library.item import KINDS
from citations.library.items import GROUPS, READING, LibraryQuery
from citations.models import Source
from citations.vectors import space as vector_space
from citations.views import language_notice, undo
from citations.views.library_form import SORT_LABELS, LibraryForm
from transcripts.core import languages
from transcripts.core.scope import Scope
from transcripts.core.views.requests import PageRequest, fragment, remember_view, without_empty
from transcripts.library import activity
from transcripts.library.activity import Following
from transcripts.models import Collection, Feed

PAGE_SIZE: Final = 48


@require_safe
def show_library(request: PageRequest) -> HttpResponse:
    """Show a page of the list; HTMX gets the list alone, or what comes after an offset."""
    return show_list(request, "citations/library.html", _notices)


def show_list(
    request: PageRequest,
    template: str,
    around: Callable[[PageRequest], dict[str, Any]],
    *,
    collection: Collection | None = None,
) -> HttpResponse:
    """Show a page of the list, of one collection or of all; ``around`` returns what else the whole
    page needs.
    """
    address = without_empty(request)
    if address and not request.htmx:
        return redirect(address)
    parameters = LibraryForm(request.GET).parameters(
        request.access,
        view=request.COOKIES.get("library", ""),
        collection=collection.slug if collection else "",
    )
    page = items.list_items(
        request.access,
        parameters.listing,
        reader=request.user,
        offset=parameters.offset,
        limit=PAGE_SIZE,
    )
    listed = Scope(readable=frozenset({collection.pk})) if collection else request.access
    context = {
        "parameters": parameters,
        "listing": parameters.listing,
        "is_awaited": partial(activity.is_unfinished, listed),  # asked for an empty list alone
        "following": partial(_following, listed, parameters.listing),
        "page": page,
        "fixed_collection": collection,
        "add_to": parameters.listing.collection,
        "writable": request.access.writable,
        "may_change": bool(request.access.writable & listed.readable),
    }
    if request.htmx:
        if parameters.offset:
            return fragment(request, "citations/_library_rows.html", context)
        context["counts"] = sources.count(Source.objects.visible(listed))
        response = fragment(request, "citations/_library_list.html", context)
        if address:
            response["HX-Replace-Url"] = address
    else:
        response = render(
            request, template, context | _choices(request, collection) | around(request)
        )
    remember_view(request, response, "library", parameters.view)
    return response


def _following(listed: Scope, listing: LibraryQuery) -> Following:
    """Return who follows the channel or playlist that alone is listed."""
    if listing.playlist:
        return activity.of_playlist(listed, listing.playlist, collection=listing.collection)
    if listing.channel:
        return activity.of_channel(listed, listing.channel, collection=listing.collection)
    return Following()


def _choices(request: PageRequest, collection: Collection | None) -> dict[str, Any]:
    """Return the values to filter by, and the actions on the listed items."""
    listed = Scope(readable=frozenset({collection.pk})) if collection else request.access
    writable = request.access.writable - listed.readable if collection else request.access.writable
    return {
        "languages": languages.choices(languages_of(listed)),
        "targets": Collection.objects.filter(pk__in=writable),
        "chosen": request.session.pop("chosen", ()),
        "undo_offers": undo.offers(request, listed),
        "known": {"collections": collections_of(listed), "tags": tags(listed)},
        "playlists": Feed.objects.visible(listed).exclude(title="").values_list("title", flat=True),
        "kinds": KINDS,
        "reading": READING,
        "groups": [group for group in GROUPS if not (collection and group == "collection")],
        "sorts": SORT_LABELS.items(),
    }


def _notices(request: PageRequest) -> dict[str, Any]:
    """Return the notices about the whole library."""
    visible = Source.objects.visible(request.access)
    return {
        "counts": sources.count(visible),
        "error": vector_space.mismatch(),
        "split_otherwise": sources.split_otherwise(visible).count(),
        "read_otherwise": document_storage.read_otherwise(visible).count(),
        "language_gap": language_notice.current(request, visible),
    }
