"""Answer one question under a lease: pass events on, and store the finished answer."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final
from uuid import UUID, uuid4

from django.db import IntegrityError, transaction

from citations.answers.answer import Claim, ClaimEvent, Event, FinalEvent, Quote, Reply
from citations.errors import AlreadyAnswering, AnswerNotFound
from citations.models import Answer, AnswerQuerySet, AnswerState, Citation, Note, Source
from citations.notebook.answers import ASK_AGAIN
from transcripts.core.errors import KnowledgeBaseError, UnexpectedError
from transcripts.core.locks import release_connection
from transcripts.core.sanitize import clean

LOST_LEASE: Final = "This question was deleted, or another process answers it."


@dataclass(slots=True)
class AnswerLease:
    """The lease under which one process answers one question."""

    answer: Answer
    holder: UUID = field(default_factory=uuid4)
    is_stored: bool = False
    ids: dict[int, UUID] = field(default_factory=dict)  # of citations, by number
    previous: dict[tuple[int, int, int, str], UUID] = field(default_factory=dict)

    def take(self) -> None:
        """Claim the question. Raises ``AlreadyAnswering``."""
        if not Answer.objects.filter(pk=self.answer.pk).running().free().claim(self.holder):
            raise AlreadyAnswering("This question is already being answered.")
        citations = Citation.objects.filter(answer=self.answer)
        rows = citations.values_list("source", "span_start", "span_end", "digest", "uuid")
        self.previous = {
            (source, start, end, digest): uuid for source, start, end, digest, uuid in rows
        }

    def pass_on(self, event: Event) -> Event:
        """Return an event with ids of citations; store the answer before the last event."""
        if isinstance(event, FinalEvent):
            reply = replace(event.reply, quotes=self._with_ids(event.reply.quotes))
            self.store(reply)
            return FinalEvent(reply=reply, answer=self.answer.uuid)
        if not self._mine().renew(self.holder):
            raise AnswerNotFound(LOST_LEASE)
        release_connection()  # the next event may be far
        if isinstance(event, ClaimEvent):
            return replace(event, quotes=self._with_ids(event.quotes))
        return event

    def store(self, reply: Reply) -> None:
        """Replace the previous answer, without citations of sources that were just deleted."""
        try:
            self._store(reply, reply.quotes)
        except IntegrityError:
            existing = _collections(reply.quotes)
            self._store(reply, [quote for quote in reply.quotes if quote.source in existing])
        self.is_stored = True

    def fail(self, error: BaseException) -> None:
        """Store the error; the previous answer stays."""
        if self.is_stored:
            return
        known = error if isinstance(error, KnowledgeBaseError) else UnexpectedError()
        message, hint = known.message, known.hint
        if isinstance(error, GeneratorExit | KeyboardInterrupt):
            message, hint = "The request ended before the answer was ready.", ASK_AGAIN
        state = self.answer.trace.get("outcome", AnswerState.FAILED)
        self._mine().update(state=state, holder=None, error=message, hint=hint)

    def _store(self, reply: Reply, quotes: Sequence[Quote]) -> None:
        with transaction.atomic():
            self.answer.conversation.touch()  # locked before its answers, as deletion does
            columns = _columns(reply)
            if not self._mine().update(**columns):
                raise AnswerNotFound(LOST_LEASE)
            if columns["claims"] != self.answer.claims:
                Note.objects.filter(answer=self.answer).update(answer=None)
            Citation.objects.filter(answer=self.answer).delete()
            Citation.objects.bulk_create([_citation(self.answer, quote) for quote in quotes])

    def _with_ids(self, quotes: Sequence[Quote]) -> tuple[Quote, ...]:
        """Give citations the ids of the same quotes in the previous answer, or new ones."""
        for quote in quotes:
            if quote.number not in self.ids:
                key = (quote.source, *quote.locator.span, quote.digest)
                self.ids[quote.number] = self.previous.pop(key, uuid4())
        return tuple(replace(quote, id=self.ids[quote.number]) for quote in quotes)

    def _mine(self) -> AnswerQuerySet:
        return Answer.objects.filter(pk=self.answer.pk, holder=self.holder).running()


def _collections(quotes: Sequence[Quote]) -> dict[int, int]:
    """Return the collections of the quotes' sources that still exist, by the keys of these."""
    sources = Source.objects.filter(pk__in=[quote.source for quote in quotes])
    return dict(sources.values_list("pk", "collection_id"))


def _columns(reply: Reply) -> dict[str, Any]:
    collections = _collections(reply.quotes)
    known = {
        quote.number: collections[quote.source]
        for quote in reply.quotes
        if quote.source in collections
    }

    def claim(item: Claim) -> dict[str, Any]:
        is_known = known.keys() >= set(item.citations)
        readable_in = sorted({known[number] for number in item.citations}) if is_known else None
        return {**item.as_json(), "collections": readable_in}

    columns = {
        "full_question": reply.full_question,
        "claims": [claim(item) for item in reply.claims],
        "parts": [asdict(part) for part in reply.parts],
        "nearest": [item.as_json() for item in reply.nearest],
        "unready": [source.as_json() for source in reply.unready],
        "note": reply.note,
        "model": reply.model[:200],
        "trace": {**reply.trace.as_json(), "outcome": reply.outcome.value},
    }
    return {
        **_storable(columns),
        "confidence": reply.confidence,
        "milliseconds": reply.milliseconds,
        "state": reply.outcome.value,
        "holder": None,
        "error": "",
        "hint": "",
        "feedback": None,
    }


def _citation(answer: Answer, quote: Quote) -> Citation:
    locator = quote.locator
    return Citation(
        uuid=quote.id or uuid4(),
        answer=answer,
        number=quote.number,
        source_id=quote.source,
        quote=quote.text,
        prefix=quote.prefix[-100:],
        suffix=quote.suffix[:100],
        span_start=locator.span[0],
        span_end=locator.span[1],
        digest=quote.digest,
        start=locator.start,
        end=locator.end,
        page=locator.page,
        last_page=locator.last_page,
        section_heading=quote.heading[:300],
        speaker=quote.speaker[:100],
    )


def _storable(value: Any) -> Any:
    """Remove characters that the database refuses: a language model may write them."""
    if isinstance(value, str):
        return clean(value, len(value))
    if isinstance(value, Mapping):
        return {name: _storable(item) for name, item in value.items()}
    return [_storable(item) for item in value] if isinstance(value, list) else value
