"""The Ask page: questions and their answers, what may be asked, and one citation looked at."""

from collections.abc import Iterator, Sequence
from typing import Any, Final
from uuid import UUID

from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from citations.answers.answer import Event
from citations.models import Answer, Conversation, Source, SourceQuerySet, State
from citations.notebook import answers, conversations, notes, questions
from citations.notebook.answers import AnswerRecord
from citations.views import answer_context, answer_stream
from citations.views.ask_form import MOST_SHOWN, AskForm
from transcripts import library
from transcripts.errors import KnowledgeBaseError, NotFound
from transcripts.models import Collection
from transcripts.views.requests import PageRequest, fragment

LATEST: Final = 12  # conversations beside the one that is read
STREAM: Final = "text/event-stream"
"""What a browser that can be told things as they happen accepts."""


@require_http_methods(["GET", "HEAD", "POST"])
def ask(request: PageRequest) -> HttpResponseBase:
    """Show an empty conversation, or begin one with its first question."""
    if request.method != "POST":
        form = AskForm(request.GET)
        return render(
            request,
            "citations/ask.html",
            _page(request, None, shelf=form.shelf(), chosen=form.sources(), typed=form.typed()),
        )
    form = AskForm(request.POST)
    try:
        question = form.question()
        return _answer(
            request,
            questions.put_first(
                request.reach,
                request.user,
                question,
                collection=form.shelf(),
                sources=form.sources(),
            ),
        )
    except KnowledgeBaseError as error:
        return _refused(request, error, None, form)


@require_http_methods(["GET", "HEAD", "POST"])
def show_conversation(request: PageRequest, conversation_id: UUID) -> HttpResponseBase:
    """Show a conversation, or ask on in it."""
    conversation = conversations.find(request.reach, request.user, conversation_id)
    if request.method != "POST":
        typed = AskForm(request.GET).typed()
        return render(
            request,
            "citations/ask.html",
            _page(request, conversation, chosen=conversation.sources, typed=typed),
        )
    form = AskForm(request.POST)
    try:
        question = form.question()
        return _answer(
            request,
            questions.put(
                request.reach, request.user, conversation, question, sources=form.sources()
            ),
        )
    except KnowledgeBaseError as error:
        return _refused(request, error, conversation, form)


@require_POST
def again(request: PageRequest, answer_id: UUID) -> HttpResponseBase:
    """Answer a question anew."""
    answer = answers.find_answer(request.reach, request.user, answer_id)
    return _answer(request, questions.put_again(request.reach, request.user, answer))


@require_safe
def show_answer(request: PageRequest, answer_id: UUID) -> HttpResponse:
    """Show one answer: what a page asks for that shows it as being answered."""
    answer = answers.find_answer(request.reach, request.user, answer_id)
    return fragment(request, "citations/_answer.html", _one(request, answer))


@require_safe
def show_sources(request: PageRequest) -> HttpResponse:
    """Show what can be asked of a collection."""
    form = AskForm(request.GET)
    return fragment(
        request,
        "citations/_ask_sources.html",
        {**_offered(request, form.shelf()), "chosen": [], "is_new": True},
    )


# Answering


def _answer(request: PageRequest, answer: Answer) -> HttpResponseBase:
    """Tell an answer as it is made; a browser without scripts waits, and is shown the conversation."""
    told = questions.respond(request.reach, request.user, answer)
    address = reverse("conversation", args=(answer.conversation.uuid,))
    if request.headers.get("Accept") == STREAM:
        return answer_stream.tell(told, address=address, whole=lambda: _drawn(request, answer))
    _finish(told)
    return redirect(f"{address}#answer-{answer.uuid}")


def _finish(told: Iterator[Event]) -> None:
    """Let a question be answered; what went wrong is kept with it and shown there."""
    try:
        for _ in told:
            pass
    except KnowledgeBaseError:
        pass


def _drawn(request: PageRequest, answer: Answer) -> str:
    fresh = answers.find_answer(request.reach, request.user, answer.uuid)
    return render_to_string("citations/_answer.html", _one(request, fresh), request=request)


def _one(request: PageRequest, answer: Answer) -> dict[str, Any]:
    (one,) = _told(request, answers.read(request.reach, [answer]))
    return {"one": one, "conversation": answer.conversation, **_shelves(request)}


def _told(request: PageRequest, found: Sequence[AnswerRecord]) -> list[answer_context.Shown]:
    return answer_context.shown(found, notes=notes.saved(request.reach, [one.id for one in found]))


def _refused(
    request: PageRequest,
    error: KnowledgeBaseError,
    conversation: Conversation | None,
    form: AskForm,
) -> HttpResponse:
    """Say why a question is not asked; what was typed stays."""
    status = 404 if isinstance(error, NotFound) else 422
    if request.headers.get("Accept") == STREAM:
        return render(request, "citations/_answer_failed.html", {"error": error}, status=status)
    shelf = form.shelf() if not isinstance(error, NotFound) else ""
    context = _page(request, conversation, shelf=shelf, chosen=form.sources(), typed=form.typed())
    return render(request, "citations/ask.html", {**context, "error": error}, status=status)


# The page


def _page(
    request: PageRequest,
    conversation: Conversation | None,
    *,
    shelf: str = "",
    chosen: list[str],
    typed: str = "",
) -> dict[str, Any]:
    slug = conversation.collection.slug if conversation and conversation.collection else shelf
    return {
        "conversation": conversation,
        "answers": _told(request, answers.of(request.reach, conversation)) if conversation else [],
        "latest": conversations.list_conversations(
            request.reach, request.user, limit=LATEST
        ).conversations,
        "address": reverse("conversation", args=(conversation.uuid,))
        if conversation
        else reverse("ask"),
        "exports": EXPORTS,
        "longest": questions.MAX_QUESTION,
        "chosen": chosen,
        "typed": typed,
        **_offered(request, slug),
        **_shelves(request),
    }


EXPORTS: Final = (
    ("md", "Markdown"),
    ("html", "Print view"),
    ("json", "JSON"),
    ("csl", "Citations as CSL-JSON"),
    ("bib", "Citations as BibTeX"),
)


def _offered(request: PageRequest, slug: str) -> dict[str, Any]:
    """Return the sources that can be asked; those that could not be read at all are not among them."""
    shelf = library.find_collection(request.reach, slug) if slug else None
    found: SourceQuerySet = Source.objects.visible(request.reach).exclude(
        state=State.FAILED, chunk_count=0
    )
    if shelf:
        found = found.filter(collection=shelf)
    total = found.count()
    return {
        "collection": slug,
        "shelves": library.collections(request.reach),
        "sources": list(
            found.only("uuid", "title", "kind", "language", "state").order_by("title", "pk")[
                :MOST_SHOWN
            ]
        ),
        "total": total,
        "more": total > MOST_SHOWN,
    }


def _shelves(request: PageRequest) -> dict[str, Any]:
    """Return where a note can be kept."""
    writable = request.reach.writable
    return {"writable": writable, "note_shelves": Collection.objects.filter(pk__in=writable)}
