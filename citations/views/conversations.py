"""What can be done with a conversation and its answers beside asking: the list, another name, a file, feedback, a note, an end."""

from typing import Final
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import content_disposition_header
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from citations.errors import ConversationNotFound
from citations.models import Answer
from citations.notebook import answers as notebook_answers
from citations.notebook import conversations, notes, questions
from citations.notebook import export as notebook_export
from citations.notebook.answers import AnswerRecord
from citations.views.ask_form import AskForm, rating, words_of
from citations.views.lecture_form import number_of
from citations.views.notes import address_of
from transcripts.views.requests import PageRequest, done, fragment

PAGE: Final = 30  # conversations on a page of the list
PRINTED: Final = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"  # of the page to print, which brings its style along


@require_safe
def show_conversations(request: PageRequest) -> HttpResponse:
    """List the caller's conversations, the latest first, or those in whose titles some words occur."""
    offset = number_of(request.GET.get("offset", "")) or 0
    words = words_of(request.GET)
    page = conversations.list_conversations(
        request.reach, request.user, words=words, offset=offset, limit=PAGE
    )
    return render(
        request, "citations/conversations.html", {"page": page, "offset": offset, "words": words}
    )


@require_POST
def rename(request: PageRequest, conversation_id: UUID) -> HttpResponse:
    """Give a conversation another title."""
    conversation = conversations.find(request.reach, request.user, conversation_id)
    conversations.rename(conversation, request.POST.get("title", ""))
    return redirect("conversation", conversation_id=conversation_id)


@require_http_methods(["GET", "HEAD", "POST"])
def delete(request: PageRequest, conversation_id: UUID) -> HttpResponse:
    """Ask, then delete a conversation."""
    conversation = conversations.find(request.reach, request.user, conversation_id)
    if request.method != "POST":
        return render(
            request,
            "citations/delete_conversation.html",
            {"conversation": conversation, "count": conversation.answers.count()},
        )
    conversations.delete(conversation)
    return done(request, f"“{conversation.title}” was deleted.", "ask")


@require_safe
def export(request: PageRequest, conversation_id: UUID, form: str) -> HttpResponse:
    """Give a conversation as a file; the page to print is shown."""
    conversation = conversations.find(request.reach, request.user, conversation_id)
    if form not in list(notebook_export.ExportFormat):
        raise ConversationNotFound(
            f"A conversation is not written as “{form}”.",
            hint="There are: " + ", ".join(notebook_export.ExportFormat) + ".",
        )
    made = notebook_export.export(request.reach, conversation, notebook_export.ExportFormat(form))
    response = HttpResponse(made.text, content_type=made.media_type)
    if form == notebook_export.ExportFormat.HTML:
        response["Content-Security-Policy"] = PRINTED
    response["Content-Disposition"] = (
        content_disposition_header(form != notebook_export.ExportFormat.HTML, made.name) or "inline"
    )
    return response


@require_POST
def rate(request: PageRequest, answer_id: UUID) -> HttpResponse:
    """Mark an answer as helpful or not, or take that back."""
    answer = notebook_answers.find_answer(request.reach, request.user, answer_id)
    questions.rate(answer, rating(request.POST.get("rating", "")))
    if not request.htmx:
        return _back(answer)
    return fragment(
        request, "citations/_feedback.html", {"answer": _record(request, answer), "is_new": True}
    )


@require_POST
def keep(request: PageRequest, answer_id: UUID) -> HttpResponse:
    """Keep an answer as a note beside the sources of its collection, or of the one that is named; lead to the note where it is kept already."""
    request.caller.require_write()
    answer = notebook_answers.find_answer(request.reach, request.user, answer_id)
    kept = notes.keep(request.reach, request.user, answer, collection=AskForm(request.POST).shelf())
    if request.htmx:
        return fragment(
            request,
            "citations/_answer_note.html",
            {"answer": _record(request, answer), "saved": kept.note, "is_old": not kept.is_new},
        )
    if not kept.is_new:
        messages.info(request, "This answer was saved already: here is its note.")
    return redirect(address_of(kept.note))


def _record(request: PageRequest, answer: Answer) -> AnswerRecord:
    return notebook_answers.read(request.reach, [answer])[0]


def _back(answer: Answer) -> HttpResponse:
    return redirect(
        f"{reverse('conversation', args=(answer.conversation.uuid,))}#answer-{answer.uuid}"
    )
