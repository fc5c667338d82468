"""The library: everything that was added, on one page; its filter, order and layout."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from django import forms
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST, require_safe

from citations.documents import storage as document_storage
from citations.library import items, sources
from citations.library.filters import collections_of, languages_of, tags
from citations.library.item import KINDS
from citations.library.items import GROUPS, READING, SORTS, LibraryQuery
from citations.models import Source, SourceQuerySet, State
from citations.vectors import language_gap
from citations.vectors import space as vector_space
from citations.vectors.language_gap import LanguageGap
from citations.views import undo
from citations.views.language_model import offers_model
from transcripts.core import languages
from transcripts.core.languages import name_of
from transcripts.core.sanitize import MAX_QUERY_CHARACTERS
from transcripts.core.scope import Scope
from transcripts.core.site_path import site_path
from transcripts.core.views.requests import (
    A_YEAR,
    PageRequest,
    back,
    fragment,
    query_string,
    remember_view,
    without_empty,
)
from transcripts.library import activity
from transcripts.library.activity import Following
from transcripts.models import Collection, Feed

PAGE_SIZE: Final = 48
STATES: Final = (
    (State.PENDING, _("waiting")),
    (State.WORDS, _("being indexed")),
    (State.READY, _("ready")),
    (State.FAILED, _("failed")),
)
VIEWS: Final = ("cards", "table")
SORT_LABELS: Final = {
    "added": _("Newest first"),
    "-added": _("Oldest first"),
    "published": _("Latest published"),
    "-published": _("First published"),
    "title": _("Title, A to Z"),
    "-title": _("Title, Z to A"),
    "length": _("Longest first"),
    "-length": _("Shortest first"),
    "read": _("Last read first"),
    "-read": _("Longest not read first"),
}
_WAYS: Final = [*SORTS, *(f"-{sort}" for sort in SORTS)]


@dataclass(frozen=True, slots=True, kw_only=True)
class FilterPart:
    """A part of the filter that is in force, and the query string without it."""

    name: str
    value: str
    without: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LibraryParameters:
    """The parameters of a request. The page of a collection lists that one: it ``is_fixed`` by the
    address, and is no part of the filter.
    """

    listing: LibraryQuery
    view: str
    offset: int
    is_fixed: bool = False
    collection_title: str = ""

    def query_string(self, **values: object) -> str:
        """Return the query string for another list, from its start."""
        parts = {name: getattr(self.listing, name) for name in _PARTS}
        plain = {"q": parts.pop("words"), **parts, **values}
        if self.is_fixed:
            del plain["collection"]
        if plain["sort"] == SORTS[0]:
            plain["sort"] = ""
        return query_string(plain) or "?"

    @property
    def chips(self) -> list[FilterPart]:
        labels: dict[str, dict[Any, Any]] = {
            "kind": dict(KINDS),
            "state": dict(STATES),
            "reading": dict(READING),
            "language": {self.listing.language: name_of(self.listing.language)},
            "collection": {self.listing.collection: self.collection_title},
        }
        return [
            FilterPart(
                name=str(_NAMES[name]),
                value=str(labels.get(name, {}).get(value) or value),
                without=self.query_string(**{name: ""}),
            )
            for name in _FILTERS
            if not (self.is_fixed and name == "collection")
            if (value := getattr(self.listing, "words" if name == "q" else name))
        ]

    @property
    def lists_collection(self) -> bool:
        """Whether all of one collection is listed."""
        return bool(self.listing.collection) and len(self.chips) == (not self.is_fixed)

    @property
    def hidden(self) -> dict[str, str]:
        """The parts that the filter's form has no field for."""
        names = ("channel", "language", "state")
        return {name: value for name in names if (value := getattr(self.listing, name))}

    @property
    def columns(self) -> list[dict[str, str]]:
        """The sortable columns of the table: where their headings lead, and how they are sorted."""
        names = {
            "title": _("Title"),
            "length": _("Length"),
            "published": _("Published"),
            "added": _("Added"),
            "read": _("Last read"),
        }
        return [self._column(sort, label) for sort, label in names.items()]

    def _column(self, sort: str, label: Any) -> dict[str, str]:
        other = f"-{sort}" if self.listing.sort == sort else sort
        is_upward = (sort == "title") == (self.listing.sort == sort)
        is_sorted = self.listing.sort.removeprefix("-") == sort
        return {
            "name": sort,
            "label": label,
            "href": self.query_string(sort=other),
            "sorted": ("ascending" if is_upward else "descending") if is_sorted else "",
        }


class LibraryForm(forms.Form):
    """Invalid parameters are ignored."""

    q = forms.CharField(required=False, max_length=MAX_QUERY_CHARACTERS)
    collection = forms.CharField(required=False, max_length=120)
    channel = forms.CharField(required=False, max_length=200)
    playlist = forms.CharField(required=False, max_length=300)
    tag = forms.CharField(required=False, max_length=100)
    kind = forms.ChoiceField(required=False, choices=KINDS)
    language = forms.CharField(required=False, max_length=35)
    state = forms.ChoiceField(required=False, choices=STATES)
    reading = forms.ChoiceField(required=False, choices=READING)
    sort = forms.ChoiceField(required=False, choices=[(way, way) for way in _WAYS])
    group = forms.ChoiceField(required=False, choices=[(group, group) for group in GROUPS])
    view = forms.ChoiceField(required=False, choices=[(view, view) for view in VIEWS])
    offset = forms.IntegerField(required=False, min_value=0, max_value=10_000_000)

    def parameters(
        self, scope: Scope, *, view: str = "", collection: str = ""
    ) -> LibraryParameters:
        """Return the parameters; ``view`` is the one to show where none is named, ``collection``
        the slug of the only one that is listed, ``scope`` what may be named.
        """
        self.is_valid()
        values: dict[str, Any] = self.cleaned_data | (
            {"collection": collection} if collection else {}
        )
        parts = {name: values.get(name) or "" for name in _PARTS if name not in ("words", "sort")}
        slug = "" if collection else values.get("collection") or ""
        named = Collection.objects.visible(scope).filter(slug=slug).first() if slug else None
        return LibraryParameters(
            listing=LibraryQuery(
                words=values.get("q") or "", sort=values.get("sort") or SORTS[0], **parts
            ),
            view=values.get("view") or (view if view in VIEWS else VIEWS[0]),
            offset=values.get("offset") or 0,
            is_fixed=bool(collection),
            collection_title=named.title if named else "",
        )


_NAMES: Final = {
    "q": _("words"),
    "collection": _("collection"),
    "channel": _("channel"),
    "playlist": _("playlist"),
    "tag": _("tag"),
    "kind": _("kind"),
    "language": _("language"),
    "state": _("state"),
    "reading": _("reading"),
}
_FILTERS: Final = tuple(_NAMES)
_PARTS: Final = tuple(LibraryQuery.__dataclass_fields__)


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
        "language_gap": new_language_gap(request, visible),
        "offers_model": offers_model(request),
    }


_BETWEEN = "."  # codes of languages


def new_language_gap(request: PageRequest, among: SourceQuerySet) -> LanguageGap | None:
    """Return the gap that a notice tells of, None if there is none, or none that is new.

    The browser keeps for which languages a user dismissed it: another language shows it again.
    """
    gap = language_gap.find(among)
    dismissed = request.COOKIES.get(_cookie(request), "").split(_BETWEEN)
    return gap if gap and not {*gap.languages} <= {*dismissed} else None


@require_POST
def dismiss_languages(request: PageRequest) -> HttpResponse:
    """Show the notice no more for the languages that it names now."""
    gap = language_gap.find(Source.objects.visible(request.access))
    response = HttpResponse() if request.htmx else back(request, reverse("library"))
    if gap:
        codes = _BETWEEN.join(gap.languages)
        path = site_path("/")
        response.set_cookie(
            _cookie(request), codes, max_age=A_YEAR, samesite="Lax", path=path, httponly=True
        )
    return response


def _cookie(request: PageRequest) -> str:
    return f"languages-{request.user.pk}"
