"""Resources, completions and prompts."""

from typing import Any

import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    PromptReference,
    ResourceTemplateReference,
    TextContent,
    TextResourceContents,
)

from kbsite.mcp import resources
from kbsite.mcp.budget import tokens
from tests.kbsite.mcp.conftest import Shelf
from tests.kbsite.mcp.endpoint import Endpoint
from tests.makers import make_cues, make_video


def test_a_transcript_is_read_with_times(endpoint: Endpoint, shelf: Shelf) -> None:
    make_video(shelf.collection, cues=make_cues(12))
    lines = _read(endpoint, shelf.reading, "transcript://lecture-1").splitlines()
    assert lines[0] == "Lecture 1"
    assert [line.partition(" ")[0] for line in lines if line.startswith("[")] == [
        "[0:00]",
        "[0:30]",
    ]


def test_a_transcript_beyond_the_budget_says_how_to_read_on(
    endpoint: Endpoint, shelf: Shelf, settings: Any
) -> None:
    settings.MCP_MAX_TOKENS = 1_000
    make_video(shelf.collection, cues=make_cues(400))
    read = _read(endpoint, shelf.reading, "transcript://lecture-1")
    assert tokens(read) <= 1_000
    assert "get_transcript with videoId=lecture-1 and startTime=" in read


@pytest.mark.parametrize(
    "uri",
    [
        "transcript://nowhere",
        "transcript://..",
        "transcript://a%00b",
        "transcript://",
        "file:///etc/passwd",
        "transcript://%2e%2e%2fsecret",
    ],
)
def test_what_is_not_there_is_not_found(endpoint: Endpoint, shelf: Shelf, uri: str) -> None:
    with pytest.raises(MCPError) as caught:
        _read(endpoint, shelf.reading, uri)
    assert caught.value.error.code == INVALID_PARAMS


@pytest.mark.parametrize("key", ["with blanks in it", "Übung 1", "50% off?", "a&b=c#d"])
def test_every_address_of_the_list_can_be_read(endpoint: Endpoint, shelf: Shelf, key: str) -> None:
    make_video(shelf.collection, key=key)
    (uri,) = _uris(endpoint, shelf.reading)
    assert _read(endpoint, shelf.reading, uri).startswith("Lecture 1")


def test_the_list_is_paged(
    endpoint: Endpoint, shelf: Shelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resources, "PAGE_SIZE", 3)
    for number in range(7):
        make_video(shelf.collection, key=f"video-{number}", cues=make_cues(1))
    assert _uris(endpoint, shelf.reading) == [
        f"transcript://video-{number}" for number in reversed(range(7))
    ]


def test_a_made_up_cursor_is_refused(endpoint: Endpoint, shelf: Shelf) -> None:
    with pytest.raises(MCPError) as caught:
        endpoint.talk(shelf.reading, lambda client: client.list_resources(cursor="made:up"))
    assert caught.value.error.code == INVALID_PARAMS


def test_the_same_video_in_two_collections_has_two_addresses(
    endpoint: Endpoint, shelf: Shelf, other: Shelf
) -> None:
    other.collection.memberships.create(user=shelf.owner)
    make_video(shelf.collection, title="Here")
    make_video(other.collection, title="There")
    assert {
        _read(endpoint, shelf.reading, uri).splitlines()[0]
        for uri in _uris(endpoint, shelf.reading)
    } == {"Here", "There"}


def test_completions_come_from_what_the_caller_may_see(
    endpoint: Endpoint, shelf: Shelf, other: Shelf
) -> None:
    make_video(shelf.collection, key="lecture-1", lang="en")
    make_video(shelf.collection, key="lecture-2", lang="de")
    make_video(other.collection, key="lecture-3", lang="fr")
    template = ResourceTemplateReference(uri=resources.TRANSCRIPT)
    prompt = PromptReference(name="summarise_video")
    assert _completed(endpoint, shelf, template, "videoId", "lect") == ["lecture-2", "lecture-1"]
    assert _completed(endpoint, shelf, prompt, "videoId", "lecture-3") == []
    assert _completed(endpoint, shelf, template, "language", "") == ["de", "en"]
    assert _completed(endpoint, shelf, template, "language", "", videoId="lecture-1") == ["en"]
    assert _completed(endpoint, shelf, template, "language", "", videoId="lecture-3") == []
    assert _completed(endpoint, shelf, template, "collection", "l") == ["lectures"]
    assert _completed(endpoint, shelf, template, "collection", "sec") == []
    assert _completed(endpoint, shelf, prompt, "nothing", "x\0") == []


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("summarise_video", {}),
        ("find_and_cite", {"question": "What is a gradient?"}),
        ("study_questions", {"count": "4"}),
    ],
)
def test_a_prompt_names_the_video_and_the_tools(
    endpoint: Endpoint, shelf: Shelf, name: str, arguments: dict[str, str]
) -> None:
    make_video(shelf.collection)
    result = endpoint.talk(
        shelf.reading, lambda client: client.get_prompt(name, {"videoId": "lecture-1", **arguments})
    )
    content = result.messages[0].content
    assert isinstance(content, TextContent)
    written = content.text
    assert "videoId=lecture-1" in written
    assert "get_transcript" in written
    assert all(value in written for value in arguments.values())


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("summarise_video", {"videoId": "nowhere"}),
        ("summarise_video", {}),
        ("no_such_prompt", {}),
        ("study_questions", {"videoId": "x" * 5_000}),
    ],
)
def test_a_prompt_that_cannot_be_given_is_a_protocol_error(
    endpoint: Endpoint, shelf: Shelf, name: str, arguments: dict[str, str]
) -> None:
    with pytest.raises(MCPError) as caught:
        endpoint.talk(shelf.reading, lambda client: client.get_prompt(name, arguments))
    assert caught.value.error.code == INVALID_PARAMS


def _read(endpoint: Endpoint, token: str, uri: str) -> str:
    result = endpoint.talk(token, lambda client: client.read_resource(uri))
    (content,) = result.contents
    assert isinstance(content, TextResourceContents)
    return content.text


def _uris(endpoint: Endpoint, token: str) -> list[str]:
    async def all_pages(client: Any) -> list[str]:
        uris, cursor = [], None
        while True:
            page = await client.list_resources(cursor=cursor)
            uris += [str(resource.uri) for resource in page.resources]
            cursor = page.next_cursor
            if cursor is None:
                return uris

    return endpoint.talk(token, all_pages)


def _completed(
    endpoint: Endpoint, shelf: Shelf, ref: Any, name: str, value: str, **given: str
) -> list[str]:
    async def complete(client: Any) -> Any:
        return await client.complete(ref, {"name": name, "value": value}, given or None)

    return list(endpoint.talk(shelf.reading, complete).completion.values)
