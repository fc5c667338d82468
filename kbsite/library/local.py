"""The library of this machine, in this process; a running server may use it at the same time."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import connections

from citations.answers import pipeline as answer_pipeline
from citations.answers.answer import ClaimEvent, FinalEvent, Progress
from citations.errors import SourceNotFound
from citations.library import sources as library_sources
from citations.library.filters import Filter, matching
from citations.notebook import answers, conversations, questions
from citations.quotes import verification
from citations.schemas.answers import (
    AskedEventOut,
    ClaimEventOut,
    QuoteCheckOut,
    ReplyOut,
    TracedReplyOut,
)
from citations.schemas.notebook import ConversationSummaryOut
from citations.schemas.requests import QuestionIn, QuoteIn
from citations.schemas.search import SearchOut, SourceOut, SourcesOut
from citations.search import pipeline as search_pipeline
from kbsite.callers import everything
from kbsite.library import TaskProgress, add_local, server_lock
from kbsite.library.adding import AddOptions, AddReport
from kbsite.library.base import AnswerStep, Library
from kbsite.library.database import open_database
from transcripts.library import reading
from transcripts.schemas import VideoSearchOut


class LocalLibrary(Library):
    """A data directory, or the database of DATABASE_URL, with the rights of its owner."""

    def __init__(self) -> None:
        open_database()

    def close(self) -> None:
        connections.close_all()

    @property
    def is_served(self) -> bool:
        is_named = settings.OPTIONS["PUBLIC_URL"].is_set
        return is_named or server_lock.find(Path(settings.DATA_DIR)) is not None

    def _answer(self, question: QuestionIn) -> Iterator[AnswerStep]:
        scope = everything()
        if question.conversation_id:
            row = conversations.find(scope, None, question.conversation_id)
            answer = questions.ask(scope, None, row, question.question)
        else:
            about = question.model_dump(include={"collection", "sources"})
            answer = questions.ask_first(scope, None, question.question, **about)
        yield AskedEventOut(answer_id=answer.uuid, conversation_id=answer.conversation.uuid)
        for event in questions.respond(scope, None, answer):
            match event:
                case Progress():
                    yield event
                case ClaimEvent(claim=claim, quotes=quotes):
                    yield ClaimEventOut.of(claim, quotes)
        yield self.read_conversation(str(answer.conversation.uuid))[-1]

    def list_conversations(
        self, *, collection: str = "", limit: int = 25
    ) -> list[ConversationSummaryOut]:
        page = conversations.list_conversations(
            everything(), None, collection=collection, own=True, limit=limit
        )
        return list(map(ConversationSummaryOut.model_validate, page.conversations))

    def read_conversation(self, conversation: str) -> list[TracedReplyOut]:
        scope = everything()
        records = answers.of_conversation(scope, conversations.find(scope, None, conversation))
        return list(map(TracedReplyOut.model_validate, records))

    def add_all(
        self, targets: Sequence[str], options: AddOptions, progress: TaskProgress
    ) -> AddReport:
        return add_local.add_targets(targets, options, progress)

    def list_sources(self, ids: Sequence[str]) -> list[SourceOut]:
        sources: list[SourceOut] = []
        for reference in ids:
            with suppress(SourceNotFound):
                rows = matching(everything(), Filter(sources=(reference,)))
                detailed = rows.select_related("collection", "video", "document")
                sources += map(SourceOut.model_validate, detailed)
        return sources

    def _search(self, query: str, filter: Filter, **options: Any) -> SearchOut:
        results = search_pipeline.search(
            everything(), query, filter=filter, **options, for_readers=True
        )
        return SearchOut.model_validate(results)

    def find_sources(self, words: str, *, collection: str = "", limit: int = 100) -> SourcesOut:
        within = Filter(collections=(collection,) if collection else ())
        page = library_sources.list_sources(everything(), within, words=words, limit=limit)
        return SourcesOut.model_validate(page)

    def search_recording(
        self, video_id: str, query: str, *, collection: str = "", language: str = ""
    ) -> VideoSearchOut:
        video = reading.find_video(everything(), video_id, collection=collection)
        result = reading.search(video, query, language=language, limit=reading.MAX_HITS)
        return VideoSearchOut.model_validate(result)

    def _ask(self, question: QuestionIn) -> ReplyOut:
        within = (question.collection,) if question.collection else ()
        filter = Filter(collections=within, sources=tuple(question.sources))
        events = answer_pipeline.ask(everything(), question.question, filter=filter)
        (reply,) = (event.reply for event in events if isinstance(event, FinalEvent))
        return ReplyOut.model_validate(reply)

    def _verify(self, given: QuoteIn) -> QuoteCheckOut:
        filter = Filter.of(given)
        checked = verification.verify(everything(), given.quote, source=given.source, filter=filter)
        return QuoteCheckOut.model_validate(checked)
