"""Forms of the Ask page."""

from typing import Any, Final
from uuid import UUID

from django import forms
from django.http import QueryDict

from transcripts.errors import InvalidInput
from transcripts.sanitize import clean, is_uuid
from transcripts.tokenizer import MAX_QUERY_CHARACTERS

MOST_SHOWN: Final = 1_000  # sources to choose from
MAX_WORDS: Final = 200  # characters of a list's filter


class AskForm(forms.Form):
    """A question, its sources, and the collection of a new conversation."""

    q = forms.CharField(required=False)
    collection = forms.CharField(required=False, max_length=120)

    def question(self) -> str:
        """Return the question. Raises ``InvalidInput``."""
        self.is_valid()
        text = self.cleaned_data.get("q") or ""
        if len(text) > MAX_QUERY_CHARACTERS:
            raise InvalidInput(
                f"The question has {len(text):,} characters;"
                f" at most {MAX_QUERY_CHARACTERS:,} are allowed.",
                hint="Ask for one thing at a time.",
            )
        if not (question := clean(text, MAX_QUERY_CHARACTERS).strip()):
            raise InvalidInput("The question is empty.", hint="Write what you want to know.")
        return question

    def typed(self) -> str:
        """Return what was typed, truncated."""
        self.is_valid()
        return clean(self.cleaned_data.get("q") or "", MAX_QUERY_CHARACTERS)

    def collection_slug(self) -> str:
        """Return the slug of the collection; empty: all."""
        self.is_valid()
        return str(self.cleaned_data.get("collection") or "")

    def sources(self) -> list[str]:
        """Return the ids of the chosen sources; empty: all."""
        data: Any = self.data
        return [str(UUID(id)) for id in list(data.getlist("source"))[:MOST_SHOWN] if is_uuid(id)]


class NoteForm(forms.Form):
    collection = forms.CharField(required=False, max_length=120)
    title = forms.CharField(required=False, max_length=300)
    text = forms.CharField(required=False)

    def values(self) -> dict[str, str]:
        """Return title and text. Raises ``InvalidInput`` for a long title."""
        if not self.is_valid():
            raise InvalidInput("A title has at most 300 characters.", hint="Make it shorter.")
        return self.typed()

    def typed(self) -> dict[str, str]:
        self.is_valid()
        return {name: str(self.cleaned_data.get(name) or "") for name in ("title", "text")}

    def collection_slug(self) -> str:
        """Return the slug of the collection; empty: the default one."""
        self.is_valid()
        return str(self.cleaned_data.get("collection") or "")


def words_of(data: QueryDict) -> str:
    """Return the words of a list's filter."""
    return clean(data.get("q", ""), MAX_WORDS).strip()


def rating(text: str) -> int | None:
    """Parse feedback: 1, -1, or None to remove it. Raises ``InvalidInput``."""
    known = {"1": 1, "-1": -1, "": None}
    if text not in known:
        raise InvalidInput("Feedback must be 1, -1 or empty.", hint="Reload the page.")
    return known[text]
