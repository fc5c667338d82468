"""Adding whatever it is: documents become sources, captions and addresses jobs."""

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
    """What became of a document: the source, or the error that kept it out."""

    name: str
    added: AddedDocument | None = None
    error: KnowledgeBaseError | None = None


@require_POST
def add(request: PageRequest) -> HttpResponse:
    """Store documents, queue addresses and caption files, store a pasted text; what a file is, its content decides.

    HTMX gets what shows their progress, a plain browser the page that does.
    """
    request.caller.require_write()
    form = AddForm(request.POST, request.FILES)
    values = form.checked(request.reach)
    papers = [
        file for file in values["files"] if document_storage.is_document(file, file.name or "")
    ]
    values["files"] = [file for file in values["files"] if file not in papers]
    others = view_library.add_all(
        request, form
    )  # first: what refuses the whole request must leave nothing behind
    added = [_add(values, file, alone=len(papers) == 1 and not values["text"]) for file in papers]
    if request.htmx:
        return fragment(request, "citations/_added.html", {"papers": added, "outcomes": others})
    _tell(request, added)
    view_library.tell(request, others)
    return redirect("activity" if others else "sources")


@require_safe
def show_state(request: PageRequest, source_id: UUID) -> HttpResponse:
    """Show how far a document is: the fragment that asks again as long as it is not done; a plain browser gets its page."""
    source = find_source(request.reach, str(source_id))
    if not request.htmx:
        return redirect("source", source_id=source_id)
    return fragment(
        request,
        "citations/_paper.html",
        {"source": source, "is_new": True, "writable": request.reach.writable},
    )


def _add(values: dict[str, Any], file: "UploadedFile[Any]", *, alone: bool) -> DocumentResult:
    name = document_storage.clean_name(file.name or "")
    about = {
        "title": values["title"] if alone else "",
        "tags": values["tags"],
        "language": values["language"],
    }
    try:
        added = document_storage.add(values["collection"], file, name=name, **about)
    except KnowledgeBaseError as error:
        return DocumentResult(name, error=error)
    send(added.source)
    return DocumentResult(name, added)


def _tell(request: PageRequest, outcomes: list[DocumentResult]) -> None:
    for outcome in outcomes:
        if outcome.error:
            messages.error(request, f"{outcome.name}: {outcome.error.message} {outcome.error.hint}")
        elif outcome.added:
            became = (
                "is read as a document now"
                if outcome.added.is_new
                else "is there already, as a document"
            )
            messages.success(request, f"“{outcome.added.source}” {became}.")
