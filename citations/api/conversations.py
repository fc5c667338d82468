"""The operations on questions, answers and conversations."""

import json
import logging
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, Final

from django.http import HttpResponse, StreamingHttpResponse
from django.utils.http import content_disposition_header
from ninja import Query, Router, Status
from pydantic import BaseModel

from citations.answers import pipeline as answer_pipeline
from citations.answers.answer import ClaimEvent, Event, FinalEvent, Progress, Quote
from citations.api import shapes
from citations.library.filters import Filter
from citations.models import Answer, AnswerState, Conversation
from citations.notebook import answers as notebook_answers
from citations.notebook import conversations, questions, shared_conversations
from citations.notebook import export as notebook_export
from citations.notebook.answers import AnswerRecord
from citations.schemas.answers import AskedEventOut, ClaimEventOut, QuotationOut, TracedReplyOut
from citations.schemas.notebook import ConversationOut, ConversationRecordOut, ConversationsOut
from transcripts.api.endpoints import Request
from transcripts.api.shapes import responses
from transcripts.core.access import AccessLevel, needs
from transcripts.core.errors import KnowledgeBaseError, UnexpectedError
from transcripts.core.headers import FILE_NAME
from transcripts.core.views import events

_EVENTS: Final = {
    200: {
        "description": (
            "The answer. Streamed, the events are: asked (ids), stage, claim (with its citations), "
            "and at the end answer (all of it) or failed (a problem)."
        ),
        "content": {"text/event-stream": {"schema": shapes.described(shapes.ANSWER)}},
    }
}

router = Router(tags=["ask"])
logger = logging.getLogger(__name__)


@router.post(
    "ask",
    response=responses({200: TracedReplyOut}, 404, 409, 503),
    openapi_extra={"responses": _EVENTS},
    summary="Ask the library",
)
@needs(AccessLevel.READ)
def ask(request: Request, body: shapes.AskIn, query: Query[shapes.StreamIn]) -> Any:
    """Answer a question from the sources, or say that they hold no answer.

    Each claim has quotes that were found word for word. A token that may only read is enough, even
    to keep the answer, which only you can see.
    """

    def queue() -> Answer:
        scope, user = request.access, request.caller.user
        if body.conversation_id is None:
            about: dict[str, Any] = {"collection": body.collection, "sources": body.sources}
            return questions.ask_first(scope, user, body.question, **about)
        conversation = _find(request, body.conversation_id)
        return questions.ask(scope, user, conversation, body.question, sources=body.sources or None)

    if body.keep:
        return _answer(request, queue, stream=query.stream)
    request.begin(None)
    filter = Filter(
        collections=(body.collection,) if body.collection else (), sources=tuple(body.sources)
    )
    steps = answer_pipeline.ask(
        request.access, body.question, filter=filter, user=request.caller.user
    )
    return _respond(request, steps, None, stream=query.stream)


@router.get(
    "answers/{answer_id}",
    response=responses({200: TracedReplyOut}, 404),
    summary="See an answer, and how it was made",
)
@needs(AccessLevel.READ)
def get_answer(request: Request, answer_id: shapes.AnswerId) -> AnswerRecord:
    """Return an answer with its trace: questions, passages, verdicts, times and tokens."""
    _, record = shared_conversations.find_answer(request.access, request.caller.user, answer_id)
    return record


@router.post(
    "answers/{answer_id}/again",
    response=responses({200: TracedReplyOut}, 404, 409, 503),
    openapi_extra={"responses": _EVENTS},
    summary="Answer a question again",
)
@needs(AccessLevel.WRITE)
def ask_again(request: Request, answer_id: shapes.AnswerId, query: Query[shapes.StreamIn]) -> Any:
    """Answer a question again and replace its answer, which stays if answering fails."""
    answer = _find_answer(request, answer_id)
    queue = partial(questions.ask_again, request.access, request.caller.user, answer)
    return _answer(request, queue, stream=query.stream)


@router.put(
    "answers/{answer_id}/feedback",
    response=responses({200: shapes.FeedbackOut}, 404),
    summary="Rate an answer",
)
@needs(AccessLevel.WRITE)
def put_feedback(
    request: Request, answer_id: shapes.AnswerId, body: shapes.FeedbackIn
) -> shapes.FeedbackIn:
    """Rate an answer as helpful or not, or take the rating back."""
    questions.rate(_find_answer(request, answer_id), body.feedback)
    return body


@router.get(
    "quotations/{quotation_id}",
    response=responses({200: QuotationOut}, 404),
    summary="See a citation of an answer",
)
@needs(AccessLevel.READ)
def get_quotation(request: Request, quotation_id: shapes.QuotationId) -> Quote:
    """Return a quote of an answer with the text around it, if you may read its source."""
    return notebook_answers.find_citation(request.access, quotation_id)


# Conversations


@router.get(
    "conversations", response=responses({200: ConversationsOut}, 404), summary="List conversations"
)
@needs(AccessLevel.READ)
def list_conversations(
    request: Request, query: Query[shapes.ConversationsIn]
) -> conversations.ConversationPage:
    """List your conversations, pinned and then latest first, with those shared with you."""
    return conversations.list_conversations(
        request.access, request.caller.user, **query.model_dump()
    )


@router.get(
    "conversations/{conversation_id}",
    response=responses({200: ConversationRecordOut}, 404),
    summary="Read a conversation",
)
@needs(AccessLevel.READ)
def get_conversation(request: Request, conversation_id: shapes.ConversationId) -> dict[str, Any]:
    """Return a conversation with its questions and answers, in order."""
    conversation = _find_readable(request, conversation_id)
    answers = shared_conversations.read(request.access, request.caller.user, conversation)
    return {"conversation": conversation, "answers": answers}


@router.patch(
    "conversations/{conversation_id}",
    response=responses({200: ConversationOut}, 404),
    summary="Rename, pin or share a conversation",
)
@needs(AccessLevel.WRITE)
def change_conversation(
    request: Request, conversation_id: shapes.ConversationId, body: shapes.ConversationChangeIn
) -> Conversation:
    """Change the fields that are sent. Whom a conversation is shared with read of it what stands in
    sources that they may read.
    """
    conversation = _find(request, conversation_id)
    conversations.change(request.access, conversation, **body.model_dump())
    return conversation


@router.delete(
    "conversations/{conversation_id}",
    response=responses({204: None}, 404),
    summary="Delete a conversation",
)
@needs(AccessLevel.WRITE)
def delete_conversation(request: Request, conversation_id: shapes.ConversationId) -> Status[Any]:
    """Delete a conversation with its answers. Sources and notes stay."""
    conversations.delete(_find(request, conversation_id))
    return Status(204, None)


_TEXTS: Final = ("text/markdown", "text/html", "application/x-bibtex")
_CONVERSATION: Final = {
    "id": {"type": "string", "format": "uuid"},
    "title": {"type": "string"},
    "collection": {"type": ["string", "null"]},
    "created_at": {"type": "string", "format": "date-time"},
    "answers": {"type": "array", "items": {"$ref": "#/components/schemas/ReplyOut"}},
}
_WORK: Final = {"id": "lectures2026introduction", "type": "speech", "title": "Networks"}
_JSONS: Final = {
    "application/json": {"schema": {"type": "object", "properties": _CONVERSATION}},
    "application/vnd.citationstyles.csl+json": {
        "schema": {"type": "array", "items": {"type": "object"}},
        "example": [_WORK],
    },
}
_FILES: Final = {
    200: {
        "description": "The file.",
        "headers": FILE_NAME,
        "content": {name: {"schema": {"type": "string"}} for name in _TEXTS} | _JSONS,
    }
}


@router.get(
    "conversations/{conversation_id}/export",
    response=responses({200: None}, 404),
    openapi_extra={"responses": _FILES},
    summary="Download a conversation",
)
@needs(AccessLevel.READ)
def export_conversation(
    request: Request, conversation_id: shapes.ConversationId, query: Query[shapes.ExportIn]
) -> HttpResponse:
    """Return a conversation with its citations, or the bibliography of its sources, as a file."""
    conversation = _find_readable(request, conversation_id)
    file = notebook_export.export(request.access, request.caller.user, conversation, query.format)
    headers = {"Content-Disposition": content_disposition_header(True, file.name) or ""}
    return HttpResponse(file.text, content_type=file.media_type, headers=headers)


def _find(request: Request, conversation_id: Any) -> Conversation:
    return conversations.find(request.access, request.caller.user, conversation_id)


def _find_readable(request: Request, conversation_id: Any) -> Conversation:
    return conversations.find_readable(request.access, request.caller.user, conversation_id)


def _find_answer(request: Request, answer_id: Any) -> Answer:
    return notebook_answers.find_answer(request.access, request.caller.user, answer_id)


def _answer(request: Request, queue: Callable[[], Answer], *, stream: bool) -> Any:
    """Queue a question and answer it, or go on with what an earlier attempt has queued."""
    scope, user = request.access, request.caller.user
    answer = questions.resume(scope, user, request.begun) if request.begun else queue()
    request.begin(answer.uuid)
    steps = questions.respond(scope, user, answer) if answer.state == AnswerState.RUNNING else ()
    return _respond(request, steps, answer, stream=stream)


def _respond(
    request: Request, steps: Iterable[Event], answer: Answer | None, *, stream: bool
) -> TracedReplyOut | StreamingHttpResponse:
    if stream:
        texts = _stream(request, steps, answer)
        return events.EventStream(events.apart(texts, caller=request.caller))
    last = [*steps][-1:]
    return _reply(request, last[0] if last else None, answer)


def _stream(request: Request, steps: Iterable[Event], answer: Answer | None) -> Iterator[str]:
    answer_id, conversation_id = (answer.uuid, answer.conversation.uuid) if answer else (None, None)
    yield _event("asked", AskedEventOut(answer_id=answer_id, conversation_id=conversation_id))
    try:
        for step in steps:
            match step:
                case Progress():
                    yield _event("stage", shapes.StageEventOut(stage=step.stage))
                case ClaimEvent():
                    yield _event("claim", ClaimEventOut.of(step.claim, step.quotes))
                case _:
                    yield _event("answer", _reply(request, step, answer))
    except KnowledgeBaseError as error:
        yield _failed(error)
    except Exception:
        logger.exception("A question was not answered")
        yield _failed(UnexpectedError())


def _reply(request: Request, last: Event | None, answer: Answer | None) -> TracedReplyOut:
    if answer is not None:
        fresh = _find_answer(request, answer.uuid)
        return TracedReplyOut.model_validate(notebook_answers.read(request.access, [fresh])[0])
    if not isinstance(last, FinalEvent):
        raise TypeError("Answering ended without a final event.")
    return TracedReplyOut.model_validate(last.reply)


def _failed(error: KnowledgeBaseError) -> str:
    return _event("failed", shapes.FailedEventOut.model_validate(error.problem()))


def _event(name: str, data: BaseModel) -> str:
    return events.event(name, json.dumps(data.model_dump(mode="json")))
