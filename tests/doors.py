"""Every way into the site: its pages and the operations of its APIs, with what an owner sends to
each, and a collection full of secrets to try them on.

A way that is served but missing here fails a test.
"""

import re
from dataclasses import dataclass, field
from datetime import timedelta
from hashlib import sha256
from io import BytesIO
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from reportlab.pdfgen.canvas import Canvas

from citations.guide import storage as guide_storage
from citations.guide.items import KINDS as KINDS_OF_GUIDES
from citations.guide.items import GuideItem, SourceGuide
from citations.lectures import events
from citations.models import (
    Answer,
    Archive,
    Citation,
    Conversation,
    Deletion,
    Document,
    DocumentPart,
    Guide,
    Highlight,
    LectureSession,
    Note,
    Page,
    SharedLink,
    Source,
    Window,
    WindowOutcome,
)
from citations.passages import Locator
from citations.schemas.lectures import SegmentEventOut
from kbsite.models import ApiToken, Webhook
from tests.kbsite import declared
from tests.makers import SENTENCES, make_cues, make_source, make_user, make_video
from transcripts.media import files as media
from transcripts.models import Collection, Feed, Job, Role, Thumbnail

SECRET = "Confidential seminar"


@dataclass(frozen=True)
class Door:
    """One way in: method, route, and what an owner sends. ``kind`` says what others have to meet.

    - ``thing``: belongs to a collection; from outside it is as absent as what does not exist
    - ``note``: likewise, but every reader may do it, because it changes only what is their own
    - ``list``: is there for everyone who signed in; from outside it tells nothing of the collection
    - ``open``: is there for strangers, and tells nothing
    - ``own``: changes something of the caller's own
    """

    method: str
    route: str
    kind: str = "thing"
    body: dict[str, Any] = field(default_factory=dict)

    @property
    def is_json(self) -> bool:
        return self.route.startswith("api/") and not self.route.endswith("/files")

    def __str__(self) -> str:
        return f"{self.method} /{self.route}"


PAGES = [
    Door("GET", "", "list"),
    Door("GET", "sign-in/", "open"),
    Door("GET", "sign-in/<str:secret>/", "open"),
    Door("POST", "sign-out/", "own"),
    Door("GET", "tokens/", "list"),
    Door("GET", "account/password/", "own"),
    Door("POST", "account/password/", "own", {"new_password1": "a", "new_password2": "b"}),
    Door("GET", "tokens/cuebase.mcpb", "own"),
    Door("GET", "tokens/cuebase-extension.zip", "own"),
    Door("GET", "manifest.webmanifest", "open"),
    Door("POST", "tokens/create/", "own", {"name": "new"}),
    Door("POST", "tokens/<int:pk>/revoke/"),
    *(
        Door("GET", f".well-known/{name}", "open")
        for name in (
            "oauth-authorization-server",
            "oauth-protected-resource",
            "oauth-protected-resource/mcp",
            "oauth-protected-resource/api",
        )
    ),
    Door("GET", "webhooks/", "list"),
    Door("POST", "webhooks/create/", "own", {"url": "https://example.org/", "events": "job.done"}),
    Door("GET", "webhooks/<uuid:webhook_id>/"),
    Door(
        "POST",
        "webhooks/<uuid:webhook_id>/",
        "thing",
        {"url": "https://example.org/", "events": "job.done"},
    ),
    Door("POST", "webhooks/<uuid:webhook_id>/switch/", "thing", {"is_on": "false"}),
    Door("POST", "webhooks/<uuid:webhook_id>/secret/"),
    Door("POST", "webhooks/<uuid:webhook_id>/test/"),
    Door("POST", "webhooks/<uuid:webhook_id>/delete/"),
    Door("GET", "start/<int:number>/", "own"),
    Door("POST", "start/leave/", "own"),
    Door("GET", "settings/", "list"),
    Door("POST", "settings/", "own", {"language": "de"}),
    Door("GET", "glossary/", "list"),
    Door("GET", "favicon.ico", "open"),
    Door("GET", "healthz", "open"),
    Door("GET", "readyz", "open"),
    Door("GET", "metrics", "open"),
    Door("GET", "go/", "list"),
    Door("GET", "library/", "list"),
    Door("POST", "library/change/", "thing", {"item": "{item}", "action": "index"}),
    Door("POST", "library/rename/", "thing", {"item": "{item}"}),
    Door("POST", "library/languages/dismiss/", "own"),
    Door("POST", "library/sample/", "own"),
    Door("GET", "library/<str:reference>/edit/"),
    Door("POST", "library/<str:reference>/edit/", "thing", {"title": "Renamed"}),
    Door("POST", "library/undo/<uuid:undo_id>/"),
    Door("GET", "add/", "list"),
    Door(
        "POST", "add/", "thing", {"collection": "secrets", "what": "https://youtu.be/dQw4w9WgXcQ"}
    ),
    Door("GET", "videos/find/"),
    Door("GET", "videos/<int:pk>/"),
    Door("GET", "videos/<int:pk>/chunks/<int:index>/"),
    Door("GET", "videos/<int:pk>/search/"),
    Door("GET", "videos/<int:pk>/clip/"),
    Door("GET", "videos/<int:pk>/download/<str:form>/"),
    Door("GET", "videos/<int:pk>/thumbnail"),
    Door("GET", "videos/<int:pk>/media"),
    Door("POST", "videos/<int:pk>/media/", "thing", {"remove": "1"}),
    Door("POST", "videos/<int:pk>/speakers/", "thing", {"speaker": "Ann", "name": "Ada"}),
    Door("POST", "videos/<int:pk>/fetch/"),
    Door("POST", "videos/<int:pk>/listen/"),
    Door("GET", "activity/", "list"),
    Door("GET", "activity/now/", "list"),
    Door("GET", "activity/events/", "list"),
    Door("GET", "jobs/<int:pk>/"),
    Door("GET", "jobs/<int:pk>/events/"),
    Door("GET", "jobs/<int:pk>/sources/"),
    Door("POST", "jobs/<int:pk>/retry/"),
    Door("POST", "jobs/<int:pk>/stop/"),
    Door("POST", "gate/reopen/", "own"),
    Door("GET", "feeds/find/", "list"),
    Door("GET", "feeds/<int:pk>/"),
    Door("POST", "feeds/<int:pk>/sync/"),
    Door("POST", "feeds/<int:pk>/fetch/", "thing", {"video": "dQw4w9WgXcQ"}),
    Door("POST", "feeds/<int:pk>/schedule/", "thing", {"newest": "", "every_hours": "6"}),
    Door("GET", "feeds/<int:pk>/remove/"),
    Door("POST", "feeds/<int:pk>/remove/"),
    Door("GET", "search/", "list"),
    Door(
        "POST",
        "search/mark/",
        "note",
        {"query": "networks", "chunk": "{chunks}", "verdict": "right"},
    ),
    Door("GET", "sources/<uuid:source_id>/"),
    Door("POST", "sources/<uuid:source_id>/index/"),
    Door("POST", "sources/<uuid:source_id>/opened/", "note"),
    Door("POST", "sources/<uuid:source_id>/first/"),
    Door("POST", "sources/<uuid:source_id>/ocr/", "thing", {"stop": "1"}),
    Door("GET", "sources/<uuid:source_id>/state/"),
    Door("GET", "sources/<uuid:source_id>/guide/"),
    Door("GET", "sources/<uuid:source_id>/outline/"),
    Door("GET", "sources/<uuid:source_id>/contents/<int:number>/"),
    Door("POST", "sources/<uuid:source_id>/progress/", "note", {"position": "1000"}),
    Door("GET", "search/hit/", "list"),
    Door("GET", "sources/<uuid:source_id>/hit/"),
    Door("GET", "sources/<uuid:source_id>/hit/play/"),
    Door("GET", "sources/<uuid:source_id>/passages/"),
    Door("GET", "sources/<uuid:source_id>/pages/<int:number>/"),
    Door("GET", "sources/<uuid:source_id>/pages/<int:number>/image/"),
    Door("GET", "sources/<uuid:source_id>/file/"),
    Door("GET", "lectures/", "list"),
    Door("GET", "lectures/new/", "list"),
    Door("POST", "lectures/new/", "thing", {"collection": "secrets", "title": "New"}),
    Door("GET", "lectures/<uuid:lecture_id>/"),
    Door("GET", "lectures/<uuid:lecture_id>/windows/<int:index>/"),
    Door("GET", "lectures/<uuid:lecture_id>/citations/"),
    Door("GET", "lectures/<uuid:lecture_id>/figures/"),
    Door("GET", "lectures/<uuid:lecture_id>/notes.md"),
    Door("POST", "lectures/<uuid:lecture_id>/say/", "thing", {"text": "Hello."}),
    Door("POST", "lectures/<uuid:lecture_id>/advance/", "thing", {"position": "1000"}),
    Door("POST", "lectures/<uuid:lecture_id>/end/"),
    Door("GET", "lectures/<uuid:lecture_id>/sources/"),
    Door("POST", "lectures/<uuid:lecture_id>/look-up/"),
    Door("POST", "lectures/<uuid:lecture_id>/recording/"),
    Door("POST", "lectures/<uuid:lecture_id>/again/"),
    Door("GET", "ask/", "list"),
    Door("POST", "ask/", "note", {"q": "What is confidential?", "collection": "secrets"}),
    Door("GET", "ask/model/", "own"),
    Door("POST", "ask/model/", "own", {"stop": "1"}),
    Door("GET", "ask/sources/", "list"),
    Door("GET", "ask/conversations/", "list"),
    Door("GET", "ask/<uuid:conversation_id>/"),
    Door("POST", "ask/<uuid:conversation_id>/", "thing", {"q": "What is confidential?"}),
    Door("POST", "ask/<uuid:conversation_id>/change/", "thing", {"title": "Renamed"}),
    Door("POST", "ask/<uuid:conversation_id>/note/"),
    Door("GET", "ask/<uuid:conversation_id>/delete/"),
    Door("POST", "ask/<uuid:conversation_id>/delete/"),
    Door("GET", "ask/<uuid:conversation_id>/export/<slug:form>/"),
    Door("GET", "ask/answers/<uuid:answer_id>/"),
    Door("POST", "ask/answers/<uuid:answer_id>/again/"),
    Door("POST", "ask/answers/<uuid:answer_id>/rate/", "thing", {"rating": "1"}),
    Door("POST", "ask/answers/<uuid:answer_id>/note/", "thing", {"collection": "secrets"}),
    Door("GET", "ask/citations/<uuid:citation_id>/"),
    Door("GET", "citations/<uuid:citation_id>/"),
    Door("POST", "citations/<uuid:citation_id>/share/"),
    Door("GET", "notes/", "list"),
    Door("POST", "notes/add/", "thing", {"text": "New.", "collection": "secrets"}),
    Door("GET", "notes/<uuid:note_id>/"),
    Door("POST", "notes/<uuid:note_id>/", "thing", {"text": "Changed."}),
    Door("POST", "notes/<uuid:note_id>/delete/"),
    Door("GET", "export/", "list"),
    Door("POST", "export/", "note", {"collection": "secrets"}),
    Door("GET", "export/<uuid:archive_id>/file/"),
    Door("POST", "export/<uuid:archive_id>/delete/"),
    Door("GET", "highlights/", "list"),
    Door("POST", "highlights/add/", "note", {"source": "{book}", "quote": SECRET}),
    Door("GET", "highlights/export/<slug:form>/", "list"),
    Door("GET", "highlights/import/", "list"),
    Door("GET", "highlights/<uuid:highlight_id>/"),
    Door("POST", "highlights/<uuid:highlight_id>/", "thing", {"color": "blue"}),
    Door("GET", "highlights/<uuid:highlight_id>/delete/"),
    Door("POST", "highlights/<uuid:highlight_id>/delete/"),
    Door("POST", "highlights/<uuid:highlight_id>/share/"),
    Door("POST", "ask/answers/<uuid:answer_id>/share/"),
    Door("POST", "sources/<uuid:source_id>/share/", "thing", {"from": "0", "until": "1:00"}),
    Door("GET", "shared-links/", "list"),
    Door("POST", "shared-links/<uuid:link_id>/renew/"),
    Door("POST", "shared-links/<uuid:link_id>/revoke/"),
    Door("POST", "collections/<int:pk>/links/", "thing", {"allowed": "1"}),
    Door("GET", "collections/", "list"),
    Door("POST", "collections/create/", "own", {"name": "New"}),
    Door("GET", "collections/<int:pk>/"),
    Door("GET", "collections/<int:pk>/settings/"),
    Door("GET", "collections/<int:pk>/leave/"),
    Door("POST", "collections/<int:pk>/leave/"),
    Door("POST", "collections/<int:pk>/rename/", "thing", {"name": "Renamed"}),
    Door(
        "POST", "collections/<int:pk>/members/", "thing", {"username": "outsider", "role": "viewer"}
    ),
    Door(
        "POST", "collections/<int:pk>/invite/", "thing", {"username": "outsider", "role": "viewer"}
    ),
    Door("POST", "collections/<int:pk>/members/<int:user>/remove/"),
    Door("POST", "collections/<int:pk>/members/<int:user>/invite/"),
    Door("GET", "collections/<int:pk>/delete/"),
    Door("POST", "collections/<int:pk>/delete/", "thing", {"name": "Secrets"}),
]
OPERATIONS = [
    Door(
        "POST",
        "api/v1/sources",
        "thing",
        {"url": "https://youtu.be/dQw4w9WgXcQ", "collection": "secrets"},
    ),
    Door("GET", "api/v1/sources", "list"),
    Door("POST", "api/v1/sources/files", "thing", {"collection": "secrets"}),
    Door(
        "POST",
        "api/v1/sources/captions",
        "thing",
        {"url": "dQw4w9WgXcQ", "captions": "0:01\nHello\n", "collection": "secrets"},
    ),
    Door("GET", "api/v1/jobs", "list"),
    Door("GET", "api/v1/jobs/<job_id>"),
    Door("POST", "api/v1/jobs/<job_id>/retry"),
    Door("POST", "api/v1/jobs/<job_id>/stop"),
    Door("POST", "api/v1/feeds/<feed_id>/sync"),
    Door("GET", "api/v1/transcripts/<path:video_id>/search"),
    Door("GET", "api/v1/transcripts/<path:video_id>/download"),
    Door("POST", "api/v1/transcripts/<path:video_id>/refetch"),
    Door("GET", "api/v1/transcripts/<path:video_id>"),
    Door("GET", "api/v1/youtube", "list"),
    Door("GET", "api/v1/search", "list"),
    Door("POST", "api/v1/sources/<source_id>/index"),
    Door("POST", "api/v1/sources/<source_id>/ocr"),
    Door("DELETE", "api/v1/sources/<source_id>/ocr"),
    Door("GET", "api/v1/sources/<source_id>/guide"),
    Door("DELETE", "api/v1/sources/<source_id>"),
    Door("PUT", "api/v1/marks", "note", {"query": "networks", "chunk": "{chunks}", "right": True}),
    Door("DELETE", "api/v1/marks", "note"),
    Door("GET", "api/v1/marks", "list"),
    Door("POST", "api/v1/sessions", "thing", {"collection": "secrets"}),
    Door("GET", "api/v1/sessions", "list"),
    Door("GET", "api/v1/sessions/<session_id>"),
    Door("DELETE", "api/v1/sessions/<session_id>"),
    Door("POST", "api/v1/sessions/<session_id>/segments", "thing", {"text": "Hello."}),
    Door("POST", "api/v1/sessions/<session_id>/replay", "thing", {"position": 1}),
    Door("POST", "api/v1/sessions/<session_id>/end"),
    Door("POST", "api/v1/sessions/<session_id>/recording"),
    Door("POST", "api/v1/sessions/<session_id>/look-up"),
    Door("GET", "api/v1/sessions/<session_id>/events"),
    Door("GET", "api/v1/sessions/<session_id>/citations"),
    Door("GET", "api/v1/sessions/<session_id>/statistics"),
    Door("GET", "api/v1/sessions/<session_id>/export"),
    Door(
        "POST",
        "api/v1/rag/query",
        "thing",
        {"session_id": "{lecture}", "transcript_text": "Hello.", "window_index": 7},
    ),
    Door("GET", "api/v1/citations/<citation_id>"),
    Door(
        "POST",
        "api/v1/verify",
        "note",
        {"quote": "Nobody outside may read what is confidential.", "source_id": "{source}"},
    ),
    Door(
        "POST", "api/v1/ask", "note", {"question": "What is confidential?", "collection": "secrets"}
    ),
    Door("GET", "api/v1/conversations", "list"),
    Door("GET", "api/v1/conversations/<conversation_id>"),
    Door("PATCH", "api/v1/conversations/<conversation_id>", "thing", {"title": "Renamed"}),
    Door("DELETE", "api/v1/conversations/<conversation_id>"),
    Door("GET", "api/v1/conversations/<conversation_id>/export"),
    Door("GET", "api/v1/answers/<answer_id>"),
    Door("POST", "api/v1/answers/<answer_id>/again"),
    Door("PUT", "api/v1/answers/<answer_id>/feedback", "thing", {"feedback": 1}),
    Door("GET", "api/v1/quotations/<quotation_id>"),
    Door("GET", "api/v1/notes", "list"),
    Door("POST", "api/v1/notes", "thing", {"text": "New.", "collection": "secrets"}),
    Door("GET", "api/v1/notes/<note_id>"),
    Door("PUT", "api/v1/notes/<note_id>", "thing", {"text": "Changed."}),
    Door("DELETE", "api/v1/notes/<note_id>"),
    Door("GET", "api/v1/webhooks", "list"),
    Door("POST", "api/v1/webhooks", "own", {"url": "https://example.org/", "events": ["job.done"]}),
    Door("GET", "api/v1/webhooks/<webhook_id>"),
    Door("PATCH", "api/v1/webhooks/<webhook_id>", "thing", {"description": "New"}),
    Door("DELETE", "api/v1/webhooks/<webhook_id>"),
    Door("POST", "api/v1/webhooks/<webhook_id>/secret"),
    Door("POST", "api/v1/webhooks/<webhook_id>/test"),
    Door("GET", "api/v1/webhooks/<webhook_id>/deliveries"),
    Door("POST", "api/v1/archives", "note", {"collection": "secrets"}),
    Door("GET", "api/v1/archives/<archive_id>"),
    Door("GET", "api/v1/archives/<archive_id>/file"),
    Door("DELETE", "api/v1/archives/<archive_id>"),
    Door("GET", "api/v1/highlights", "list"),
    Door("POST", "api/v1/highlights", "note", {"source_id": "{book}", "quote": SECRET}),
    Door("GET", "api/v1/highlights/export", "list"),
    Door("POST", "api/v1/highlights/import", "own", {"items": []}),
    Door("GET", "api/v1/highlights/<highlight_id>"),
    Door("PUT", "api/v1/highlights/<highlight_id>", "thing", {"color": "blue"}),
    Door("DELETE", "api/v1/highlights/<highlight_id>"),
    Door("GET", "api/v1/shared-links", "list"),
    Door("POST", "api/v1/shared-links", "note", {"highlight_id": "{highlight}"}),
    Door("DELETE", "api/v1/shared-links/<link_id>"),
    Door("GET", "api/v1/docs", "list"),
    Door("GET", "api/v1/docs/<slug:slug>", "list"),
    Door("GET", "api/v1/openapi.json", "list"),
]
RESOURCES = ("collections", "memberships", "videos", "transcripts", "feeds", "sources", "chunks")
CONTENT = [
    *(
        Door("GET", f"api/content/{name}", "list")
        for name in ("", *(f"{kind}/" for kind in RESOURCES))
    ),
    *(
        Door("GET", f"api/content/{name}/(?P<pk>[0-9]{{1,18}})/")
        for name in RESOURCES
        if name != "sources"
    ),
    Door("GET", "api/content/sources/(?P<uuid>[0-9a-f-]{36})/"),
    Door("POST", "api/content/collections/", "own", {"name": "New", "slug": "new"}),
    Door("PATCH", "api/content/collections/(?P<pk>[0-9]{1,18})/", "thing", {"name": "Renamed"}),
    Door("DELETE", "api/content/collections/(?P<pk>[0-9]{1,18})/"),
    Door(
        "POST",
        "api/content/memberships/",
        "thing",
        {"collection": "secrets", "user": "outsider", "role": "viewer"},
    ),
    Door("PATCH", "api/content/memberships/(?P<pk>[0-9]{1,18})/", "thing", {"role": "owner"}),
    Door("DELETE", "api/content/memberships/(?P<pk>[0-9]{1,18})/"),
    Door("PATCH", "api/content/videos/(?P<pk>[0-9]{1,18})/", "thing", {"title": "Renamed"}),
    Door("DELETE", "api/content/videos/(?P<pk>[0-9]{1,18})/"),
    Door("PATCH", "api/content/feeds/(?P<pk>[0-9]{1,18})/", "thing", {"newest": 3}),
    Door("DELETE", "api/content/feeds/(?P<pk>[0-9]{1,18})/"),
]
WALK = [*PAGES, *OPERATIONS, *CONTENT]
KINDS = ("tokens", "videos", "jobs", "feeds", "collections", "memberships", "transcripts", "chunks")
MINE = (
    "undo",
    "conversation",
    "answer",
    "quotation",
    "note",
    "webhook",
    "highlight",
    "link",
    "archive",
)
QUERIES = {
    "v1/transcripts/<path:video_id>/search": "?query=networks",
    "v1/search": "?q=confidential&explain=true",
    "search": "?q=confidential&query=networks&explain=true",
    "DELETE /api/v1/marks": "?query=networks&chunk={chunks}",
    "v1/ask": "?stream=false",
    "v1/highlights/export": "?format=jsonld",
    "/again": "?stream=false",
    "v1/transcripts/<path:video_id>/download": "?format=vtt",
    "find": "?id=lecture-1",
}


def entry(door: Door) -> str:
    """Return the name of an operation in the table of docs/access.md."""
    route = door.route.replace("(?P<pk>[0-9]{1,18})", "{id}").replace("[0-9a-f-]{36}", "")
    return f"{door.method} /" + re.sub(r"\(\?P<(\w+)>\)|<(?:\w+:)?(\w+)>", r"{\1\2}", route)


@dataclass(frozen=True)
class House:
    """A collection full of secrets, its owner, and the viewer of another one."""

    shelf: Collection
    owner: User
    outsider: User
    ids: dict[str, Any]

    def ids_of(self, *, absent: bool) -> dict[str, Any]:
        """Return the ids of the secret things, or ids of nothing."""
        return (
            dict.fromkeys(self.ids, 987654)
            | {"key": "absent", "item": "video-987654"}
            | dict.fromkeys(("source", "book", "lecture", "citation", *MINE), UUID(int=7))
            if absent
            else self.ids
        )

    def values(self, route: str, *, absent: bool = False, is_book: bool = False) -> dict[str, Any]:
        """Return what the gaps of a route are filled with, by their names."""
        ids = self.ids_of(absent=absent)
        kinds = [kind for kind in KINDS if re.search(rf"{kind}/[<({{]", route)]
        form = "vtt" if "<str:form>" in route else "md"
        key = ids[kinds[0]] if kinds else ""
        return {
            **{f"{name}_id": ids[name] for name in (*MINE, "citation")},
            **{"lecture_id": ids["lecture"], "session_id": ids["lecture"]},
            **{"video_id": ids["key"], "job_id": ids["jobs"], "feed_id": ids["feeds"]},
            **{"source_id": ids["book" if is_book else "source"], "uuid": ids["source"]},
            **{"pk": key, "id": key, "user": ids["user"], "secret": "nothing", "slug": "search"},
            **{"number": 1, "index": 0, "reference": ids["item"]},
            "form": "jsonld" if "highlights/export" in route else form,
        }

    def path(self, door: Door, *, absent: bool = False) -> str:
        """Fill a route's gaps with the ids of the secret things, or with ids of nothing."""
        # A recording goes with its video alone.
        deletes = str(door) == "DELETE /api/v1/sources/<source_id>"
        is_paged = any(part in door.route for part in ("/pages/", "/contents/", "/file/", "/ocr"))
        values = self.values(door.route, absent=absent, is_book=deletes or is_paged)
        gap = r"<(?:\w+:)?(\w+)>|\(\?P<(\w+)>[^)]*\)"
        filled = re.sub(gap, lambda match: str(values[match[1] or match[2]]), door.route)
        query = next((query for word, query in QUERIES.items() if word in str(door)), "")
        return f"/{filled}{query.format(**self.ids_of(absent=absent))}"

    def send(self, client: Client, door: Door, *, absent: bool = False) -> Any:
        """Open a door as a client."""
        ids = self.ids_of(absent=absent)
        body = {
            name: ids.get(value.strip("{}"), value)
            if isinstance(value, str) and value.startswith("{")
            else value.format(**ids)
            if isinstance(value, str)
            else value
            for name, value in door.body.items()
        }
        if "sources/files" in door.route:
            body["files"] = _file()
        options: dict[str, Any] = {"content_type": "application/json"} if door.is_json else {}
        if "chunks" in door.route or door.route.endswith(">/search/"):
            options["headers"] = {
                "HX-Request": "true"
            }  # a plain browser is sent to the page itself
        ask = getattr(client, door.method.lower())
        response = ask(self.path(door, absent=absent), body or None, **options)
        declared.check(response)
        return response


def furnish() -> House:
    shelf = Collection.objects.create(name="Secrets", slug="secrets", allows_links=True)
    owner = make_user("owner", collection=shelf, role=Role.OWNER)
    elsewhere = Collection.objects.create(name="Elsewhere", slug="elsewhere")
    outsider = make_user("outsider", collection=elsewhere, role=Role.VIEWER)
    cues = make_cues(sentences=[*SENTENCES, "Ann: Any questions?", "Bob: None."])
    video = make_video(shelf, title=SECRET, cues=cues, youtube_id="dQw4w9WgXcQ")
    Thumbnail.objects.create(video=video, data=b"\xff\xd8\xff", content_type="image/jpeg")
    media.replace(video, BytesIO(b"fLaC" + SECRET.encode()), name=f"{SECRET}.flac")
    feed = Feed.objects.create(
        collection=shelf, kind="playlist", youtube_id="PLsecretsecret", title=SECRET
    )
    feed.entries.create(youtube_id="dQw4w9WgXcQ", position=0, title=SECRET)
    job = Job.objects.create(
        collection=shelf,
        kind="feed",
        feed=feed,
        target="PLsecretsecret",
        state="failed",
        error=SECRET,
    )
    token, _ = ApiToken.issue(owner, name=SECRET)
    source = make_source(video, texts=[SECRET])
    member = make_user("colleague", collection=shelf, role=Role.EDITOR).memberships.get()
    book = make_book(shelf)
    make_guide(source)
    make_guide(book)
    lecture = LectureSession.objects.create(
        collection=shelf,
        owner=owner,
        title=SECRET,
        transcript=video.transcripts.get(),
        window_count=1,
    )
    window = Window.objects.create(
        session=lecture, index=0, text=SECRET, outcome=WindowOutcome.CITED
    )
    where = {
        "span_start": 0,
        "span_end": len(SECRET),
        "digest": "d",
        "page": 1,
        "relevance_score": 0.9,
        "quote": SECRET,
        "snippet": SECRET,
    }
    citation = Citation.objects.create(
        session=lecture, window=window, window_index=0, rank=1, source=book, **where
    )
    segment = SegmentEventOut(number=0, text=SECRET, start=None, end=None)
    events.publish(lecture, [("segment", segment)])
    conversation = Conversation.objects.create(collection=shelf, owner=owner, title=SECRET)
    about = {
        "claims": [
            {"text": SECRET, "citations": [1], "is_supported": True, "collections": [shelf.pk]}
        ],
        "state": "answered",
    }
    answer = Answer.objects.create(conversation=conversation, ordinal=1, question=SECRET, **about)
    at = {"span_start": 0, "span_end": len(SECRET), "digest": "d", "page": 1, "quote": SECRET}
    highlight = Highlight.objects.create(
        source=book, author=owner, **at, note=SECRET, tags=[SECRET]
    )
    ids = {
        "highlight": highlight.uuid,
        "link": SharedLink.objects.create(
            author=owner, highlight=highlight, expires_at=timezone.now() + timedelta(days=1)
        ).uuid,
        "archive": Archive.objects.create(owner=owner, collections=[shelf.pk], state="done").uuid,
        "conversation": conversation.uuid,
        "answer": answer.uuid,
        "quotation": Citation.objects.create(answer=answer, number=1, source=book, **at).uuid,
        "note": Note.objects.create(collection=shelf, author=owner, title=SECRET, text=SECRET).uuid,
        "webhook": Webhook.objects.create(
            user=owner, url="https://example.org/", description=SECRET, events=["source.failed"]
        ).uuid,
        "undo": Deletion.objects.create(
            created_by=owner, run_after=timezone.now() + timedelta(hours=1)
        ).uuid,
        "item": f"video-{video.pk}",
        "videos": video.pk,
        "key": video.key,
        "jobs": job.pk,
        "feeds": feed.pk,
        "collections": shelf.pk,
        "tokens": token.pk,
        "memberships": member.pk,
        "user": member.user_id,
        "transcripts": video.transcripts.get().pk,
        "source": source.uuid,
        "chunks": source.chunks.get().pk,
        "book": book.uuid,
        "lecture": lecture.uuid,
        "citation": citation.uuid,
    }
    return House(shelf=shelf, owner=owner, outsider=outsider, ids=ids)


def make_book(shelf: Collection) -> Source:
    """Make a PDF of one page, as it is stored once it has been read."""
    file = BytesIO()
    sheet = Canvas(file)
    sheet.drawString(72, 720, SECRET)
    sheet.save()
    data = file.getvalue()
    book = Source.objects.create(collection=shelf, kind="pdf", title=SECRET, characters=len(SECRET))
    about = {
        "name": "secret.pdf",
        "media_type": "application/pdf",
        "size": len(data),
        "digest": sha256(data).hexdigest(),
        "read_by": "pdf-1",
        "page_count": 1,
    }
    outline = [[1, SECRET, 1], [2, SECRET, 1]]
    document = Document.objects.create(source=book, outline=outline, unread_pages=[1], **about)
    DocumentPart.objects.create(document=document, ordinal=0, data=data)
    Page.objects.create(
        document=document, number=1, start=0, text=SECRET, blocks=[[0, len(SECRET), "", False]]
    )
    return book


def make_guide(source: Source) -> None:
    """Make a guide of which every item is the secret."""
    item = GuideItem(locator=Locator(span=(0, len(SECRET)), page=1), text=SECRET, label=SECRET)
    guide = SourceGuide(**dict.fromkeys(KINDS_OF_GUIDES, (item,)))
    Guide.objects.create(
        source=source,
        digest=source.digest,
        version=guide_storage.VERSION,
        items=guide.as_json(),
        made_at=timezone.now(),
    )


def _file() -> Any:

    upload = BytesIO(b"WEBVTT\n\n00:01.000 --> 00:02.000\nhello\n")
    upload.name = "talk.vtt"
    return upload
