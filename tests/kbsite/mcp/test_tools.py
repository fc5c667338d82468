"""What the tools answer."""

import json
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS

from kbsite.mcp.tools import all_tools
from tests.kbsite.mcp.conftest import Shelf
from tests.kbsite.mcp.endpoint import Endpoint, data, text
from tests.kbsite.mcp_walk import TOOL_CALLS
from tests.makers import make_cues, make_video


def test_the_walk_knows_every_tool() -> None:
    assert sorted(TOOL_CALLS) == sorted(tool.name for tool in all_tools())


def test_the_list_of_tools_is_the_same_each_time(endpoint: Endpoint, shelf: Shelf) -> None:
    async def names(client: Any) -> Any:
        return (await client.list_tools()).model_dump_json()

    assert endpoint.talk(shelf.token, names) == endpoint.talk(shelf.reading, names)


def test_every_tool_says_what_it_takes_and_gives(endpoint: Endpoint, shelf: Shelf) -> None:
    async def listed(client: Any) -> Any:
        return (await client.list_tools()).tools

    for tool in endpoint.talk(shelf.token, listed):
        assert tool.input_schema["additionalProperties"] is False
        assert "maxTokens" in tool.input_schema["properties"]
        assert all(part.get("description") for part in tool.input_schema["properties"].values())
        assert tool.output_schema
        assert tool.output_schema["type"] == "object"
        assert tool.title
        assert tool.description
        assert tool.annotations.read_only_hint == (
            tool.name not in ("fetch_transcript", "add_source", "ask_knowledge_base")
        )


def test_a_short_transcript_is_read_whole(endpoint: Endpoint, shelf: Shelf) -> None:
    make_video(shelf.collection, cues=make_cues(6))
    found = data(endpoint.call(shelf.reading, "get_transcript", videoId="lecture-1"))
    assert found["reading"]["mode"] == "full"
    assert found["reading"]["text"] == " ".join(cue.text for cue in make_cues(6))
    assert "next_cursor" not in found


def test_a_long_transcript_is_previewed_with_the_tools_that_read_on(
    endpoint: Endpoint, shelf: Shelf
) -> None:
    make_video(shelf.collection, cues=make_cues(2_000))
    result = endpoint.call(shelf.reading, "get_transcript", videoId="lecture-1")
    assert data(result)["reading"]["mode"] == "preview"
    assert "search_transcript" in text(result)
    assert "chunkIndex 0 to" in text(result)


def test_a_time_range_goes_before_a_chunk_and_a_chunk_before_the_whole(
    endpoint: Endpoint, shelf: Shelf
) -> None:
    make_video(shelf.collection, cues=make_cues(200))
    everything = {"videoId": "lecture-1", "chunkIndex": 1, "includeFullTranscript": True}
    assert (
        data(
            endpoint.call(shelf.reading, "get_transcript", **everything, startTime=10, endTime=20)
        )["reading"]["mode"]
        == "range"
    )
    chunk = data(endpoint.call(shelf.reading, "get_transcript", **everything))["reading"]
    assert (chunk["mode"], chunk["chunk"], chunk["start"]) == (
        "chunk",
        {"index": 1, "count": 4, "start": 300, "end": 600, "previous": 0, "next": 2},
        300,
    )


def test_a_search_ranks_segments_with_links_to_their_second(
    endpoint: Endpoint, shelf: Shelf
) -> None:
    make_video(shelf.collection, key="dQw4w9WgXcQ", cues=make_cues(60))
    result = endpoint.call(
        shelf.reading,
        "search_transcript",
        videoId="dQw4w9WgXcQ",
        query="convolution pooling",
        maxResults=3,
    )
    hits = data(result)["hits"]
    assert len(hits) == 3
    assert set(hits[0]) == {"text", "start", "end", "score", "timestamp_link"}
    assert [hit["score"] for hit in hits] == sorted((hit["score"] for hit in hits), reverse=True)
    assert "convolution" in hits[0]["text"]
    assert hits[0]["timestamp_link"] in text(result)


def test_a_list_is_narrowed_by_words(endpoint: Endpoint, shelf: Shelf) -> None:
    make_video(shelf.collection, key="one", title="Neural networks")
    make_video(shelf.collection, key="two", title="Baking bread")
    assert [
        video["id"] for video in data(endpoint.call(shelf.reading, "list_transcripts"))["videos"]
    ] == ["two", "one"]
    assert [
        video["id"]
        for video in data(endpoint.call(shelf.reading, "list_transcripts", query="neural"))[
            "videos"
        ]
    ] == ["one"]


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
        ("add_source", {"url": "https://example.org/"}, "add_source"),
        ("fetch_transcript", {"videoId": "PLabcdefghijklmnop"}, "add_source"),
        ("fetch_transcript", {"videoId": "no such thing"}, "list_transcripts"),
    ],
)
def test_an_error_names_the_next_useful_tool(
    endpoint: Endpoint, shelf: Shelf, tool: str, arguments: dict[str, Any], helps: str
) -> None:
    make_video(shelf.collection)
    result = endpoint.call(shelf.token, tool, **arguments)
    assert result.is_error
    assert helps in text(result).partition("Next: ")[2]


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
    endpoint: Endpoint, shelf: Shelf, arguments: dict[str, Any]
) -> None:
    result = endpoint.call(shelf.token, "get_transcript", **arguments)
    assert result.is_error
    assert "it takes chunkIndex, chunkSize, collection, cursor" in text(result)
    assert len(text(result)) < 1_000


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


def test_every_answer_matches_its_published_schema(endpoint: Endpoint, shelf: Shelf) -> None:
    make_video(shelf.collection)

    async def checked(
        client: Any,
    ) -> None:  # the client checks structured content against the schema of tools/list
        await client.list_tools()
        for tool, arguments in (
            ("get_transcript", {"videoId": "lecture-1"}),
            ("list_transcripts", {}),
            ("fetch_transcript", {"videoId": "lecture-1"}),
        ):
            assert not (await client.call_tool(tool, arguments)).is_error

    endpoint.talk(shelf.token, checked)


def test_an_unknown_tool_is_a_protocol_error(endpoint: Endpoint, shelf: Shelf) -> None:
    with pytest.raises(MCPError) as caught:
        endpoint.call(shelf.token, "drop_tables")
    assert caught.value.error.code == INVALID_PARAMS


def test_the_text_of_an_answer_is_shorter_than_its_data(endpoint: Endpoint, shelf: Shelf) -> None:
    for number in range(10):
        make_video(shelf.collection, key=f"video-{number}", title=f"Video {number}")
    result = endpoint.call(shelf.token, "list_transcripts")
    assert len(text(result)) < len(json.dumps(result.structured_content)) / 2
