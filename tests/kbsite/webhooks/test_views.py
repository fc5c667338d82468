"""The pages of webhooks."""

from typing import Any

import pytest
from django.test import Client

from kbsite.models import Webhook
from tests.html import text_of

NEW = {"url": "https://example.org/hook", "events": ["job.done"], "description": "Bot"}


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


def test_an_incomplete_form_is_shown_again_with_what_is_missing(page: Client) -> None:
    refused = page.post("/webhooks/create/", {"url": "https://example.org/", "description": "Bot"})
    assert refused.status_code == 422
    html = text_of(refused)
    assert 'id="events-error"><p>This field is required.</p>' in html
    assert 'value="https://example.org/"' in html
    assert 'value="Bot"' in html
    assert 'name="events" value="job.done">' in html, "not checked"


def test_the_form_says_beforehand_that_its_address_needs_https(page: Client, settings: Any) -> None:
    assert "It begins with https://, and other servers can reach it." in text_of(
        page.get("/webhooks/")
    )
    settings.WEBHOOK_PRIVATE_ADDRESSES = True
    assert "It begins with https:// or http://." in text_of(page.get("/webhooks/"))


@pytest.mark.parametrize(
    ("url", "flaw"),
    [
        ("http://example.org/", "The address has to begin with https://"),
        ("https://localhost/", "This is no public address."),
        ("https://ada:secret@example.org/", "Leave the user&#x27;s name, the password"),
    ],
)
def test_an_address_that_cannot_be_used_is_refused_at_its_field(
    page: Client, url: str, flaw: str
) -> None:
    page.post("/webhooks/create/", NEW)
    webhook = Webhook.objects.get()
    for address in ("/webhooks/create/", f"/webhooks/{webhook.uuid}/"):
        refused = page.post(address, {**NEW, "url": url})
        assert refused.status_code == 422
        html = text_of(refused)
        assert f'id="url-note"><p>{flaw}' in html
        assert f'value="{url}"' in html
        assert "/api/v1/docs" not in html
        assert "whsec_" not in html
    webhook.refresh_from_db()
    assert webhook.url == NEW["url"]
    assert Webhook.objects.count() == 1


def test_a_flaw_of_an_address_is_told_in_the_language_of_the_page(page: Client) -> None:
    german = {"Accept-Language": "de"}
    refused = page.post("/webhooks/create/", {**NEW, "url": "http://x.org/"}, headers=german)
    assert "Die Adresse muss mit https:// beginnen" in text_of(refused)
