"""The operations on highlights."""

from typing import Annotated, Any, Final
from uuid import UUID

from django.http import HttpResponse
from django.utils.http import content_disposition_header
from ninja import Field, Path, Query, Router, Schema, Status
from pydantic import StringConstraints

from citations.notebook import annotation_import, highlight_export, highlights, web_annotations
from citations.notebook.annotation_import import ImportReport
from citations.notebook.gaps import MAX_HIDDEN
from citations.notebook.highlight_export import HighlightFormat
from citations.notebook.highlights import (
    MAX_NOTE,
    MAX_QUOTE,
    MAX_TAGS,
    HighlightFilter,
    HighlightNotes,
    PlacedHighlight,
)
from citations.notebook.web_annotations import MAX_ANNOTATIONS
from citations.quotes.anchoring import AROUND, SelectedText
from citations.schemas.filters import MAX_TAG, HighlightFilterIn
from citations.schemas.notebook import Color, HighlightOut, HighlightsOut, ImportOut
from transcripts.api.endpoints import Request
from transcripts.api.shapes import BIGGEST_ID, BodyIn, PageIn, responses
from transcripts.core.access import AccessLevel, needs
from transcripts.core.headers import FILE_NAME, located
from transcripts.schemas import Filled, Id, Text

HighlightId = Annotated[UUID, Path(description="The highlight's id.")]
Around = Annotated[Text, StringConstraints(max_length=10 * AROUND)]
TagName = Annotated[Text, StringConstraints(max_length=MAX_TAG)]


class HighlightsIn(HighlightFilterIn, PageIn):
    """A page of them."""


class HighlightExportIn(HighlightFilterIn):
    """Which highlights, and for which program."""

    format: HighlightFormat


class AnnotationsIn(Schema):
    """A page of annotations (https://www.w3.org/TR/annotation-model/); other parts are ignored."""

    items: Annotated[list[dict[str, Any]], Field(max_length=MAX_ANNOTATIONS)]


class HighlightNotesIn(BodyIn):
    """The colour, note, tags and hidden words of a highlight."""

    color: Color = "yellow"
    note: Annotated[Text, StringConstraints(max_length=MAX_NOTE)] = Field(
        "", description="Markdown."
    )
    tags: Annotated[list[TagName], Field(max_length=MAX_TAGS)] = []
    shared: bool = Field(False, description="Seen by all who may read the source.")
    card: bool = Field(False, description="To be learnt by heart.")
    hidden_words: Annotated[Text, StringConstraints(max_length=MAX_HIDDEN)] = Field(
        "",
        description="Words of its sentence that the card hides; empty: they are chosen"
        " automatically.",
    )

    def notes(self) -> HighlightNotes:
        return HighlightNotes(
            color=self.color,
            note=self.note,
            tags=tuple(self.tags),
            is_shared=self.shared,
            is_card=self.card,
            hidden_words=self.hidden_words,
        )


class HighlightIn(HighlightNotesIn):
    """A passage of a source by its words, as W3C's TextQuoteSelector names it."""

    source_id: Id
    quote: Annotated[Filled, StringConstraints(max_length=MAX_QUOTE)]
    prefix: Around = Field("", description="Words before it, if it occurs more than once.")
    suffix: Around = Field("", description="Words after it.")
    start: float | None = Field(None, ge=0, le=1e7, description="Seconds: near this time.")
    page: int | None = Field(None, ge=1, le=BIGGEST_ID, description="On this page.")


router = Router(tags=["notebook"])


@router.get("highlights", response=responses({200: HighlightsOut}, 404), summary="List highlights")
@needs(AccessLevel.READ)
def list_highlights(request: Request, query: Query[HighlightsIn]) -> HighlightsOut:
    """List your highlights and those that are shared with you, latest first."""
    page = highlights.list_highlights(
        request.access,
        request.caller.user,
        HighlightFilter.of(query),
        offset=query.offset,
        limit=query.limit,
    )
    return HighlightsOut.model_validate(page)


@router.post(
    "highlights",
    response=responses({200: HighlightOut, 201: HighlightOut}, 404),
    openapi_extra=located(200, 201),
    summary="Highlight a passage",
)
@needs(AccessLevel.WRITE)
def add_highlight(request: Request, body: HighlightIn) -> Status[HighlightOut]:
    """Highlight the words of a source. The same passage again changes its colour, note and tags
    (200).
    """
    selected = SelectedText(exact=body.quote, prefix=body.prefix, suffix=body.suffix)
    highlight = highlights.keep(
        request.access,
        request.caller.user,
        str(body.source_id),
        selected,
        body.notes(),
        start=None if body.start is None else round(body.start * 1000),
        page=body.page,
    )
    request.answer["Location"] = f"/api/v1/highlights/{highlight.placed.row.uuid}"
    shape = HighlightOut.model_validate(highlight.placed)
    return Status(201 if highlight.is_new else 200, shape)


_TEXTS: Final = ("text/csv", "text/markdown", "application/zip", "application/vnd.anki")
_PAGE: Final = {
    "@context": {"const": web_annotations.CONTEXT},
    "id": {"type": "string", "format": "uri-reference"},
    "type": {"const": "AnnotationPage"},
    "items": {"type": "array", "items": {"type": "object"}},
}
_FILES: Final = {
    200: {
        "description": "The file.",
        "headers": FILE_NAME,
        "content": {name: {"schema": {"type": "string", "format": "binary"}} for name in _TEXTS}
        | {"application/ld+json": {"schema": {"type": "object", "properties": _PAGE}}},
    }
}


@router.get(
    "highlights/export",
    response=responses({200: None}, 404, 413),
    openapi_extra={"responses": _FILES},
    summary="Download highlights",
)
@needs(AccessLevel.READ)
def export_highlights(request: Request, query: Query[HighlightExportIn]) -> HttpResponse:
    """Return highlights for Obsidian (ZIP of Markdown; of one source the file), Readwise (CSV),
    Anki (apkg) or as Web Annotations (JSON-LD).
    """
    exported = highlight_export.export(
        request.access, request.caller.user, HighlightFilter.of(query), query.format
    )
    headers = {"Content-Disposition": content_disposition_header(True, exported.name) or ""}
    with exported.file as file:
        return HttpResponse(file.read(), content_type=exported.media_type, headers=headers)


@router.post(
    "highlights/import", response=responses({200: ImportOut}, 413), summary="Import Web Annotations"
)
@needs(AccessLevel.WRITE)
def import_highlights(request: Request, body: AnnotationsIn) -> ImportReport:
    """Highlight what the annotations of a page quote, in sources that you may read.

    Annotations without a place are reported, and the rest is kept.
    """
    annotations, ignored = web_annotations.read_json({"items": body.items})
    return annotation_import.import_annotations(
        request.access, request.caller.user, annotations, ignored=ignored
    )


@router.get(
    "highlights/{highlight_id}",
    response=responses({200: HighlightOut}, 404),
    summary="Read a highlight",
)
@needs(AccessLevel.READ)
def get_highlight(request: Request, highlight_id: HighlightId) -> HighlightOut:
    """Return a highlight."""
    placed = highlights.find(request.access, request.caller.user, highlight_id)
    return HighlightOut.model_validate(placed)


@router.put(
    "highlights/{highlight_id}",
    response=responses({200: HighlightOut}, 404),
    summary="Change a highlight",
)
@needs(AccessLevel.WRITE)
def put_highlight(
    request: Request, highlight_id: HighlightId, body: HighlightNotesIn
) -> HighlightOut:
    """Replace colour, note, tags, hidden words and whether it is shared or a card, of a highlight
    of yours.
    """
    placed = _find_own(request, highlight_id)
    highlights.change(request.access, placed.row, body.notes())
    return HighlightOut.model_validate(placed)


@router.delete(
    "highlights/{highlight_id}", response=responses({204: None}, 404), summary="Delete a highlight"
)
@needs(AccessLevel.WRITE)
def delete_highlight(request: Request, highlight_id: HighlightId) -> Status[None]:
    """Delete a highlight of yours."""
    highlights.delete(_find_own(request, highlight_id).row)
    return Status(204, None)


def _find_own(request: Request, highlight_id: UUID) -> PlacedHighlight:
    return highlights.find(request.access, request.caller.user, highlight_id, write=True)
