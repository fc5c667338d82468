"""Every door, walked by an owner, by the viewer of another collection, and by a stranger.

A door that is not in the walk fails it.

The tools of the MCP endpoint are walked in the same way in `tests/kbsite/mcp/test_scopes.py`, from
the table `tests/kbsite/mcp_walk.py`.
"""

import re
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest
from django.core.signals import request_finished
from django.db import close_old_connections, transaction
from django.http import HttpResponse
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from citations.models import Answer, Conversation
from kbsite import operations
from kbsite.mcp.server import build_server
from kbsite.models import Webhook, WebhookDelivery, WebhookKind
from kbsite.webhooks import delivery
from tests.architecture.pages import DOCS
from tests.doors import CONTENT, OPERATIONS, SECRET, WALK, Door, House, entry, furnish
from tests.kbsite.mcp_walk import TOOL_CALLS
from tests.kbsite.oauth.program import Program
from tests.makers import make_source, make_user, make_video, signed_in, token_client
from tests.webhook_receiver import WebhookReceiver
from transcripts.core.access import AccessLevel
from transcripts.models import Collection, Job, Role

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


@pytest.fixture(scope="module")
def furnished(rows_of_module: None, django_db_blocker: Any) -> House:
    with django_db_blocker.unblock():
        return furnish()


@pytest.fixture
def house(db: None, furnished: House) -> House:
    return deepcopy(furnished)


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
    "ask/model/",
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
        delivery.distribute()
        while rows := list(WebhookDelivery.objects.first_of_each()):
            for row in rows:
                delivery.perform(row.pk)
        house.owner.memberships.all().delete()
        job.restart(state=Job.State.RUNNING)
        job.finish()
        delivery.distribute()
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
