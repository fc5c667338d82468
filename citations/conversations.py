"""Conversations: questions that follow one another, and what was answered. Each has one owner, whom alone it is shown to.

A question is stored before it is answered and taken by one process; what that finds is stored when it is whole. Whoever stops before leaves a row that counts
as failed after a while.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final
from uuid import UUID, uuid4

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import Count, Max
from django.utils import timezone

from citations import answering, records
from citations.errors import AlreadyAnswering, AnswerNotFound, ConversationNotFound, InvalidFilter, SourceNotFound
from citations.exports import Exported, Form, export
from citations.filters import MAX_VALUES, Filter, matching
from citations.models import Answer, AnswerState, Conversation, Quotation, Source
from citations.records import ASK_AGAIN, SILENCE, find_answer, find_quotation
from citations.replies import Claimed, Event, Finished, Quote, Reply
from transcripts import library
from transcripts.errors import Conflict, EmptyQuery, InvalidInput, KnowledgeBaseError, Throttled
from transcripts.models import Collection
from transcripts.plaintext import clean, uuid_of
from transcripts.scope import Scope

__all__ = [
    "Exported",
    "Form",
    "Page",
    "again",
    "ask",
    "begin",
    "delete",
    "export",
    "find",
    "find_answer",
    "find_quotation",
    "list_conversations",
    "put",
    "put_again",
    "rate",
    "rename",
    "respond",
    "restrict",
]

MAX_QUESTION: Final = 1_000  # characters: what a search takes
MAX_ANSWERS: Final = 1_000  # of a conversation
MAX_SOURCES: Final = 1_000  # that a conversation names
TURNS: Final = 10  # before a question, that it may refer to
TITLE: Final = 80  # characters of the first question, where a conversation was given no other title
MOST_AT_ONCE: Final = 8  # questions of one person that are being answered
ANSWERED: Final = (AnswerState.ANSWERED, AnswerState.PARTIAL, AnswerState.REFUSED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Some conversations, the latest first, each with ``answer_count``; ``next`` goes on after the last one, None at the end."""

    conversations: tuple[Conversation, ...]
    total: int
    next: int | None


# Conversations


def begin(scope: Scope, user: User | None, *, collection: str = "", sources: Sequence[str] = (), title: str = "") -> Conversation:
    """Begin a conversation about a collection ("": all that the caller may read), or about some ``sources`` of it (their ids or their videos').

    Its title becomes the first question, unless one is given. Raises ``CollectionNotFound``, ``SourceNotFound``, ``InvalidFilter``.
    """
    shelf = library.find_collection(scope, collection) if collection else None
    return Conversation.objects.create(collection=shelf, owner=user, title=clean(title, 300), sources=_chosen(scope, shelf, sources))


def restrict(scope: Scope, conversation: Conversation, sources: Sequence[str]) -> None:
    """Let a conversation be about these sources from now on; none: about all of its collection. Raises ``SourceNotFound``, ``InvalidFilter``."""
    chosen = _chosen(scope, conversation.collection, sources)
    if chosen != conversation.sources:
        Conversation.objects.filter(pk=conversation.pk).update(sources=chosen)
        conversation.sources = chosen


def list_conversations(scope: Scope, user: User | None, *, words: str = "", collection: str = "", offset: int = 0, limit: int = 25) -> Page:
    """Return a page of the caller's conversations in whose title every one of ``words`` occurs, the latest first. Raises ``CollectionNotFound``."""
    found = Conversation.objects.of(scope, user)
    if collection:
        found = found.filter(collection=library.find_collection(scope, collection))
    for word in clean(words, MAX_QUESTION).split()[:10]:
        found = found.filter(title__icontains=word)
    counted = found.select_related("collection").annotate(answer_count=Count("answers")).order_by("-updated_at", "-pk")
    rows = tuple(counted[offset : offset + limit + 1])
    return Page(conversations=rows[:limit], total=found.count(), next=offset + limit if len(rows) > limit else None)


def find(scope: Scope, user: User | None, reference: UUID | str) -> Conversation:
    """Return the conversation of this id, if it is the caller's. Raises ``ConversationNotFound``."""
    found = Conversation.objects.of(scope, user).select_related("collection").filter(uuid=uuid_of(reference)).first()
    if found is None:
        raise ConversationNotFound("There is no such conversation.")
    return found


def rename(conversation: Conversation, title: str) -> None:
    """Give a conversation another title. Raises ``InvalidInput`` for none."""
    wanted = " ".join(clean(title, 300).split())
    if not wanted:
        raise InvalidInput("The conversation has no title.", hint="Give it a short one.")
    Conversation.objects.filter(pk=conversation.pk).update(title=wanted)
    conversation.title = wanted


def delete(conversation: Conversation) -> None:
    """Delete a conversation with its answers and what they quote. Sources stay, and so do notes."""
    with transaction.atomic():
        Conversation.objects.select_for_update(of=("self",)).filter(pk=conversation.pk).first()  # who stores an answer just now comes first, or finds it gone
        Conversation.objects.filter(pk=conversation.pk).delete()


def rate(answer: Answer, feedback: int | None) -> None:
    """Say that an answer is helpful (1) or not (-1), or nothing (None). Raises ``InvalidInput``."""
    if feedback not in (1, -1, None):
        raise InvalidInput("Feedback is 1, -1 or nothing.")
    Answer.objects.filter(pk=answer.pk).update(feedback=feedback)
    answer.feedback = feedback


# Questions


def ask(scope: Scope, user: User | None, conversation: Conversation, question: str) -> Iterator[Event]:
    """Store a question and answer it: raises at once what ``put`` raises, and while it is answered what ``respond`` raises."""
    return respond(scope, user, put(scope, user, conversation, question))


def again(scope: Scope, user: User | None, answer: Answer) -> Iterator[Event]:
    """Answer a question anew, in the place of the answer that there is: that stays if it comes to nothing. Raises as ``ask`` does."""
    return respond(scope, user, put_again(scope, user, answer))


def put(scope: Scope, user: User | None, conversation: Conversation, question: str) -> Answer:
    """Store a question, which waits for ``respond``.

    Raises ``EmptyQuery``, ``InvalidInput`` for more than ``MAX_QUESTION`` characters, ``AlreadyAnswering``, ``Throttled``, ``ConversationNotFound``, and
    ``Conflict`` where the conversation has become too long.
    """
    text = _question(question)
    with transaction.atomic():
        held = _held(scope, user, conversation)
        last = held.answers.aggregate(last=Max("ordinal"))["last"] or 0
        if last >= MAX_ANSWERS:
            raise Conflict(f"This conversation has {MAX_ANSWERS:,} questions already.", hint="Begin a new one.")
        _touch(held, title=held.title or text[:TITLE])
        return Answer.objects.create(conversation=held, ordinal=last + 1, question=text)


def put_again(scope: Scope, user: User | None, answer: Answer) -> Answer:
    """Let a question wait for ``respond`` once more. Raises ``AlreadyAnswering``, ``AnswerNotFound``, ``ConversationNotFound``."""
    with transaction.atomic():
        held = _held(scope, user, answer.conversation)
        _touch(held)
        waiting = {"state": AnswerState.RUNNING, "is_taken": False, "active_at": timezone.now(), "error": "", "hint": ""}
        if not Answer.objects.filter(pk=answer.pk).update(**waiting):
            raise AnswerNotFound("This answer was deleted.")
    return find_answer(scope, user, answer.uuid)


def respond(scope: Scope, user: User | None, answer: Answer) -> Iterator[Event]:
    """Answer a question that waits, and store what comes of it; quotes and the end name the rows that they are stored in.

    Raises ``AlreadyAnswering`` where somebody else answers it, ``AnswerNotFound`` when it was deleted meanwhile, and what answering raises, which is stored as
    well: a question that fails, or that nobody waits for to the end, keeps the answer that it had before.
    """
    run = _Run(answer)
    run.take()
    try:
        for event in _events(scope, user, answer):
            yield run.told(event)
        if not run.is_kept:
            raise RuntimeError("A question was answered without an end.")
    except BaseException as error:
        run.fail(error)
        raise


# Under the lock


def _held(scope: Scope, user: User | None, conversation: Conversation) -> Conversation:
    """Lock the row of a conversation in which nothing is being answered."""
    held = Conversation.objects.of(scope, user).select_for_update(of=("self",)).filter(pk=conversation.pk).first()
    if held is None:
        raise ConversationNotFound("There is no such conversation.")
    running = held.answers.filter(state=AnswerState.RUNNING)
    alive = Answer.objects.filter(state=AnswerState.RUNNING, active_at__gte=timezone.now() - SILENCE, conversation__owner=user)
    if alive.count() >= MOST_AT_ONCE:
        raise Throttled(f"{MOST_AT_ONCE} questions of yours are being answered already.", hint="Wait for one of them.")
    if alive.filter(conversation=held).exists():
        raise AlreadyAnswering("The question before this one is still being answered.")
    for lost in running:
        Answer.objects.filter(pk=lost.pk).update(state=records.state_of(lost), error=records.LOST, hint=ASK_AGAIN)
    return held


def _touch(conversation: Conversation, **changes: Any) -> None:
    Conversation.objects.filter(pk=conversation.pk).update(updated_at=timezone.now(), **changes)


# Answering


def _events(scope: Scope, user: User | None, answer: Answer) -> Iterator[Event]:
    conversation = answer.conversation
    turns = [one for one in records.of(scope, conversation, before=answer.ordinal) if one.state in ANSWERED][-TURNS:]
    return answering.ask(
        scope,
        answer.question,
        history=[(one.asked_as or one.question, one.text) for one in turns],
        wanted=_wanted(scope, conversation),
        user=user,
    )


def _wanted(scope: Scope, conversation: Conversation) -> Filter:
    """Return what a conversation is about, as far as it is still there."""
    shelves = (conversation.collection.slug,) if conversation.collection else ()
    if not conversation.sources:
        return Filter(collections=shelves)
    keys = frozenset(Source.objects.visible(scope).filter(uuid__in=conversation.sources).values_list("pk", flat=True))
    if not keys:
        raise SourceNotFound("The sources that this conversation is about are gone.", hint="Choose others, or begin another conversation.")
    return Filter(collections=shelves, keys=keys)


@dataclass(slots=True)
class _Run:
    """One process that answers one question: ``active_at`` tells it from any other that was let in after it."""

    answer: Answer
    active_at: datetime = field(default_factory=timezone.now)
    is_kept: bool = False
    ids: dict[int, UUID] = field(default_factory=dict)  # of quotations, by their numbers
    known: dict[tuple[int, int, int, str], UUID] = field(default_factory=dict)  # ids of the same quotes in the answer before

    def take(self) -> None:
        """Be the only one who answers. Raises ``AlreadyAnswering``."""
        if not self._waiting().update(is_taken=True, active_at=self.active_at):
            raise AlreadyAnswering("This question is answered already.")
        kept = Quotation.objects.filter(answer=self.answer)
        self.known = {(one.source_id, one.span_start, one.span_end, one.digest): one.uuid for one in kept}

    def told(self, event: Event) -> Event:
        """Return what is told of an event, with the ids of quotations; the end is stored first. Raises ``AnswerNotFound``."""
        if isinstance(event, Finished):
            reply = replace(event.reply, quotes=self._named(event.reply.quotes))
            self.keep(reply)
            return Finished(reply=reply, answer=self.answer.uuid)
        self._live()
        return replace(event, quotes=self._named(event.quotes)) if isinstance(event, Claimed) else event

    def keep(self, reply: Reply) -> None:
        """Store the answer in the place of the one before. A source that is deleted at this moment takes its quotations along."""
        try:
            self._store(reply, reply.quotes)
        except IntegrityError:
            there = set(Source.objects.filter(pk__in=[quote.source for quote in reply.quotes]).values_list("pk", flat=True))
            self._store(reply, [quote for quote in reply.quotes if quote.source in there])
        self.is_kept = True

    def fail(self, error: BaseException) -> None:
        """Store why there is no answer. What was answered before stays."""
        if not self.is_kept:
            message, hint = _told(error)
            before = self.answer.trace.get("outcome", AnswerState.FAILED)
            self._mine().update(state=before, is_taken=False, error=message, hint=hint)

    def _live(self) -> None:
        now = timezone.now()
        if not self._mine().update(active_at=now):
            raise AnswerNotFound("This question was deleted, or is answered by somebody else.")
        self.active_at = now

    def _store(self, reply: Reply, quotes: Sequence[Quote]) -> None:
        with transaction.atomic():
            if not self._mine().update(**_columns(reply)):
                raise AnswerNotFound("This question was deleted, or is answered by somebody else.")
            Quotation.objects.filter(answer=self.answer).delete()
            Quotation.objects.bulk_create([_quotation(self.answer, quote) for quote in quotes])
            _touch(self.answer.conversation)

    def _named(self, quotes: Sequence[Quote]) -> tuple[Quote, ...]:
        return tuple(replace(quote, id=self._id(quote)) for quote in quotes)

    def _id(self, quote: Quote) -> UUID:
        """Return the id of a quotation, which is the one that it had in the answer before: addresses of citations are permanent."""
        if quote.number not in self.ids:
            before = self.known.pop((quote.source, *quote.locator.span, quote.digest), None)
            self.ids[quote.number] = before or uuid4()
        return self.ids[quote.number]

    def _waiting(self) -> Any:
        return Answer.objects.filter(pk=self.answer.pk, state=AnswerState.RUNNING, is_taken=False)

    def _mine(self) -> Any:
        return Answer.objects.filter(pk=self.answer.pk, state=AnswerState.RUNNING, is_taken=True, active_at=self.active_at)


def _columns(reply: Reply) -> dict[str, Any]:
    columns = {
        "asked_as": reply.asked_as,
        "claims": [{"text": one.text, "citations": list(one.citations), "is_supported": one.is_supported} for one in reply.claims],
        "nearest": [one.as_json() for one in reply.nearest],
        "note": reply.note,
        "model": reply.model[:200],
        "trace": {**reply.trace.as_json(), "outcome": reply.outcome.value},
    }
    figures = {"confidence": reply.confidence, "milliseconds": reply.milliseconds}
    return {**_storable(columns), **figures, "state": reply.outcome.value, "is_taken": False, "error": "", "hint": "", "feedback": None}


def _quotation(answer: Answer, quote: Quote) -> Quotation:
    place = quote.locator
    return Quotation(
        uuid=quote.id or uuid4(),
        answer=answer,
        number=quote.number,
        source_id=quote.source,
        quote=quote.text,
        before=quote.before[-100:],
        behind=quote.behind[:100],
        span_start=place.span[0],
        span_end=place.span[1],
        digest=quote.digest,
        start=place.start,
        end=place.end,
        page=place.page,
        last_page=place.last_page,
        section_heading=quote.heading[:300],
    )


# What comes from outside


def _question(text: str) -> str:
    if len(text) > MAX_QUESTION:
        raise InvalidInput(f"The question is longer than {MAX_QUESTION:,} characters.", hint="Ask more briefly.")
    question = " ".join(clean(text, MAX_QUESTION).split())
    if not any(mark.isalnum() for mark in question):
        raise EmptyQuery("There is no question.", hint="Ask something in words.")
    return question


def _chosen(scope: Scope, shelf: Collection | None, references: Sequence[str]) -> list[str]:
    """Look up sources of one collection, or of any; returns their ids, in an order that does not change."""
    wanted = tuple(dict.fromkeys(references))
    if len(wanted) > MAX_SOURCES:
        raise InvalidFilter(f"A conversation names at most {MAX_SOURCES:,} sources; it is about all of its collection when it names none.")
    there = Scope(readable=scope.readable & {shelf.pk}) if shelf else scope
    batches = [wanted[at : at + MAX_VALUES] for at in range(0, len(wanted), MAX_VALUES)]
    found = {one for batch in batches for one in _ids(there, batch)}
    return sorted(map(str, found))


def _ids(scope: Scope, references: tuple[str, ...]) -> Iterator[UUID]:
    """Return the ids of sources; those that are ids already, as a page sends them, are looked up at once."""
    ids = {uuid_of(one) for one in references}
    known = set(Source.objects.visible(scope).filter(uuid__in=ids).values_list("uuid", flat=True))
    yield from known
    others = tuple(one for one in references if uuid_of(one) not in known)
    if others:
        yield from matching(scope, Filter(sources=others)).values_list("uuid", flat=True)


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
    return "Something went wrong while this was answered.", "Ask again; the server's log says more."
