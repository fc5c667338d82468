"""What people type and send on the Ask page, checked for its form."""

from typing import Any, Final
from uuid import UUID

from django import forms
from django.http import QueryDict

from transcripts.errors import InvalidInput
from transcripts.sanitize import clean, is_uuid
from transcripts.tokenizer import MAX_QUERY_CHARACTERS

MOST_SHOWN: Final = 1_000  # sources that can be chosen from
MAX_WORDS: Final = 200  # characters by which a list of conversations or notes is narrowed


class AskForm(forms.Form):
    """A question, and for a new conversation the collection; which sources are asked."""

    q = forms.CharField(required=False)
    collection = forms.CharField(required=False, max_length=120)

    def question(self) -> str:
        """Return the question. Raises ``InvalidInput`` where there is none."""
        self.is_valid()
        text = self.cleaned_data.get("q") or ""
        if len(text) > MAX_QUERY_CHARACTERS:
            raise InvalidInput(
                f"A question has at most {MAX_QUERY_CHARACTERS:,} characters; this one has {len(text):,}.",
                hint="Ask for one thing at a time.",
            )
        if not (question := clean(text, MAX_QUERY_CHARACTERS).strip()):
            raise InvalidInput("There is no question.", hint="Write what you want to know.")
        return question

    def typed(self) -> str:
        """Return the beginning of what was typed, whatever it is."""
        self.is_valid()
        return clean(self.cleaned_data.get("q") or "", MAX_QUERY_CHARACTERS)

    def shelf(self) -> str:
        """Return the slug of the collection; empty: all."""
        self.is_valid()
        return str(self.cleaned_data.get("collection") or "")

    def sources(self) -> list[str]:
        """Return the ids of the sources that were chosen; none: all of them."""
        data: Any = self.data
        return [str(UUID(one)) for one in list(data.getlist("source"))[:MOST_SHOWN] if is_uuid(one)]


class NoteForm(forms.Form):
    """A note in one's own words."""

    collection = forms.CharField(required=False, max_length=120)
    title = forms.CharField(required=False, max_length=300)
    text = forms.CharField(required=False)

    def values(self) -> dict[str, str]:
        """Return its title and text. Raises ``InvalidInput`` for a title that is too long."""
        if not self.is_valid():
            raise InvalidInput("A title has at most 300 characters.", hint="Make it shorter.")
        return self.typed()

    def typed(self) -> dict[str, str]:
        """Return what was typed, as far as it can be shown again."""
        self.is_valid()
        return {name: str(self.cleaned_data.get(name) or "") for name in ("title", "text")}

    def shelf(self) -> str:
        """Return the slug of the collection that it is kept in; empty where none was named."""
        self.is_valid()
        return str(self.cleaned_data.get("collection") or "")


def words_of(data: QueryDict) -> str:
    """Return the words that a list is narrowed by, whatever was sent."""
    return clean(data.get("q", ""), MAX_WORDS).strip()


def rating(text: str) -> int | None:
    """Read feedback: 1 or -1, or None to take it back. Raises ``InvalidInput``."""
    known = {"1": 1, "-1": -1, "": None}
    if text not in known:
        raise InvalidInput(
            "Feedback is 1 (helpful), -1 (not), or nothing.", hint="Load the page again."
        )
    return known[text]
