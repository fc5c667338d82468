"""Deliver messages, one after another to each webhook, until they arrive or time is up."""

import json
from datetime import UTC, datetime
from typing import Final

from kbsite.models import Webhook, WebhookDelivery
from kbsite.models.webhooks import DeliveryQuerySet
from kbsite.webhooks import messages, receivers, signatures
from kbsite.webhooks.errors import ReceiverFailed, WebhookOff
from transcripts.core.work.models import next_try

GONE: Final = 410


def next_ones() -> DeliveryQuerySet:
    """Return the deliveries to send next: the oldest due delivery of each webhook."""
    return WebhookDelivery.objects.first_of_each()


def perform(pk: int) -> None:
    """Send a delivery, unless it is sent by another process or its owner may not see it now."""
    delivery = WebhookDelivery.objects.waiting().filter(pk=pk).first()
    if delivery is None:
        return
    with delivery.attempt(WebhookDelivery.objects.waiting()) as is_begun:
        if is_begun:
            _deliver(delivery)


def _deliver(delivery: WebhookDelivery) -> None:
    webhook = delivery.webhook
    if not webhook.is_on:
        delivery.fail(WebhookOff())
        return
    text = messages.message(delivery)
    if text is None:
        delivery.delete()
        return
    body, at = json.dumps(text, ensure_ascii=False), datetime.now(UTC)
    headers = signatures.headers(webhook, delivery.message_id, at, body)
    try:
        status = receivers.post(webhook.url, body, headers)
    except ReceiverFailed as error:
        _record_failure(delivery, error)
    else:
        webhook.record_success()
        delivery.finish(status)


def _record_failure(delivery: WebhookDelivery, error: ReceiverFailed) -> None:
    webhook: Webhook = delivery.webhook
    if error.status == GONE:
        webhook.turn_off("The receiver responded with 410: it wants no more messages.")
    else:
        webhook.record_failure(error)
    until = next_try(error, delivery.attempts)
    if until is None or not webhook.is_on:
        delivery.fail(error, error.status)
    else:
        delivery.postpone(until=until, error=error, status=error.status)
