"""A search filter as removable chips, and selects to extend it."""

from dataclasses import dataclass

from citations.library.facets import Facets
from citations.library.filters import find_source
from citations.models import SourceKind
from citations.views.search_form import LISTS, SubmittedSearch
from transcripts.scope import Scope

LABELS = {
    "collection": "Collection",
    "source": "Source",
    "kind": "Kind",
    "channel": "Channel",
    "tag": "Tag",
    "language": "Language",
    "since": "Published since",
    "until": "Published until",
    "start": "From",
    "end": "Up to",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Chip:
    """A value of the filter; ``without`` is the address of the search without it.

    ``is_kept``: no other field of the form carries it.
    """

    name: str
    value: str
    label: str
    shown: str
    without: str
    is_kept: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class FilterSelect:
    """A select that adds a value to the filter; options are (value, label)."""

    name: str
    label: str
    options: tuple[tuple[str, str], ...]


def chips(scope: Scope, search: SubmittedSearch, known: Facets) -> list[Chip]:
    return [_chip(scope, search, known, name, value) for name, value in search.filters]


def choices(search: SubmittedSearch, known: Facets) -> list[FilterSelect]:
    """Return selects of values that are not chosen yet, without empty ones."""
    offered = {
        "collection": known.collections,
        "kind": tuple((kind, str(SourceKind(kind).label)) for kind in known.kinds),
        "channel": _plain(known.channels),
        "tag": _plain(known.tags),
        "language": _plain(known.languages),
    }
    chosen = set(search.filters)
    remaining = {
        name: tuple(pair for pair in pairs if (name, pair[0]) not in chosen)
        for name, pairs in offered.items()
    }
    return [
        FilterSelect(name=name, label=LABELS[name], options=pairs)
        for name, pairs in remaining.items()
        if pairs
    ]


def _chip(scope: Scope, search: SubmittedSearch, known: Facets, name: str, value: str) -> Chip:
    return Chip(
        name=name,
        value=value,
        label=LABELS[name],
        shown=_shown(scope, known, name, value),
        without=search.without(name, value).address,
        is_kept=name in LISTS,
    )


def _shown(scope: Scope, known: Facets, name: str, value: str) -> str:
    match name:
        case "source":
            return find_source(scope, value).title
        case "collection":
            return dict(known.collections).get(value, value)
        case "kind":
            return str(SourceKind(value).label) if value in SourceKind.values else value
    return value


def _plain(values: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    return tuple((value, value) for value in values)
