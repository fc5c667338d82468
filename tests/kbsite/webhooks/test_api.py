"""The operations on webhooks."""

import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from kbsite.models import Webhook, WebhookDelivery
from kbsite.webhooks import delivery, registry
from tests.makers import make_user, signed_in, token_client
from tests.webhook_receiver import WebhookReceiver
from transcripts.core.access import AccessLevel
from transcripts.models import AuditEntry

HOOKS = "/api/v1/webhooks"
NEW = {"url": "https://example.org/hook", "events": ["job.done"]}


def send(client: Client, method: str, path: str, body: Any = None) -> Any:
    sent = {} if body is None else {"data": json.dumps(body), "content_type": "application/json"}
    return getattr(client, method)(path, **sent)


def test_a_webhook_is_made_changed_rotated_tested_and_deleted(
    asking: Client, receiver: WebhookReceiver, settings: Any
) -> None:
    settings.WEBHOOK_PRIVATE_ADDRESSES = True
    response = send(asking, "post", HOOKS, {**NEW, "url": receiver.url})
    address, secret = response["Location"], response.json()["secret"]
    assert (response.status_code, secret[:6]) == (201, "whsec_")
    assert "secret" not in asking.get(address).json()
    changed = send(asking, "patch", address, {"events": ["source.ready", "job.done"]}).json()
    assert changed["events"] == ["job.done", "source.ready"]
    rotated = send(asking, "post", f"{address}/secret").json()
    assert rotated["secret"] != secret
    assert rotated["old_secret_until"]
    tried = send(asking, "post", f"{address}/test")
    assert (tried.status_code, tried["Location"]) == (202, f"{address}/deliveries")
    for row in WebhookDelivery.objects.first_of_each():
        delivery.perform(row.pk)
    (shown,) = asking.get(f"{address}/deliveries").json()["deliveries"]
    assert (shown["id"], shown["state"], shown["status"]) == (tried.json()["id"], "done", 204)
    assert receiver.messages(secret) == receiver.messages(rotated["secret"])
    assert asking.get(HOOKS).json()["total"] == 1
    assert send(asking, "delete", address).status_code == 204
    assert asking.get(address).status_code == 404
    kinds = AuditEntry.objects.filter(kind="webhook").values_list("action", "thing")
    assert {thing for _, thing in kinds} == {"127.0.0.1"}
    assert {"add", "change", "delete"} <= {action for action, _ in kinds}


@pytest.mark.parametrize(
    "url",
    [
        "http://example.org/",
        "https://127.0.0.1/",
        "https://[::1]/",
        "https://localhost/",
        "https://169.254.169.254/latest/",
        "https://ada:secret@example.org/",
        "https://example.org/#part",
        "https://example.org:0/",
        "https://[broken/",
        "ftp://example.org/",
        "nonsense",
    ],
)
def test_an_address_that_cannot_be_used_is_refused_by_its_field(asking: Client, url: str) -> None:
    refused = send(asking, "post", HOOKS, {**NEW, "url": url})
    assert refused.status_code == 422, refused.content
    assert refused.json()["errors"][0]["field"] == "url"
    assert not Webhook.objects.exists()


def test_a_token_that_only_reads_makes_and_changes_nothing(owner: User, asking: Client) -> None:
    reader = token_client(owner, access=AccessLevel.READ)
    assert send(reader, "post", HOOKS, NEW).status_code == 403


def test_a_token_knows_only_what_it_made_and_its_user_all(owner: User, asking: Client) -> None:
    address = send(asking, "post", HOOKS, NEW)["Location"]
    assert token_client(owner).get(address).status_code == 404
    browser = signed_in(owner)
    assert browser.get(address).status_code == 200
    stranger = signed_in(make_user("grace"))
    for path in (address, f"{address}/deliveries"):
        assert stranger.get(path).status_code == 404


def test_nobody_has_any_number_of_webhooks(asking: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "MAX_WEBHOOKS", 1)
    assert send(asking, "post", HOOKS, NEW).status_code == 201
    assert send(asking, "post", HOOKS, NEW).status_code == 409


def test_what_is_off_takes_no_test(asking: Client) -> None:
    address = send(asking, "post", HOOKS, NEW)["Location"]
    off = send(asking, "patch", address, {"is_on": False}).json()
    assert (off["is_on"], off["off_reason"]) == (False, "You turned it off.")
    assert send(asking, "post", f"{address}/test").status_code == 409
    assert send(asking, "patch", address, {"is_on": True}).json()["off_reason"] == ""
