"""Forms of the Ask page, of notes and of lectures."""

from typing import Any, Final
from uuid import UUID

from django import forms
from django.http import QueryDict

from citations.lectures.speech import MAX_INTEGER
from citations.schemas.requests import MAX_ASKED
from transcripts.core.errors import InvalidInput
from transcripts.core.languages import MAX_LENGTH
from transcripts.core.sanitize import MAX_QUERY_CHARACTERS, clean, is_uuid
from transcripts.schemas import MAX_NAME, MAX_TITLE
from transcripts.text.queries import read_question

MAX_WORDS: Final = 200  # characters of a list's filter


def sources_of(form: forms.Form) -> list[str]:
    """Return the ids of the sources that were chosen in a form."""
    data: Any = form.data
    return [str(UUID(id)) for id in data.getlist("source")[:MAX_ASKED] if is_uuid(id)]


class SpanForm(forms.Form):
    """The characters that an address names, ``from`` and ``to``; invalid ones are ignored."""

    to = forms.IntegerField(required=False, min_value=1, max_value=MAX_INTEGER)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Add the field ``from``, which is a keyword in Python."""
        super().__init__(*args, **kwargs)
        self.fields["from"] = forms.IntegerField(required=False, min_value=0, max_value=MAX_INTEGER)

    def span(self) -> tuple[int, int] | None:
        self.is_valid()
        first, last = self.cleaned_data.get("from"), self.cleaned_data.get("to")
        return (first, last) if first is not None and last and first < last else None


class CollectionForm(forms.Form):
    collection = forms.CharField(required=False, max_length=MAX_NAME)

    def collection_slug(self) -> str:
        """Return the slug of the collection; empty: none is named."""
        self.is_valid()
        return str(self.cleaned_data.get("collection") or "")


class AskForm(CollectionForm):
    """A question, its sources, and the collection of a new conversation."""

    q = forms.CharField(required=False)

    def question(self) -> str:
        """Return the question. Raises ``InvalidInput``."""
        self.is_valid()
        return read_question(self.cleaned_data.get("q") or "")

    def typed(self) -> str:
        """Return the typed text, truncated."""
        self.is_valid()
        return clean(self.cleaned_data.get("q") or "", MAX_QUERY_CHARACTERS)

    def sources(self) -> list[str]:
        """Return the ids of the chosen sources; empty: all."""
        return sources_of(self)


class NoteForm(CollectionForm):
    title = forms.CharField(required=False, max_length=MAX_TITLE)
    text = forms.CharField(required=False)

    def values(self) -> dict[str, str]:
        """Return title and text. Raises ``InvalidInput`` for a long title."""
        if not self.is_valid():
            raise InvalidInput(
                f"A title has at most {MAX_TITLE} characters.", hint="Make it shorter."
            )
        return self.typed()

    def typed(self) -> dict[str, str]:
        self.is_valid()
        return {name: str(self.cleaned_data.get(name) or "") for name in ("title", "text")}


def words_of(data: QueryDict) -> str:
    """Return the words of a list's filter."""
    return clean(data.get("q", ""), MAX_WORDS).strip()


def rating(text: str) -> int | None:
    """Parse feedback: 1, -1, or None to remove it. Raises ``InvalidInput``."""
    values = {"1": 1, "-1": -1, "": None}
    if text not in values:
        raise InvalidInput("Feedback must be 1, -1 or empty.", hint="Reload the page.")
    return values[text]


class NewLectureForm(CollectionForm):
    title = forms.CharField(required=False, max_length=MAX_TITLE)
    language = forms.CharField(required=False, max_length=MAX_LENGTH)
    transcript = forms.IntegerField(required=False, min_value=1, max_value=2**63 - 1)

    def values(self) -> dict[str, Any]:
        """Return the values, to show again; invalid ones are empty."""
        self.is_valid()
        values = {name: self.cleaned_data.get(name) or "" for name in self.fields}
        return {**values, "sources": sources_of(self)}


def speech_of(data: QueryDict) -> str:
    """Return the speech that a form sends."""
    return data.get("text", "").strip()


class AdvanceForm(forms.Form):
    """The position of a replay, in milliseconds."""

    position = forms.IntegerField(min_value=0, max_value=MAX_INTEGER)

    def position_ms(self) -> int:
        """Return the position. Raises ``InvalidInput``."""
        if not self.is_valid():
            raise InvalidInput("The position must be in milliseconds.", hint="Reload the page.")
        return int(self.cleaned_data["position"])
