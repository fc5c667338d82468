"""Questions in a conversation: one waits at a time, is taken by one process, and stored with its answer when that is whole.

Whoever stops before leaves a row that counts as failed after a while.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Max
from django.utils import timezone

from citations.answers import pipeline as answer_pipeline
from citations.answers.answer import Event
from citations.errors import AlreadyAnswering, AnswerNotFound, ConversationNotFound, SourceNotFound
from citations.library.filters import Filter
from citations.models import Answer, AnswerState, Citation, Conversation, Source
from citations.notebook import answers as notebook_answers
from citations.notebook import conversations
from citations.notebook.answer_run import AnswerLease
from citations.notebook.answers import ASK_AGAIN, find_answer
from transcripts.errors import Conflict, EmptyQuery, InvalidInput, Throttled
from transcripts.sanitize import clean
from transcripts.scope import Scope

MAX_QUESTION: Final = 1_000  # characters: what a search takes
MAX_ANSWERS: Final = 1_000  # of a conversation
TURNS: Final = 10  # before a question, that it may refer to
TITLE: Final = 80  # characters of the first question, where a conversation was given no other title
MOST_AT_ONCE: Final = 8  # questions of one person that are being answered
MOST_TOLD: Final = 200  # quotes of earlier answers that are not told again
ANSWERED: Final = (AnswerState.ANSWERED, AnswerState.PARTIAL, AnswerState.REFUSED)


def put_first(
    scope: Scope,
    user: User | None,
    question: str,
    *,
    collection: str = "",
    sources: Sequence[str] = (),
) -> Answer:
    """Begin a conversation with a question, which waits for ``respond``; where that is refused, none is begun.

    Raises what ``conversations.begin`` and ``put`` raise.
    """
    with transaction.atomic():
        return put(
            scope,
            user,
            conversations.begin(scope, user, collection=collection, sources=sources),
            question,
        )


def put(
    scope: Scope,
    user: User | None,
    conversation: Conversation,
    question: str,
    *,
    sources: Sequence[str] | None = None,
) -> Answer:
    """Store a question, which waits for ``respond``; with ``sources``, the conversation is about these from now on (none: about all of its collection).

    Raises what ``conversations.restrict`` raises, ``EmptyQuery``, ``InvalidInput`` for more than ``MAX_QUESTION`` characters, ``AlreadyAnswering``,
    ``Throttled``, ``ConversationNotFound``, and ``Conflict`` where the conversation has become too long.
    """
    text = _question(question)
    with transaction.atomic():
        held = _held(scope, user, conversation)
        last = held.answers.aggregate(last=Max("ordinal"))["last"] or 0
        if last >= MAX_ANSWERS:
            raise Conflict(
                f"This conversation has {MAX_ANSWERS:,} questions already.", hint="Begin a new one."
            )
        if sources is not None:
            conversations.restrict(scope, held, sources)
        held.touch(title=held.title or text[:TITLE])
        return Answer.objects.create(conversation=held, ordinal=last + 1, question=text)


def put_again(scope: Scope, user: User | None, answer: Answer) -> Answer:
    """Let a question wait for ``respond`` once more. Raises ``AlreadyAnswering``, ``AnswerNotFound``, ``ConversationNotFound``."""
    with transaction.atomic():
        held = _held(scope, user, answer.conversation)
        held.touch()
        waiting = {
            "state": AnswerState.RUNNING,
            "holder": None,
            "active_at": timezone.now(),
            "attempts": 0,
            "error": "",
            "hint": "",
        }
        if not Answer.objects.filter(pk=answer.pk).update(**waiting):
            raise AnswerNotFound("This answer was deleted.")
    return find_answer(scope, user, answer.uuid)


def respond(scope: Scope, user: User | None, answer: Answer) -> Iterator[Event]:
    """Answer a question that waits, and store what comes of it; quotes and the end name the rows that they are stored in.

    Raises ``AlreadyAnswering`` where somebody else answers it, ``AnswerNotFound`` when it was deleted meanwhile, and what answering raises, which is stored as
    well: a question that fails, or that nobody waits for to the end, keeps the answer that it had before.
    """
    run = AnswerLease(answer)
    run.take()
    try:
        for event in _events(scope, user, answer):
            yield run.told(event)
        if not run.is_kept:
            raise RuntimeError("A question was answered without an end.")
    except BaseException as error:
        run.fail(error)
        raise


def rate(answer: Answer, feedback: int | None) -> None:
    """Say that an answer is helpful (1) or not (-1), or nothing (None). Raises ``InvalidInput``."""
    if feedback not in (1, -1, None):
        raise InvalidInput("Feedback is 1, -1 or nothing.")
    Answer.objects.filter(pk=answer.pk).update(feedback=feedback)
    answer.feedback = feedback


# Under the lock


def _held(scope: Scope, user: User | None, conversation: Conversation) -> Conversation:
    """Lock the row of a conversation in which nothing is being answered."""
    held = (
        Conversation.objects.of(scope, user)
        .select_for_update(of=("self",))
        .filter(pk=conversation.pk)
        .first()
    )
    if held is None:
        raise ConversationNotFound("There is no such conversation.")
    alive = Answer.objects.running().active().filter(conversation__owner=user)
    if alive.count() >= MOST_AT_ONCE:
        raise Throttled(
            f"{MOST_AT_ONCE} questions of yours are being answered already.",
            hint="Wait for one of them.",
        )
    if alive.filter(conversation=held).exists():
        raise AlreadyAnswering("The question before this one is still being answered.")
    for lost in Answer.objects.running().filter(conversation=held):
        Answer.objects.filter(pk=lost.pk).update(
            state=notebook_answers.state_of(lost), error=notebook_answers.LOST, hint=ASK_AGAIN
        )
    return held


# Answering


def _events(scope: Scope, user: User | None, answer: Answer) -> Iterator[Event]:
    wanted = _wanted(scope, answer.conversation)
    return answer_pipeline.ask(
        scope,
        answer.question,
        history=_history(scope, answer),
        filter=wanted,
        user=user,
        told=_told(scope, answer),
    )


def _history(scope: Scope, answer: Answer) -> list[tuple[str, str]]:
    """Return the last questions before this one that were answered, each with what was said, in order."""
    before = Answer.objects.filter(
        conversation=answer.conversation_id, ordinal__lt=answer.ordinal, state__in=ANSWERED
    )
    turns = notebook_answers.read(
        scope, before.select_related("conversation").order_by("-ordinal")[:TURNS]
    )
    return [(one.asked_as or one.question, one.text) for one in reversed(turns)]


def _told(scope: Scope, answer: Answer) -> Iterator[str]:
    """Yield the quotes of the answers before this one, oldest first; the database is asked by who wants them."""
    before = Citation.objects.visible(scope).filter(
        answer__conversation=answer.conversation_id, answer__ordinal__lt=answer.ordinal
    )
    newest = before.order_by("-answer__ordinal", "-number").values_list("quote", flat=True)[
        :MOST_TOLD
    ]
    yield from reversed(newest)


def _wanted(scope: Scope, conversation: Conversation) -> Filter:
    """Return what a conversation is about, as far as it is still there."""
    shelves = (conversation.collection.slug,) if conversation.collection else ()
    if not conversation.sources:
        return Filter(collections=shelves)
    keys = frozenset(
        Source.objects.visible(scope)
        .filter(uuid__in=conversation.sources)
        .values_list("pk", flat=True)
    )
    if not keys:
        raise SourceNotFound(
            "The sources that this conversation is about are gone.",
            hint="Choose others, or begin another conversation.",
        )
    return Filter(collections=shelves, keys=keys)


def _question(text: str) -> str:
    if len(text) > MAX_QUESTION:
        raise InvalidInput(
            f"The question is longer than {MAX_QUESTION:,} characters.", hint="Ask more briefly."
        )
    question = " ".join(clean(text, MAX_QUESTION).split())
    if not any(mark.isalnum() for mark in question):
        raise EmptyQuery("There is no question.", hint="Ask something in words.")
    return question
