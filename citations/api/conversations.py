"""The operations on conversations: each parses, makes one call, renders."""

import json
import logging
from collections.abc import Iterator
from typing import Any, Final

from django.core.serializers.json import DjangoJSONEncoder
from django.http import HttpResponse, StreamingHttpResponse
from django.utils.http import content_disposition_header
from ninja import Query, Router, Status

from citations.answers import pipeline as answer_pipeline
from citations.answers.answer import ClaimEvent, Event, FinalEvent, Progress
from citations.api.conversations_in import (
    AnswerId,
    AskIn,
    ConversationId,
    ConversationsIn,
    ExportIn,
    FeedbackIn,
    QuotationId,
    StreamIn,
    TitleIn,
)
from citations.api.conversations_out import (
    ConversationOut,
    ConversationsOut,
    FeedbackOut,
    QuotationOut,
    RepliedOut,
    WholeOut,
    forgotten,
    kept,
    whole,
)
from citations.library.filters import Filter
from citations.models import Answer, Conversation
from citations.notebook import answers as notebook_answers
from citations.notebook import conversations, questions
from citations.notebook import export as notebook_export
from citations.notebook.export import citation
from transcripts.api.endpoints import Request
from transcripts.api.out import answers
from transcripts.errors import KnowledgeBaseError
from transcripts.views import events

UNEXPECTED: Final = KnowledgeBaseError(
    "Something went wrong while this was answered.", hint="Ask again; the server's log says more."
)
_TOLD: Final = {
    200: {
        "description": "The answer; streamed, events: asked (ids), stage, claim (with its citations), then answer (all of it) or failed (a problem).",
        "content": {"text/event-stream": {"schema": {"type": "string"}}},
    }
}

router = Router(tags=["conversations"])
logger = logging.getLogger(__name__)


# Questions


@router.post(
    "ask",
    response=answers({200: RepliedOut}, 404, 409, 429, 503),
    openapi_extra={"responses": _TOLD},
    summary="Ask the library",
)
def ask(request: Request, sent: AskIn, wanted: Query[StreamIn]) -> Any:
    """Answer a question out of the sources, each claim with quotes that were looked up word for word; or say that they hold nothing about it.

    Asking is reading: a token that may only read will do, also for what is kept, which is yours alone.
    """
    if not sent.keep:
        told = answer_pipeline.ask(
            request.reach, sent.question, filter=_asked(sent), user=request.caller.user
        )
        return _told(request, told, None, streams=wanted.stream)
    return _respond(request, _put(request, sent), streams=wanted.stream)


@router.get(
    "answers/{answer_id}",
    response=answers({200: RepliedOut}, 404),
    summary="See an answer, and how it was made",
)
def get_answer(request: Request, answer_id: AnswerId) -> dict[str, Any]:
    """Give an answer of yours, with the questions, passages, verdicts, milliseconds and tokens that it took."""
    return _kept(
        request, notebook_answers.find_answer(request.reach, request.caller.user, answer_id)
    )


@router.post(
    "answers/{answer_id}/again",
    response=answers({200: RepliedOut}, 404, 409, 429, 503),
    openapi_extra={"responses": _TOLD},
    summary="Answer a question anew",
)
def ask_again(request: Request, answer_id: AnswerId, wanted: Query[StreamIn]) -> Any:
    """Make an answer anew, in its place. It stays as it is if that comes to nothing."""
    answer = questions.put_again(
        request.reach, request.caller.user, _changeable(request, answer_id)
    )
    return _respond(request, answer, streams=wanted.stream)


@router.put(
    "answers/{answer_id}/feedback",
    response=answers({200: FeedbackOut}, 404),
    summary="Rate an answer",
)
def put_feedback(request: Request, answer_id: AnswerId, sent: FeedbackIn) -> FeedbackIn:
    """Say that an answer is helpful, or not, or take that back."""
    questions.rate(_changeable(request, answer_id), sent.feedback)
    return sent


@router.get(
    "quotations/{quotation_id}",
    response=answers({200: QuotationOut}, 404),
    summary="See a citation of an answer",
)
def get_quotation(request: Request, quotation_id: QuotationId) -> dict[str, Any]:
    """Give a quote of an answer, with what stands around it and the address that opens it, to whoever may read the source."""
    return citation(notebook_answers.find_citation(request.reach, quotation_id))


# Conversations


@router.get(
    "conversations", response=answers({200: ConversationsOut}, 404), summary="List conversations"
)
def list_conversations(
    request: Request, wanted: Query[ConversationsIn]
) -> conversations.ConversationPage:
    """List your conversations, the latest first. Nobody else sees them."""
    about = {"words": wanted.words, "collection": wanted.collection}
    return conversations.list_conversations(
        request.reach, request.caller.user, **about, offset=wanted.offset, limit=wanted.limit
    )


@router.get(
    "conversations/{conversation_id}",
    response=answers({200: WholeOut}, 404),
    summary="Read a conversation",
)
def get_conversation(request: Request, conversation_id: ConversationId) -> dict[str, Any]:
    """Give what was asked and answered, in order."""
    conversation = _found(request, conversation_id)
    return whole(conversation, notebook_answers.of(request.reach, conversation))


@router.patch(
    "conversations/{conversation_id}",
    response=answers({200: ConversationOut}, 404),
    summary="Rename a conversation",
)
def rename_conversation(
    request: Request, conversation_id: ConversationId, sent: TitleIn
) -> Conversation:
    """Give a conversation another title."""
    request.caller.require_write()
    conversation = _found(request, conversation_id)
    conversations.rename(conversation, sent.title)
    return conversation


@router.delete(
    "conversations/{conversation_id}",
    response=answers({204: None}, 404),
    summary="Delete a conversation",
)
def delete_conversation(request: Request, conversation_id: ConversationId) -> Status[Any]:
    """Delete a conversation with its answers. Sources stay, and so do notes."""
    request.caller.require_write()
    conversations.delete(_found(request, conversation_id))
    return Status(204, None)


_KINDS: Final = (
    "text/markdown",
    "text/html",
    "application/json",
    "application/vnd.citationstyles.csl+json",
    "application/x-bibtex",
)
_FILES: Final[dict[int, dict[str, Any]]] = {
    200: {
        "description": "The file.",
        "content": {kind: {"schema": {"type": "string"}} for kind in _KINDS},
    }
}
_FILES[200]["content"]["application/json"] = _FILES[200]["content"][
    "application/vnd.citationstyles.csl+json"
] = {"schema": {}}


@router.get(
    "conversations/{conversation_id}/export",
    response=answers({200: None}, 404),
    openapi_extra={"responses": _FILES},
    summary="Download a conversation",
)
def export_conversation(
    request: Request, conversation_id: ConversationId, wanted: Query[ExportIn]
) -> HttpResponse:
    """Give a conversation with its citations as a file, or the sources that it cites as a bibliography."""
    made = notebook_export.export(request.reach, _found(request, conversation_id), wanted.format)
    headers = {"Content-Disposition": content_disposition_header(True, made.name) or ""}
    return HttpResponse(made.text, content_type=made.media_type, headers=headers)


# What is asked


def _found(request: Request, conversation_id: Any) -> Conversation:
    return conversations.find(request.reach, request.caller.user, conversation_id)


def _changeable(request: Request, answer_id: Any) -> Answer:
    request.caller.require_write()
    return notebook_answers.find_answer(request.reach, request.caller.user, answer_id)


def _put(request: Request, sent: AskIn) -> Answer:
    user = request.caller.user
    if sent.conversation is None:
        return questions.put_first(
            request.reach, user, sent.question, collection=sent.collection, sources=sent.sources
        )
    return questions.put(
        request.reach,
        user,
        _found(request, sent.conversation),
        sent.question,
        sources=sent.sources or None,
    )


def _asked(sent: AskIn) -> Filter:
    return Filter(
        collections=(sent.collection,) if sent.collection else (), sources=tuple(sent.sources)
    )


# What is told


def _respond(request: Request, answer: Answer, *, streams: bool) -> Any:
    return _told(
        request,
        questions.respond(request.reach, request.caller.user, answer),
        answer,
        streams=streams,
    )


def _told(
    request: Request, told: Iterator[Event], answer: Answer | None, *, streams: bool
) -> dict[str, Any] | StreamingHttpResponse:
    if streams:
        return events.streamed(events.apart(_written(request, told, answer)))
    *_, last = told
    return _whole(request, last, answer)


def _written(request: Request, told: Iterator[Event], answer: Answer | None) -> Iterator[str]:
    yield _event(
        "asked",
        {"answer": answer and answer.uuid, "conversation": answer and answer.conversation.uuid},
    )
    try:
        for one in told:
            if isinstance(one, Progress):
                yield _event("stage", {"stage": one.stage})
            elif isinstance(one, ClaimEvent):
                yield _event(
                    "claim",
                    {**one.claim.as_json(), "quotes": [citation(quote) for quote in one.quotes]},
                )
            else:
                yield _event("answer", RepliedOut(**_whole(request, one, answer)).dict())
    except KnowledgeBaseError as error:
        yield _failed(error)
    except Exception:
        logger.exception("A question was not answered")
        yield _failed(UNEXPECTED)


def _whole(request: Request, last: Event, answer: Answer | None) -> dict[str, Any]:
    if answer is not None:
        return _kept(
            request, notebook_answers.find_answer(request.reach, request.caller.user, answer.uuid)
        )
    if not isinstance(last, FinalEvent):
        raise TypeError("A question was answered without an end.")
    return forgotten(last.reply)


def _kept(request: Request, answer: Answer) -> dict[str, Any]:
    return kept(notebook_answers.read(request.reach, [answer])[0])


def _failed(error: KnowledgeBaseError) -> str:
    return _event("failed", {"code": error.code, "detail": error.message, "hint": error.hint})


def _event(name: str, data: Any) -> str:
    return events.event(name, json.dumps(data, cls=DjangoJSONEncoder))
