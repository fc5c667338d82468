"""Forms of the pages: they check the form of the input, not its meaning."""

import re
from collections.abc import Iterator
from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.utils.translation import gettext_lazy as _

from transcripts import conf
from transcripts.captions.caption_errors import CaptionsTooLarge
from transcripts.core import languages
from transcripts.core.errors import InvalidInput, InvalidUrl
from transcripts.core.scope import Scope
from transcripts.core.translation import translated_error
from transcripts.library import reading as library
from transcripts.models import Listening, Role
from transcripts.text.timecodes import parse_target

ADDRESS = re.compile("https?://", re.IGNORECASE)
MAX_ADDRESSES = 100
MAX_TEXT = 5_000_000  # characters
FEW_WORDS = 5  # fewer on one line are a mistyped address rather than a text
ALL_FILES_FACTOR = 10  # an upload may have this many times the bytes of the largest file


class ManyFilesInput(forms.ClearableFileInput):
    allow_multiple_selected = True


class ManyFilesField(forms.FileField):
    widget = ManyFilesInput

    def clean(self, data: Any, initial: Any = None) -> "list[UploadedFile[Any]]":
        """Return the files, even empty ones: their import reports them by name."""
        return [file for file in data or () if isinstance(file, UploadedFile)]


class LanguageField(forms.CharField):
    """A language by name or tag; its value is the tag, of a ``track`` with what follows a dot."""

    def __init__(self, *, help_text: Any = "", track: bool = False) -> None:
        self.is_track = track
        super().__init__(
            label=_("Language"),
            required=False,
            max_length=languages.MAX_LENGTH,
            help_text=help_text,
        )

    def clean(self, value: Any) -> str:
        """Read the language. Raises ``ValidationError``."""
        try:
            name, dot, kind = super().clean(value).partition("." if self.is_track else "\n")
            return f"{languages.parse(name)}{dot}{kind}"
        except InvalidInput as error:
            raise forms.ValidationError(translated_error(error)) from None


class ScheduleForm(forms.Form):
    newest = forms.IntegerField(required=False, min_value=1, max_value=100_000)
    every_hours = forms.IntegerField(required=False, min_value=1, max_value=24 * 365)


class AddForm(ScheduleForm):
    """Anything to add: addresses, files, or a pasted transcript, which ``what`` may hold, too."""

    what = forms.CharField(required=False, strip=False, max_length=MAX_TEXT)
    files = ManyFilesField(required=False)  # type: ignore[assignment]  # not the form's own
    text = forms.CharField(required=False, strip=False, max_length=MAX_TEXT)
    title = forms.CharField(required=False, max_length=300)
    collection = forms.CharField(required=False, max_length=120)
    language = LanguageField()
    translated = forms.BooleanField(required=False)
    ocr = forms.BooleanField(required=False)
    listen = forms.BooleanField(required=False)
    tags = forms.CharField(required=False, max_length=500)

    def checked(self, scope: Scope) -> dict[str, Any]:
        """Return the values and the collection.

        Raises ``InvalidInput`` and what ``library.target_collection`` raises.
        """
        require_valid(self)
        values = self.cleaned_data
        if is_text(values["what"]):
            values["text"], values["what"] = values["what"], ""
        if not (values["what"].strip() or values["files"] or values["text"].strip()):
            raise InvalidInput(
                "There is nothing to add.",
                hint="Paste an address or a transcript, or choose a file.",
            )
        values["collection"] = library.target_collection(scope, values["collection"])
        values["tags"] = [tag for part in values["tags"].split(",") if (tag := part.strip())][:20]
        return values

    def addresses(self) -> list[str]:
        """Return the distinct addresses. Raises ``InvalidInput`` for too many."""
        addresses = list(dict.fromkeys(self.cleaned_data["what"].split()))
        if len(addresses) > MAX_ADDRESSES:
            raise InvalidInput(
                f"These are {len(addresses)} addresses; the limit is {MAX_ADDRESSES}.",
                hint="Add them in parts, or as a playlist.",
            )
        return addresses

    def uploads(self) -> Iterator[tuple[str, bytes]]:
        """Yield names and bytes, one file at a time.

        Raises ``CaptionsTooLarge`` before it reads any.
        """
        uploads = self.cleaned_data["files"]
        total, limit = sum(file.size or 0 for file in uploads), conf.max_upload_bytes()
        if error := next(filter(None, map(too_large, uploads)), None):
            raise error
        if total > ALL_FILES_FACTOR * limit:
            raise CaptionsTooLarge(
                "These files are too large to be sent at once.",
                hint="Send them in parts, or use `kb add` on the server.",
            )
        return ((file.name or "", file.read()) for file in uploads)


def too_large(file: "UploadedFile[Any]") -> CaptionsTooLarge | None:
    """Return the error for captions beyond the limit of one file."""
    size, limit = file.size or 0, conf.max_upload_bytes()
    return CaptionsTooLarge.of(str(file.name), size, limit=limit) if size > limit else None


class SharedForm(forms.Form):
    """What a bookmark or a phone shares: some put the address into the text."""

    url = forms.CharField(required=False, max_length=2048)
    text = forms.CharField(required=False, max_length=10_000)
    title = forms.CharField(required=False, max_length=300)

    def read(self) -> tuple[str, str]:
        """Return the address and the title. An invalid field counts as empty."""
        self.is_valid()
        values = self.cleaned_data
        written = f"{values.get('url') or ''} {values.get('text') or ''}".split()
        address = next((word for word in written if ADDRESS.match(word)), "")
        return address[:2048], values.get("title") or ""


def is_text(text: str) -> bool:
    """Return whether something pasted is a text rather than addresses."""
    words = text.split()
    if len(words) < FEW_WORDS and "\n" not in text.strip():
        return False
    try:
        return not all(ADDRESS.match(word) or parse_target(word) for word in words)
    except InvalidUrl:
        return True


class FetchForm(forms.Form):
    language = LanguageField(track=True)
    translated = forms.BooleanField(required=False)


class NameForm(forms.Form):
    name = forms.CharField(label=_("Name"), max_length=120)


class DescriptionForm(NameForm):
    description = forms.CharField(label=_("What it is about"), required=False, max_length=1_000)
    listening = forms.ChoiceField(required=False, choices=[("", ""), *Listening.choices])


class MemberForm(forms.Form):
    username = forms.CharField(max_length=150)
    role = forms.ChoiceField(choices=Role.choices)


def require_valid(form: forms.Form) -> dict[str, Any]:
    """Return the cleaned values. Raises ``InvalidInput`` for the first invalid field."""
    if form.is_valid():
        return form.cleaned_data
    name, messages = next(iter(form.errors.items()))
    label = form.fields[name].label if name in form.fields else None
    field = str(label or name.replace("_", " ").capitalize()) if name != "__all__" else ""
    raise InvalidInput(
        f"{field}: {messages[0]}" if field else str(messages[0]),
        hint="Correct it and send it again.",
    )
