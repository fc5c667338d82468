"""Notes: list, add, change, delete."""

from typing import Any, Final
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from citations.ingest import selection
from citations.models import Note
from citations.notebook import highlight_lists, notes
from citations.views.forms import NoteForm, words_of
from transcripts.core.errors import Forbidden, KnowledgeBaseError, NotFound
from transcripts.core.views.requests import (
    PageRequest,
    back,
    offset_of,
    query_string,
    redirect_with_message,
)
from transcripts.library import reading as library

PAGE_SIZE: Final = 30  # notes per page


@require_safe
def show_notes(request: PageRequest) -> HttpResponse:
    """List notes, those on highlights, too: of a collection or of all readable ones, by words."""
    context = _page(request, request.GET.get("collection", ""))
    return render(request, "citations/notes.html", context)


@require_POST
def add(request: PageRequest) -> HttpResponse:
    form = NoteForm(request.POST)
    slug = form.collection_slug()
    try:
        note = notes.pin(request.access, request.user, collection=slug, **form.values())
    except (Forbidden, NotFound):
        raise
    except KnowledgeBaseError as error:
        context = _page(request, slug) | {"error": error, "values": form.typed()}
        return render(request, "citations/notes.html", context, status=422)
    return back(request, address_of(note))


@require_http_methods(["GET", "HEAD", "POST"])
def change(request: PageRequest, note_id: UUID) -> HttpResponse:
    """Show or store a note."""
    note = _find_writable(request, note_id)
    if request.method != "POST":
        context = {"note": note, "values": {"title": note.title, "text": note.text}}
        return render(request, "citations/note.html", context)
    form = NoteForm(request.POST)
    try:
        notes.change(note, **form.values())
    except KnowledgeBaseError as error:
        context = {"note": note, "error": error, "values": form.typed()}
        return render(request, "citations/note.html", context, status=422)
    return redirect(address_of(note))


@require_http_methods(["GET", "HEAD", "POST"])
def delete(request: PageRequest, note_id: UUID) -> HttpResponse:
    """Confirm, then delete a note."""
    note = _find_writable(request, note_id)
    if request.method != "POST":
        context = {"note": note, "address": address_of(note)}
        return render(request, "citations/delete_note.html", context)
    deletion = selection.discard(by=request.user, notes=[note])
    back = f"{reverse('notes')}?collection={note.collection.slug}"
    message = _("The note “%(title)s” was deleted.") % {"title": note.title}
    return redirect_with_message(request, message, back, undo=deletion.uuid)


def address_of(note: Note) -> str:
    return f"{reverse('notes')}?collection={note.collection.slug}#note-{note.uuid}"


def _find_writable(request: PageRequest, note_id: UUID) -> Note:
    return notes.find_note(request.access, note_id, write=True)


def _page(request: PageRequest, slug: str) -> dict[str, Any]:
    collection = library.find_collection(request.access, slug) if slug else None
    offset = offset_of(request)
    words = words_of(request.GET)
    page = notes.list_entries(
        request.access, request.user, collection=slug, words=words, offset=offset, limit=PAGE_SIZE
    )
    writable = request.access.writable
    collections = library.collections(request.access)
    candidates = [collection] if collection else collections
    return {
        "page": page,
        "hidden_words": highlight_lists.hidden_words(page.highlights),
        "offset": offset,
        "words": words,
        "collection": collection,
        "collection_query": query_string({"collection": slug}),
        "collections": collections,
        "writable": writable,
        "note_collections": [row for row in candidates if row.pk in writable],
    }
