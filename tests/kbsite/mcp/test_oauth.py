"""The endpoint and connected applications: who may call, what they see, and what asks for more."""

from typing import Any
from urllib.parse import urlsplit

import pytest
from mcp import Client

from kbsite.models import ApiToken
from tests.kbsite.mcp.conftest import Caller, Shelf
from tests.kbsite.mcp.endpoint import Endpoint
from tests.kbsite.oauth.program import Program
from tests.makers import make_video
from transcripts.core.access import AccessLevel
from transcripts.models import Job

MODES = ("legacy", "2026-07-28")
ADD_NOTHING: Any = ("add_source", {})
ADD = ("add_source", {"url": "https://youtu.be/dQw4w9WgXcQ"})
FETCH = ("fetch_transcript", {"videoId": "dQw4w9WgXcQ"})


@pytest.fixture
def program(endpoint: Endpoint) -> Program:
    return Program(host=urlsplit(endpoint.base).netloc)


def called(tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    parameters = {"name": tool, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": parameters}


async def names(client: Client) -> set[str]:
    return {tool.name for tool in (await client.list_tools()).tools}


@pytest.mark.parametrize("kind", ["a connection", "a personal token"])
def test_what_is_limited_to_a_collection_sees_only_that(
    endpoint: Endpoint, shelf: Shelf, other: Shelf, program: Program, kind: str
) -> None:
    other.collection.memberships.create(user=shelf.owner)
    make_video(shelf.collection, key="mine")
    make_video(other.collection, key="theirs")
    _, token = ApiToken.issue(shelf.owner, name="narrow", collections=(other.collection,))
    if kind == "a connection":
        token = program.connect(shelf.owner, collections=[other.collection.pk])["access_token"]
    narrow = Caller(endpoint, token)
    listed = narrow("list_transcripts")
    assert ("- theirs ·" in listed, "- mine ·" in listed) == (True, False)
    narrow.refused("get_transcript", videoId="mine")


@pytest.mark.parametrize("mode", MODES)
def test_the_list_has_the_tools_that_a_token_may_call(
    endpoint: Endpoint, shelf: Shelf, program: Program, mode: str
) -> None:
    reading = program.connect(shelf.owner)["access_token"]
    fewer = endpoint.talk(reading, names, mode=mode)
    assert endpoint.talk(shelf.reading, names, mode=mode) == fewer
    writing = program.connect(shelf.owner, access=AccessLevel.WRITE)["access_token"]
    assert endpoint.talk(writing, names, mode=mode) - fewer == {"add_source"}


@pytest.mark.parametrize("call", [ADD, ADD_NOTHING, FETCH], ids=["add", "no arguments", "fetch"])
def test_what_a_connection_may_not_do_asks_for_more(
    endpoint: Endpoint, shelf: Shelf, program: Program, call: Any
) -> None:
    token = program.connect(shelf.owner)["access_token"]
    answer = endpoint.post(called(*call), token=token)
    challenge = answer.headers["www-authenticate"]
    assert (answer.status_code, answer.json()["error"]) == (403, "insufficient_scope")
    assert 'error="insufficient_scope", scope="read write"' in challenge
    assert f'{endpoint.base}/.well-known/oauth-protected-resource/mcp"' in challenge
    assert not Job.objects.exists()


def test_with_more_allowed_the_same_call_succeeds(
    endpoint: Endpoint, shelf: Shelf, program: Program
) -> None:
    token = program.connect(shelf.owner, access=AccessLevel.WRITE)["access_token"]
    assert endpoint.post(called(*ADD), token=token).status_code == 200
    assert Job.objects.exists()


@pytest.mark.parametrize("call", [ADD, ADD_NOTHING, FETCH], ids=["add", "no arguments", "fetch"])
def test_a_personal_token_that_may_only_read_is_told_so_in_words(
    endpoint: Endpoint, shelf: Shelf, call: Any
) -> None:
    answer = endpoint.post(called(*call), token=shelf.reading)
    assert answer.status_code == 200
    assert "This token may only read." in answer.text
    assert not Job.objects.exists()


def test_a_role_that_may_not_write_is_no_matter_of_scope(
    endpoint: Endpoint, shelf: Shelf, program: Program
) -> None:
    shelf.owner.memberships.update(role="viewer")
    token = program.connect(shelf.owner, access=AccessLevel.WRITE)["access_token"]
    assert endpoint.post(called(*ADD), token=token).status_code == 200


@pytest.mark.parametrize(
    ("resource", "status"), [("", 200), ("/", 200), ("/mcp", 200), ("/mcp/", 200), ("/api", 401)]
)
def test_a_token_is_good_here_if_it_was_asked_for_here(
    endpoint: Endpoint, shelf: Shelf, program: Program, resource: str, status: int
) -> None:
    wanted = resource and endpoint.base + resource
    token = program.exchange(program.ask(shelf.owner, resource=wanted)).json()["access_token"]
    answer = endpoint.post(called("list_transcripts", {}), token=token)
    assert answer.status_code == status


def test_a_token_for_another_name_of_the_server_is_refused(
    endpoint: Endpoint, shelf: Shelf
) -> None:
    token = Program(host="localhost:1").connect(shelf.owner)["access_token"]
    answer = endpoint.post(called("list_transcripts", {}), token=token)
    assert answer.status_code == 401
    assert 'error="invalid_token"' in answer.headers["www-authenticate"]


def test_a_revoked_connection_ends_at_once(
    endpoint: Endpoint, shelf: Shelf, program: Program
) -> None:
    tokens = program.connect(shelf.owner)
    assert not endpoint.call(tokens["access_token"], "list_transcripts").is_error
    program.revoke(tokens["refresh_token"])
    body = called("list_transcripts", {})
    assert endpoint.post(body, token=tokens["access_token"]).status_code == 401
