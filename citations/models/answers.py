"""Conversations: questions, their answers, and notes."""

import uuid
from datetime import timedelta
from typing import Any

from django.contrib.auth.models import User
from django.db import models
from django.db.models import CheckConstraint, F, Index, Q, UniqueConstraint
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from transcripts.core.scope import Scope
from transcripts.core.work.models import LeasedWork, LeasedWorkQuerySet
from transcripts.models import Collection, Deletable, DeletableQuerySet


class AnswerState(models.TextChoices):
    RUNNING = "running", _("being answered")
    ANSWERED = "answered", _("answered")
    PARTIAL = "partial", _("answered in part")
    REFUSED = "refused", _("not in the sources")
    HELP = "help", _("help")
    FAILED = "failed", _("failed")


class ConversationQuerySet(models.QuerySet["Conversation"]):
    def of(self, scope: Scope, user: User | None) -> "ConversationQuerySet":
        """Keep those of one owner (None: the local user) in collections that the scope may read."""
        return self.filter(Q(collection=None) | Q(collection__in=scope.readable), owner=user)

    def readable(self, scope: Scope, user: User | None) -> "ConversationQuerySet":
        """Keep one owner's, and those that others share with the readers of a collection."""
        return self.of(scope, user) | self.filter(shared_with__in=scope.readable)


class Conversation(models.Model):
    """A sequence of questions about a collection; None: about all that the owner may read.

    One about a collection is shared with its readers, or with nobody. Whom one about everything is
    shared with see of it what stands in sources that they may read.
    """

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    collection = models.ForeignKey(
        Collection, models.CASCADE, null=True, blank=True, related_name="conversations"
    )
    owner = models.ForeignKey(
        User, models.CASCADE, null=True, blank=True, related_name="conversations"
    )
    title = models.CharField(max_length=300)
    sources = models.JSONField(default=list, blank=True, help_text="Ids of sources; empty: all.")
    is_pinned = models.BooleanField(default=False, help_text="At the top of its owner's list.")
    shared_with = models.ForeignKey(
        Collection,
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="shared_conversations",
        help_text="Whose readers read it.",
    )
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    objects = ConversationQuerySet.as_manager()

    class Meta:
        ordering = ("-updated_at", "-pk")
        indexes = (Index(fields=("owner", "-updated_at", "-id"), name="conversation_latest"),)
        constraints = (
            CheckConstraint(
                condition=Q(collection=None) | Q(shared_with=None) | Q(shared_with=F("collection")),
                name="conversation_shared_within",
            ),
        )

    def __str__(self) -> str:
        return self.title

    @property
    def is_shared(self) -> bool:
        return self.shared_with_id is not None

    def is_of(self, user: User | None) -> bool:
        """Whether it is this user's own; only the owner asks and changes."""
        return self.owner_id == (user.pk if user else None)

    def touch(self, **changes: Any) -> None:
        """Make it the latest, and write ``changes``."""
        Conversation.objects.filter(pk=self.pk).update(updated_at=timezone.now(), **changes)


class AnswerQuerySet(LeasedWorkQuerySet["Answer"]):
    def running(self) -> "AnswerQuerySet":
        """Keep the answers that are not complete."""
        return self.filter(state=AnswerState.RUNNING)


class Answer(LeasedWork):
    """A question and its answer.

    ``claims`` is an ordered list of {"label", "text", "citations": [numbers], "is_supported",
    "heading", "is_more", "answer", "collections": [keys]}. Collections are those of the cited
    sources: who may read them may read the claim, even after a source is deleted; null: nobody may.
    """

    LEASE = timedelta(seconds=30)

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    conversation = models.ForeignKey(Conversation, models.CASCADE, related_name="answers")
    ordinal = models.PositiveIntegerField()
    question = models.TextField()
    full_question = models.TextField(blank=True, help_text="The question as a stand-alone one.")
    state = models.CharField(
        max_length=10, choices=AnswerState.choices, default=AnswerState.RUNNING
    )
    claims = models.JSONField(default=list, blank=True)
    parts = models.JSONField(
        default=list, blank=True, help_text="Of several questions: which were answered."
    )
    nearest = models.JSONField(
        default=list, blank=True, help_text="After a refusal: near passages."
    )
    unready = models.JSONField(
        default=list, blank=True, help_text="Sources that were not ready when it was given."
    )
    note = models.TextField(blank=True, help_text="The refusal, or a remark for the reader.")
    error = models.TextField(blank=True)
    hint = models.TextField(blank=True)
    confidence = models.FloatField(
        null=True, blank=True, help_text="That the first citation is right."
    )
    model = models.CharField(max_length=200, blank=True, help_text="Empty: extractive.")
    trace = models.JSONField(
        default=dict, blank=True, help_text="Queries, passages, verdicts, times."
    )
    feedback = models.SmallIntegerField(null=True, blank=True, help_text="1: helpful, -1: not.")
    milliseconds = models.FloatField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = AnswerQuerySet.as_manager()

    class Meta:
        ordering = ("conversation_id", "ordinal")
        constraints = (
            UniqueConstraint(fields=("conversation", "ordinal"), name="answer_once"),
            CheckConstraint(condition=Q(state__in=AnswerState.values), name="answer_state"),
            CheckConstraint(
                condition=Q(feedback__in=(-1, 1)) | Q(feedback=None), name="answer_feedback"
            ),
            CheckConstraint(
                condition=Q(confidence__gte=0, confidence__lte=1) | Q(confidence=None),
                name="answer_confidence",
            ),
        )

    def __str__(self) -> str:
        return self.question[:80]


class Note(Deletable):
    """A note in a collection: a user's own words, or a saved answer.

    Readers of the collection see it. When an answer changes, its notes keep the old text and
    lose their link to it.
    """

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    collection = models.ForeignKey(Collection, models.CASCADE, related_name="notes")
    author = models.ForeignKey(User, models.SET_NULL, null=True, blank=True, related_name="notes")
    answer = models.ForeignKey(Answer, models.SET_NULL, null=True, blank=True, related_name="notes")
    title = models.CharField(max_length=300)
    text = models.TextField(help_text="Markdown.")
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    objects = DeletableQuerySet["Note"].as_manager()

    class Meta:
        ordering = ("-updated_at", "-pk")
        indexes = (Index(fields=("collection", "-updated_at", "-id"), name="note_latest"),)
        constraints = (UniqueConstraint(fields=("answer", "collection"), name="note_once"),)

    def __str__(self) -> str:
        return self.title
