"""Conversations: list, rename, delete, export; rate and save their answers."""

from typing import Any, Final
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import content_disposition_header
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from citations.errors import ConversationNotFound
from citations.models import Answer
from citations.notebook import answers as notebook_answers
from citations.notebook import conversations, notes, questions
from citations.notebook import export as notebook_export
from citations.notebook.answers import AnswerRecord
from citations.notebook.export import ExportFormat
from citations.views.forms import AskForm, rating, words_of
from citations.views.notes import address_of
from transcripts.core.errors import InvalidInput
from transcripts.core.translation import translated_error
from transcripts.core.views.requests import (
    PageRequest,
    fragment,
    offset_of,
    query_string,
    redirect_with_message,
)
from transcripts.library import reading as library

PAGE_SIZE: Final = 30  # conversations on a page of the list
# The printable page has inline styles.
PRINTED: Final = (
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
)


@require_safe
def show_conversations(request: PageRequest) -> HttpResponse:
    """List the user's conversations, latest first, by collection and words of the title."""
    offset, slug = offset_of(request), request.GET.get("collection", "")
    collection = library.find_collection(request.access, slug) if slug else None
    part: dict[str, Any] = {"words": words_of(request.GET), "offset": offset}
    page = conversations.list_conversations(
        request.access, request.user, collection=slug, limit=PAGE_SIZE, **part
    )
    context = {
        "page": page,
        "collection": collection,
        "collection_query": query_string({"collection": slug}),
        **part,
    }
    return render(request, "citations/conversations.html", context)


@require_POST
def change(request: PageRequest, conversation_id: UUID) -> HttpResponse:
    """Rename a conversation, pin it or share it: whatever is sent."""
    conversation = conversations.find(request.access, request.user, conversation_id)
    try:
        conversations.change(
            request.access,
            conversation,
            title=request.POST.get("title"),
            is_pinned=_switch(request, "pinned"),
            shared_with=request.POST.get("shared_with"),
        )
    except InvalidInput as error:
        messages.error(request, translated_error(error))
    return redirect("conversation", conversation_id=conversation_id)


@require_POST
def keep_all(request: PageRequest, conversation_id: UUID) -> HttpResponse:
    """Save a conversation as a note."""
    conversation = conversations.find_readable(request.access, request.user, conversation_id)
    return redirect(address_of(notes.keep_conversation(request.access, request.user, conversation)))


@require_http_methods(["GET", "HEAD", "POST"])
def delete(request: PageRequest, conversation_id: UUID) -> HttpResponse:
    """Confirm, then delete a conversation."""
    conversation = conversations.find(request.access, request.user, conversation_id)
    if request.method != "POST":
        return render(
            request,
            "citations/delete_conversation.html",
            {"conversation": conversation, "count": conversation.answers.count()},
        )
    conversations.delete(conversation)
    return redirect_with_message(
        request, _("“%(title)s” was deleted.") % {"title": conversation.title}, "ask"
    )


@require_safe
def export(request: PageRequest, conversation_id: UUID, form: str) -> HttpResponse:
    """Download a conversation; the printable page is shown instead."""
    conversation = conversations.find_readable(request.access, request.user, conversation_id)
    if form not in list(ExportFormat):
        raise ConversationNotFound(
            f"There is no export format “{form}”.", hint="Formats: " + ", ".join(ExportFormat) + "."
        )
    file = notebook_export.export(request.access, request.user, conversation, ExportFormat(form))
    response = HttpResponse(file.text, content_type=file.media_type)
    is_printed = form == ExportFormat.HTML
    if is_printed:
        response["Content-Security-Policy"] = PRINTED
    disposition = content_disposition_header(not is_printed, file.name)
    response["Content-Disposition"] = disposition or "inline"
    return response


@require_POST
def rate(request: PageRequest, answer_id: UUID) -> HttpResponse:
    """Rate an answer, or remove the rating."""
    answer = notebook_answers.find_answer(request.access, request.user, answer_id)
    questions.rate(answer, rating(request.POST.get("rating", "")))
    if not request.htmx:
        address = reverse("conversation", args=(answer.conversation.uuid,))
        return redirect(f"{address}#answer-{answer.uuid}")
    context = {"answer": _record(request, answer), "is_new": True}
    return fragment(request, "citations/_feedback.html", context)


@require_POST
def keep(request: PageRequest, answer_id: UUID) -> HttpResponse:
    """Save an answer as a note, or lead to the note it is saved as."""
    answer = notebook_answers.find_answer(request.access, request.user, answer_id)
    slug = AskForm(request.POST).collection_slug()
    saved = notes.keep(request.access, request.user, answer, collection=slug)
    if request.htmx:
        return fragment(
            request,
            "citations/_answer_note.html",
            {"answer": _record(request, answer), "saved": saved.note, "is_old": not saved.is_new},
        )
    if not saved.is_new:
        messages.info(request, _("This answer is already saved; this is its note."))
    return redirect(address_of(saved.note))


def _switch(request: PageRequest, name: str) -> bool | None:
    return request.POST[name] == "1" if name in request.POST else None


def _record(request: PageRequest, answer: Answer) -> AnswerRecord:
    return notebook_answers.read(request.access, [answer])[0]
