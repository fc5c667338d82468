"""The forms of highlights: a passage to keep, its colour, note and tags, and the filter of the
list.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from django import forms

from citations.errors import InvalidFilter
from citations.lectures.speech import MAX_INTEGER
from citations.models import HighlightColor, Source
from citations.notebook.gaps import MAX_HIDDEN
from citations.notebook.highlights import (
    MAX_QUOTE,
    MAX_TAGS,
    HighlightFilter,
    HighlightNotes,
    PlacedHighlight,
    tags_of,
)
from citations.quotes.anchoring import AROUND, SelectedText
from citations.schemas.filters import MAX_TAG, HighlightFilterIn
from citations.views.forms import MAX_WORDS
from transcripts.core.errors import InvalidInput
from transcripts.core.sanitize import clean, is_uuid
from transcripts.core.views.requests import query_string


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageFields:
    """How the form of a reader begins: the words that are marked, and where they are."""

    source: Source
    quote: str = ""
    start: int | None = None  # ms
    page: int | None = None

    @property
    def colors(self) -> list[tuple[str, str]]:
        return [(value, str(label)) for value, label in HighlightColor.choices]


def passage_form(
    source: Source | None,
    text: str,
    marked: tuple[int, int] | None,
    *,
    start: int | None = None,
    page: int | None = None,
) -> PassageFields | None:
    """Return the start of a reader's form; None for a recording that is not indexed yet."""
    if source is None:
        return None
    quote = text[slice(*marked)].strip()[:MAX_QUOTE] if marked else ""
    return PassageFields(source=source, quote=quote, start=start, page=page)


def notes_of(placed: PlacedHighlight) -> HighlightNotes:
    """Return what the form of a highlight begins with."""
    row = placed.row
    return HighlightNotes(
        color=row.color,
        note=row.note,
        tags=row.tags,
        is_shared=row.is_shared,
        is_card=row.is_card,
        hidden_words=placed.gap.words,
    )


class NotesForm(forms.Form):
    """What a reader adds to a passage."""

    color = forms.ChoiceField(choices=HighlightColor.choices, required=False)
    note = forms.CharField(required=False)
    tags = forms.CharField(required=False, max_length=MAX_TAGS * (MAX_TAG + 2))
    shared = forms.BooleanField(required=False)
    card = forms.BooleanField(required=False)
    hidden = forms.CharField(required=False, max_length=MAX_HIDDEN)

    def notes(self) -> HighlightNotes:
        """Return the values. Raises ``InvalidInput``."""
        if not self.is_valid():
            raise InvalidInput(_problem(self))
        values = self.cleaned_data
        return HighlightNotes(
            color=values["color"] or HighlightColor.YELLOW,
            note=values["note"],
            tags=tags_of(values["tags"]),
            is_shared=values["shared"],
            is_card=values["card"],
            hidden_words=values["hidden"],
        )

    def typed(self) -> HighlightNotes:
        """Return the values as they were typed, to show them again."""
        data: Mapping[str, Any] = self.data
        return HighlightNotes(
            color=data.get("color", ""),
            note=data.get("note", ""),
            tags=tags_of(data.get("tags", "")),
            is_shared="shared" in data,
            is_card="card" in data,
            hidden_words=data.get("hidden", ""),
        )

    @property
    def filled_fields(self) -> list[str]:
        """What was written or chosen, as ``HighlightNotes`` has it: the rest may stay as it is."""
        fields = {"color": "color", "note": "note", "tags": "tags"}
        fields |= {"shared": "is_shared", "card": "is_card", "hidden": "hidden_words"}
        return [name for field, name in fields.items() if self.data.get(field)]


class PassageForm(NotesForm):
    """A passage: its words, what stands around them, and the second or the page."""

    source = forms.UUIDField()
    quote = forms.CharField(strip=False, max_length=4 * MAX_QUOTE)
    prefix = forms.CharField(required=False, strip=False)  # type: ignore[assignment]
    suffix = forms.CharField(required=False, strip=False)
    start = forms.IntegerField(required=False, min_value=0, max_value=MAX_INTEGER)
    page = forms.IntegerField(required=False, min_value=1, max_value=MAX_INTEGER)

    def selected(self) -> SelectedText:
        """Return the words. Raises ``InvalidInput``."""
        if not self.is_valid():
            raise InvalidInput(_problem(self))
        values = self.cleaned_data
        return SelectedText(
            exact=values["quote"],
            prefix=values["prefix"][-AROUND:],
            suffix=values["suffix"][:AROUND],
        )

    def place(self) -> dict[str, int | None]:
        """Return the second, in ms, or the page that the words are near."""
        return {"start": self.cleaned_data["start"], "page": self.cleaned_data["page"]}


_IN_ADDRESSES: Final = {name: name for name in HighlightFilterIn.model_fields} | {"words": "q"}


def filter_of(data: Mapping[str, str]) -> HighlightFilter:
    """Return the filter of an address; what cannot be understood is ignored, as a list has no
    errors.
    """
    given: dict[str, Any] = {}
    for part, name in _IN_ADDRESSES.items():
        value = clean(data.get(name, ""), MAX_WORDS)
        with suppress(InvalidFilter):
            if value and (part != "source" or is_uuid(value)):
                given[part] = getattr(HighlightFilter.model_validate({part: value}), part)
    return HighlightFilter(**given)


def address(filter: HighlightFilter) -> str:
    """Return the query string of a filter."""
    given = filter.model_dump(mode="json", exclude_defaults=True)
    parts = {_IN_ADDRESSES[part]: "1" if value is True else value for part, value in given.items()}
    return query_string(parts)


def _problem(form: forms.Form) -> str:
    name, messages = next(iter(form.errors.items()))
    return f"{name}: {messages[0]}" if messages else f"{name} is wrong."
