"""What people type and send on the pages of lectures, checked for its form."""

from typing import Any, Final
from uuid import UUID

from django import forms

from citations.lectures.sessions import GREATEST, MAX_SAID
from transcripts.errors import InvalidInput
from transcripts.sanitize import is_uuid

MOST_SHOWN: Final = 1_000  # sources that the page of a new lecture offers
TALKS_SHOWN: Final = 200  # transcripts


class NewLectureForm(forms.Form):
    """A lecture to be begun."""

    title = forms.CharField(required=False, max_length=300)
    collection = forms.CharField(required=False, max_length=120)
    language = forms.CharField(required=False, max_length=35)
    transcript = forms.IntegerField(required=False, min_value=1, max_value=2**63 - 1)

    def values(self) -> dict[str, Any]:
        """Return what was sent, as the page shows it again; a part that cannot be used counts as empty."""
        self.is_valid()
        values = {name: self.cleaned_data.get(name) or "" for name in self.fields}
        return {
            **values,
            "sources": [str(UUID(one)) for one in self._sent("source") if is_uuid(one)],
        }

    def _sent(self, name: str) -> list[str]:
        data: Any = self.data
        return list(data.getlist(name))[:MOST_SHOWN]


class SayForm(forms.Form):
    """Something that was said."""

    text = forms.CharField(max_length=MAX_SAID, strip=True)

    def said(self) -> str:
        """Return it. Raises ``InvalidInput``."""
        if not self.is_valid():
            raise InvalidInput(
                f"Text: {self.errors['text'][0]}",
                hint=f"Send what was said, at most {MAX_SAID:,} characters of it at once.",
            )
        return str(self.cleaned_data["text"])


class AdvanceForm(forms.Form):
    """How far a talk has been replayed, in milliseconds."""

    position = forms.IntegerField(min_value=0, max_value=GREATEST)

    def reached(self) -> int:
        """Return it. Raises ``InvalidInput``."""
        if not self.is_valid():
            raise InvalidInput(
                "A replay's position is a number of milliseconds.", hint="Load the page again."
            )
        return int(self.cleaned_data["position"])


def number_of(text: str) -> int | None:
    """Read a number out of an address; None for anything else."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 9 else None
