"""Forms for search addresses and page addresses."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, Final
from urllib.parse import urlencode
from uuid import UUID

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from citations.errors import InvalidFilter
from citations.lectures.speech import MAX_INTEGER
from citations.library.filters import Filter
from citations.notebook.highlights import MAX_QUOTE
from citations.passages import SearchMode
from citations.schemas import filters
from citations.schemas.filters import BOUNDS, MAX_LIMIT, MAX_VALUES, FilterIn
from citations.views.forms import SpanForm
from transcripts.core.errors import InvalidInput, InvalidTime
from transcripts.core.sanitize import MAX_QUERY_CHARACTERS, clean
from transcripts.core.views.requests import query_string
from transcripts.text.timecodes import clock, milliseconds, parse_clock

PAGE_SIZE: Final = 10  # passages shown at first
LISTS: Final = {  # of addresses of pages
    "source" if part == "sources" else name: part for name, part in filters.LISTS.items()
}
ZOOMS: Final = (100, 150, 200, 300)  # percent of the page's width


@dataclass(frozen=True, slots=True, kw_only=True)
class PageParameters:
    """The parameters of a document page: the quote to mark, words to find, zoom in percent."""

    quote: tuple[int, int] | None = None
    citation: UUID | None = None
    passage: str = ""  # words to mark, which a copied link carries
    words: str = ""
    match: int = 0  # of the words on the page, from 1; 0: the first, beside no quote
    is_find: bool = False  # the words were just typed: a page that has them is to be opened
    zoom: int = ZOOMS[0]

    @property
    def has_quote(self) -> bool:
        return bool(self.quote or self.citation or self.passage)

    @property
    def kept(self) -> dict[str, object]:
        """The parameters of another page with the same marks and zoom, without defaults."""
        zoom = self.zoom if self.zoom != ZOOMS[0] else ""
        values = {**self._marked, "q": self.words, "zoom": zoom}
        return {name: value for name, value in values.items() if value != ""}

    @property
    def address(self) -> str:
        """The query string with these parameters; empty by default."""
        return query_string(self.kept)

    @property
    def unsearched(self) -> str:
        """The query string without the words."""
        return replace(self, words="").address

    @property
    def unquoted(self) -> str:
        """The query string of a page with the words: who looks for them leaves the quote."""
        return replace(self, quote=None, citation=None, passage="").address

    @property
    def matching(self) -> str:
        """The query string that opens a match on a page; its number is to be appended."""
        return f"{self.unquoted}&match="

    @property
    def permanent(self) -> str:
        """The query string for the same marks."""
        return query_string({**self._marked, "q": self.words, "match": self.match or ""})

    @property
    def sizes(self) -> str:
        """The image's width for the HTML attribute ``sizes``."""
        return f"(max-width: 60rem) {self.zoom}vw, {52 * self.zoom // 100}rem"

    @property
    def smaller(self) -> str | None:
        """The query string of the next smaller zoom, or None."""
        return self._sized(reversed([zoom for zoom in ZOOMS if zoom < self.zoom]))

    @property
    def larger(self) -> str | None:
        """The query string of the next larger zoom, or None."""
        return self._sized(zoom for zoom in ZOOMS if zoom > self.zoom)

    @property
    def _marked(self) -> dict[str, object]:
        first, last = self.quote or ("", "")
        return {"citation": self.citation or "", "from": first, "to": last, "passage": self.passage}

    def _sized(self, zooms: Iterable[int]) -> str | None:
        zoom = next(iter(zooms), None)
        if zoom is None:
            return None
        shown = {"match": self.match or "", "zoom": "" if zoom == ZOOMS[0] else zoom}
        return query_string({**self._marked, "q": self.words, **shown})


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmittedSearch:
    """A search; ``cut`` says that the query was truncated."""

    query: str = ""
    mode: SearchMode = SearchMode.BOTH
    filter: Filter = Filter()
    limit: int = PAGE_SIZE
    cut: bool = False

    @property
    def filters(self) -> list[tuple[str, str]]:
        """The filter's parameters, one per value."""
        lists = ((name, getattr(self.filter, part)) for name, part in LISTS.items())
        values = [(name, value) for name, part in lists for value in part]
        return values + [*self.bounds.items()]

    @property
    def bounds(self) -> dict[str, str]:
        """The filter's dates and times, formatted."""
        values = {name: getattr(self.filter, name) for name in BOUNDS}
        return {
            name: value.isoformat() if isinstance(value, date) else clock(milliseconds(value))
            for name, value in values.items()
            if value is not None
        }

    @property
    def address(self) -> str:
        """The query string, without defaults."""
        mode = [("mode", str(self.mode))] if self.mode != SearchMode.BOTH else []
        limit = [("limit", str(self.limit))] if self.limit != PAGE_SIZE else []
        return urlencode([("q", self.query), *mode, *self.filters, *limit])

    def in_mode(self, mode: SearchMode) -> "SubmittedSearch":
        return replace(self, mode=mode, limit=PAGE_SIZE)

    def asking(self, query: str) -> "SubmittedSearch":
        return replace(self, query=query, limit=PAGE_SIZE)

    def without(self, name: str, value: str) -> "SubmittedSearch":
        """Remove one value of the filter."""
        remaining: Any = None
        part = LISTS.get(name, name)
        if name in LISTS:
            remaining = tuple(item for item in getattr(self.filter, part) if item != value)
        changes: dict[str, Any] = {part: remaining}
        filter = self.filter.model_copy(update=changes)
        return replace(self, filter=filter, limit=PAGE_SIZE)

    def unfiltered(self) -> "SubmittedSearch":
        return replace(self, filter=Filter(), limit=PAGE_SIZE)

    def more(self) -> "SubmittedSearch":
        return replace(self, limit=min(MAX_LIMIT, self.limit + 2 * PAGE_SIZE))


def label_of(name: str) -> str:
    """Return what a part of a search is called on a page."""
    field = FilterIn.model_fields.get(LISTS.get(name, name))
    return gettext(field.title or "") if field else name.capitalize()


class MomentField(forms.CharField):
    """A position in a recording, typed as a clock time; its value is in seconds."""

    def clean(self, value: Any) -> float | None:
        """Parse the time. Raises ``ValidationError``."""
        text = super().clean(value)
        try:
            return parse_clock(text) if text else None
        except InvalidTime as error:
            raise forms.ValidationError(error.text) from None


_DATE: Final[dict[str, Any]] = {
    "required": False,
    "input_formats": ["%Y-%m-%d"],
    "error_messages": {"invalid": _("Enter a date like 2025-03-31.")},
}


class SearchForm(forms.Form):
    q = forms.CharField(required=False)
    mode = forms.ChoiceField(
        required=False, choices=[(mode.value, mode.value) for mode in SearchMode]
    )
    since = forms.DateField(**_DATE)
    until = forms.DateField(**_DATE)
    start = MomentField(required=False, max_length=20)
    end = MomentField(required=False, max_length=20)
    limit = forms.IntegerField(required=False, min_value=1, max_value=MAX_LIMIT)

    def parameters(self) -> SubmittedSearch:
        """Return the search. Raises ``InvalidFilter`` for the first invalid part."""
        if not self.is_valid():
            name, messages = next(iter(self.errors.items()))
            raise InvalidFilter(
                f"{label_of(name)}: {messages[0]}",
                hint="Correct or remove this part of the search.",
            )
        data: Any = self.data
        lists: dict[str, Any] = {part: _values(data.getlist(name)) for name, part in LISTS.items()}
        within = Filter(**lists, **{name: self.cleaned_data[name] for name in BOUNDS})
        limit = self.cleaned_data["limit"] or PAGE_SIZE
        return replace(self.question(), filter=within, limit=limit)

    def question(self) -> SubmittedSearch:
        """Return the query and mode, even if the filter is invalid."""
        self.is_valid()
        text = self.cleaned_data.get("q") or ""
        mode = self.cleaned_data.get("mode") or SearchMode.BOTH
        return SubmittedSearch(
            query=clean(text, MAX_QUERY_CHARACTERS),
            mode=SearchMode(mode),
            cut=len(text) > MAX_QUERY_CHARACTERS,
        )


class MarkForm(forms.Form):
    chunk = forms.IntegerField(min_value=1, max_value=2**63 - 1)
    query = forms.CharField(max_length=MAX_QUERY_CHARACTERS)
    verdict = forms.ChoiceField(choices=[("right", "right"), ("wrong", "wrong"), ("none", "none")])

    def verdict_of(self) -> bool | None:
        """Return right, wrong or None. Raises ``InvalidInput``."""
        if not self.is_valid():
            raise InvalidInput(
                "A mark needs a passage, the query, and right, wrong or none.",
                hint="Reload the search, then mark the hit.",
            )
        return {"right": True, "wrong": False}.get(self.cleaned_data["verdict"])


class PageForm(SpanForm):
    """The parameters of a document page; invalid ones are ignored."""

    q = forms.CharField(required=False)
    citation = forms.UUIDField(required=False)
    match = forms.IntegerField(required=False, min_value=1, max_value=MAX_INTEGER)
    zoom = forms.TypedChoiceField(
        required=False, choices=[(zoom, zoom) for zoom in ZOOMS], coerce=int
    )

    def parameters(self) -> PageParameters:
        quote, values = self.span(), self.cleaned_data
        words = clean(values.get("q") or "", MAX_QUERY_CHARACTERS)
        return PageParameters(
            quote=quote,
            citation=values.get("citation"),
            passage=clean(self.data.get("passage", ""), MAX_QUOTE),
            words=words,
            match=values.get("match") or 0,
            is_find="find" in self.data,
            zoom=values.get("zoom") or ZOOMS[0],
        )


def _values(texts: Iterable[str]) -> tuple[str, ...]:
    cleaned = (clean(value, 500) for value in texts)
    # One more, so that the filter reports too many.
    return tuple(dict.fromkeys(filter(None, cleaned)))[: MAX_VALUES + 1]
