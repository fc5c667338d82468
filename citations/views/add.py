"""Add documents, which become sources, and captions or addresses, which become jobs."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST, require_safe

from citations.documents import storage as document_storage
from citations.documents.storage import AddedDocument
from citations.library.filters import find_source
from citations.tasks import send
from transcripts.errors import KnowledgeBaseError
from transcripts.forms import AddForm
from transcripts.views import library as view_library
from transcripts.views.requests import PageRequest, fragment


@dataclass(frozen=True, slots=True)
class DocumentResult:
    """An added document, or the error that prevented it."""

    name: str
    added: AddedDocument | None = None
    error: KnowledgeBaseError | None = None


@require_POST
def add(request: PageRequest) -> HttpResponse:
    """Store documents and texts, queue addresses and caption files; the content decides the type.

    HTMX gets a fragment that shows progress, other browsers a redirect.
    """
    request.caller.require_write()
    form = AddForm(request.POST, request.FILES)
    values = form.checked(request.access)
    documents = [
        file for file in values["files"] if document_storage.is_document(file, file.name or "")
    ]
    values["files"] = [file for file in values["files"] if file not in documents]
    outcomes = view_library.add_all(request, form)  # first: it may refuse the request
    is_alone = len(documents) == 1 and not values["text"]
    added = [_add(values, file, by=request.user, alone=is_alone) for file in documents]
    if request.htmx:
        context = {"papers": added, "outcomes": outcomes}
        return fragment(request, "citations/_add_outcomes.html", context)
    for outcome in added:
        if outcome.error:
            messages.error(request, f"{outcome.name}: {outcome.error.message} {outcome.error.hint}")
        elif outcome.added:
            result = "is being read" if outcome.added.is_new else "already exists as a document"
            messages.success(request, f"“{outcome.added.source}” {result}.")
    view_library.tell(request, outcomes)
    return redirect("activity" if outcomes else "sources")


@require_safe
def show_state(request: PageRequest, source_id: UUID) -> HttpResponse:
    """Show a document's progress: a fragment that polls until it is done."""
    source = find_source(request.access, str(source_id))
    if not request.htmx:
        return redirect("source", source_id=source_id)
    context = {"source": source, "is_new": True, "writable": request.access.writable}
    return fragment(request, "citations/_document.html", context)


def _add(
    values: dict[str, Any], file: "UploadedFile[Any]", *, by: Any, alone: bool
) -> DocumentResult:
    name = document_storage.clean_name(file.name or "")
    about = {"by": by, **{key: values[key] for key in ("tags", "language")}}
    title = values["title"] if alone else ""
    try:
        added = document_storage.add(values["collection"], file, name=name, title=title, **about)
    except KnowledgeBaseError as error:
        return DocumentResult(name, error=error)
    send(added.source)
    return DocumentResult(name, added)
