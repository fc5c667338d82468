"""What people type and send, checked for its form; what it means is decided by the use cases."""

from collections.abc import Iterator
from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile

from transcripts import conf, library
from transcripts.errors import CaptionsTooLarge, InvalidInput
from transcripts.models import Role
from transcripts.scope import Scope
from transcripts.tokenizer import MAX_QUERY_CHARACTERS

MAX_ADDRESSES = 100
MAX_HOURS = 24 * 365
ALL_FILES_FACTOR = (
    10  # all files of one upload together may have so many times the bytes of the largest one
)


class ManyFilesInput(forms.ClearableFileInput):
    """A file chooser that takes several."""

    allow_multiple_selected = True


class ManyFilesField(forms.FileField):
    """Several files."""

    widget = ManyFilesInput

    def clean(self, data: Any, initial: Any = None) -> "list[UploadedFile[Any]]":
        """Return the files; an empty one is told by its own error later, with its name."""
        return [one for one in data or () if isinstance(one, UploadedFile)]


class LibraryForm(forms.Form):
    """The filter of the library."""

    q = forms.CharField(required=False, max_length=MAX_QUERY_CHARACTERS)
    collection = forms.CharField(required=False, max_length=120)
    channel = forms.CharField(required=False, max_length=200)
    tag = forms.CharField(required=False, max_length=100)
    language = forms.CharField(required=False, max_length=35)
    offset = forms.IntegerField(required=False, min_value=0, max_value=10_000_000)

    def filter(self) -> tuple[library.VideoFilter, int]:
        """Return the filter and where the page begins; a field that cannot be used counts as empty, so that a mistyped address still lists."""
        self.is_valid()
        values = self.cleaned_data
        parts = {
            name: values.get(name) or "" for name in ("collection", "channel", "tag", "language")
        }
        return library.VideoFilter(words=values.get("q") or "", **parts), values.get("offset") or 0


class AddForm(forms.Form):
    """Anything to add: addresses, files, or a pasted transcript."""

    what = forms.CharField(required=False, max_length=MAX_ADDRESSES * 300)
    files = ManyFilesField(required=False)  # type: ignore[assignment]  # the stubs take it for the form's own files
    text = forms.CharField(required=False, strip=False, max_length=5_000_000)
    title = forms.CharField(required=False, max_length=300)
    collection = forms.CharField(required=False, max_length=120)
    language = forms.RegexField(
        r"^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$", required=False, max_length=35
    )
    tags = forms.CharField(required=False, max_length=500)
    newest = forms.IntegerField(required=False, min_value=1, max_value=100_000)
    every_hours = forms.IntegerField(required=False, min_value=1, max_value=MAX_HOURS)

    def checked(self, scope: Scope) -> dict[str, Any]:
        """Return the values, with the collection looked up. Raises ``InvalidInput`` and what ``library.shelf`` raises."""
        require_valid(self)
        values = self.cleaned_data
        if not (values["what"] or values["files"] or values["text"].strip()):
            raise InvalidInput(
                "There is nothing to add.",
                hint="Paste an address, choose a file, or paste a transcript.",
            )
        values["collection"] = library.shelf(scope, values["collection"])
        values["tags"] = [tag for part in values["tags"].split(",") if (tag := part.strip())][:20]
        return values

    def addresses(self) -> list[str]:
        """Return the addresses, in order, each once. Raises ``InvalidInput`` for too many."""
        found = list(dict.fromkeys(self.cleaned_data["what"].split()))
        if len(found) > MAX_ADDRESSES:
            raise InvalidInput(
                f"These are {len(found)} addresses; {MAX_ADDRESSES} go at once.",
                hint="Add them in parts, or as a playlist.",
            )
        return found

    def uploads(self) -> Iterator[tuple[str, bytes]]:
        """Give the files' names and bytes, one at a time. Raises ``CaptionsTooLarge`` before reading any."""
        uploads = self.cleaned_data["files"]
        total, limit = sum(one.size or 0 for one in uploads), conf.max_upload_bytes()
        largest = max(uploads, key=lambda one: one.size or 0)
        if (largest.size or 0) > limit:
            raise CaptionsTooLarge(
                f"“{largest.name}” has {largest.size:,} bytes; the limit is {limit:,}.",
                hint="Captions are small: is it the right file?",
            )
        if total > ALL_FILES_FACTOR * limit:
            raise CaptionsTooLarge(
                "These files are too large to be sent at once.",
                hint="Send them in parts, or use `kb add` on the server.",
            )
        return ((one.name or "", one.read()) for one in uploads)


class FetchForm(forms.Form):
    """Another language for a video."""

    language = forms.RegexField(
        r"^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$", required=False, max_length=35
    )


class ScheduleForm(forms.Form):
    """How much of a playlist or channel is taken, and how often."""

    newest = forms.IntegerField(required=False, min_value=1, max_value=100_000)
    every_hours = forms.IntegerField(required=False, min_value=1, max_value=MAX_HOURS)


class NameForm(forms.Form):
    """A collection's name."""

    name = forms.CharField(max_length=120)


class MemberForm(forms.Form):
    """A member and the role."""

    username = forms.CharField(max_length=150)
    role = forms.ChoiceField(choices=Role.choices)


def require_valid(form: forms.Form) -> dict[str, Any]:
    """Return the cleaned values, or raise ``InvalidInput`` that names the first field that is wrong."""
    if form.is_valid():
        return form.cleaned_data
    name, messages = next(iter(form.errors.items()))
    field = name.replace("_", " ").capitalize() if name != "__all__" else ""
    raise InvalidInput(
        f"{field}: {messages[0]}" if field else str(messages[0]), hint="Mend it and send it again."
    )
