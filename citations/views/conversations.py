"""The Ask page, and conversations: list, rename, delete, export; rate and save their answers."""

from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Final
from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.http import content_disposition_header
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from citations.errors import ConversationNotFound
from citations.guide import storage as guide_storage
from citations.guide.storage import SuggestedQuestion
from citations.models import Answer, Conversation, Source, SourceQuerySet, State
from citations.notebook import answers, conversations, notes, questions, shared_conversations
from citations.notebook import export as notebook_export
from citations.notebook.answers import AnswerRecord
from citations.notebook.export import ExportFormat
from citations.notebook.shared_conversations import ShareChoice
from citations.views import for_pages
from citations.views.answer import answer_contexts, stream
from citations.views.forms import MAX_WORDS, AskForm, rating, words_of
from citations.views.language_model import offers_model
from citations.views.notes import address_of
from transcripts.core.alphabet import alphabetical
from transcripts.core.errors import InvalidInput, KnowledgeBaseError, NotFound
from transcripts.core.lists import containing
from transcripts.core.sanitize import clean
from transcripts.core.translation import translated_error
from transcripts.core.views.requests import (
    PageRequest,
    fragment,
    offset_of,
    query_string,
    redirect_with_message,
)
from transcripts.library import reading as library
from transcripts.models import Collection
from transcripts.text.queries import MAX_QUESTION

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
            is_pinned=request.POST["pinned"] == "1" if "pinned" in request.POST else None,
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
    answer = answers.find_answer(request.access, request.user, answer_id)
    questions.rate(answer, rating(request.POST.get("rating", "")))
    if not request.htmx:
        address = reverse("conversation", args=(answer.conversation.uuid,))
        return redirect(f"{address}#answer-{answer.uuid}")
    (record,) = answers.read(request.access, [answer])
    return fragment(request, "citations/_feedback.html", {"answer": record, "is_new": True})


@require_POST
def keep(request: PageRequest, answer_id: UUID) -> HttpResponse:
    """Save an answer as a note, or lead to the note it is saved as."""
    answer = answers.find_answer(request.access, request.user, answer_id)
    slug = AskForm(request.POST).collection_slug()
    saved = notes.keep(request.access, request.user, answer, collection=slug)
    if request.htmx:
        (record,) = answers.read(request.access, [answer])
        context = {"answer": record, "saved": saved.note, "is_old": not saved.is_new}
        return fragment(request, "citations/_answer_note.html", context)
    if not saved.is_new:
        messages.info(request, _("This answer is already saved; this is its note."))
    return redirect(address_of(saved.note))


SIDEBAR_CONVERSATIONS: Final = 12
MAX_OFFERED: Final = 100  # sources to choose from, beside the chosen
_OWN: Final = ("uuid", "title", "kind", "language", "state")
_SHOWN: Final = (*_OWN, "video__youtube_id", "video__media__id")
STREAM: Final = "text/event-stream"


@require_http_methods(["GET", "HEAD", "POST"])
def ask(request: PageRequest) -> HttpResponseBase:
    """Show an empty conversation, or start one with its first question."""
    form = AskForm(request.POST if request.method == "POST" else request.GET)
    slug, chosen = form.collection_slug(), form.sources()
    if request.method != "POST":
        context = _page(request, None, collection=slug, chosen=chosen, typed=form.typed())
        return render(request, "citations/ask.html", context)
    try:
        if not slug:  # of who reads a single one: with its readers it can be shared
            readable = library.collections(request.access)
            slug = readable[0].slug if len(readable) == 1 else ""
        answer = questions.ask_first(
            request.access, request.user, form.question(), collection=slug, sources=chosen
        )
        return _answer(request, answer)
    except KnowledgeBaseError as error:
        return _render_refusal(request, error, None, form)


@require_http_methods(["GET", "HEAD", "POST"])
def show_conversation(request: PageRequest, conversation_id: UUID) -> HttpResponseBase:
    """Show a conversation, or ask a question in it."""
    if request.method != "POST":
        conversation = conversations.find_readable(request.access, request.user, conversation_id)
        typed = AskForm(request.GET).typed()
        context = _page(request, conversation, chosen=conversation.sources, typed=typed)
        return render(request, "citations/ask.html", context)
    conversation = conversations.find(request.access, request.user, conversation_id)
    form = AskForm(request.POST)
    try:
        question, chosen = form.question(), form.sources()
        answer = questions.ask(request.access, request.user, conversation, question, sources=chosen)
        return _answer(request, answer)
    except KnowledgeBaseError as error:
        return _render_refusal(request, error, conversation, form)


@require_POST
def again(request: PageRequest, answer_id: UUID) -> HttpResponseBase:
    """Answer a question again."""
    answer = answers.find_answer(request.access, request.user, answer_id)
    return _answer(request, questions.ask_again(request.access, request.user, answer))


@require_safe
def show_answer(request: PageRequest, answer_id: UUID) -> HttpResponse:
    return fragment(request, "citations/_answer.html", _answer_context(request, answer_id))


@require_safe
def show_sources(request: PageRequest) -> HttpResponse:
    """Show the sources of a collection that can be asked, or those with some words."""
    form = AskForm(request.GET)
    if "words" in request.GET:
        words = clean(request.GET["words"], MAX_WORDS)
        context = _source_choices(request, form.collection_slug(), form.sources(), words=words)
        return fragment(request, "citations/_ask_choices.html", context)
    context = {**_source_choices(request, form.collection_slug(), []), "is_new": True}
    return fragment(request, "citations/_ask_sources.html", context)


def _answer(request: PageRequest, answer: Answer) -> HttpResponseBase:
    """Stream an answer; a browser without scripts waits and gets the conversation."""
    events = questions.respond(request.access, request.user, answer)
    address = reverse("conversation", args=(answer.conversation.uuid,))
    if request.headers.get("Accept") == STREAM:

        def render() -> str:
            context = _answer_context(request, answer.uuid)
            return render_to_string("citations/_answer.html", context, request=request)

        return stream(events, caller=request.caller, address=address, render=render)
    with suppress(KnowledgeBaseError):  # it is stored with the question
        deque(events, maxlen=0)
    return redirect(f"{address}#answer-{answer.uuid}")


def _answer_context(request: PageRequest, answer_id: UUID) -> dict[str, Any]:
    answer, record = shared_conversations.find_answer(request.access, request.user, answer_id)
    (context,) = answer_contexts(request.access, [record])
    conversation = answer.conversation
    return {
        "entry": context,
        "conversation": conversation,
        "is_own": conversation.is_of(request.user),
        **_note_choices(request),
    }


def _render_refusal(
    request: PageRequest,
    error: KnowledgeBaseError,
    conversation: Conversation | None,
    form: AskForm,
) -> HttpResponse:
    """Show why a question was refused, and keep the typed question."""
    error = for_pages(error)
    status = 404 if isinstance(error, NotFound) else 422
    if request.headers.get("Accept") == STREAM:
        return render(request, "citations/_answer_error.html", {"error": error}, status=status)
    slug = form.collection_slug() if not isinstance(error, NotFound) else ""
    context = _page(
        request, conversation, collection=slug, chosen=form.sources(), typed=form.typed()
    )
    return render(request, "citations/ask.html", {**context, "error": error}, status=status)


def _page(
    request: PageRequest,
    conversation: Conversation | None,
    *,
    collection: str = "",
    chosen: list[str],
    typed: str = "",
) -> dict[str, Any]:
    slug, address, is_own = collection, reverse("ask"), True
    records: Sequence[AnswerRecord] = ()
    share: Sequence[ShareChoice] = ()  # with whose readers its owner can share it
    if conversation:
        is_own = conversation.is_of(request.user)
        slug = conversation.collection.slug if conversation.collection else collection
        address = reverse("conversation", args=(conversation.uuid,))
        records = shared_conversations.read(request.access, request.user, conversation)
        if is_own and not conversation.collection_id:
            share = shared_conversations.choices(records, library.collections(request.access))
    suggested: Sequence[SuggestedQuestion] = ()
    if not records:
        suggested = guide_storage.suggested(request.access, sources=chosen, collection=slug)
    latest = conversations.list_conversations(
        request.access, request.user, limit=SIDEBAR_CONVERSATIONS
    )
    return {
        "conversation": conversation,
        "is_own": is_own,
        "offers_model": not records and offers_model(request),
        "answers": answer_contexts(request.access, records),
        "share": share,
        "suggested": suggested,
        "latest": latest.conversations,
        "address": address,
        "exports": EXPORTS,
        "longest": MAX_QUESTION,
        "typed": typed,
        **_source_choices(request, slug, chosen),
        **_note_choices(request),
    }


EXPORTS: Final = (
    ("md", "Markdown"),
    ("html", gettext_lazy("Print view")),
    ("json", "JSON"),
    ("csl", gettext_lazy("Citations as CSL-JSON")),
    ("bib", gettext_lazy("Citations as BibTeX")),
)


def _source_choices(
    request: PageRequest, slug: str, chosen: Sequence[str], *, words: str = ""
) -> dict[str, Any]:
    """Return the chosen sources and others with all ``words`` in the title that can be asked: all
    but those that could not be read.
    """
    collection = library.find_collection(request.access, slug) if slug else None
    visible: SourceQuerySet = Source.objects.visible(request.access)
    visible = visible.filter(collection=collection) if collection else visible
    sources = visible.exclude(state=State.FAILED, chunk_count=0)
    total = sources.count()
    rows = (
        sources.select_related("video__media").only(*_SHOWN).order_by(alphabetical("title"), "pk")
    )
    others = containing(rows.exclude(uuid__in=chosen), words, "title")
    choices = [*rows.filter(uuid__in=chosen), *others[:MAX_OFFERED]]
    return {
        "collection_slug": slug,
        "collections": library.collections(request.access),
        "chosen": chosen,
        "sources": choices,
        "total": total,
        "more": total > len(choices),
    }


def _note_choices(request: PageRequest) -> dict[str, Any]:
    """Return the collections in which notes can be saved."""
    writable = request.access.writable
    return {"writable": writable, "note_collections": Collection.objects.filter(pk__in=writable)}
