"""The Ask page: conversations, questions and answers."""

from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Final
from uuid import UUID

from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from citations.guide import storage as guide_storage
from citations.guide.storage import SuggestedQuestion
from citations.models import Answer, Conversation, Source, SourceQuerySet, State
from citations.notebook import answers, conversations, notes, questions, shared_conversations
from citations.notebook.answers import AnswerRecord
from citations.notebook.shared_conversations import ShareChoice
from citations.views.answer import AnswerContext, answer_contexts, stream
from citations.views.forms import MAX_WORDS, AskForm
from citations.views.page_errors import for_pages
from transcripts.core.alphabet import alphabetical
from transcripts.core.errors import KnowledgeBaseError, NotFound
from transcripts.core.lists import containing
from transcripts.core.sanitize import clean
from transcripts.core.views.requests import PageRequest, fragment
from transcripts.library import reading as library
from transcripts.models import Collection
from transcripts.text.queries import MAX_QUESTION

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
        about = slug or _only_collection(request)
        answer = questions.ask_first(
            request.access, request.user, form.question(), collection=about, sources=chosen
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
    answer, record = shared_conversations.find_answer(request.access, request.user, answer_id)
    return fragment(request, "citations/_answer.html", _answer_values(request, answer, record))


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
        render = partial(_render, request, answer)
        return stream(events, caller=request.caller, address=address, render=render)
    with suppress(KnowledgeBaseError):  # it is stored with the question
        deque(events, maxlen=0)
    return redirect(f"{address}#answer-{answer.uuid}")


def _render(request: PageRequest, answer: Answer) -> str:
    fresh, record = shared_conversations.find_answer(request.access, request.user, answer.uuid)
    context = _answer_values(request, fresh, record)
    return render_to_string("citations/_answer.html", context, request=request)


def _answer_values(request: PageRequest, answer: Answer, record: AnswerRecord) -> dict[str, Any]:
    (context,) = _contexts(request, [record])
    conversation = answer.conversation
    return {
        "entry": context,
        "conversation": conversation,
        "is_own": conversation.is_of(request.user),
        **_note_choices(request),
    }


def _contexts(request: PageRequest, records: Sequence[AnswerRecord]) -> list[AnswerContext]:
    return answer_contexts(
        records, notes=notes.saved(request.access, [record.id for record in records])
    )


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
    slug, address = collection, reverse("ask")
    records: Sequence[AnswerRecord] = ()
    if conversation:
        slug = conversation.collection.slug if conversation.collection else collection
        address = reverse("conversation", args=(conversation.uuid,))
        records = shared_conversations.read(request.access, request.user, conversation)
    latest = conversations.list_conversations(
        request.access, request.user, limit=SIDEBAR_CONVERSATIONS
    )
    return {
        "conversation": conversation,
        "is_own": conversation is None or conversation.is_of(request.user),
        "answers": _contexts(request, records),
        "share": _share(request, conversation, records),
        "suggested": () if records else _suggested(request, chosen, slug),
        "latest": latest.conversations,
        "address": address,
        "exports": EXPORTS,
        "longest": MAX_QUESTION,
        "typed": typed,
        **_source_choices(request, slug, chosen),
        **_note_choices(request),
    }


def _share(
    request: PageRequest, conversation: Conversation | None, records: Sequence[AnswerRecord]
) -> Sequence[ShareChoice]:
    """Return with whose readers the owner can share a conversation about everything."""
    if conversation is None or conversation.collection_id or not conversation.is_of(request.user):
        return ()
    return shared_conversations.choices(records, library.collections(request.access))


EXPORTS: Final = (
    ("md", "Markdown"),
    ("html", _("Print view")),
    ("json", "JSON"),
    ("csl", _("Citations as CSL-JSON")),
    ("bib", _("Citations as BibTeX")),
)


def _only_collection(request: PageRequest) -> str:
    """Return the collection of who reads a single one, with whose readers it can be shared."""
    readable = library.collections(request.access)
    return readable[0].slug if len(readable) == 1 else ""


def _suggested(request: PageRequest, chosen: list[str], slug: str) -> Sequence[SuggestedQuestion]:
    return guide_storage.suggested(request.access, sources=chosen, collection=slug)


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
