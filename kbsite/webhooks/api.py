"""The operations on webhooks."""

from typing import Annotated, Any
from uuid import UUID

from ninja import Field, Path, Query, Router, Status
from pydantic import Strict, StringConstraints

from kbsite.callers import SignedInCaller
from kbsite.models import Webhook, WebhookDelivery, WebhookKind
from kbsite.schemas import DeliveriesOut, DeliveryOut, WebhookOut, WebhookSecretOut, WebhooksOut
from kbsite.webhooks import registry
from kbsite.webhooks.delivery import send
from kbsite.webhooks.receivers import MAX_ADDRESS
from transcripts.api.endpoints import Request
from transcripts.api.shapes import BodyIn, PageIn, responses
from transcripts.core.access import AccessLevel, needs
from transcripts.core.headers import located
from transcripts.core.lists import page_of
from transcripts.schemas import Filled, Text

WebhookId = Annotated[UUID, Path(description="The webhook's id.")]
Address = Annotated[Filled, StringConstraints(max_length=MAX_ADDRESS)]
Kind = Annotated[WebhookKind, Strict(False)]  # JSON has no type of its own for it
Events = Annotated[list[Kind], Field(min_length=1, max_length=len(WebhookKind))]
Description = Annotated[Text, StringConstraints(max_length=200)]


class WebhookIn(BodyIn):
    """Where messages go, and what they tell."""

    url: Address = Field(description="A public address with https.")
    events: Events
    description: Description = ""


class WebhookChangeIn(BodyIn):
    """What changes; fields that are not given stay."""

    url: Address | None = None
    events: Events | None = None
    description: Description | None = None
    is_on: bool | None = None


class WebhookRequest(Request):
    caller: SignedInCaller


router = Router(tags=["webhooks"])


@router.get("webhooks", response=responses({200: WebhooksOut}), summary="List webhooks")
@needs(AccessLevel.MANAGE)
def list_webhooks(request: WebhookRequest, query: Query[PageIn]) -> dict[str, Any]:
    """List your webhooks; with a token, those that it made."""
    return _page("webhooks", registry.of_caller(request.caller), query)


@router.post(
    "webhooks",
    response=responses({201: WebhookSecretOut}, 409),
    openapi_extra=located(201),
    summary="Make a webhook",
)
@needs(AccessLevel.MANAGE)
def add_webhook(request: WebhookRequest, body: WebhookIn) -> Status[WebhookSecretOut]:
    """Have what happens in the collections that you may read sent to an address.

    The answer has the secret that messages are signed with; it is not shown again. A webhook that a
    token makes reaches as far as the token, and ends with it.
    """
    webhook = registry.make(request.caller, **body.model_dump())
    request.answer["Location"] = f"/api/v1/webhooks/{webhook.uuid}"
    return Status(201, WebhookSecretOut.read(webhook))


@router.get(
    "webhooks/{webhook_id}", response=responses({200: WebhookOut}, 404), summary="See a webhook"
)
@needs(AccessLevel.MANAGE)
def get_webhook(request: WebhookRequest, webhook_id: WebhookId) -> Webhook:
    """Return a webhook, and since when its receiver fails."""
    return registry.find(request.caller, webhook_id)


@router.patch(
    "webhooks/{webhook_id}", response=responses({200: WebhookOut}, 404), summary="Change a webhook"
)
@needs(AccessLevel.MANAGE)
def change_webhook(
    request: WebhookRequest, webhook_id: WebhookId, body: WebhookChangeIn
) -> Webhook:
    """Change its address, its events or its description, or turn it off or on."""
    webhook = registry.find(request.caller, webhook_id)
    registry.change(webhook, **body.model_dump(exclude_none=True))
    return webhook


@router.delete(
    "webhooks/{webhook_id}", response=responses({204: None}, 404), summary="Delete a webhook"
)
@needs(AccessLevel.MANAGE)
def delete_webhook(request: WebhookRequest, webhook_id: WebhookId) -> Status[Any]:
    """Delete a webhook with its deliveries; what waits is not sent."""
    registry.delete(registry.find(request.caller, webhook_id))
    return Status(204, None)


@router.post(
    "webhooks/{webhook_id}/secret",
    response=responses({200: WebhookSecretOut}, 404),
    summary="Rotate a webhook's secret",
)
@needs(AccessLevel.MANAGE)
def rotate_secret(request: WebhookRequest, webhook_id: WebhookId) -> WebhookSecretOut:
    """Give a webhook a new secret; for a day, messages are signed with both."""
    webhook = registry.find(request.caller, webhook_id)
    registry.rotate(webhook)
    return WebhookSecretOut.read(webhook)


@router.post(
    "webhooks/{webhook_id}/test",
    response=responses({202: DeliveryOut}, 404, 409),
    openapi_extra=located(202),
    summary="Send a test message",
)
@needs(AccessLevel.MANAGE)
def test_webhook(request: WebhookRequest, webhook_id: WebhookId) -> Status[WebhookDelivery]:
    """Send a message of the type test; the deliveries say how it went."""
    webhook = registry.find(request.caller, webhook_id)
    delivery = registry.make_test(webhook)
    send(delivery)
    request.answer["Location"] = f"/api/v1/webhooks/{webhook.uuid}/deliveries"
    return Status(202, delivery)


@router.get(
    "webhooks/{webhook_id}/deliveries",
    response=responses({200: DeliveriesOut}, 404),
    summary="List a webhook's deliveries",
)
@needs(AccessLevel.MANAGE)
def list_deliveries(
    request: WebhookRequest, webhook_id: WebhookId, query: Query[PageIn]
) -> dict[str, Any]:
    """List deliveries, sent and waiting, newest first. What ended is kept for a week."""
    webhook = registry.find(request.caller, webhook_id)
    return _page("deliveries", webhook.deliveries.select_related("webhook"), query)


def _page(name: str, rows: Any, query: PageIn) -> dict[str, Any]:
    page, following = page_of(rows, query.offset, query.limit)
    return {name: page, "total": rows.count(), "next": following}


def described_messages() -> dict[str, Any]:
    """Describe the messages in the terms of OpenAPI."""
    return {kind.value: {"post": _described_message(kind)} for kind in WebhookKind}


def _described_message(kind: WebhookKind) -> dict[str, Any]:
    shape = "JobOut" if kind.startswith("job.") else "SourceOut"
    properties = {
        "type": {"const": kind.value},
        "timestamp": {"type": "string", "format": "date-time"},
        "data": {"$ref": f"#/components/schemas/{shape}"},
    }
    schema = {"type": "object", "required": list(properties), "properties": properties}
    names = ("webhook-id", "webhook-timestamp", "webhook-signature")
    header = {"in": "header", "required": True, "schema": {"type": "string"}}
    return {
        "operationId": f"tell_{kind.name.lower()}",
        "tags": router.tags,
        "summary": f"Told when {kind.label}",
        "parameters": [{"name": name, **header} for name in names],
        "requestBody": {"required": True, "content": {"application/json": {"schema": schema}}},
        "responses": {"2XX": {"description": "Taken; anything else is sent again later."}},
    }
