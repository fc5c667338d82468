"""`kb webhook`: make, list, test and delete webhooks."""

from typing import Annotated

import typer

from kbsite.callers import SignedInCaller, scope_of
from kbsite.cli.options import Json, argument, of_user, option
from kbsite.cli.terminal import note, print_json, print_result, say, table
from kbsite.cli.users import find_user
from kbsite.library.database import open_library
from kbsite.models import Webhook, WebhookKind
from kbsite.schemas import DeliveryOut, WebhookOut, WebhookSecretOut
from kbsite.webhooks import registry
from transcripts.core.errors import InvalidInput, NotFound

app = typer.Typer(
    add_completion=False, no_args_is_help=True, help="Create, list, test and delete webhooks."
)
Reference = Annotated[
    str, argument(metavar="ID", help="The webhook's id, or the beginning of the id.")
]


@app.command("create")
def create_webhook(
    url: Annotated[str, typer.Argument(help="The address to send messages to.")],
    event: Annotated[
        list[WebhookKind] | None,
        typer.Option("--event", help="Only this event; repeatable; unset: all events."),
    ] = None,
    description: Annotated[str, option(help="Its purpose.")] = "",
    user: Annotated[
        str, of_user("The owner of the webhook; unset: the owner of the library.")
    ] = "",
    as_json: Json = False,
) -> None:
    """Send events that a user may see to an address. The secret is shown only once."""
    open_library()
    owner = find_user(user)
    webhook = registry.make(
        SignedInCaller(owner, scope_of(owner)),
        url=url,
        events=event or list(WebhookKind),
        description=description[:200],
    )
    created = WebhookSecretOut.read(webhook)
    if as_json:
        print_json(created)
    else:
        say(created.secret)
        note("Store it: it is not shown again. Your program checks signatures with it.")


@app.command("list")
def list_webhooks(as_json: Json = False) -> None:
    """List the webhooks of all users, newest first."""
    open_library()
    webhooks = list(Webhook.objects.select_related("user"))
    if as_json:
        print_json([WebhookOut.model_validate(webhook) for webhook in webhooks])
        return
    rows = []
    for webhook in webhooks:
        state = f"fails since {webhook.failing_since:%Y-%m-%d}" if webhook.failing_since else "on"
        state = state if webhook.is_on else f"off: {webhook.off_reason}"
        name, events = webhook.user.get_username(), ", ".join(webhook.events)
        rows.append((str(webhook.uuid)[:8], webhook.url, name, events, state))
    columns = ("Id", "Address", "User", "Events", "State")
    table(columns, rows, empty="There are no webhooks.", main="Address")


@app.command("test")
def send_test(reference: Reference, as_json: Json = False) -> None:
    """Let the worker send a test message."""
    open_library()
    delivery = registry.make_test(_find(reference))
    record = DeliveryOut.model_validate(delivery)
    text = "The worker sends a test message within seconds. `kb webhook list` shows the state."
    print_result(text, record, as_json=as_json)


@app.command("delete")
def delete_webhook(reference: Reference, as_json: Json = False) -> None:
    """Delete a webhook with its deliveries."""
    open_library()
    webhook = _find(reference)
    record = WebhookOut.model_validate(webhook)
    registry.delete(webhook)
    print_result(f"Deleted the webhook to {webhook.url}.", record, as_json=as_json)


def _find(reference: str) -> Webhook:
    webhooks = Webhook.objects.all()
    fitting = [webhook for webhook in webhooks if str(webhook.uuid).startswith(reference.lower())]
    if len(fitting) > 1 and reference:
        raise InvalidInput(f"Several ids begin with “{reference[:40]}”.", hint="Give more of it.")
    if not reference or not fitting:
        hint = "`kb webhook list` lists them."
        raise NotFound(f"There is no webhook “{reference[:40]}”.", hint=hint)
    return fitting[0]
