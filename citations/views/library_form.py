"""The parameters of the library: the filter, the order and the layout of its list."""

from dataclasses import dataclass
from typing import Any, Final

from django import forms
from django.utils.translation import gettext_lazy as _

from citations.library.item import KINDS
from citations.library.items import GROUPS, READING, SORTS, LibraryQuery
from citations.models import State
from transcripts.core.languages import name_of
from transcripts.core.sanitize import MAX_QUERY_CHARACTERS
from transcripts.core.scope import Scope
from transcripts.core.views.requests import query_string
from transcripts.models import Collection

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
        return LibraryParameters(
            listing=LibraryQuery(
                words=values.get("q") or "", sort=values.get("sort") or SORTS[0], **parts
            ),
            view=values.get("view") or (view if view in VIEWS else VIEWS[0]),
            offset=values.get("offset") or 0,
            is_fixed=bool(collection),
            collection_title="" if collection else _title(scope, values.get("collection") or ""),
        )


def _title(scope: Scope, slug: str) -> str:
    """Return what a collection is called, nothing for one that may not be read."""
    row = Collection.objects.visible(scope).filter(slug=slug).first() if slug else None
    return row.title if row else ""


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
