"""One process that answers one question: it takes the question, tells what it finds, and stores it when it is whole."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID, uuid4

from django.db import IntegrityError, transaction

from citations.answers.answer import Claim, ClaimEvent, Event, FinalEvent, Quote, Reply
from citations.errors import AlreadyAnswering, AnswerNotFound
from citations.models import Answer, AnswerQuerySet, AnswerState, Citation, Note, Source
from citations.notebook.answers import ASK_AGAIN
from transcripts.errors import KnowledgeBaseError, UnexpectedError
from transcripts.sanitize import clean


@dataclass(slots=True)
class AnswerLease:
    """The lease under which one process answers one question."""

    answer: Answer
    holder: UUID = field(default_factory=uuid4)
    is_kept: bool = False
    ids: dict[int, UUID] = field(default_factory=dict)  # of citations, by their numbers
    known: dict[tuple[int, int, int, str], UUID] = field(
        default_factory=dict
    )  # ids of the same quotes in the answer before

    def take(self) -> None:
        """Claim the question. Raises ``AlreadyAnswering``."""
        if not Answer.objects.filter(pk=self.answer.pk).running().free().claim(self.holder):
            raise AlreadyAnswering("This question is answered already.")
        kept = Citation.objects.filter(answer=self.answer)
        self.known = {
            (one.source_id, one.span_start, one.span_end, one.digest): one.uuid for one in kept
        }

    def told(self, event: Event) -> Event:
        """Return what is told of an event, with the ids of citations; the end is stored first. Raises ``AnswerNotFound``."""
        if isinstance(event, FinalEvent):
            reply = replace(event.reply, quotes=self._named(event.reply.quotes))
            self.keep(reply)
            return FinalEvent(reply=reply, answer=self.answer.uuid)
        self._live()
        return (
            replace(event, quotes=self._named(event.quotes))
            if isinstance(event, ClaimEvent)
            else event
        )

    def keep(self, reply: Reply) -> None:
        """Store the answer in the place of the one before. A source that is deleted at this moment takes its citations along."""
        try:
            self._store(reply, reply.quotes)
        except IntegrityError:
            there = set(
                Source.objects.filter(pk__in=[quote.source for quote in reply.quotes]).values_list(
                    "pk", flat=True
                )
            )
            self._store(reply, [quote for quote in reply.quotes if quote.source in there])
        self.is_kept = True

    def fail(self, error: BaseException) -> None:
        """Store why there is no answer. What was answered before stays."""
        if not self.is_kept:
            message, hint = _told(error)
            before = self.answer.trace.get("outcome", AnswerState.FAILED)
            self._mine().update(state=before, holder=None, error=message, hint=hint)

    def _live(self) -> None:
        if not self._mine().renew(self.holder):
            raise AnswerNotFound("This question was deleted, or is answered by somebody else.")

    def _store(self, reply: Reply, quotes: Sequence[Quote]) -> None:
        with transaction.atomic():
            columns = _columns(reply, _collections(reply.quotes))
            if not self._mine().update(**columns):
                raise AnswerNotFound("This question was deleted, or is answered by somebody else.")
            if columns["claims"] != self.answer.claims:
                Note.objects.filter(answer=self.answer).update(answer=None)
            Citation.objects.filter(answer=self.answer).delete()
            Citation.objects.bulk_create([_citation(self.answer, quote) for quote in quotes])
            self.answer.conversation.touch()

    def _named(self, quotes: Sequence[Quote]) -> tuple[Quote, ...]:
        return tuple(replace(quote, id=self._id(quote)) for quote in quotes)

    def _id(self, quote: Quote) -> UUID:
        """Return the id of a citation, which is the one that it had in the answer before: addresses of citations are permanent."""
        if quote.number not in self.ids:
            before = self.known.pop((quote.source, *quote.locator.span, quote.digest), None)
            self.ids[quote.number] = before or uuid4()
        return self.ids[quote.number]

    def _mine(self) -> AnswerQuerySet:
        return Answer.objects.filter(pk=self.answer.pk, holder=self.holder).running()


def _collections(quotes: Sequence[Quote]) -> dict[int, int]:
    """Return the collection of each quote's source, by the quote's number; one that is deleted just now has none."""
    found = dict(
        Source.objects.filter(pk__in=[quote.source for quote in quotes]).values_list(
            "pk", "collection_id"
        )
    )
    return {quote.number: found[quote.source] for quote in quotes if quote.source in found}


def _claim(claim: Claim, collections: Mapping[int, int]) -> dict[str, Any]:
    is_known = all(number in collections for number in claim.citations)
    readable_in = sorted({collections[number] for number in claim.citations}) if is_known else None
    return {**claim.as_json(), "collections": readable_in}


def _columns(reply: Reply, collections: Mapping[int, int]) -> dict[str, Any]:
    columns = {
        "asked_as": reply.asked_as,
        "claims": [_claim(one, collections) for one in reply.claims],
        "nearest": [one.as_json() for one in reply.nearest],
        "note": reply.note,
        "model": reply.model[:200],
        "trace": {**reply.trace.as_json(), "outcome": reply.outcome.value},
    }
    figures = {"confidence": reply.confidence, "milliseconds": reply.milliseconds}
    return {
        **_storable(columns),
        **figures,
        "state": reply.outcome.value,
        "holder": None,
        "error": "",
        "hint": "",
        "feedback": None,
    }


def _citation(answer: Answer, quote: Quote) -> Citation:
    place = quote.locator
    return Citation(
        uuid=quote.id or uuid4(),
        answer=answer,
        number=quote.number,
        source_id=quote.source,
        quote=quote.text,
        prefix=quote.prefix[-100:],
        suffix=quote.suffix[:100],
        span_start=place.span[0],
        span_end=place.span[1],
        digest=quote.digest,
        start=place.start,
        end=place.end,
        page=place.page,
        last_page=place.last_page,
        section_heading=quote.heading[:300],
    )


def _storable(value: Any) -> Any:
    """Return JSON that the database takes: a language model may write what it refuses."""
    if isinstance(value, str):
        return clean(value, len(value))
    if isinstance(value, Mapping):
        return {name: _storable(one) for name, one in value.items()}
    return [_storable(one) for one in value] if isinstance(value, list) else value


def _told(error: BaseException) -> tuple[str, str]:
    if isinstance(error, KnowledgeBaseError):
        return error.message, error.hint
    if isinstance(error, GeneratorExit | KeyboardInterrupt):
        return "Nobody waited for the answer.", ASK_AGAIN
    unexpected = UnexpectedError()
    return unexpected.message, unexpected.hint
