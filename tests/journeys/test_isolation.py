"""Every door, walked by an owner, by the viewer of another collection, and by a stranger.

A door that is not in the walk fails it.

The tools of the MCP endpoint are walked in the same way in `tests/kbsite/mcp/test_scopes.py`, from
the table `tests/kbsite/mcp_walk.py`.
"""

import re
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import timedelta
from hashlib import sha256
from io import BytesIO
from typing import Any
from uuid import UUID

import pytest
from django.contrib.auth.models import User
from django.core.signals import request_finished
from django.db import close_old_connections, transaction
from django.http import HttpResponse
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver
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
from kbsite import operations
from kbsite.mcp.server import build_server
from kbsite.models import ApiToken, Webhook, WebhookDelivery, WebhookKind
from kbsite.webhooks import delivery, messages
from tests.architecture.pages import DOCS
from tests.kbsite import declared
from tests.kbsite.mcp_walk import TOOL_CALLS
from tests.kbsite.oauth.program import Program
from tests.makers import SENTENCES, make_cues, make_source, make_user, make_video, token_client
from tests.webhook_receiver import WebhookReceiver
from transcripts.core.access import AccessLevel
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
    json: bool = False

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
    Door("GET", "activity/", "list"),
    Door("GET", "activity/now/", "list"),
    Door("GET", "activity/events/", "list"),
    Door("GET", "jobs/<int:pk>/"),
    Door("GET", "jobs/<int:pk>/events/"),
    Door("GET", "jobs/<int:pk>/sources/"),
    Door("POST", "jobs/<int:pk>/retry/"),
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
        json=True,
    ),
    Door("GET", "api/v1/sources", "list"),
    Door("POST", "api/v1/sources/files", "thing", {"collection": "secrets"}),
    Door(
        "POST",
        "api/v1/sources/captions",
        "thing",
        {"url": "dQw4w9WgXcQ", "captions": "0:01\nHello\n", "collection": "secrets"},
        json=True,
    ),
    Door("GET", "api/v1/jobs", "list"),
    Door("GET", "api/v1/jobs/<job_id>"),
    Door("POST", "api/v1/jobs/<job_id>/retry"),
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
    Door(
        "PUT",
        "api/v1/marks",
        "note",
        {"query": "networks", "chunk": "{chunks}", "right": True},
        json=True,
    ),
    Door("DELETE", "api/v1/marks", "note"),
    Door("GET", "api/v1/marks", "list"),
    Door("POST", "api/v1/sessions", "thing", {"collection": "secrets"}, json=True),
    Door("GET", "api/v1/sessions", "list"),
    Door("GET", "api/v1/sessions/<session_id>"),
    Door("DELETE", "api/v1/sessions/<session_id>"),
    Door("POST", "api/v1/sessions/<session_id>/segments", "thing", {"text": "Hello."}, json=True),
    Door("POST", "api/v1/sessions/<session_id>/replay", "thing", {"position": 1}, json=True),
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
        json=True,
    ),
    Door("GET", "api/v1/citations/<citation_id>"),
    Door(
        "POST",
        "api/v1/verify",
        "note",
        {"quote": "Nobody outside may read what is confidential.", "source_id": "{source}"},
        json=True,
    ),
    Door(
        "POST",
        "api/v1/ask",
        "note",
        {"question": "What is confidential?", "collection": "secrets"},
        json=True,
    ),
    Door("GET", "api/v1/conversations", "list"),
    Door("GET", "api/v1/conversations/<conversation_id>"),
    Door(
        "PATCH", "api/v1/conversations/<conversation_id>", "thing", {"title": "Renamed"}, json=True
    ),
    Door("DELETE", "api/v1/conversations/<conversation_id>"),
    Door("GET", "api/v1/conversations/<conversation_id>/export"),
    Door("GET", "api/v1/answers/<answer_id>"),
    Door("POST", "api/v1/answers/<answer_id>/again"),
    Door("PUT", "api/v1/answers/<answer_id>/feedback", "thing", {"feedback": 1}, json=True),
    Door("GET", "api/v1/quotations/<quotation_id>"),
    Door("GET", "api/v1/notes", "list"),
    Door("POST", "api/v1/notes", "thing", {"text": "New.", "collection": "secrets"}, json=True),
    Door("GET", "api/v1/notes/<note_id>"),
    Door("PUT", "api/v1/notes/<note_id>", "thing", {"text": "Changed."}, json=True),
    Door("DELETE", "api/v1/notes/<note_id>"),
    Door("GET", "api/v1/webhooks", "list"),
    Door(
        "POST",
        "api/v1/webhooks",
        "own",
        {"url": "https://example.org/", "events": ["job.done"]},
        json=True,
    ),
    Door("GET", "api/v1/webhooks/<webhook_id>"),
    Door("PATCH", "api/v1/webhooks/<webhook_id>", "thing", {"description": "New"}, json=True),
    Door("DELETE", "api/v1/webhooks/<webhook_id>"),
    Door("POST", "api/v1/webhooks/<webhook_id>/secret"),
    Door("POST", "api/v1/webhooks/<webhook_id>/test"),
    Door("GET", "api/v1/webhooks/<webhook_id>/deliveries"),
    Door("POST", "api/v1/archives", "note", {"collection": "secrets"}, json=True),
    Door("GET", "api/v1/archives/<archive_id>"),
    Door("GET", "api/v1/archives/<archive_id>/file"),
    Door("DELETE", "api/v1/archives/<archive_id>"),
    Door("GET", "api/v1/highlights", "list"),
    Door("POST", "api/v1/highlights", "note", {"source_id": "{book}", "quote": SECRET}, json=True),
    Door("GET", "api/v1/highlights/export", "list"),
    Door("POST", "api/v1/highlights/import", "own", {"items": []}, json=True),
    Door("GET", "api/v1/highlights/<highlight_id>"),
    Door("PUT", "api/v1/highlights/<highlight_id>", "thing", {"color": "blue"}, json=True),
    Door("DELETE", "api/v1/highlights/<highlight_id>"),
    Door("GET", "api/v1/shared-links", "list"),
    Door("POST", "api/v1/shared-links", "note", {"highlight_id": "{highlight}"}, json=True),
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
    Door("POST", "api/content/collections/", "own", {"name": "New", "slug": "new"}, json=True),
    Door(
        "PATCH",
        "api/content/collections/(?P<pk>[0-9]{1,18})/",
        "thing",
        {"name": "Renamed"},
        json=True,
    ),
    Door("DELETE", "api/content/collections/(?P<pk>[0-9]{1,18})/"),
    Door(
        "POST",
        "api/content/memberships/",
        "thing",
        {"collection": "secrets", "user": "outsider", "role": "viewer"},
        json=True,
    ),
    Door(
        "PATCH",
        "api/content/memberships/(?P<pk>[0-9]{1,18})/",
        "thing",
        {"role": "owner"},
        json=True,
    ),
    Door("DELETE", "api/content/memberships/(?P<pk>[0-9]{1,18})/"),
    Door(
        "PATCH", "api/content/videos/(?P<pk>[0-9]{1,18})/", "thing", {"title": "Renamed"}, json=True
    ),
    Door("DELETE", "api/content/videos/(?P<pk>[0-9]{1,18})/"),
    Door("PATCH", "api/content/feeds/(?P<pk>[0-9]{1,18})/", "thing", {"newest": 3}, json=True),
    Door("DELETE", "api/content/feeds/(?P<pk>[0-9]{1,18})/"),
]
WALK = [*PAGES, *OPERATIONS, *CONTENT]
DESCRIBING = {  # the APIs themselves, to every caller
    "GET /api/v1/docs",
    "GET /api/v1/docs/{slug}",
    "GET /api/v1/openapi.json",
    "GET /api/content/",
}
NEEDED = {
    operation: AccessLevel(level)
    for operation, level in re.findall(
        r"^\| `(.+)` \| `(\w+)` \|$", (DOCS / "access.md").read_text(), re.MULTILINE
    )
}
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
PRIVATE = (
    "<conversation_id>",
    "<answer_id>",
    "<uuid:conversation_id>",
    "<uuid:answer_id>",
    "<webhook_id>",
    "<uuid:webhook_id>",
    "<highlight_id>",
    "<archive_id>",
    "<uuid:archive_id>",
    "<uuid:highlight_id>",
    "<link_id>",
    "<uuid:link_id>",
)  # not even a colleague's
REVOKING = (  # an owner ends what others share of the collection
    "POST /shared-links/<uuid:link_id>/revoke/",
    "DELETE /api/v1/shared-links/<link_id>",
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
NOT_WALKED = (
    "admin/",
    "^api/",
    "oauth/",
    "second-factor/",
    "sign-in/team/",
    "sign-in/code/",
    "shared/",
)  # the admin has a walk below; sign-in, OAuth, shared links have tests; "^api/" is 404 to all else


def routes(
    patterns: list[URLPattern | URLResolver], before: str = ""
) -> Iterator[tuple[str, URLPattern]]:
    """List every route of the site."""
    for pattern in patterns:
        route = before + str(pattern.pattern).removeprefix("^").replace("\\Z", "").removesuffix("$")
        if isinstance(pattern, URLResolver):
            yield from routes(pattern.url_patterns, route)
        else:
            yield route, pattern


def entry(door: Door) -> str:
    """Return the name of an operation in the table of docs/access.md."""
    route = door.route.replace("(?P<pk>[0-9]{1,18})", "{id}").replace("[0-9a-f-]{36}", "")
    return f"{door.method} /" + re.sub(r"\(\?P<(\w+)>\)|<(?:\w+:)?(\w+)>", r"{\1\2}", route)


def test_every_route_is_in_the_walk() -> None:
    known = {door.route for door in WALK}
    there = {
        route
        for route, _ in routes(get_resolver().url_patterns)
        if not route.startswith(NOT_WALKED)
    }
    there = {route for route in there if "format" not in route and route not in ("api/", "api/v1/")}
    assert there == known, (
        f"put into the walk: {sorted(there - known)}; take out: {sorted(known - there)}"
    )


def test_every_method_of_the_apis_is_in_the_walk() -> None:
    walked = {(door.method, door.route) for door in WALK}
    served = {
        (method, route)
        for route, pattern in routes(get_resolver().url_patterns)
        if route.startswith("api/")
        for method in operations.declared(pattern.callback).keys() - {"HEAD"}
    }
    assert len(served) > 90
    assert served <= walked


def test_the_table_of_scopes_has_every_operation_and_tool() -> None:
    assert {entry(door) for door in (*OPERATIONS, *CONTENT)} - DESCRIBING | set(TOOL_CALLS) == set(
        NEEDED
    )


def test_every_tool_is_in_the_walk() -> None:
    assert {tool.name for tool in build_server()._tool_manager.list_tools()} == set(TOOL_CALLS)


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

    def path(self, door: Door, *, absent: bool = False) -> str:
        """Fill a route's gaps with the ids of the secret things, or with ids of nothing."""
        ids = self.ids_of(absent=absent)
        kind = next(
            (name for name in KINDS if f"{name}/<" in door.route or f"{name}/(" in door.route), ""
        )
        filled = door.route.replace("<path:video_id>", str(ids["key"])).replace(
            "<job_id>", str(ids["jobs"])
        )
        for gap, name in (
            ("<uuid:lecture_id>", "lecture"),
            ("<session_id>", "lecture"),
            ("<feed_id>", "feeds"),
            ("<citation_id>", "citation"),
            ("<uuid:citation_id>", "citation"),
        ):
            filled = filled.replace(gap, str(ids[name]))
        for name in MINE:
            filled = filled.replace(f"<{name}_id>", str(ids[name])).replace(
                f"<uuid:{name}_id>", str(ids[name])
            )
        if any(part in door.route for part in ("/pages/", "/contents/", "/file/", "/ocr/")):
            filled = filled.replace("<uuid:source_id>", str(ids["book"])).replace(
                "<int:number>", "1"
            )
        if (door.method, door.route) == (
            "DELETE",
            "api/v1/sources/<source_id>",
        ) or door.route.endswith("/ocr"):  # a recording goes with its video alone
            filled = filled.replace("<source_id>", str(ids["book"]))
        for gap in ("(?P<uuid>[0-9a-f-]{36})", "<uuid:source_id>", "<source_id>"):
            filled = filled.replace(gap, str(ids["source"]))
        filled = (
            filled.replace("<str:secret>", "nothing")
            .replace("docs/<slug:slug>", "docs/search")
            .replace("highlights/export/<slug:form>", "highlights/export/jsonld")
            .replace("<slug:form>", "md")
            .replace("<str:form>", "vtt")
            .replace("<str:reference>", str(ids["item"]))
            .replace("<int:index>", "0")
            .replace("<int:user>", str(ids["user"]))
        )
        if kind:
            filled = filled.replace("<int:pk>", str(ids[kind])).replace(
                "(?P<pk>[0-9]{1,18})", str(ids[kind])
            )
        query = next((query for word, query in QUERIES.items() if word in str(door)), "")
        return f"/{filled}{query.format(**ids)}"

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
        options: dict[str, Any] = {"content_type": "application/json"} if door.json else {}
        if "chunks" in door.route or door.route.endswith(">/search/"):
            options["headers"] = {
                "HX-Request": "true"
            }  # a plain browser is sent to the page itself
        ask = getattr(client, door.method.lower())
        response = ask(self.path(door, absent=absent), body or None, **options)
        declared.check(response)
        return response


@pytest.fixture(scope="module")
def furnished(rows_of_module: None, django_db_blocker: Any) -> House:
    with django_db_blocker.unblock():
        return furnish()


@pytest.fixture
def house(db: None, furnished: House) -> House:
    return deepcopy(furnished)


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


def signed_in(user: User | None) -> Client:
    """Make a browser of a user, or of a stranger; the CSRF token is another matter."""
    client = Client(raise_request_exception=True)
    if user is not None:
        client.force_login(user)
    return client


def body_of(response: Any) -> str:
    """Return all text of an answer; of an endless stream nothing, its status says enough."""
    return "" if response.streaming else response.content.decode(errors="replace")


def is_stream(door: Door) -> bool:
    """Say whether a door answers with events for as long as one listens."""
    return door.route.endswith("events/")


# A list has dozens of these small pictures, and each visit would ask for all of them again.
KEPT_FOR_MINUTES = ("videos/<int:pk>/thumbnail",)
FOR_FEWER = (  # of nobody; for superusers; for who may make accounts; not for the last owner
    "sign-in/<str:secret>/",
    "metrics",
    "gate/reopen/",
    "collections/<int:pk>/members/<int:user>/invite/",
    "collections/<int:pk>/leave/",
)


@pytest.mark.parametrize("door", WALK, ids=str)
def test_the_owner_may_use_each_door(house: House, door: Door) -> None:
    response = house.send(signed_in(house.owner), door)
    if door.route in FOR_FEWER:
        assert SECRET not in body_of(response)
    else:
        assert response.status_code < 400, f"{response.status_code}: {body_of(response)[:500]}"
    assert is_left_to_the_caller(door, response), response.get("Cache-Control")
    _close(response)


def is_left_to_the_caller(door: Door, response: Any) -> bool:
    """Tell whether no cache, and no browser after the sign-out, has the answer."""
    rules = set(response.get("Cache-Control", "").split(", "))
    if door.route in KEPT_FOR_MINUTES:
        return rules == {"private", "max-age=300"}
    if door.route == "manifest.webmanifest":
        return "public" in rules
    is_checked = "no-cache" in rules and "ETag" in response
    return "private" in rules and ("no-store" in rules or is_checked)


@pytest.mark.parametrize("door", [door for door in WALK if door.kind in ("thing", "note")], ids=str)
def test_the_viewer_of_another_collection_finds_nothing(house: House, door: Door) -> None:
    client = signed_in(house.outsider)
    response = house.send(client, door)
    assert (
        response.status_code in (404, 422)
        if "collection" in door.body
        else response.status_code == 404
    ), body_of(response)[:500]
    assert SECRET not in body_of(response)
    if "<" in door.route or door.kind == "note":
        client = signed_in(house.outsider)
        absent = house.send(client, door, absent=True)
        assert absent.status_code == response.status_code, (
            "what is hidden and what is absent must look the same"
        )


def test_a_webhook_is_told_nothing_of_a_foreign_collection(house: House, settings: Any) -> None:
    settings.WEBHOOK_PRIVATE_ADDRESSES = True
    with WebhookReceiver() as hers, WebhookReceiver() as his:
        for user, receiver in ((house.owner, hers), (house.outsider, his)):
            Webhook.objects.create(user=user, url=receiver.url, events=list(WebhookKind))
        job = Job.objects.create(collection=house.shelf, kind="video", target=SECRET)
        job.start()
        job.finish()
        make_source(make_video(house.shelf, key="lecture-2", title=SECRET))
        messages.distribute()
        while rows := list(WebhookDelivery.objects.first_of_each()):
            for row in rows:
                delivery.perform(row.pk)
        house.owner.memberships.all().delete()
        job.restart(state=Job.State.RUNNING)
        job.finish()
        messages.distribute()
    assert len(hers.got) == 2
    assert SECRET in hers.got[0][0]
    assert not his.got
    assert not WebhookDelivery.objects.waiting().exists()


def test_a_connection_to_another_collection_finds_nothing_at_any_door(house: House) -> None:
    elsewhere = Collection.objects.get(slug="elsewhere")
    elsewhere.memberships.create(user=house.owner, role=Role.OWNER)
    program = Program()
    allowed = {"access": "manage", "collections": [elsewhere.pk]}
    parameters = {"scope": " ".join(AccessLevel), "resource": ""}
    tokens = program.exchange(program.ask(house.owner, allowed, **parameters)).json()
    client = Client(headers={"authorization": f"Bearer {tokens['access_token']}"})
    for door in [*OPERATIONS, *CONTENT]:
        response = house.send(client, door)
        assert SECRET not in body_of(response), door
        assert response.status_code in (404, 422) or door.kind != "thing", door
        _close(response)


@pytest.mark.parametrize(
    "door", [door for door in (*OPERATIONS, *CONTENT) if entry(door) in NEEDED], ids=str
)
def test_a_token_may_do_what_the_table_of_scopes_says_and_nothing_else(
    house: House, door: Door
) -> None:
    for access in AccessLevel:
        with transaction.atomic():
            response = house.send(token_client(house.owner, access=access), door)
            _close(response)
            transaction.set_rollback(True)
        if not access.covers(NEEDED[entry(door)]):
            assert response.status_code == 403, access
            assert response.json()["code"] == "insufficient_scope"
        elif "webhooks/<" in door.route:
            assert response.status_code == 404  # a token knows only those that it made
        else:
            assert response.status_code < 400, f"{access}: {body_of(response)[:500]}"


@pytest.mark.parametrize("access", [AccessLevel.READ, AccessLevel.WRITE])
def test_a_connection_is_told_which_scopes_it_lacks(house: House, access: AccessLevel) -> None:
    program = Program()
    parameters = {"scope": " ".join(AccessLevel), "resource": ""}
    tokens = program.exchange(program.ask(house.owner, {"access": access}, **parameters)).json()
    assert tokens["scope"] == " ".join(access.scopes)
    client = Client(headers={"authorization": f"Bearer {tokens['access_token']}"})
    refused = [
        door
        for door in (*OPERATIONS, *CONTENT)
        if not access.covers(NEEDED.get(entry(door), AccessLevel.READ))
    ]
    assert len(refused) > 15
    for door in refused:
        response = house.send(client, door)
        assert response.status_code == 403, door
        scopes = " ".join(NEEDED[entry(door)].scopes)
        challenge = f'error="insufficient_scope", scope="{scopes}"'
        assert challenge in response["WWW-Authenticate"], door


@pytest.mark.parametrize(
    "door", [door for door in WALK if door.kind not in ("thing", "note")], ids=str
)
def test_no_list_shows_a_foreign_collection(house: House, door: Door) -> None:
    response = house.send(signed_in(house.outsider), door)
    assert SECRET not in body_of(response)
    assert "secrets" not in body_of(response).casefold()
    _close(response)


@pytest.mark.parametrize("door", [door for door in WALK if door.kind != "open"], ids=str)
def test_a_stranger_has_to_sign_in(house: House, door: Door) -> None:
    response = house.send(signed_in(None), door)
    if door.route.startswith("api/") and not door.route.startswith("api/v1/docs"):
        assert response.status_code == 401
        assert response["WWW-Authenticate"].startswith("Bearer")
    else:
        assert response.status_code in (302, 204), response.status_code
        assert "sign-in" in (response.get("Location") or response.get("HX-Redirect") or "")
    assert SECRET not in body_of(response)


@pytest.mark.parametrize("door", [door for door in WALK if door.kind == "open"], ids=str)
def test_open_pages_show_nothing_of_a_collection(house: House, door: Door) -> None:
    assert SECRET not in body_of(house.send(signed_in(None), door))


@pytest.mark.parametrize(
    "door",
    [
        door
        for door in WALK
        if door.kind == "thing" and door.method != "GET" and "/leave/" not in door.route
    ],
    ids=str,
)
def test_a_viewer_of_the_collection_changes_nothing(house: House, door: Door) -> None:
    viewer = make_user("viewer", collection=house.shelf, role=Role.VIEWER)
    response = house.send(signed_in(viewer), door)
    assert response.status_code in (403, 404), body_of(response)[:300]


@pytest.mark.parametrize(
    "door", [door for door in WALK if any(gap in door.route for gap in PRIVATE)], ids=str
)
def test_a_conversation_is_hidden_even_from_owners_of_its_collection(
    house: House, door: Door
) -> None:
    colleague = make_user("other", collection=house.shelf, role=Role.OWNER)
    response = house.send(signed_in(colleague), door)
    expected = (204, 302) if str(door) in REVOKING else (404,)
    assert response.status_code in expected, body_of(response)[:300]
    assert SECRET not in body_of(response)


SHARED = ("conversation_id>", "answer_id>")


@pytest.mark.parametrize(
    "door", [door for door in WALK if any(gap in door.route for gap in SHARED)], ids=str
)
def test_of_a_conversation_about_everything_readers_of_another_collection_see_nothing_foreign(
    house: House, door: Door
) -> None:
    share_about_everything(house)
    response = house.send(signed_in(house.outsider), door)
    body = body_of(response)
    assert SECRET not in body
    assert str(house.ids["book"]) not in body
    if door.method == "GET" and "delete" not in door.route:
        assert response.status_code == 200, body[:300]
    else:
        assert response.status_code in (403, 404), body[:300]


def test_lists_of_shared_conversations_name_nothing_foreign(house: House) -> None:
    share_about_everything(house)
    outsider = signed_in(house.outsider)
    elsewhere = Collection.objects.get(slug="elsewhere")
    lists = ("/ask/", "/ask/conversations/", "/api/v1/conversations", "/go/?q=open")
    for path in (*lists, f"/collections/{elsewhere.pk}/"):
        body = body_of(outsider.get(path))
        assert "An open question" in body, path
        assert SECRET not in body
        assert str(house.ids["book"]) not in body
    stranger = make_user("nobody", collection=Collection.objects.create(name="C", slug="c"))
    for path in lists:
        assert "An open question" not in body_of(signed_in(stranger).get(path))


def share_about_everything(house: House) -> None:
    """Share the owner's conversation about everything with the readers of another collection; all
    that is stored with its answer but the question is the secret.
    """
    book, shelf = str(house.ids["book"]), house.shelf.pk
    about = {"collection": None, "shared_with": Collection.objects.get(slug="elsewhere")}
    conversations = Conversation.objects.filter(uuid=house.ids["conversation"])
    conversations.update(**about, title="An open question", sources=[book])
    passage = {"number": 1, "source": book, "title": SECRET, "text": SECRET, "link": f"/{SECRET}"}
    unready = {"title": SECRET, "state": "indexing", "collection": shelf, "source_id": None}
    check = {"quote": SECRET, "verdict": "verbatim", "evidence": 1, "number": 1}
    part = {"text": SECRET, "breadth": "specific"}
    Answer.objects.filter(uuid=house.ids["answer"]).update(
        question="An open question",
        full_question=SECRET,
        note=SECRET,
        parts=[{"heading": SECRET, "is_answered": False}],
        nearest=[passage],
        unready=[unready],
        trace={
            "parts": [part],
            "by": SECRET,
            "notes": [SECRET],
            "evidence": [passage],
            "checks": [check],
            "stages": [],
        },
    )


def test_the_admin_is_closed_to_strangers_and_members(house: House) -> None:
    for route, _ in routes(get_resolver().url_patterns):
        if (
            route.startswith("admin/")
            and "<" not in route
            and "(?P" not in route
            and "login" not in route
        ):
            for client in (signed_in(None), signed_in(house.outsider), signed_in(house.owner)):
                response = client.get(f"/{route}")
                assert response.status_code in (302, 403, 404), route
                assert SECRET not in body_of(response)


def _file() -> Any:

    upload = BytesIO(b"WEBVTT\n\n00:01.000 --> 00:02.000\nhello\n")
    upload.name = "talk.vtt"
    return upload


def _close(response: HttpResponse) -> None:
    """End a stream, as Django's test client ends other answers: the transaction goes on."""
    if response.streaming:
        request_finished.disconnect(close_old_connections)
        response.close()
        request_finished.connect(close_old_connections)


@pytest.mark.parametrize("page", ["/ask/", "/search/"])
def test_questions_are_suggested_only_to_readers_of_their_source(house: House, page: str) -> None:
    suggestion = f'name="q" value="{SECRET}"'
    assert suggestion in signed_in(house.owner).get(page).content.decode()
    assert suggestion not in signed_in(house.outsider).get(page).content.decode()


def test_how_far_somebody_has_read_is_told_to_nobody_else(house: House) -> None:
    owner = signed_in(house.owner)
    at = {"position": "60000"}
    assert owner.post(f"/sources/{house.ids['source']}/progress/", at).status_code == 204
    colleague = signed_in(make_user("other", collection=house.shelf, role=Role.OWNER))
    assert "1 item" not in colleague.get("/library/?reading=begun").content.decode()
    pages = ("/library/?view=table&sort=read", f"/videos/{house.ids['videos']}/")
    for page in pages:
        mine, theirs = (client.get(page).content.decode() for client in (owner, colleague))
        assert "Continue at 1:00" in mine or "% read" in mine
        assert "Continue at" not in theirs
        assert "% read" not in theirs
