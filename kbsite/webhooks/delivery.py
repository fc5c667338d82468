"""Deliver what happened to webhooks: one message after another to each, signed, until it arrives or
time is up.

Losing or repeating a message of Celery does no harm: docs/decisions/0013.
"""

import json
import threading
from datetime import UTC, datetime
from typing import Any, Final

from celery import shared_task
from django.conf import settings
from django.db import transaction
from django.db.models import Count, Q
from standardwebhooks import Webhook as Signer

from citations.models import Source
from citations.schemas.search import SourceOut
from kbsite.callers import scope_of
from kbsite.models import ApiToken, Webhook, WebhookDelivery, WebhookEvent
from kbsite.models.webhooks import TEST
from kbsite.webhooks import receivers
from kbsite.webhooks.receivers import ReceiverFailed
from kbsite.webhooks.registry import WebhookOff
from transcripts.core.scope import NOTHING, Scope
from transcripts.core.work.models import next_try
from transcripts.models import Job
from transcripts.schemas import JobOut, Shape
from transcripts.tasks import nudge, nudge_all

AT_ONCE: Final = 500  # events
MAX_WAITING: Final = 10_000  # deliveries of one webhook; later ones are not sent
GONE: Final = 410

# Receivers may be slow, so threads of the worker are left for other work.
_sending = threading.BoundedSemaphore(max(1, settings.WORKER_CONCURRENCY // 2))


@shared_task
def deliver(pk: int) -> None:
    """Send a delivery, then the next ones."""
    if not _sending.acquire(blocking=False):
        WebhookDelivery.objects.filter(pk=pk).update(sent_at=None)
        return
    try:
        perform(pk)
    finally:
        _sending.release()
    dispatch()


@shared_task
def sweep() -> None:
    """Distribute what happened, and send what waits."""
    distribute()
    dispatch()


def send(row: WebhookDelivery) -> None:
    """Send a delivery to the workers once its row is committed."""
    nudge(deliver, row)


def dispatch() -> None:
    """Send the next deliveries to the workers."""
    due = WebhookDelivery.objects.first_of_each().unsent()
    nudge_all(deliver, due[: settings.WORKER_CONCURRENCY])


def distribute() -> None:
    """Make a delivery of each event for each webhook that asked for it and may hear of it."""
    with transaction.atomic():
        events = list(
            WebhookEvent.objects.select_for_update(skip_locked=True).order_by("pk")[:AT_ONCE]
        )
        if not events:
            return
        waiting = Count("deliveries", filter=Q(deliveries__state=WebhookDelivery.State.QUEUED))
        hooks = Webhook.objects.filter(is_on=True).annotate(waiting=waiting).select_related("user")
        for webhook in hooks.filter(waiting__lt=MAX_WAITING):
            heard = [event for event in events if event.kind in webhook.events]
            WebhookDelivery.objects.bulk_create(_deliveries(webhook, heard))
        WebhookEvent.objects.filter(pk__in=[event.pk for event in events]).delete()


def _deliveries(webhook: Webhook, events: list[WebhookEvent]) -> list[WebhookDelivery]:
    scope = _scope_of(webhook) if events else NOTHING
    visible = {
        model: set(
            model.objects.visible(scope)
            .filter(pk__in=[event.thing for event in events if _shown(event.kind)[0] is model])
            .values_list("pk", flat=True)
        )
        for model in (Job, Source)
    }
    return [
        WebhookDelivery(
            webhook=webhook, kind=event.kind, thing=event.thing, happened_at=event.happened_at
        )
        for event in events
        if event.thing in visible[_shown(event.kind)[0]]
    ]


def perform(pk: int) -> None:
    """Send a delivery, unless it is sent by another process or its owner may not see it now."""
    waiting = WebhookDelivery.objects.waiting()
    if delivery := waiting.filter(pk=pk).first():
        with delivery.attempt(waiting) as is_begun:
            if is_begun:
                _post(delivery)


def _post(delivery: WebhookDelivery) -> None:
    webhook: Webhook = delivery.webhook
    if not webhook.is_on:
        delivery.fail(WebhookOff())
        return
    text = _message(delivery)
    if text is None:
        delivery.delete()
        return
    body = json.dumps(text, ensure_ascii=False)
    try:
        status = receivers.post(webhook.url, body, _signed(webhook, delivery.message_id, body))
    except ReceiverFailed as error:
        if error.status == GONE:
            webhook.turn_off("The receiver responded with 410: it wants no more messages.")
        else:
            webhook.record_failure(error)
        until = next_try(error, delivery.attempts)
        if until is None or not webhook.is_on:
            delivery.fail(error, error.status)
        else:
            delivery.postpone(until=until, error=error, status=error.status)
    else:
        webhook.record_success()
        delivery.finish(status)


def _message(delivery: WebhookDelivery) -> dict[str, Any] | None:
    """Return what a delivery says; None if its owner may not see it any more, or it is gone."""
    data: dict[str, Any] = {"webhook_id": str(delivery.webhook.uuid)}
    if delivery.kind != TEST:
        model, shape = _shown(delivery.kind)
        row = model.objects.visible(_scope_of(delivery.webhook)).filter(pk=delivery.thing).first()
        if row is None:
            return None
        data = shape.model_validate(row).model_dump(mode="json")
    at = delivery.happened_at.astimezone(UTC).isoformat().replace("+00:00", "Z")
    return {"type": delivery.kind, "timestamp": at, "data": data}


def _signed(webhook: Webhook, message_id: str, body: str) -> dict[str, str]:
    """Return the headers of a message; for a day after a rotation, both secrets sign."""
    at = datetime.now(UTC)
    secrets = [webhook.secret, *([webhook.old_secret] if webhook.old_secret_until else ())]
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(int(at.timestamp())),
        "webhook-signature": " ".join(
            Signer(secret).sign(message_id, at, body) for secret in secrets
        ),
    }


def _scope_of(webhook: Webhook) -> Scope:
    """Return what its owner may read now, by the token that made it."""
    if webhook.token_id is None:
        return scope_of(webhook.user)
    token = ApiToken.valid().filter(pk=webhook.token_id).first()
    return scope_of(webhook.user, token) if token else NOTHING


def _shown(kind: str) -> tuple[Any, type[Shape]]:
    return (Job, JobOut) if kind.startswith("job.") else (Source, SourceOut)
