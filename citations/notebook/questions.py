"""Questions of a conversation.

One at a time waits, is claimed by one process, and is stored with its finished answer. A question
whose process dies counts as failed half a minute later.
"""

from collections.abc import Iterator, Sequence
from typing import Final
from uuid import UUID

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Max
from django.db.models.functions import Now
from django.utils.text import Truncator

from citations.answers import pipeline as answer_pipeline
from citations.answers.answer import Event
from citations.errors import AlreadyAnswering, AnswerNotFound, ConversationNotFound, SourceNotFound
from citations.library.filters import Filter
from citations.models import Answer, AnswerState, Citation, Conversation, Source
from citations.notebook import answers as notebook_answers
from citations.notebook import conversations
from citations.notebook.answer_run import AnswerLease
from citations.notebook.answers import ASK_AGAIN, find_answer
from transcripts.core.errors import Conflict, InvalidInput, Throttled
from transcripts.core.scope import Scope
from transcripts.core.work.heartbeat import keep_alive
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
