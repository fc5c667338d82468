"""Questions of a conversation.

One at a time waits, is claimed by one process, and is stored with its finished answer. A question
whose process dies counts as failed half a minute later.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final
from uuid import UUID, uuid4

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import Max
from django.db.models.functions import Now
from django.utils.text import Truncator

from citations.answers import pipeline as answer_pipeline
from citations.answers.answer import Claim, ClaimEvent, Event, FinalEvent, Quote, Reply
from citations.errors import AlreadyAnswering, AnswerNotFound, ConversationNotFound, SourceNotFound
from citations.library.filters import Filter
from citations.models import (
    Answer,
    AnswerQuerySet,
    AnswerState,
    Citation,
    Conversation,
    Note,
    Source,
)
from citations.notebook import answers as notebook_answers
from citations.notebook import conversations
from citations.notebook.answers import ASK_AGAIN, find_answer
from transcripts.core import cancellation
from transcripts.core.errors import (
    Conflict,
    InvalidInput,
    KnowledgeBaseError,
    Throttled,
    UnexpectedError,
)
from transcripts.core.locks import release_connection
from transcripts.core.sanitize import clean
from transcripts.core.scope import Scope
from transcripts.core.work.models import keep_alive
from transcripts.text.queries import read_question

MAX_ANSWERS: Final = 1_000  # of a conversation
TURNS: Final = 10  # earlier turns that a question may refer to
TITLE: Final = 80  # characters of the first question, for conversations without a title
MAX_RUNNING: Final = 8  # questions of one user at a time
RETRY_SECONDS: Final = 5  # for a user with too many
MAX_EARLIER_QUOTES: Final = 200  # quotes of earlier answers that are not repeated
ANSWERED: Final = (AnswerState.ANSWERED, AnswerState.PARTIAL, AnswerState.REFUSED)


def ask_first(
    scope: Scope,
    user: User | None,
    question: str,
    *,
    collection: str = "",
    sources: Sequence[str] = (),
) -> Answer:
    """Start a conversation with a question; none if it is refused. See ``begin`` and ``ask``."""
    with transaction.atomic():
        conversation = conversations.begin(scope, user, collection=collection, sources=sources)
        return ask(scope, user, conversation, question)


def ask(
    scope: Scope,
    user: User | None,
    conversation: Conversation,
    question: str,
    *,
    sources: Sequence[str] | None = None,
) -> Answer:
    """Store a question, for ``respond``.

    ``sources`` replace those of the conversation (empty: its whole collection). Raises what
    ``conversations.restrict`` raises, ``EmptyQuery``, ``InvalidInput`` for more than
    ``MAX_QUESTION`` characters, ``AlreadyAnswering``, ``Throttled``, ``ConversationNotFound``,
    and ``Conflict`` after ``MAX_ANSWERS`` questions.
    """
    text = read_question(question)
    with transaction.atomic():
        locked = _lock(scope, user, conversation)
        last = locked.answers.aggregate(last=Max("ordinal"))["last"] or 0
        if last >= MAX_ANSWERS:
            raise Conflict(
                f"This conversation has {MAX_ANSWERS:,} questions.", hint="Start a new one."
            )
        if sources is not None:
            conversations.restrict(scope, locked, sources)
        locked.touch(title=locked.title or Truncator(text).chars(TITLE))
        return Answer.objects.create(conversation=locked, ordinal=last + 1, question=text)


def ask_again(scope: Scope, user: User | None, answer: Answer) -> Answer:
    """Queue a question again. Raises ``AlreadyAnswering``, ``AnswerNotFound`` (deleted)."""
    with transaction.atomic():
        locked = _lock(scope, user, answer.conversation)
        locked.touch()
        if not Answer.objects.filter(pk=answer.pk).update(
            state=AnswerState.RUNNING, holder=None, active_at=Now(), attempts=0, error="", hint=""
        ):
            raise AnswerNotFound("This answer was deleted.")
    return find_answer(scope, user, answer.uuid)


def resume(scope: Scope, user: User | None, reference: UUID) -> Answer:
    """Return a question that was queued before: as it was answered, or else queued again.

    Raises ``AnswerNotFound`` (deleted), and what ``ask_again`` raises.
    """
    answer = find_answer(scope, user, reference)
    is_answered = answer.state != AnswerState.RUNNING and not answer.error
    return answer if is_answered else ask_again(scope, user, answer)


def respond(scope: Scope, user: User | None, answer: Answer) -> Iterator[Event]:
    """Answer a stored question and store the result; yield events with ids of citations.

    Raises ``AlreadyAnswering``, ``AnswerNotFound`` (deleted meanwhile), and the errors of
    answering, which are stored as well. A question that fails or is abandoned keeps its
    previous answer.
    """
    run = AnswerLease(answer)
    run.take()
    try:
        with keep_alive(Answer.objects.filter(pk=answer.pk).running(), run.holder):
            for event in answer_pipeline.ask(
                scope,
                answer.question,
                history=_history(scope, answer),
                filter=_filter(scope, answer.conversation),
                user=user,
                earlier_quotes=_earlier_quotes(scope, answer),
            ):
                cancellation.check()
                yield run.pass_on(event)
        if not run.is_stored:
            raise RuntimeError("Answering ended without a final event.")
    except BaseException as error:
        run.fail(error)
        raise


def rate(answer: Answer, feedback: int | None) -> None:
    """Rate an answer as helpful (1) or not (-1), or unrate it (None). Raises ``InvalidInput``."""
    if feedback not in (1, -1, None):
        raise InvalidInput("Feedback must be 1, -1 or null.")
    Answer.objects.filter(pk=answer.pk).update(feedback=feedback)
    answer.feedback = feedback


def _lock(scope: Scope, user: User | None, conversation: Conversation) -> Conversation:
    """Lock a conversation in which no question is being answered."""
    own = Conversation.objects.of(scope, user).select_for_update(of=("self",))
    locked = own.filter(pk=conversation.pk).first()
    if locked is None:
        raise ConversationNotFound
    active = Answer.objects.running().active().filter(conversation__owner=user)
    if active.count() >= MAX_RUNNING:
        raise Throttled(
            f"You have {MAX_RUNNING} running questions.",
            hint="Wait for one of them.",
            retry_after=RETRY_SECONDS,
        )
    if active.filter(conversation=locked).exists():
        raise AlreadyAnswering("The previous question is still being answered.")
    for lost in Answer.objects.running().filter(conversation=locked):
        Answer.objects.filter(pk=lost.pk).update(
            state=notebook_answers.state_of(lost), error=notebook_answers.LOST, hint=ASK_AGAIN
        )
    return locked


def _history(scope: Scope, answer: Answer) -> list[tuple[str, str]]:
    """Return the last answered turns before a question: pairs of question and answer, in order."""
    earlier = Answer.objects.filter(
        conversation=answer.conversation_id, ordinal__lt=answer.ordinal, state__in=ANSWERED
    )
    latest = earlier.select_related("conversation").order_by("-ordinal")[:TURNS]
    turns = notebook_answers.read(scope, latest)
    return [(turn.full_question or turn.question, turn.text) for turn in reversed(turns)]


def _earlier_quotes(scope: Scope, answer: Answer) -> Iterator[str]:
    """Yield the quotes of earlier answers, oldest first. Runs no query until iterated."""
    earlier = Citation.objects.visible(scope).filter(
        answer__conversation=answer.conversation_id, answer__ordinal__lt=answer.ordinal
    )
    newest = earlier.order_by("-answer__ordinal", "-number").values_list("quote", flat=True)
    yield from reversed(newest[:MAX_EARLIER_QUOTES])


def _filter(scope: Scope, conversation: Conversation) -> Filter:
    """Return what a conversation is about: the sources of it that still exist."""
    collections = (conversation.collection.slug,) if conversation.collection else ()
    if not conversation.sources:
        return Filter(collections=collections)
    visible = Source.objects.visible(scope).filter(uuid__in=conversation.sources)
    keys = frozenset(visible.values_list("pk", flat=True))
    if not keys:
        raise SourceNotFound(
            "All sources of this conversation were deleted.",
            hint="Choose others, or start another conversation.",
        )
    return Filter(collections=collections, keys=keys)


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
        if isinstance(error, GeneratorExit | KeyboardInterrupt | cancellation.Cancelled):
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
