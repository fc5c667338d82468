"""The whole flow, as programs and users go through it."""

import re
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.utils import timezone
from oauth2_provider.models import AccessToken, Grant, RefreshToken

from kbsite import retention
from kbsite.models import ApiToken
from kbsite.oauth import connections
from tests.kbsite.oauth.program import CALLBACK, Program, call, hidden
from tests.makers import make_user, make_video, signed_in
from transcripts.core.access import AccessLevel
from transcripts.models import AuditEntry, Collection, Role

pytestmark = pytest.mark.django_db
VIDEOS = "/api/content/videos/"
COLLECTIONS = "/api/content/collections/"
MEMBERSHIPS = "/api/content/memberships/"
GRACE = timedelta(seconds=30)  # in which a refresh token gives its successor again


@pytest.fixture
def program(db: None) -> Program:
    return Program()


@pytest.fixture
def other(owner: User) -> Collection:
    """Another collection of Ada's."""
    collection = Collection.objects.create(name="Secrets", slug="secrets")
    collection.memberships.create(user=owner, role=Role.OWNER)
    return collection


def add(tokens: dict[str, str], slug: str = "new") -> int:
    headers = {"Authorization": f"Bearer {tokens['access_token']}"}
    data = {"name": "New", "slug": slug}
    answer = Client().post(COLLECTIONS, data, content_type="application/json", headers=headers)
    return answer.status_code


def test_a_code_becomes_tokens_that_act_for_the_user(owner: User, collection: Collection) -> None:
    make_video(collection)
    program = Program()
    location = program.ask(owner)
    query = parse_qs(urlsplit(location).query)
    assert location.startswith(CALLBACK)
    assert (query["state"], query["iss"]) == (["a-state"], ["http://testserver"])
    answer = program.exchange(location)
    tokens = answer.json()
    assert "no-store" in answer["Cache-Control"]
    assert (tokens["token_type"], tokens["scope"], tokens["expires_in"]) == ("Bearer", "read", 3600)
    tokens = program.connect(owner)
    assert call(tokens, "/api/v1/search?q=network").status_code == 401  # it is for /mcp
    everywhere = program.connect_to_all(owner)
    assert call(everywhere, VIDEOS).json()["total"] == 1


def test_no_secret_is_stored(owner: User, program: Program) -> None:
    location = program.ask(owner)
    tokens = program.exchange(location).json()
    stored = str([list(model.objects.values()) for model in (AccessToken, RefreshToken, ApiToken)])
    for secret in (tokens["access_token"], tokens["refresh_token"], location[-60:]):
        assert secret not in stored


def test_a_code_is_good_once_with_its_verifier_and_from_its_client(owner: User) -> None:
    program, thief = Program(), Program()
    location = program.ask(owner)
    for changes in (
        {"code_verifier": "another-verifier-of-more-than-forty-three-chars"},
        {"code_verifier": ""},
        {"redirect_uri": "http://127.0.0.1:33418/other"},
        {"client_id": thief.client_id},
    ):
        assert program.exchange(location, **changes).status_code in (400, 401), changes
    assert program.exchange(location).status_code == 200
    assert program.exchange(location).status_code == 400
    late = program.ask(owner)
    Grant.objects.update(expires=timezone.now())
    assert program.exchange(late).status_code == 400


def test_a_code_that_is_used_twice_ends_all_that_it_gave(owner: User) -> None:
    program, thief = Program(), Program()
    location = program.ask(owner, resource="")
    first = program.exchange(location).json()
    second = program.refresh(first).json()
    assert thief.exchange(location).status_code == 400  # of another client, it is unknown
    assert call(second).status_code == 200
    assert program.exchange(location, code_verifier="").status_code == 400
    assert call(second).status_code == 401
    assert program.refresh(second).status_code == 400
    assert not connections.live(owner)
    assert ApiToken.objects.get().state == "revoked"
    trail = AuditEntry.objects.filter(kind="connection").order_by("pk")
    assert [entry.action for entry in trail] == ["add", "revoke"]


def test_a_code_that_was_never_exchanged_ends_nothing(owner: User, program: Program) -> None:
    tokens = program.connect_to_all(owner)
    late = program.ask(owner, resource="")
    Grant.objects.update(expires=timezone.now())
    assert program.exchange(late).status_code == 400
    assert call(tokens).status_code == 200


@pytest.mark.django_db(transaction=True)
def test_of_two_who_exchange_a_code_at_once_one_gets_tokens_and_they_end(
    owner: User, program: Program
) -> None:
    location = program.ask(owner, resource="")
    start = threading.Barrier(2)

    def exchange(_: int) -> Any:
        try:
            start.wait(10)
            return program.exchange(location)
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as threads:
        answers = sorted(threads.map(exchange, range(2)), key=lambda answer: answer.status_code)
    assert [answer.status_code for answer in answers] == [200, 400]
    assert answers[1].json()["error"] == "invalid_grant"
    assert call(answers[0].json()).status_code == 401
    assert program.refresh(answers[0].json()).status_code == 400
    assert not AccessToken.objects.filter(user=owner).exists()
    assert not RefreshToken.objects.filter(revoked=None).exists()


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"code_challenge_method": "plain"}, "invalid_request"),
        ({"code_challenge_method": ""}, "invalid_request"),
        ({"code_challenge": ""}, "invalid_request"),
        ({"response_type": "token"}, "unsupported_response_type"),
        ({"scope": "read admin"}, "invalid_scope"),
        ({"resource": "https://elsewhere.example/mcp"}, "invalid_target"),
        ({"resource": "http://testserver.evil/mcp"}, "invalid_target"),
        ({"resource": "https://[::1"}, "invalid_target"),
    ],
)
def test_a_weak_request_is_refused_before_anybody_is_asked(
    owner: User, changes: dict[str, str], error: str
) -> None:
    browser = signed_in(owner)
    answer = browser.get("/oauth/authorize/", Program().request(**changes))
    query = parse_qs(urlsplit(answer["Location"]).query)
    assert (query["error"], query["state"]) == ([error], ["a-state"])


@pytest.mark.parametrize(
    "changes",
    [{"redirect_uri": "https://evil.example/"}, {"client_id": "x"}, {"client_id": "a\0b"}],
)
def test_nobody_is_sent_to_an_address_that_was_not_registered(
    owner: User, changes: dict[str, str]
) -> None:
    browser = signed_in(owner)
    answer = browser.get("/oauth/authorize/", Program().request(**changes))
    assert answer.status_code in (400, 422)


def test_who_is_not_signed_in_signs_in_first_and_comes_back(owner: User) -> None:
    browser = Client()
    answer = browser.get("/oauth/authorize/", Program().request())
    assert answer["Location"].startswith("/sign-in/?next=/oauth/authorize/")
    password = {"username": "ada", "password": "correct horse battery"}
    back = parse_qs(urlsplit(answer["Location"]).query)["next"][0]
    page = browser.post(answer["Location"], {**password, "next": back}, follow=True)
    assert "Connect Reader?" in page.content.decode()


def test_an_application_cannot_skip_the_question(owner: User, program: Program) -> None:
    program.connect(owner)
    browser = signed_in(owner)
    request = {**program.request(scope="read"), "approval_prompt": "auto"}
    assert browser.get("/oauth/authorize/", request).status_code == 200


def test_who_does_not_allow_it_sends_the_program_away(owner: User) -> None:
    location = Program().ask(owner, {"allow": ""})
    assert parse_qs(urlsplit(location).query)["error"] == ["access_denied"]
    assert not ApiToken.objects.exists()


@pytest.mark.parametrize(
    "change",
    [{"resource": "https://[::1"}, {"resource": "https://a.example/"}, {"collections": "987"}],
    ids=str,
)
def test_an_answer_that_was_changed_on_the_way_connects_nothing(
    owner: User, change: dict[str, str]
) -> None:
    browser = signed_in(owner)
    page = browser.get("/oauth/authorize/", Program().request()).content.decode()
    answer = browser.post("/oauth/authorize/", {**hidden(page), "allow": "true", **change})
    assert answer.status_code == 422
    assert not ApiToken.objects.exists()


def test_the_question_cannot_be_answered_from_another_site(owner: User) -> None:
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(owner)
    page = browser.get("/oauth/authorize/", Program().request()).content.decode()
    fields = {**hidden(page), "allow": "true", "csrfmiddlewaretoken": "x" * 64}
    assert browser.post("/oauth/authorize/", fields).status_code == 403


def test_the_form_may_lead_to_the_application_and_nowhere_else(owner: User) -> None:
    browser = signed_in(owner)
    policy = browser.get("/oauth/authorize/", Program().request())["Content-Security-Policy"]
    assert "form-action 'self' http://127.0.0.1:33418;" in policy + ";"
    assert "form-action 'self';" in browser.get("/tokens/")["Content-Security-Policy"] + ";"


def test_the_user_chooses_the_collections(
    owner: User, collection: Collection, other: Collection
) -> None:
    make_video(collection, key="mine")
    make_video(other, key="theirs")
    program = Program()
    answer = program.ask(owner, {"collections": [other.pk]}, resource="")
    narrow = program.exchange(answer).json()
    assert [video["id"] for video in call(narrow, VIDEOS).json()["videos"]] == ["theirs"]
    foreign = make_user("eve", collection=other)
    page = Program().ask(foreign, {"collections": [other.pk]}, resource="")
    assert "code=" in page
    other.delete()
    assert call(narrow, VIDEOS).json()["total"] == 0  # it does not widen


def test_the_user_chooses_reading_or_writing(owner: User) -> None:
    program = Program()
    reading = program.connect_to_all(owner, {"access": "read"})
    assert (reading["scope"], add(reading)) == ("read", 403)
    program = Program()
    writing = program.connect_to_all(owner, {"access": "write"})
    assert (writing["scope"], add(writing)) == ("read write", 201)
    program = Program()
    asked_less = program.ask(owner, {"access": "write"}, resource="", scope="read")
    assert program.exchange(asked_less).json()["scope"] == "read"


def test_to_manage_is_offered_only_when_asked_for_and_is_never_chosen_beforehand(
    owner: User,
) -> None:
    program, browser = Program(), Client()
    browser.force_login(owner)
    everything = " ".join(AccessLevel)

    def offered(scope: str) -> list[tuple[str, bool]]:
        page = browser.get("/oauth/authorize/", program.request(scope=scope)).content.decode()
        radios = re.findall(r'name="access" value="(\w+)"([^>]*)>', page)
        return [(level, "checked" in rest) for level, rest in radios]

    assert offered("") == [("read", True)]
    assert offered("read write") == [("read", True), ("write", False)]
    assert offered(everything) == [("read", True), ("write", False), ("manage", False)]
    managing = program.connect(owner, access=AccessLevel.MANAGE)
    assert managing["scope"] == everything
    assert offered(everything) == [("read", False), ("write", True), ("manage", False)]
    assert offered("read") == [("read", True)]
    assert program.connect(owner)["scope"] == "read"


def test_an_application_that_writes_decides_nothing_about_people_and_keys(
    owner: User, collection: Collection
) -> None:
    make_user("mallory")
    member = {"collection": collection.slug, "user": "mallory", "role": "owner"}
    parameters = {"scope": " ".join(AccessLevel), "resource": ""}
    for access, status in ((AccessLevel.WRITE, 403), (AccessLevel.MANAGE, 201)):
        program = Program()
        tokens = program.exchange(program.ask(owner, {"access": access}, **parameters)).json()
        headers = {"Authorization": f"Bearer {tokens['access_token']}"}
        client = Client(headers=headers)
        answer = client.post(MEMBERSHIPS, member, content_type="application/json")
        assert answer.status_code == status
        assert collection.memberships.count() == (2 if status == 201 else 1)


def test_a_connection_that_may_only_read_is_told_what_it_lacks(
    owner: User, program: Program
) -> None:
    tokens = program.connect_to_all(owner)
    headers = {"Authorization": f"Bearer {tokens['access_token']}"}
    answer = Client().post(COLLECTIONS, {}, content_type="application/json", headers=headers)
    challenge = answer["WWW-Authenticate"]
    assert answer.status_code == 403
    assert 'error="insufficient_scope", scope="read write"' in challenge
    assert 'resource_metadata="http://testserver/.well-known/oauth-protected-resource/api"' in (
        challenge
    )


def test_a_part_of_a_writing_connection_only_reads(owner: User, program: Program) -> None:
    tokens = program.connect_to_all(owner, {"access": "write"})
    narrowed = program.refresh(tokens, scope="read").json()
    assert (narrowed["scope"], add(narrowed)) == ("read", 403)


def test_an_access_token_ends_after_its_hour(owner: User, program: Program) -> None:
    tokens = program.connect_to_all(owner)
    AccessToken.objects.filter(refresh_token__revoked=None).update(expires=timezone.now())
    assert call(tokens).status_code == 401
    assert call(program.refresh(tokens).json()).status_code == 200


def test_a_refresh_token_is_good_once_and_its_reuse_ends_the_connection(
    owner: User, program: Program
) -> None:
    first = program.connect_to_all(owner)
    second = program.refresh(first).json()
    assert second["refresh_token"] != first["refresh_token"]
    assert call(first).status_code == 401
    assert call(second).status_code == 200
    RefreshToken.objects.exclude(revoked=None).update(revoked=timezone.now() - GRACE)
    assert program.refresh(first).status_code == 400
    assert call(second).status_code == 401
    assert program.refresh(second).status_code == 400
    assert not connections.live(owner)


def test_who_refreshes_twice_within_the_grace_gets_the_same_tokens(
    owner: User, program: Program
) -> None:
    first = program.connect_to_all(owner, {"access": "write"})
    second = program.refresh(first, scope="read").json()
    again = program.refresh(first).json()
    assert again == second  # of the same scope too, whatever was asked for
    assert call(again).status_code == 200
    assert call(program.refresh(again).json()).status_code == 200
    assert program.refresh(first).status_code == 400  # its successor was used
    assert not connections.live(owner)


def test_a_revoked_connection_has_no_grace(owner: User, program: Program) -> None:
    first = program.connect_to_all(owner)
    second = program.refresh(first).json()
    assert program.revoke(second["refresh_token"]) == 200
    assert program.refresh(first).status_code == 400
    assert program.refresh(second).status_code == 400


@pytest.mark.django_db(transaction=True)
def test_programs_that_refresh_at_once_all_go_on(owner: User, program: Program) -> None:
    first = program.connect_to_all(owner)
    start = threading.Barrier(4)

    def refresh(_: int) -> dict[str, str]:
        try:
            start.wait(10)
            return dict(program.refresh(first).json())
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as threads:
        answers = list(threads.map(refresh, range(4)))
    assert all(answer == answers[0] for answer in answers)
    assert call(answers[0]).status_code == 200
    assert program.refresh(answers[0]).status_code == 200


def test_a_refresh_token_is_of_use_to_its_client_only(owner: User) -> None:
    program, thief = Program(), Program()
    tokens = program.connect(owner)
    assert thief.refresh(tokens).status_code in (400, 401)
    assert program.refresh(tokens, scope="read write").status_code == 400  # more than was allowed
    assert program.refresh(tokens, resource="https://elsewhere.example/").status_code == 400


def test_a_connection_that_is_not_used_for_sixty_days_ends(owner: User, program: Program) -> None:
    tokens = program.connect(owner)
    AccessToken.objects.update(expires=timezone.now() - timedelta(days=60))
    assert program.refresh(tokens).status_code == 400


def test_the_program_revokes_its_tokens(owner: User, program: Program) -> None:
    tokens = program.connect_to_all(owner)
    assert Program().revoke(tokens["refresh_token"]) == 200  # of somebody else: nothing happens
    assert call(tokens).status_code == 200
    assert program.revoke(tokens["refresh_token"]) == 200
    assert call(tokens).status_code == 401
    assert program.refresh(tokens).status_code == 400
    assert not connections.live(owner)


def test_the_user_sees_what_is_connected_and_revokes_it(owner: User, other: Collection) -> None:
    program = Program(client_name="Reader <b>")
    tokens = program.connect_to_all(owner, {"access": "write", "collections": [other.pk]})
    browser = signed_in(owner)
    page = browser.get("/tokens/").content.decode()
    assert "Reader &lt;b&gt;" in page
    assert "reads and writes" in page
    connection = ApiToken.objects.get()
    stranger = signed_in(make_user("eve"))
    assert stranger.post(f"/tokens/{connection.pk}/revoke/").status_code == 404
    assert call(tokens).status_code == 200
    assert browser.post(f"/tokens/{connection.pk}/revoke/").status_code == 302
    assert call(tokens).status_code == 401
    assert program.refresh(tokens).status_code == 400
    assert "Reader" not in browser.get("/tokens/").content.decode().partition("Connected")[2]
    trail = AuditEntry.objects.filter(kind="connection").order_by("pk")
    assert [entry.action for entry in trail] == ["add", "revoke"]


def test_to_connect_again_ends_the_installations_older_connection(
    owner: User, program: Program
) -> None:
    first = program.connect_to_all(owner)
    second = program.connect_to_all(owner, {"access": "write"})
    assert (call(first).status_code, call(second).status_code) == (401, 200)
    assert len(connections.live(owner)) == 1


def test_a_switched_off_user_and_a_lost_membership_end_what_a_token_sees(
    owner: User, collection: Collection
) -> None:
    make_video(collection)
    program = Program()
    tokens = program.connect_to_all(owner)
    owner.memberships.all().delete()
    assert call(tokens, VIDEOS).json()["total"] == 0
    User.objects.update(is_active=False)
    assert call(tokens).status_code == 401


@pytest.mark.parametrize(
    ("resource", "search", "content"),
    [
        ("", 200, 200),
        ("http://testserver", 200, 200),
        ("http://testserver/api", 200, 200),
        ("http://testserver/api/v1", 200, 401),
        ("http://testserver/mcp", 401, 401),
    ],
)
def test_a_token_is_good_only_where_it_was_asked_for(
    owner: User, program: Program, resource: str, search: int, content: int
) -> None:
    tokens = program.exchange(program.ask(owner, resource=resource)).json()
    assert call(tokens).status_code == search
    assert call(tokens, VIDEOS).status_code == content


@pytest.mark.parametrize(
    "parameters",
    [
        {"grant_type": "password", "username": "ada", "password": "correct horse battery"},
        {"grant_type": "client_credentials"},
        {"grant_type": "urn:ietf:params:oauth:grant-type:device_code"},
        {"grant_type": "authorization_code", "code": "a\0b", "code_verifier": "x" * 50},
        {"grant_type": "authorization_code", "code": "unknown", "code_verifier": "x" * 50},
        {"grant_type": "refresh_token", "refresh_token": "unknown"},
        {"grant_type": "refresh_token"},
        {},
    ],
)
def test_other_ways_to_tokens_are_closed(owner: User, parameters: dict[str, str]) -> None:
    answer = Program().token(**parameters)
    assert answer.status_code in (400, 401)
    assert answer.json()["error"]


def test_expired_tokens_and_what_nobody_connected_are_deleted(owner: User) -> None:
    used, unused = Program(), Program()
    used.connect(owner)
    unused.ask(owner)
    retention.clear()
    assert ApiToken.objects.count() == 2
    ApiToken.objects.update(created_at=timezone.now() - timedelta(days=2))
    connections.unused_applications()
    assert {token.application.client_id for token in connections.live(owner)} == {used.client_id}
    retention.clear()
    assert ApiToken.objects.count() == 1
