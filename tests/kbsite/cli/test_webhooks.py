"""webhook."""

from kbsite.models import Webhook, WebhookDelivery
from tests.kbsite.cli.conftest import Kb
from tests.makers import make_user

URL = "https://example.org/hook"


def test_a_webhook_is_made_listed_tested_and_deleted(kb: Kb) -> None:
    make_user("ada")
    body = kb("webhook", "create", URL, "--event", "job.done", "-u", "ada", "--json").json
    webhook = Webhook.objects.get()
    assert body["secret"] == webhook.secret
    assert (body["events"], webhook.user.username) == (["job.done"], "ada")
    (listed,) = kb("webhook", "list", "--json").json
    assert (listed["id"], "secret" in listed) == (body["id"], False)
    kb("webhook", "test", body["id"][:8])
    assert WebhookDelivery.objects.get().kind == "test"
    kb("webhook", "delete", body["id"])
    assert "no webhooks" in kb("webhook", "list").out


def test_all_events_are_told_unless_some_are_named(kb: Kb) -> None:
    make_user("ada")
    kb("webhook", "create", URL, "--user", "ada")
    assert len(Webhook.objects.get().events) == 5


def test_why_a_webhook_is_off_is_shown(kb: Kb) -> None:
    Webhook.objects.create(user=make_user("ada"), url=URL).turn_off("Nothing arrived.")
    assert "off: Nothing arrived." in kb("webhook", "list").out
