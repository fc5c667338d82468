"""Forms of the lecture pages."""

from typing import Any, Final
from uuid import UUID

from django import forms

from citations.lectures.speech import MAX_INTEGER, MAX_SAID
from transcripts.errors import InvalidInput
from transcripts.sanitize import is_uuid

MOST_SHOWN: Final = 1_000  # sources offered for a new lecture
TALKS_SHOWN: Final = 200  # recordings offered


class NewLectureForm(forms.Form):
    title = forms.CharField(required=False, max_length=300)
    collection = forms.CharField(required=False, max_length=120)
    language = forms.CharField(required=False, max_length=35)
    transcript = forms.IntegerField(required=False, min_value=1, max_value=2**63 - 1)

    def values(self) -> dict[str, Any]:
        """Return the values, to show again; invalid ones are empty."""
        self.is_valid()
        values = {name: self.cleaned_data.get(name) or "" for name in self.fields}
        return {**values, "sources": [str(UUID(id)) for id in self._sent("source") if is_uuid(id)]}

    def _sent(self, name: str) -> list[str]:
        data: Any = self.data
        return list(data.getlist(name))[:MOST_SHOWN]


class SayForm(forms.Form):
    text = forms.CharField(max_length=MAX_SAID, strip=True)

    def text_value(self) -> str:
        """Return the text. Raises ``InvalidInput``."""
        if not self.is_valid():
            raise InvalidInput(
                f"Text: {self.errors['text'][0]}",
                hint=f"Send at most {MAX_SAID:,} characters at once.",
            )
        return str(self.cleaned_data["text"])


class AdvanceForm(forms.Form):
    """The position of a replay, in milliseconds."""

    position = forms.IntegerField(min_value=0, max_value=MAX_INTEGER)

    def position_ms(self) -> int:
        """Return the position. Raises ``InvalidInput``."""
        if not self.is_valid():
            raise InvalidInput("The position must be in milliseconds.", hint="Reload the page.")
        return int(self.cleaned_data["position"])


def number_of(text: str) -> int | None:
    """Parse a number of up to 8 digits; None for anything else."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 9 else None
