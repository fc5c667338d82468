"""The pages of webhooks."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from kbsite.models import Webhook
from tests.html import text_of

NEW = {"url": "https://example.org/hook", "events": ["job.done"], "description": "Bot"}


@pytest.fixture
def page(client: Client, user: User) -> Client:
    client.force_login(user)
    return client


def test_a_new_webhook_shows_its_secret_once(page: Client) -> None:
    response = page.post("/webhooks/create/", NEW)
    assert "whsec_" in text_of(response)
    webhook = Webhook.objects.get()
    address = f"/webhooks/{webhook.uuid}/"
    assert "whsec_" not in text_of(page.get(address))
    assert "Bot" in text_of(page.get("/webhooks/"))
    assert "whsec_" in text_of(page.post(f"{address}secret/"))


def test_a_webhook_is_changed_switched_tested_and_deleted(page: Client) -> None:
    page.post("/webhooks/create/", NEW)
    address = f"/webhooks/{Webhook.objects.get().uuid}/"
    page.post(address, {**NEW, "description": "Robot", "events": ["job.done", "job.failed"]})
    assert "Robot" in text_of(page.get(address))
    page.post(f"{address}test/")
    assert "test" in text_of(page.get(address))
    page.post(f"{address}switch/", {"is_on": "false"})
    assert "You turned it off." in text_of(page.get(address))
    page.post(f"{address}switch/", {"is_on": "true"})
    assert "You turned it off." not in text_of(page.get(address))
    page.post(f"{address}delete/")
    assert "None yet" in text_of(page.get("/webhooks/"))


def test_an_incomplete_form_says_what_is_missing(page: Client) -> None:
    refused = page.post("/webhooks/create/", {"url": "https://example.org/"})
    assert refused.status_code == 422
    assert "Tell it when: This field is required." in text_of(refused)
