"""What the tools answer."""

import json
from typing import Any

import pytest
from django.contrib.staticfiles import finders
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS

from kbsite.mcp.answer_text import tokens
from kbsite.mcp.server import build_server
from kbsite.mcp.tools import all_tools
from tests.kbsite.mcp.conftest import Shelf
from tests.kbsite.mcp.endpoint import Endpoint, material
from tests.kbsite.mcp_walk import TOOL_CALLS
from tests.makers import make_cues, make_video


def test_the_walk_knows_every_tool() -> None:
    assert sorted(TOOL_CALLS) == sorted(tool.name for tool in all_tools())


def test_the_list_of_tools_is_the_same_each_time(endpoint: Endpoint, shelf: Shelf) -> None:
    async def names(client: Any) -> Any:
        return (await client.list_tools()).model_dump_json()

    assert endpoint.talk(shelf.token, names) == endpoint.talk(shelf.token, names)


def test_every_tool_says_what_it_takes(endpoint: Endpoint, shelf: Shelf) -> None:
    async def listed(client: Any) -> Any:
        return (await client.list_tools()).tools

    for tool in endpoint.talk(shelf.token, listed):
        assert tool.input_schema["additionalProperties"] is False
        assert "maxTokens" in tool.input_schema["properties"]
        assert all(part.get("description") for part in tool.input_schema["properties"].values())
        assert tool.output_schema is None
        assert tool.title
        assert tool.icons
        assert tool.icons[0].src.startswith("http")
        assert tool.description
        assert tool.annotations.read_only_hint == (
            tool.name not in ("fetch_transcript", "add_source", "ask_knowledge_base")
        )


def test_a_short_transcript_is_read_whole(shelf: Shelf) -> None:
    make_video(shelf.collection, cues=make_cues(6))
    arguments = {"videoId": "lecture-1", "times": "none"}
    text = shelf.read("get_transcript", **arguments)
    assert "Whole transcript" in text
    assert text.count(" ".join(cue.text for cue in make_cues(6))) == 1
    assert "cursor=" not in text


def test_a_long_transcript_is_previewed_with_the_tools_that_read_on(shelf: Shelf) -> None:
    make_video(shelf.collection, cues=make_cues(2_000))
    result = shelf.read("get_transcript", videoId="lecture-1")
    assert "Preview 0:00–" in result
    assert "search_transcript" in result
    assert "chunkIndex 0 to" in result


def test_a_time_range_goes_before_a_chunk_and_a_chunk_before_the_whole(shelf: Shelf) -> None:
    make_video(shelf.collection, cues=make_cues(200))
    everything = {"videoId": "lecture-1", "chunkIndex": 1, "includeFullTranscript": True}
    times = {"startTime": 10, "endTime": 20}
    part = shelf.read("get_transcript", **everything, **times)
    assert "\nPart 0:10–0:20, " in part
    chunk = shelf.read("get_transcript", **everything)
    assert "\nChunk 1 (of 4, from 0) 5:00–10:00, " in chunk
    assert "Next: get_transcript with chunkIndex=2." in chunk


def test_a_search_ranks_segments_with_links_to_their_second(shelf: Shelf) -> None:
    make_video(shelf.collection, key="dQw4w9WgXcQ", cues=make_cues(60))
    result = shelf.read(
        "search_transcript", videoId="dQw4w9WgXcQ", query="convolution pooling", maxResults=3
    )
    hits = material(result).splitlines()
    assert [hit.partition(" ")[0] for hit in hits] == ["1.", "2.", "3."]
    assert "convolution" in hits[0]
    assert hits[0].endswith("watch?v=dQw4w9WgXcQ&t=0s)")


def test_a_list_is_narrowed_by_words(shelf: Shelf) -> None:
    make_video(shelf.collection, key="one", title="Neural networks")
    make_video(shelf.collection, key="two", title="Baking bread")
    for narrowed, keys in (({}, ["two", "one"]), ({"query": "neural"}, ["one"])):
        listed = material(shelf.read("list_transcripts", **narrowed))
        assert [line.split(" ")[1] for line in listed.splitlines()] == keys


@pytest.mark.parametrize(
    ("tool", "arguments", "helps"),
    [
        ("get_transcript", {"videoId": "nowhere"}, "list_transcripts"),
        ("get_transcript", {"videoId": "lecture-1", "language": "fr"}, "fetch_transcript"),
        ("get_transcript", {"videoId": "lecture-1", "chunkIndex": 99}, "get_transcript"),
        ("get_transcript", {"videoId": "lecture-1", "startTime": 9e9}, "get_transcript"),
        ("get_transcript", {"videoId": "lecture-1", "startTime": -1}, "get_transcript"),
        ("get_transcript", {"videoId": "lecture-1", "chunkSize": 1}, "get_transcript"),
        ("search_transcript", {"videoId": "lecture-1", "query": "   "}, "search_transcript"),
        ("search_transcript", {"videoId": "nowhere", "query": "x"}, "list_transcripts"),
        ("list_transcripts", {"collection": "nowhere"}, "list_transcripts"),
        ("list_transcripts", {"cursor": "made:up"}, "without cursor"),
        ("get_job", {"jobId": 2**63 - 1}, "add_source"),
        ("add_source", {"url": "ftp://example.org/"}, "add_source"),
        ("fetch_transcript", {"videoId": "PLabcdefghijklmnop"}, "add_source"),
        ("fetch_transcript", {"videoId": "no such thing"}, "list_transcripts"),
    ],
)
def test_an_error_names_the_next_useful_tool(
    shelf: Shelf, tool: str, arguments: dict[str, Any], helps: str
) -> None:
    make_video(shelf.collection)
    result = shelf.write.refused(tool, **arguments)
    assert helps in result.partition("Next: ")[2]


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"videoId": "x", "video_id": "x"},
        {"videoId": "x", "shell": "rm"},
        {"videoId": ["x"]},
        {"videoId": "x" * 5_000},
        {"videoId": ""},
        {"videoId": "a\0b"},
        {"videoId": "x", "startTime": "soon"},
        {"videoId": "x", "chunkIndex": 1.5},
        {"videoId": "x", "maxTokens": 1},
        {"videoId": "x", "maxTokens": 10**9},
        {"videoId": "x", "cursor": "x" * 10_000},
        {"videoId": {"a": {"b": [[[[{}]]]]}}},
    ],
)
def test_unfit_arguments_are_refused_with_those_that_fit(
    shelf: Shelf, arguments: dict[str, Any]
) -> None:
    result = shelf.write.refused("get_transcript", **arguments)
    assert "it takes chunkIndex, chunkSize, collection, cursor" in result
    assert len(result) < 1_000


@pytest.mark.parametrize("number", ["1e999", "-1e999", "NaN", "Infinity", "1" * 4_000])
def test_numbers_beyond_all_bounds_are_refused(
    endpoint: Endpoint, shelf: Shelf, number: str
) -> None:
    make_video(shelf.collection)
    body = (
        '{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name":'
        ' "get_transcript", "arguments": {"videoId": "lecture-1", "startTime": %s}}}'
    )
    response = endpoint.post((body % number).encode(), token=shelf.token)
    assert response.status_code in (200, 400)
    assert 'isError":true' in response.text or "error" in response.text
    assert "Traceback" not in response.text


def test_an_unknown_tool_is_a_protocol_error(endpoint: Endpoint, shelf: Shelf) -> None:
    with pytest.raises(MCPError) as caught:
        endpoint.call(shelf.token, "drop_tables")
    assert caught.value.error.code == INVALID_PARAMS


def test_every_icon_is_a_file_of_the_site() -> None:
    icons = [*build_server().icons, *(icon for tool in all_tools() for icon in tool.icons)]
    assert {icon.mime_type for icon in icons} == {"image/png", "image/svg+xml"}
    for icon in icons:
        assert finders.find(icon.src.partition("/static/")[2]), icon.src


def test_an_answer_is_its_text_and_nothing_twice(endpoint: Endpoint, shelf: Shelf) -> None:
    make_video(shelf.collection)
    for tool, arguments in (("list_transcripts", {}), ("get_transcript", {"videoId": "lecture-1"})):
        result = endpoint.call(shelf.token, tool, **arguments)
        assert (len(result.content), result.structured_content) == (1, None)


def test_the_definitions_of_all_tools_take_no_more_than_5000_tokens(
    endpoint: Endpoint, shelf: Shelf
) -> None:
    async def listed(client: Any) -> Any:
        return await client.list_tools()

    definitions = endpoint.talk(shelf.token, listed).model_dump(
        mode="json", by_alias=True, exclude_none=True
    )
    written = json.dumps(definitions["tools"], ensure_ascii=False, separators=(",", ":"))
    assert tokens(written) <= 5_000
