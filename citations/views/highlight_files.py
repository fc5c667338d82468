"""Highlights to and from other programs."""

from collections.abc import AsyncIterator
from typing import IO, Any, Final

from asgiref.sync import sync_to_async
from django.http import HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import render
from django.utils.http import content_disposition_header
from django.views.decorators.http import require_http_methods, require_safe

from citations.notebook import annotation_import, highlight_export, web_annotations
from citations.notebook.highlight_export import HighlightFile, HighlightFormat
from citations.notebook.web_annotations import MAX_BYTES
from citations.views.highlight_form import filter_of
from transcripts.core.errors import InvalidInput, KnowledgeBaseError, NotFound
from transcripts.core.views.requests import PageRequest

PIECE: Final = 256 << 10  # bytes


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
            annotations, ignored = web_annotations.read(_sent(request))
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


def _sent(request: PageRequest) -> bytes:
    file = request.FILES.get("file")
    if file is None or isinstance(file, list):
        raise InvalidInput("No file was sent.", hint="Choose a file of Web Annotations.")
    return bytes(file.read(MAX_BYTES + 1))
