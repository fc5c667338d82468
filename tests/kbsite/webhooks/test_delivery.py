"""Messages of webhooks arrive, signed, at those who may hear of them, or it is said why not."""

import time
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from standardwebhooks.webhooks import WebhookVerificationError

from citations.models import State
from kbsite.callers import SignedInCaller, scope_of
from kbsite.models import ApiToken, Webhook, WebhookDelivery, WebhookEvent, WebhookKind
from kbsite.webhooks import delivery, receivers, registry
from tests.makers import make_source, make_user, make_video
from tests.webhook_receiver import WebhookReceiver
from transcripts.core.access import AccessLevel
from transcripts.core.errors import InvalidUrl
from transcripts.models import Collection, Job, Role


def work() -> None:
    """Do what the workers would do now."""
    delivery.distribute()
    while ready := list(WebhookDelivery.objects.first_of_each()):
        for row in ready:
            delivery.perform(row.pk)


def sent_test(webhook: Webhook) -> WebhookDelivery:
    """Do what the workers would do with a test message."""
    row = registry.make_test(webhook)
    work()
    row.refresh_from_db()
    return row


def make_job(collection: Collection, target: str = "abc") -> Job:
    job = Job.objects.create(collection=collection, kind="video", target=target)
    job.start()
    return job


def later() -> None:
    """Let the deliveries that wait be due."""
    WebhookDelivery.objects.update(run_after=None)


def test_jobs_and_sources_are_told_and_their_signatures_hold(
    webhook: Webhook, receiver: WebhookReceiver, collection: Collection
) -> None:
    make_job(collection).finish()
    make_job(collection, "def").fail(InvalidUrl("No such video."))
    source = make_source(make_video(collection), state=State.WORDS)
    source.reach(State.READY)
    work()
    got = receiver.messages(webhook.secret)
    assert [message["type"] for message in got] == [
        "job.done", "job.failed", "source.added", "source.ready",
    ]  # fmt: skip
    assert got[1]["data"]["error"] == "No such video."
    assert (got[2]["data"]["id"], got[2]["data"]["collection"]) == (str(source.uuid), "lectures")
    assert {row.state for row in WebhookDelivery.objects.all()} == {"done"}
    assert len({headers["webhook-id"] for _, headers in receiver.got}) == 4
    assert not WebhookEvent.objects.exists()


def test_without_webhooks_nothing_is_written_down(collection: Collection) -> None:
    make_job(collection).finish()
    assert not WebhookEvent.objects.exists()


def test_only_the_events_that_were_asked_for_are_told(
    webhook: Webhook, receiver: WebhookReceiver, collection: Collection
) -> None:
    registry.change(webhook, events=["job.failed"])
    make_job(collection).finish()
    work()
    assert not receiver.got


def test_another_secret_does_not_verify(webhook: Webhook, receiver: WebhookReceiver) -> None:
    sent_test(webhook)
    other = Webhook(uuid=webhook.uuid, generation=2).secret
    with pytest.raises(WebhookVerificationError):
        receiver.messages(other)
    assert receiver.messages(webhook.secret)[0]["type"] == "test"


def test_for_a_day_a_rotated_secret_verifies_beside_the_new_one(
    webhook: Webhook, receiver: WebhookReceiver
) -> None:
    old = webhook.secret
    registry.rotate(webhook)
    sent_test(webhook)
    assert receiver.messages(old) == receiver.messages(webhook.secret)
    Webhook.objects.update(rotated_at=timezone.now() - timedelta(hours=25))
    receiver.got.clear()
    sent_test(webhook)
    with pytest.raises(WebhookVerificationError):
        receiver.messages(old)


def test_foreign_events_are_never_told(webhook: Webhook, receiver: WebhookReceiver) -> None:
    foreign = Collection.objects.create(name="Secrets", slug="secrets")
    make_job(foreign).finish()
    make_source(make_video(foreign))
    work()
    assert not receiver.got
    assert not WebhookDelivery.objects.exists()


def test_a_collection_that_was_withdrawn_is_silent_though_its_message_waits(
    webhook: Webhook, receiver: WebhookReceiver, collection: Collection, owner: User
) -> None:
    make_job(collection).finish()
    delivery.distribute()
    assert WebhookDelivery.objects.count() == 1
    owner.memberships.all().delete()
    work()
    assert not receiver.got
    assert not WebhookDelivery.objects.exists()


def test_a_locked_account_hears_nothing(
    webhook: Webhook, receiver: WebhookReceiver, collection: Collection
) -> None:
    User.objects.update(is_active=False)
    make_job(collection).finish()
    work()
    assert not receiver.got


def test_a_tokens_webhook_reaches_as_far_as_the_token_and_as_long(
    owner: User, receiver: WebhookReceiver, collection: Collection, settings: Any
) -> None:
    settings.WEBHOOK_PRIVATE_ADDRESSES = True
    second = Collection.objects.create(name="Second", slug="second")
    second.memberships.create(user=owner, role=Role.OWNER)
    token, _ = ApiToken.issue(owner, name="t", access=AccessLevel.MANAGE, collections=(second,))
    caller = SignedInCaller(owner, scope_of(owner, token), token)
    registry.make(caller, url=receiver.url, events=list(WebhookKind))
    make_job(collection).finish()
    make_job(second).finish()
    work()
    assert len(receiver.got) == 1
    token.revoke()
    make_job(second, "def").finish()
    work()
    assert len(receiver.got) == 1


def test_a_receiver_that_fails_is_tried_again_with_the_same_id(
    webhook: Webhook, receiver: WebhookReceiver
) -> None:
    receiver.answer = 500
    row = sent_test(webhook)
    assert (row.state, row.status, row.attempts) == ("queued", 500, 1)
    assert row.run_after
    assert timedelta(seconds=20) < row.run_after - timezone.now() < timedelta(minutes=2)
    assert "500" in row.error
    receiver.answer = 204
    later()
    work()
    row.refresh_from_db()
    webhook.refresh_from_db()
    assert (row.state, row.status, row.error, webhook.failing_since) == ("done", 204, "", None)
    assert len({headers["webhook-id"] for _, headers in receiver.got}) == 1


def test_after_ten_attempts_a_delivery_failed(webhook: Webhook, receiver: WebhookReceiver) -> None:
    receiver.answer = 503
    row = registry.make_test(webhook)
    for _ in range(12):
        later()
        work()
    row.refresh_from_db()
    assert (row.state, row.attempts, len(receiver.got)) == ("failed", 10, 10)


def test_days_of_failure_turn_a_webhook_off_and_say_why(
    webhook: Webhook, receiver: WebhookReceiver, collection: Collection
) -> None:
    receiver.answer = 500
    Webhook.objects.update(failing_since=timezone.now() - timedelta(days=6))
    registry.make_test(webhook)
    sent_test(webhook)
    webhook.refresh_from_db()
    assert not webhook.is_on
    assert "No message has arrived for 5 days" in webhook.off_reason
    assert "500" in webhook.off_reason
    assert len(receiver.got) == 1
    codes = set(WebhookDelivery.objects.values_list("error_code", flat=True))
    assert codes == {"receiver_failed", "webhook_off"}
    make_job(collection).finish()
    work()
    assert len(receiver.got) == 1
    registry.change(webhook, is_on=True)
    assert (webhook.is_on, webhook.off_reason, webhook.failing_since) == (True, "", None)


def test_a_receiver_that_is_gone_is_asked_no_more(
    webhook: Webhook, receiver: WebhookReceiver
) -> None:
    receiver.answer = 410
    sent_test(webhook)
    webhook.refresh_from_db()
    assert (webhook.is_on, len(receiver.got)) == (False, 1)


@pytest.mark.parametrize("status", [301, 307])
def test_a_redirect_is_not_followed(
    webhook: Webhook, receiver: WebhookReceiver, status: int
) -> None:
    receiver.answer = status
    row = sent_test(webhook)
    assert (len(receiver.got), row.state, row.status) == (1, "queued", status)


def test_an_answer_without_end_is_not_read(webhook: Webhook, receiver: WebhookReceiver) -> None:
    receiver.answer = "endless"
    begun = time.monotonic()
    row = sent_test(webhook)
    assert (row.state, time.monotonic() - begun < 3) == ("done", True)


def test_a_slow_trickle_is_cut_off(
    webhook: Webhook, receiver: WebhookReceiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(receivers, "ALL_SECONDS", 0.5)
    receiver.answer = "trickle"
    begun = time.monotonic()
    row = sent_test(webhook)
    assert (row.error_code, time.monotonic() - begun < 3) == ("receiver_failed", True)


def test_this_machine_is_not_reached_unless_the_operator_allows_it(
    webhook: Webhook, receiver: WebhookReceiver, settings: Any
) -> None:
    settings.WEBHOOK_PRIVATE_ADDRESSES = False
    row = registry.make_test(webhook)
    name = f"https://localhost.localdomain:{receiver.url.rpartition(':')[2]}"
    for url in (receiver.url, receiver.url.replace("http:", "https:"), name):
        Webhook.objects.update(url=url)
        later()
        work()
        row.refresh_from_db()
        assert (row.state, row.error_code) == ("queued", "receiver_failed"), url
    assert not receiver.got


def test_a_name_that_leads_into_this_machine_is_not_connected_to(
    receiver: WebhookReceiver, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    port = int(receiver.url.split(":")[2].split("/")[0])
    answer = [(2, 1, 6, "", ("127.0.0.1", port))]
    monkeypatch.setattr("socket.getaddrinfo", lambda *_, **__: answer)
    with pytest.raises(receivers.ReceiverFailed, match="no public address"):
        receivers.post(f"https://hooks.example.org:{port}/", "{}", {})


def test_what_another_process_sends_is_not_sent_twice(
    webhook: Webhook, receiver: WebhookReceiver
) -> None:
    row = registry.make_test(webhook)
    delivery.perform(row.pk)
    delivery.perform(row.pk)
    assert len(receiver.got) == 1


def test_a_deleted_user_leaves_no_webhook(webhook: Webhook, owner: User) -> None:
    registry.make_test(webhook)
    owner.delete()
    assert not Webhook.objects.exists()
    assert not WebhookDelivery.objects.exists()


def test_one_receiver_gets_one_message_at_a_time(webhook: Webhook) -> None:
    first = registry.make_test(webhook)
    registry.make_test(webhook)
    other = make_user("grace")
    hers = Webhook.objects.create(user=other, url=webhook.url, events=["job.done"])
    third = registry.make_test(hers)
    assert [row.pk for row in WebhookDelivery.objects.first_of_each()] == [first.pk, third.pk]
