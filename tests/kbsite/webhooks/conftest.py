"""A user with a webhook to a real receiver on loopback."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User

from kbsite.callers import SignedInCaller, scope_of
from kbsite.models import Webhook, WebhookKind
from kbsite.webhooks import registry
from tests.webhook_receiver import WebhookReceiver


@pytest.fixture
def receiver() -> Iterator[WebhookReceiver]:
    with WebhookReceiver() as receiver:
        yield receiver


@pytest.fixture
def webhook(owner: User, receiver: WebhookReceiver, settings: Any) -> Webhook:
    settings.WEBHOOK_PRIVATE_ADDRESSES = True
    caller = SignedInCaller(owner, scope_of(owner))
    return registry.make(caller, url=receiver.url, events=list(WebhookKind))
