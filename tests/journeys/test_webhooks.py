"""A webhook is told of work by a worker that is killed on the way."""

from pathlib import Path

from tests.instance import Instance, wait_until
from tests.webhook_receiver import WebhookReceiver

SEED = """
from kbsite.callers import SignedInCaller, scope_of
from kbsite.models import WebhookKind
from kbsite.webhooks import registry
from tests.makers import make_user
from transcripts.models import Collection
shelf = Collection.objects.create(name="Lectures", slug="lectures")
ada = make_user("ada", collection=shelf)
webhook = registry.make(SignedInCaller(ada, scope_of(ada)), url="{url}", events=list(WebhookKind))
print(json.dumps(webhook.secret))
"""
ADD = """
from tests.makers import make_video
from transcripts.models import Collection
make_video(Collection.objects.get(slug="lectures"), key="talk-{number}")
"""


def types(receiver: WebhookReceiver, secret: str) -> list[str]:
    return [message["type"] for message in receiver.messages(secret)]


def test_a_worker_tells_and_after_its_death_another_tells_what_is_left(tmp_path: Path) -> None:
    with (
        WebhookReceiver() as receiver,
        Instance(tmp_path / "home", WEBHOOK_PRIVATE_ADDRESSES="true") as instance,
    ):
        secret = instance.json(SEED.format(url=receiver.url))
        instance.python(ADD.format(number=1))
        with instance.worker():
            wait_until(lambda: "source.ready" in types(receiver, secret), what="the first source")
            receiver.answer = 500
            before = len(receiver.got)
            instance.python(ADD.format(number=2))
            wait_until(lambda: len(receiver.got) > before, what="an attempt")
        receiver.answer = 204
        instance.python(
            "from kbsite.models import WebhookDelivery\n"
            "WebhookDelivery.objects.update(run_after=None)"
        )
        with instance.worker():
            wait_until(lambda: types(receiver, secret).count("source.ready") == 2, what="the rest")
            query = "SELECT count(*) FROM kbsite_webhookdelivery WHERE state <> 'done'"
            wait_until(lambda: instance.rows(query) == [(0,)], what="all of it")
        ids = {headers["webhook-id"] for _, headers in receiver.got}
        assert len(ids) == 4
