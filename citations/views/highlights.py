"""Highlights: list, keep, change, delete; to and from other programs."""

from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import IO, Any, Final
from uuid import UUID

from asgiref.sync import sync_to_async
from django import forms
from django.http import HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import content_disposition_header
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from citations.errors import InvalidFilter
from citations.ingest import selection
from citations.lectures.speech import MAX_INTEGER
from citations.models import Highlight, HighlightColor, Source
from citations.notebook import (
    annotation_import,
    highlight_export,
    highlight_lists,
    highlights,
    web_annotations,
)
from citations.notebook.gaps import MAX_HIDDEN
from citations.notebook.highlight_export import HighlightFile, HighlightFormat
from citations.notebook.highlights import (
    MAX_QUOTE,
    MAX_TAGS,
    HighlightFilter,
    HighlightNotes,
    PlacedHighlight,
    tags_of,
)
from citations.notebook.web_annotations import MAX_BYTES
from citations.quotes.anchoring import AROUND, SelectedText
from citations.schemas.filters import MAX_TAG, HighlightFilterIn
from citations.views.forms import MAX_WORDS
from transcripts.core.errors import Forbidden, InvalidInput, KnowledgeBaseError, NotFound
from transcripts.core.sanitize import clean, is_uuid
from transcripts.core.views.requests import (
    PageRequest,
    back,
    fragment,
    offset_of,
    own_address,
    query_string,
    redirect_with_message,
    without_empty,
)
from transcripts.library import reading as library

BESIDE: Final = 1_000  # characters around a new highlight whose highlights are listed with it
PAGE_SIZE: Final = 30  # highlights per page
PIECE: Final = 256 << 10  # bytes


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


@require_safe
def show_highlights(request: PageRequest) -> HttpResponse:
    """List highlights by source, of a source, collection, tag, colour, day or words; HTMX gets the
    list alone.
    """
    filled = without_empty(request)
    if filled and not request.htmx:
        return redirect(filled)
    filter = filter_of(request.GET)
    offset = offset_of(request)
    page = highlight_lists.list_groups(
        request.access, request.user, filter, offset=offset, limit=PAGE_SIZE
    )
    if offset and not page.groups:
        return redirect(f"{reverse('highlights')}{address(filter)}")
    context = {
        "page": page,
        "hidden_words": highlight_lists.hidden_words(page.highlights),
        "address_of_cards": address(filter.model_copy(update={"cards": True})),
        "offset": offset,
        "filter": filter,
        "is_filtered": filter != HighlightFilter(),
        "address": address(filter),
    }
    if request.htmx:
        response = fragment(request, "citations/_highlights_list.html", context)
        if filled:
            response["HX-Replace-Url"] = filled
        return response
    context |= {
        "choices": highlight_lists.choices(request.access, request.user),
        "collections": library.collections(request.access),
        "colors": HighlightColor.choices,
        "hidden": Highlight.objects.hidden(request.access, request.user).count(),
    }
    return render(request, "citations/highlights.html", context)


@require_POST
def add(request: PageRequest) -> HttpResponse:
    """Highlight a passage; scripts get the list that a reader shows beside the text."""
    form = PassageForm(request.POST)
    try:
        selected, values = form.selected(), form.cleaned_data
        highlight = highlights.keep(
            request.access,
            request.user,
            str(values["source"]),
            selected,
            form.notes(),
            start=values["start"],  # ms
            page=values["page"],
            only=form.filled_fields,
        )
    except (Forbidden, NotFound):
        raise
    except KnowledgeBaseError as error:
        if request.htmx:
            raise
        names = [name for name in form.fields if name in form.data]
        hidden = [(name, form.data[name]) for name in names if name not in ("quote", "note")]
        context = {"error": error, "values": form.data, "hidden": hidden}
        return render(request, "citations/highlight_refused.html", context, status=422)
    placed = highlight.placed
    if not request.htmx:
        return back(request, _address_of(request, placed))
    within = None
    if placed.locator is not None:
        first, last = placed.locator.span
        within = (first - BESIDE, last + BESIDE)
    reader, source = (request.access, request.user), placed.row.source
    context = {
        "highlights": highlights.in_source(*reader, source, within=within),
        "highlight_count": highlights.count_in_source(*reader, source),
        "latest": placed,
    }
    return fragment(request, "citations/_highlights_beside.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def change(request: PageRequest, highlight_id: UUID) -> HttpResponse:
    """Show a highlight with its place, or change its colour, note, tags and hidden words.

    Scripts get what its toolbar shows in the text.
    """
    is_sent = request.method == "POST"
    placed = highlights.find(request.access, request.user, highlight_id, write=is_sent)
    form = NotesForm(request.POST)
    context: dict[str, Any] = {
        "placed": placed,
        "gap": placed.gap,
        "notes": form.typed() if is_sent else notes_of(placed),
        "next": request.POST.get("next", request.GET.get("next", "")),
        "colors": HighlightColor.choices,
        "is_own": placed.row.author_id == request.user.pk,
        "may_share": placed.row.source.collection_id in request.access.writable,
    }
    if not is_sent and request.htmx:
        return fragment(request, "citations/_highlight_details.html", {"each": placed})
    if not is_sent:
        return render(request, "citations/highlight.html", context)
    try:
        highlights.change(request.access, placed.row, form.notes())
    except Forbidden:
        raise
    except KnowledgeBaseError as error:
        context |= {"error": error}
        return render(request, "citations/highlight.html", context, status=422)
    return back(request, _address_of(request, placed))


@require_http_methods(["GET", "HEAD", "POST"])
def delete(request: PageRequest, highlight_id: UUID) -> HttpResponse:
    """Confirm, then delete a highlight, and return to the list that it was in, or to its place."""
    placed = highlights.find(request.access, request.user, highlight_id, write=True)
    data = request.POST if request.method == "POST" else request.GET
    page = own_address(request, data.get("next", "")) or placed.link
    if request.method != "POST":
        context = {"placed": placed, "next": page}
        return render(request, "citations/delete_highlight.html", context)
    deletion = selection.discard(by=request.user, highlights=[placed.row])
    return redirect_with_message(request, _("The highlight was deleted."), page, undo=deletion.uuid)


def _address_of(request: PageRequest, placed: PlacedHighlight) -> str:
    """Return where the list of its source has a highlight."""
    row = placed.row
    offset = highlight_lists.offset_of(request.access, request.user, row, limit=PAGE_SIZE)
    later = f"&offset={offset}" if offset else ""
    return f"{reverse('highlights')}?source={row.source.uuid}{later}#highlight-{row.uuid}"


@require_safe
def export(request: PageRequest, form: str) -> HttpResponseBase:
    """Download the highlights of a filter."""
    if form not in set(HighlightFormat):
        raise NotFound("There is no such format.")
    filter = filter_of(request.GET)
    file = highlight_export.export(request.access, request.user, filter, HighlightFormat(form))
    return download(file)


@require_http_methods(["GET", "HEAD", "POST"])
def import_file(request: PageRequest) -> HttpResponse:
    """Ask for a file of annotations, or import it and tell what found no place."""
    context: dict[str, Any] = {}
    status = 200
    if request.method == "POST":
        try:
            file = request.FILES.get("file")
            if file is None or isinstance(file, list):
                raise InvalidInput("No file was sent.", hint="Choose a file of Web Annotations.")
            annotations, ignored = web_annotations.read(bytes(file.read(MAX_BYTES + 1)))
            context["report"] = annotation_import.import_annotations(
                request.access, request.user, annotations, ignored=ignored
            )
        except KnowledgeBaseError as error:
            context["error"], status = error, 422
    return render(request, "citations/highlights_import.html", context, status=status)


def download(file: HighlightFile) -> StreamingHttpResponse:
    """Send a file in pieces, and close it."""
    response = StreamingHttpResponse(_Pieces(file.file), content_type=file.media_type)
    response["X-Content-Type-Options"] = "nosniff"
    response["Content-Disposition"] = content_disposition_header(True, file.name) or "attachment"
    return response


class _Pieces:
    """A file in pieces; Django closes it, also where nobody reads it."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while piece := await sync_to_async(self._file.read)(PIECE):
            yield piece

    def close(self) -> None:
        self._file.close()
