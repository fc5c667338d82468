"""The library of this machine, in this process; a running server may use it at the same time."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

from django.db import connections

from citations.answers import pipeline as answer_pipeline
from citations.answers.answer import ClaimEvent, FinalEvent, Progress
from citations.errors import SourceNotFound
from citations.library.filters import Filter, matching
from citations.models import Conversation
from citations.notebook import answers, conversations, questions
from citations.quotes import verification
from citations.schemas.answers import ClaimOut, QuoteCheckOut, ReplyOut, TracedReplyOut
from citations.schemas.search import SearchOut, SourceOut
from citations.search import pipeline as search_pipeline
from kbsite.accounts.auth import everything
from kbsite.library import add_local
from kbsite.library.add_options import AddOptions
from kbsite.library.add_report import AddReport
from kbsite.library.base import AnswerStep, Library, no_conversation
from kbsite.library.database import open_database
from kbsite.library.progress import TaskProgress
from transcripts.core.scope import Scope
from transcripts.library import reading
from transcripts.schemas import VideoSearchOut


class LocalLibrary(Library):
    """A data directory, or the database of DATABASE_URL, with the rights of its owner."""

    def __init__(self) -> None:
        open_database()

    def close(self) -> None:
        connections.close_all()

    def answer(
        self,
        question: str,
        *,
        collection: str = "",
        sources: Sequence[str] = (),
        follow_up: bool = False,
    ) -> Iterator[AnswerStep]:
        scope = everything()
        if follow_up:
            conversation = _latest_conversation(scope, collection)
            answer = questions.ask(scope, None, conversation, question)
        else:
            answer = questions.ask_first(
                scope, None, question, collection=collection, sources=tuple(sources)
            )
        for event in questions.respond(scope, None, answer):
            match event:
                case Progress():
                    yield event
                case ClaimEvent(claim=claim):
                    yield ClaimOut.model_validate(claim)
        record = answers.of_conversation(scope, answer.conversation)[-1]
        yield TracedReplyOut.model_validate(record)

    def add_all(
        self, targets: Sequence[str], options: AddOptions, progress: TaskProgress
    ) -> AddReport:
        return add_local.add_targets(targets, options, progress)

    def list_sources(self, ids: Sequence[str]) -> list[SourceOut]:
        found: list[SourceOut] = []
        for reference in ids:
            with suppress(SourceNotFound):
                sources = matching(everything(), Filter(sources=(reference,)))
                detailed = sources.select_related("collection", "video", "document")
                found += map(SourceOut.model_validate, detailed)
        return found

    def _search(self, query: str, filter: Filter, **options: Any) -> SearchOut:
        results = search_pipeline.search(
            everything(), query, filter=filter, **options, for_readers=True
        )
        return SearchOut.model_validate(results)

    def search_recording(
        self, video_id: str, query: str, *, collection: str = "", language: str = ""
    ) -> VideoSearchOut:
        video = reading.find_video(everything(), video_id, collection=collection)
        result = reading.search(video, query, language=language, limit=reading.MAX_HITS)
        return VideoSearchOut.model_validate(result)

    def _ask(self, question: str, filter: Filter) -> ReplyOut:
        events = answer_pipeline.ask(everything(), question, filter=filter)
        (reply,) = (event.reply for event in events if isinstance(event, FinalEvent))
        return ReplyOut.model_validate(reply)

    def _verify(self, quote: str, source: str, filter: Filter) -> QuoteCheckOut:
        checked = verification.verify(everything(), quote, source=source, filter=filter)
        return QuoteCheckOut.model_validate(checked)


def _latest_conversation(scope: Scope, collection: str) -> Conversation:
    page = conversations.list_conversations(scope, None, collection=collection, own=True, limit=1)
    if not page.conversations:
        raise no_conversation()
    return page.conversations[0]
