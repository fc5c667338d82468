"""What every door shows of users, tokens and webhooks, each shape declared once.

``transcripts.schemas`` and ``citations.schemas`` have those of what is in the library.
"""

from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, Self
from uuid import UUID

from pydantic import AliasPath, Field

from transcripts.core.access import AccessLevel
from transcripts.schemas import Count, Shape

if TYPE_CHECKING:  # clients read these shapes without Django
    from django.contrib.auth.models import User

# Users and tokens


class UserOut(Shape):
    """A user, with the role in each collection."""

    name: str = Field(validation_alias="username")
    admin: bool = Field(validation_alias="is_superuser")
    active: bool = Field(validation_alias="is_active")
    roles: dict[str, str] = Field(description="By the slug of the collection.")
    signed_in_at: datetime | None = Field(
        validation_alias="last_login", description="Last; null: never."
    )

    @classmethod
    def read(cls, user: "User") -> Self:
        """Return a user with the memberships, which are fetched."""
        memberships = user.memberships.order_by("collection__slug")
        roles = dict(memberships.values_list("collection__slug", "role"))
        columns = ("username", "is_superuser", "is_active", "last_login")
        return cls.model_validate(
            {name: getattr(user, name) for name in columns} | {"roles": roles}
        )


class TokenOut(Shape):
    """A token without its secret."""

    id: int
    name: str
    hint: str = Field(description="How it begins.")
    user: str = Field(validation_alias=AliasPath("user", "username"))
    access: AccessLevel = Field(description="Each includes those before it.")
    collections: list[str] | None = Field(
        validation_alias="slugs", description="Null: it is not limited to some."
    )
    state: Literal["valid", "expired", "revoked"]
    last_used_at: datetime | None
    expires_at: datetime | None


class TokenSecretOut(TokenOut):
    """A token with its secret, which is shown this time only."""

    token: str

    @classmethod
    def read(cls, token: Any, secret: str) -> Self:
        """Return a token with its secret."""
        return cls.parse({**TokenOut.model_validate(token).model_dump(), "token": secret})


# Webhooks

EVENTS: Final = ["job.done", "job.failed", "source.added", "source.ready", "source.failed"]
WebhookEvent = Annotated[str, Field(json_schema_extra={"enum": EVENTS})]


class WebhookOut(Shape):
    """A webhook, and whether its receiver accepts deliveries."""

    id: UUID = Field(validation_alias="uuid")
    url: str
    events: list[WebhookEvent]
    description: str
    is_on: bool
    off_reason: str = Field(description="Why it is off; empty: it is on.")
    failing_since: datetime | None = Field(description="Nothing arrived since; null: it works.")
    succeeded_at: datetime | None = Field(description="When a message last arrived.")
    old_secret_until: datetime | None = Field(
        description="Until then, messages are signed with the secret before the last one, too."
    )
    created_at: datetime


class WebhookSecretOut(WebhookOut):
    """A webhook with its secret, which is shown this time only."""

    secret: str = Field(description="Verifies signatures, as Standard Webhooks describes it.")

    @classmethod
    def read(cls, webhook: Any) -> Self:
        """Return a webhook with its current secret."""
        shown = WebhookOut.model_validate(webhook).model_dump()
        return cls.parse({**shown, "secret": webhook.secret})


class WebhooksOut(Shape):
    """A page of webhooks, newest first; ``next`` is the offset of the next page."""

    webhooks: list[WebhookOut]
    total: Count
    next: Count | None


class DeliveryOut(Shape):
    """A message, and what became of it."""

    id: str = Field(validation_alias="message_id", description="In the header webhook-id.")
    webhook_id: UUID = Field(validation_alias=AliasPath("webhook", "uuid"))
    event: str = Field(validation_alias="kind", json_schema_extra={"enum": [*EVENTS, "test"]})
    state: Literal["queued", "done", "failed"]
    attempts: Count
    status: int | None = Field(description="HTTP status of the last answer; null: there was none.")
    error_code: str
    error: str
    happened_at: datetime
    run_after: datetime | None = Field(description="When it is sent again.")
    finished_at: datetime | None


class DeliveriesOut(Shape):
    """A page of deliveries, newest first; ``next`` is the offset of the next page."""

    deliveries: list[DeliveryOut]
    total: Count
    next: Count | None
