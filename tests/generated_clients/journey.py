"""The journey in Python; run with the generated package ``library`` on the path."""

import sys

from library import AuthenticatedClient
from library.api.content import change_content_video, list_content_videos
from library.api.notebook import add_note, list_notes
from library.api.sources import add_source
from library.api.webhooks import add_webhook, list_webhooks
from library.models import (
    ListContentVideosSortItem,
    NoteIn,
    PatchedVideoDetail,
    SourceIn,
    WebhookIn,
    WebhookKind,
)

client = AuthenticatedClient(base_url=sys.argv[1], token=sys.argv[2])
added = add_source.sync_detailed(client=client, body=SourceIn(text="Whales sing.", title="Whales"))
assert added.status_code == 201
page = list_content_videos.sync(
    client=client,
    title_icontains="WHALE",
    title_in=["Seals", "Whales"],
    sort=[ListContentVideosSortItem("-title")],
)
assert (page.total, page.videos[0].title) == (1, "Whales")
change = PatchedVideoDetail(title="Sea")
assert change_content_video.sync(page.videos[0].pk, client=client, body=change).title == "Sea"
assert list_notes.sync(client=client, limit=0).errors[0].field == "limit"
assert add_note.sync(client=client, body=NoteIn(text="They sing.")).text == "They sing."

note = NoteIn(text="They sing at night.")
first, again = (add_note.sync(client=client, body=note, idempotency_key="night") for _ in range(2))
assert first.id == again.id
assert list_notes.sync(client=client).total == 2
hook = WebhookIn(url="https://example.org/hook", events=[WebhookKind.SOURCE_ADDED])
made = add_webhook.sync(client=client, body=hook)
assert made.secret.startswith("whsec_")
assert [webhook.id for webhook in list_webhooks.sync(client=client).webhooks] == [made.id]
