"""A running Cuebase with content: database, web server and worker as real processes."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

import requests

from tests.console import Console
from tests.fork_server import Fork
from tests.instance import Instance, free_port, kill, wait_until

SEED = """
import json
from datetime import timedelta
from django.contrib.auth.models import User
from django.utils import timezone
from citations.ingest import pipeline as ingest_pipeline
from citations.errors import ModelRefused
from citations.models import SharedLink, Source
from kbsite.models import Webhook
from kbsite.webhooks.receivers import ReceiverFailed
from oauth2_provider.models import Application
from tests.makers import caption_json, make_cues, make_paper, make_pdf, replace_chunks
from transcripts import samples
from transcripts.adding import storage
from transcripts.core.errors import NoCaptions
from transcripts.models import AuditEntry, Collection, Feed, Job, Membership, Video

ada = User.objects.create_superuser("ada", password="correct horse battery")
vera = User.objects.create_user("vera", password="correct horse battery")
library = Collection.objects.default()
for user, role in ((ada, "owner"), (vera, "viewer")):
    Membership.objects.create(collection=library, user=user, role=role)
shelf = Collection.objects.create(name="Empty shelf", slug="empty-shelf")
samples.load(library)
for number in range(30):
    title = f"Evening talk {number}: what a very patient listener can learn"
    data = caption_json(make_cues(3), id=f"talk-{number}", title=title, lang="en")
    storage.add_captions(library, data, name=f"talk-{number}.json", tags=["evening"])
title = "A long lecture on neural networks"
english = caption_json(make_cues(600), id="long", title=title, lang="en")
long = storage.add_captions(library, english, name="long.json").video
german = caption_json(make_cues(40, sentences=("Das ist ein Satz.",)), id="long")
storage.add_captions(library, german, name="long.de.json", language="de")
chapters = [[0, "Welcome"], [900000, "Gradients"], [2400000, "Convolution"]]
Video.objects.filter(pk=long.pk).update(
    youtube_id="abcdefghijk",
    channel="Lecture Hall",
    languages=["en", "de", "fr"],
    chapters=chapters,
)
feed = Feed.objects.create(
    collection=library, kind="channel", youtube_id="UC" + "a" * 22, title="Lecture Hall", newest=10
)
for place, (id, title) in enumerate(
    (("abcdefghijk", "A lecture"), ("bbbbbbbbbbb", "No captions"), ("ccccccccccc", "Another one"))
):
    feed.entries.create(youtube_id=id, position=place, title=title)
feed.synced(title="Lecture Hall", new_count=2)
failed = Job.objects.create(collection=library, kind="video", target="bbbbbbbbbbb", state="failed")
failed.fail(NoCaptions("This video has no captions."))
bare = Video.objects.create(collection=library, key="bare", title="Nothing said yet")
ingest_pipeline.index_words()
for source in Source.objects.waiting():
    ingest_pipeline.ingest(source.pk)
pages = [
    "The error of the last layer runs backwards through the network.",
    "Each weight follows its gradient.",
    "<b>Bold</b> networks forget.",
]
book = make_paper(library, pages, data=make_pdf(pages), name="book.pdf", title="A book on networks")
replace_chunks(book, pages)
for chunk in book.chunks.all():
    page = chunk.ordinal + 1
    type(chunk).objects.filter(pk=chunk.pk).update(
        page=page, last_page=page, heading="2. Gradients"
    )
Source.objects.filter(pk=book.pk).update(author="M. Weber", language="en", tags=["book"])
broken = Source.objects.create(collection=library, kind="text", title="Notes that no model takes")
broken.fail(ModelRefused("The model server refused the key."))
Source.objects.create(
    collection=library,
    kind="text",
    title="Notes that wait",
    step="waiting for its turn",
    run_after=timezone.now() + timedelta(days=1),
)
AuditEntry.objects.create(
    door="admin",
    actor="margarethe.von-der-waldwiese",
    token="kb_12345678",
    address="2001:db8:85a3:8d3:1319:8a2e:370:7348",
    action="delete",
    kind="sign-in link",
    thing="0c9d1b44-2f6e-4f7c-9d0e-3f6f2d3c9a51",
    collection="lectures-of-the-evening-school",
    details={"role": "editor", "fields": ["username", "is_superuser"], "ids": [1, 2, 3]},
)
hook = Webhook.objects.create(
    user=ada, url="https://example.org/hooks/cuebase", description="Bot of the evening school",
    events=["job.done"], failing_since=timezone.now() - timedelta(days=2),
)
arrived, waits = (hook.deliveries.create(kind=kind) for kind in ("job.done", "source.ready"))
arrived.finish(204)
waits.postpone(
    until=timezone.now() + timedelta(hours=1), error=ReceiverFailed("The receiver answered 500.")
)
books = Collection.objects.filter(pk=library.pk)
books.update(allows_links=True, name="Reading room")  # not a name in the language of the seed
ends = timezone.now() + timedelta(days=30)
talk = Source.objects.get(video=long, language="en")
clip = SharedLink.objects.create(author=ada, source=talk, start=0, end=20_000, expires_at=ends)
page = SharedLink.objects.create(author=ada, source=book, page=2, expires_at=ends)
past = SharedLink.objects.create(author=ada, source=book, page=1, expires_at=timezone.now())
Application.objects.create(
    name="Study helper", client_id="study-helper", client_type="public",
    authorization_grant_type="authorization-code", redirect_uris="http://127.0.0.1:9/",
)
rows = {"long": long, "library": library, "shelf": shelf, "bare": bare}
rows |= {"failed": failed, "feed": feed}
lecture = Source.objects.get(video=long, language="en")
sources = {"book": book, "broken": broken, "lecture": lecture, "hook": hook}
sources |= {"clip": clip, "shared_page": page, "expired": past}
keys = {name: row.pk for name, row in rows.items()}
print(json.dumps({**keys, **{name: str(source.uuid) for name, source in sources.items()}}))
"""

LINK = """
from django.contrib.auth.models import User
from kbsite.models import SignInLink
print(json.dumps(SignInLink.issue(User.objects.get(username="{name}"))))
"""


class Site(Instance):
    """A running Cuebase: ``url`` is where, ``seeded`` the numbers of what is in it.

    Its code runs in one process, since its tests ask for a sign-in link again and again.
    """

    def __init__(self, home: Path, **environment: str) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._log_start = 0
        super().__init__(home, PUBLIC_URL=self.url, **environment)

    def __enter__(self) -> Self:
        super().__enter__()
        self._console = Console(self.environment)
        return self

    def __exit__(self, *error: Any) -> None:
        self._console.close()
        super().__exit__(*error)

    def python(self, code: str) -> str:
        """Run code in the site's process; returns what it prints."""
        return self._console.run(code)

    def seed(self) -> None:
        """Fill it."""
        self.seeded: dict[str, int | str] = self.json(SEED)

    @contextmanager
    def server(self) -> Iterator[None]:
        """Run the web server while the block runs."""
        command = [
            "-m",
            "uvicorn",
            "kbsite.asgi:application",
            "--port",
            str(self.port),
            "--log-level",
            "warning",
        ]
        with (self.home / "server.log").open("ab") as log:
            process = Fork(
                *command, environment=self.environment, stdout=log.fileno(), stderr=log.fileno()
            )
        try:
            wait_until(self._answers, what="the web server")
            yield
        finally:
            kill(process)

    def sign_in_link(self, name: str = "ada") -> str:
        """Make a sign-in link's address."""
        secret = self.json(LINK.format(name=name))
        return f"{self.url}/sign-in/{secret}/"

    def log(self) -> str:
        """Return what the web server wrote, without what was dismissed."""
        return (self.home / "server.log").read_text()[self._log_start :]

    def dismiss_log(self) -> None:
        """Leave out what the web server has written so far: a test has made it fail."""
        self._log_start += len(self.log())

    def _answers(self) -> bool:
        try:
            return requests.get(f"{self.url}/healthz", timeout=5).ok
        except (requests.ConnectionError, requests.Timeout):  # a busy machine starts it slowly
            return False
