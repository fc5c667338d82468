"""A user's webhooks: find, make, change and delete them.

A token knows only the webhooks that it made; they end with it.
"""

from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import urlsplit

from django.db import transaction
from django.db.models import QuerySet

from kbsite.callers import SignedInCaller
from kbsite.errors import invalid_fields
from kbsite.models import Webhook, WebhookDelivery
from kbsite.models.webhooks import TEST
from kbsite.webhooks.receivers import flaw_of
from transcripts.core import audit
from transcripts.core.audit import Action
from transcripts.core.errors import Conflict, NotFound

MAX_WEBHOOKS: Final = 20  # webhooks of one user


class WebhookOff(Conflict):
    """The webhook is turned off, so nothing is sent to it."""

    code = "webhook_off"
    default_message = "This webhook is turned off."
    default_hint = "Turn it on first."


def of_caller(caller: SignedInCaller) -> "QuerySet[Webhook]":
    """Return the webhooks that a caller may manage, newest first."""
    own = Webhook.objects.filter(user=caller.user)
    return own.filter(token=caller.token) if caller.token else own


def find(caller: SignedInCaller, webhook_id: Any) -> Webhook:
    """Return one of them. Raises ``NotFound``."""
    webhook = of_caller(caller).filter(uuid=webhook_id).first()
    if webhook is None:
        raise NotFound("There is no such webhook.", hint="Its owner may have deleted it.")
    return webhook


def make(
    caller: SignedInCaller, *, url: str, events: Sequence[str], description: str = ""
) -> Webhook:
    """Make a webhook. Raises ``InvalidInput`` for its address, and ``Conflict`` for too many."""
    _check(url)
    with transaction.atomic():
        if Webhook.objects.filter(user=caller.user).count() >= MAX_WEBHOOKS:
            raise Conflict(
                f"You have {MAX_WEBHOOKS} webhooks already.",
                hint="Delete one that is not needed any more.",
            )
        webhook = Webhook.objects.create(
            user=caller.user,
            token=caller.token,
            url=url,
            events=sorted(set(events)),
            description=description.strip(),
        )
        _record(Action.ADD, webhook)
    return webhook


def change(webhook: Webhook, **values: Any) -> None:
    """Change url, events, description or is_on, those that are given. Raises ``InvalidInput``."""
    if "url" in values:
        _check(values["url"])
    if "events" in values:
        values["events"] = sorted(set(values["events"]))
    is_on = values.pop("is_on", None)
    with transaction.atomic():
        for name, value in values.items():
            setattr(webhook, name, value)
        webhook.save(update_fields=list(values))
        if is_on is not None and is_on != webhook.is_on:
            webhook.turn_on() if is_on else webhook.turn_off("You turned it off.")
        _record(Action.CHANGE, webhook)


def rotate(webhook: Webhook) -> None:
    """Give it a new secret; for a day, messages are signed with the old one, too."""
    with transaction.atomic():
        webhook.rotate()
        _record(Action.CHANGE, webhook)


def delete(webhook: Webhook) -> None:
    """Delete it with its deliveries."""
    with transaction.atomic():
        _record(Action.DELETE, webhook)
        webhook.delete()


def make_test(webhook: Webhook) -> WebhookDelivery:
    """Make a delivery that says nothing but that it works. Raises ``WebhookOff``."""
    if not webhook.is_on:
        raise WebhookOff
    delivery: WebhookDelivery = webhook.deliveries.create(kind=TEST)
    return delivery


def _check(url: str) -> None:
    if flaw := flaw_of(url):
        raise invalid_fields({"url": flaw})


def _record(action: Action, webhook: Webhook) -> None:
    audit.record(action, "webhook", urlsplit(webhook.url).hostname or "")
