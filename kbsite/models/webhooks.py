"""Webhooks, what happened that they may tell, and their deliveries."""

import uuid
from base64 import b64encode
from datetime import timedelta
from typing import Any, Final, Self

from django.conf import settings
from django.db import models
from django.db.models import CheckConstraint, F, Index, OuterRef, Q, Subquery
from django.db.models.functions import Coalesce, Now
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext_lazy as _

from kbsite.models.credentials import ApiToken
from transcripts.core import clock
from transcripts.core.errors import KnowledgeBaseError
from transcripts.core.locks import Lock
from transcripts.core.work.models import NO_ERROR, QueuedWork, QueuedWorkQuerySet, error_columns

TEST: Final = "test"
OLD_SECRET_FOR: Final = timedelta(days=1)
GIVES_UP_AFTER: Final = timedelta(days=5)


class WebhookKind(models.TextChoices):
    """What a webhook may tell."""

    JOB_DONE = "job.done", _("a job is done")
    JOB_FAILED = "job.failed", _("a job failed")
    SOURCE_ADDED = "source.added", _("there is a new source")
    SOURCE_READY = "source.ready", _("a source is found by words and meaning")
    SOURCE_FAILED = "source.failed", _("a source could not be indexed")


class Webhook(models.Model):
    """An address that is notified of events in the collections that its owner may read.

    One that a token made reaches as far as the token, and ends with it.
    """

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="webhooks"
    )
    token = models.ForeignKey(
        ApiToken, on_delete=models.CASCADE, null=True, related_name="+", help_text="What made it"
    )
    url = models.CharField(max_length=2000)
    description = models.CharField(max_length=200, blank=True)
    events = models.JSONField(default=list)
    generation = models.PositiveIntegerField(default=1, help_text="Of its secret")
    rotated_at = models.DateTimeField(null=True)
    is_on = models.BooleanField("switched on", default=True)
    off_reason = models.TextField(blank=True)
    failing_since = models.DateTimeField(null=True)
    succeeded_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("-pk",)

    def __str__(self) -> str:
        return self.description or self.url

    @property
    def secret(self) -> str:
        """What its messages are signed with.

        It is derived from SECRET_KEY, so that none stands in the database or in a backup.
        """
        return self._secret(self.generation)

    @property
    def old_secret(self) -> str:
        """The secret before this one."""
        return self._secret(self.generation - 1)

    def _secret(self, generation: int) -> str:
        value = f"{self.uuid}:{generation}"
        key = salted_hmac("kbsite.webhooks", value, algorithm="sha256").digest()
        return f"whsec_{b64encode(key).decode()}"

    @property
    def event_names(self) -> list[str]:
        """What it tells, in the language of the page."""
        return [_name_of(kind) for kind in self.events]

    @property
    def old_secret_until(self) -> Any:
        """When the secret before this one ends; None: there is none."""
        ends = self.rotated_at and self.rotated_at + OLD_SECRET_FOR
        return ends if ends and ends > clock.now() else None

    def rotate(self) -> None:
        """Begin a new secret; the one before it is valid for another day."""
        self._change(generation=F("generation") + 1, rotated_at=Now())

    def turn_on(self) -> None:
        """Send again, as if nothing had failed."""
        self._change(is_on=True, off_reason="", failing_since=None)

    def turn_off(self, reason: str) -> None:
        """Send nothing more until it is turned on, and say why."""
        self._change(is_on=False, off_reason=reason)

    def record_success(self) -> None:
        """Record that a delivery arrived."""
        self._change(succeeded_at=Now(), failing_since=None)

    def record_failure(self, error: KnowledgeBaseError) -> None:
        """Record that one did not arrive; after days without any that did, turn it off."""
        self._change(failing_since=Coalesce("failing_since", Now()))
        if self.failing_since and clock.now() - self.failing_since > GIVES_UP_AFTER:
            days = GIVES_UP_AFTER.days
            self.turn_off(
                f"No message has arrived for {days} days. The last result: {error.message}"
            )

    def _change(self, **values: Any) -> None:
        if Webhook.objects.filter(pk=self.pk).update(**values):
            self.refresh_from_db(fields=list(values))


class WebhookEvent(models.Model):
    """What happened; a trigger writes it in the transaction of the change, if anybody listens."""

    kind = models.CharField(max_length=20)
    thing = models.BigIntegerField(help_text="The primary key of the job or source")
    happened_at = models.DateTimeField(db_default=Now())

    def __str__(self) -> str:
        return f"{self.kind} {self.thing}"


class DeliveryQuerySet(QueuedWorkQuerySet["WebhookDelivery"]):
    def waiting(self) -> Self:
        """Keep the deliveries that are still to be sent."""
        return self.filter(state=WebhookDelivery.State.QUEUED)

    def first_of_each(self) -> Self:
        """Keep the oldest due delivery of each webhook: one receiver gets one after another."""
        due = WebhookDelivery.objects.waiting().due().filter(webhook=OuterRef("webhook"))
        first = Subquery(due.order_by("pk").values("pk")[:1])
        return self.waiting().filter(pk=first).order_by("pk")


class WebhookDelivery(QueuedWork):
    """One message to one webhook. What it says is read when it is sent."""

    LOCK = Lock.DELIVERY

    class State(models.TextChoices):
        QUEUED = "queued", _("waiting")
        DONE = "done", _("delivered")
        FAILED = "failed", _("failed")

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    webhook = models.ForeignKey(Webhook, on_delete=models.CASCADE, related_name="deliveries")
    kind = models.CharField(max_length=20)
    thing = models.BigIntegerField(null=True)
    happened_at = models.DateTimeField(db_default=Now())
    state = models.CharField(max_length=10, choices=State.choices, default=State.QUEUED)
    status = models.PositiveSmallIntegerField(null=True, help_text="Of the last answer")
    finished_at = models.DateTimeField(null=True)

    objects = DeliveryQuerySet.as_manager()

    @property
    def message(self) -> str:
        """What it tells, in the language of the page."""
        return _name_of(self.kind)

    class Meta:
        ordering = ("-pk",)
        verbose_name_plural = "webhook deliveries"
        constraints = (
            CheckConstraint(
                condition=Q(state__in=("queued", "done", "failed")), name="delivery_state"
            ),
        )
        indexes = (
            Index(fields=("webhook", "id"), condition=Q(state="queued"), name="delivery_waiting"),
        )

    def __str__(self) -> str:
        return f"{self.kind} to {self.webhook}"

    @property
    def message_id(self) -> str:
        """What a receiver knows it by, however often it is sent."""
        return f"msg_{self.uuid.hex}"

    def finish(self, status: int) -> None:
        """Record that it arrived."""
        self.change(state=self.State.DONE, status=status, finished_at=clock.now(), **NO_ERROR)

    def fail(self, error: KnowledgeBaseError, status: int | None = None) -> None:
        """Record that it is not sent any more."""
        ended = {"state": self.State.FAILED, "finished_at": clock.now(), "run_after": None}
        self.change(status=status, **ended, **error_columns(error))


def _name_of(kind: str) -> str:
    return str(_("a test message") if kind == TEST else WebhookKind(kind).label)
