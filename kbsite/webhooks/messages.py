"""The messages to webhooks: who may hear of an event, and what they say."""

from datetime import UTC
from typing import Any, Final

from django.db import transaction
from django.db.models import Count, Q

from citations.models import Source
from citations.schemas.search import SourceOut
from kbsite.callers import scope_of
from kbsite.models import ApiToken, Webhook, WebhookDelivery, WebhookEvent
from kbsite.models.webhooks import TEST
from transcripts.core.scope import NOTHING, Scope
from transcripts.models import Job
from transcripts.schemas import JobOut, Shape

AT_ONCE: Final = 500  # events
MAX_WAITING: Final = 10_000  # deliveries of one webhook; later ones are not sent


def scope_of_webhook(webhook: Webhook) -> Scope:
    """Return what its owner may read now, by the token that made it."""
    if webhook.token_id is None:
        return scope_of(webhook.user)
    token = ApiToken.valid().filter(pk=webhook.token_id).first()
    return scope_of(webhook.user, token) if token else NOTHING


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
    scope = scope_of_webhook(webhook) if events else NOTHING
    visible = {
        model: set(
            model.objects.visible(scope)
            .filter(pk__in=[event.thing for event in events if _model(event.kind) is model])
            .values_list("pk", flat=True)
        )
        for model in (Job, Source)
    }
    return [
        WebhookDelivery(
            webhook=webhook, kind=event.kind, thing=event.thing, happened_at=event.happened_at
        )
        for event in events
        if event.thing in visible[_model(event.kind)]
    ]


def message(delivery: WebhookDelivery) -> dict[str, Any] | None:
    """Return what a delivery says; None if its owner may not see it any more, or it is gone."""
    data: dict[str, Any] | None = {"webhook_id": str(delivery.webhook.uuid)}
    if delivery.kind != TEST:
        data = _thing(delivery, scope_of_webhook(delivery.webhook))
    at = delivery.happened_at.astimezone(UTC).isoformat().replace("+00:00", "Z")
    return None if data is None else {"type": delivery.kind, "timestamp": at, "data": data}


def _thing(delivery: WebhookDelivery, scope: Scope) -> dict[str, Any] | None:
    model, shape = _model(delivery.kind), _shape(delivery.kind)
    row = model.objects.visible(scope).filter(pk=delivery.thing).first()
    return shape.model_validate(row).model_dump(mode="json") if row else None


def _model(kind: str) -> Any:
    return Job if kind.startswith("job.") else Source


def _shape(kind: str) -> type[Shape]:
    return JobOut if kind.startswith("job.") else SourceOut
