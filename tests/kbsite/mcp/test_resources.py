"""Resources, completions and prompts."""

from typing import Any

import pytest
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, PromptReference, ResourceTemplateReference

from kbsite.mcp import resources
from kbsite.mcp.answer_text import tokens
from tests.kbsite.mcp.conftest import Shelf
from tests.kbsite.mcp.endpoint import Endpoint
from tests.makers import make_cues, make_document, make_source, make_two_talks, make_video


def times(text: str) -> list[str]:
    """Return the times at which lines begin."""
    return [line.partition(" ")[0] for line in text.splitlines() if line.startswith("[")]


def uris(shelf: Shelf) -> list[str]:
    """Return the addresses of all pages of the list."""

    async def all_pages(client: Any) -> list[str]:
        listed, cursor = [], None
        while True:
            page = await client.list_resources(cursor=cursor)
            listed += [str(resource.uri) for resource in page.resources]
            if (cursor := page.next_cursor) is None:
                return listed

    return shelf.read.endpoint.talk(shelf.reading, all_pages)


# Transcripts


def test_a_transcript_is_read_with_times(shelf: Shelf) -> None:
    make_video(shelf.collection, cues=make_cues(12))
    read = shelf.read.resource("transcript://lecture-1")
    assert (read.splitlines()[0], times(read)) == ("Lecture 1", ["[0:00]", "[0:30]"])


def test_a_transcript_beyond_the_budget_says_how_to_read_on(shelf: Shelf, settings: Any) -> None:
    settings.MCP_MAX_TOKENS = 1_000
    make_video(shelf.collection, cues=make_cues(400))
    read = shelf.read.resource("transcript://lecture-1")
    assert tokens(read) <= 1_000
    assert "get_transcript with videoId=lecture-1 and startTime=" in read


@pytest.mark.parametrize("kind", ["transcript", "source"])
@pytest.mark.parametrize("path", ["nowhere", "..", "a%00b", "", "%2e%2e%2fsecret"])
def test_what_is_not_there_is_not_found(shelf: Shelf, kind: str, path: str) -> None:
    with pytest.raises(MCPError) as caught:
        shelf.read.resource(f"{kind}://{path}")
    assert caught.value.error.code == INVALID_PARAMS


def test_a_file_of_the_server_is_not_found(shelf: Shelf) -> None:
    with pytest.raises(MCPError) as caught:
        shelf.read.resource("file:///etc/passwd")
    assert caught.value.error.code == INVALID_PARAMS


@pytest.mark.parametrize("key", ["with blanks in it", "Übung 1", "50% off?", "a&b=c#d"])
def test_every_address_of_the_list_can_be_read(shelf: Shelf, key: str) -> None:
    make_video(shelf.collection, key=key)
    (uri,) = uris(shelf)
    assert shelf.read.resource(uri).startswith("Lecture 1")


def test_the_list_is_paged(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resources, "PAGE_SIZE", 3)
    for number in range(7):
        make_video(shelf.collection, key=f"video-{number}", cues=make_cues(1))
    assert uris(shelf) == [f"transcript://video-{number}" for number in reversed(range(7))]


def test_a_made_up_cursor_is_refused(endpoint: Endpoint, shelf: Shelf) -> None:
    with pytest.raises(MCPError) as caught:
        endpoint.talk(shelf.reading, lambda client: client.list_resources(cursor="made:up"))
    assert caught.value.error.code == INVALID_PARAMS


def test_the_same_video_in_two_collections_has_two_addresses(shelf: Shelf, other: Shelf) -> None:
    other.collection.memberships.create(user=shelf.owner)
    make_video(shelf.collection, title="Here")
    make_video(other.collection, title="There")
    titles = {shelf.read.resource(uri).splitlines()[0] for uri in uris(shelf)}
    assert titles == {"Here", "There"}


# Sources


def test_the_text_of_a_source_is_read_with_times(shelf: Shelf) -> None:
    source = make_source(make_video(shelf.collection, cues=make_cues(12)), author="Ada")
    read = shelf.read.resource(f"source://{source.uuid}")
    assert (read.splitlines()[:2], times(read)) == (["Lecture 1", "Ada"], ["[0:00]", "[0:30]"])


def test_the_pages_of_a_text_keep_to_the_budget_and_put_together_are_the_text(
    shelf: Shelf, settings: Any
) -> None:
    source = make_source(make_video(shelf.collection, cues=make_cues(300)))
    settings.MCP_MAX_TOKENS = 100_000
    whole = shelf.read.resource(f"source://{source.uuid}").partition("\n\n")[2]
    settings.MCP_MAX_TOKENS = 800
    uri, pages = f"source://{source.uuid}", []
    while uri:
        page = shelf.read.resource(uri)
        assert tokens(page) <= 800
        body, _, rest = page.partition("\n\n")[2].partition("\n\n(… the text goes on: ")
        pages.append(body)
        uri = rest.removesuffix(")")
    assert len(pages) > 3
    assert "".join(pages).replace("\n", "") == whole.replace("\n", "")


@pytest.mark.parametrize("offset", ["soon", "-1", "9" * 30, "999999", "%00", "²"])
def test_an_offset_that_is_none_is_refused(shelf: Shelf, offset: str) -> None:
    source = make_source(make_video(shelf.collection, cues=make_cues(2)))
    with pytest.raises(MCPError):
        shelf.read.resource(f"source://{source.uuid}?offset={offset}")


def test_the_text_of_others_is_not_there(shelf: Shelf, other: Shelf) -> None:
    there = str(make_source(make_video(shelf.collection)).uuid)
    errors = []
    for name in (there, there.replace(there[:8], "00000000")):
        with pytest.raises(MCPError) as caught:
            other.read.resource(f"source://{name}")
        errors.append((caught.value.error.code, caught.value.error.message.replace(name, "")))
    assert errors[0] == errors[1]


def test_a_document_without_a_text_says_so(shelf: Shelf) -> None:
    source = make_document(shelf.collection, ["One."], title="Notes on whales")
    assert "Its text is not there" in shelf.read.resource(f"source://{source.uuid}")


# Completions


def test_completions_come_from_what_the_caller_may_see(shelf: Shelf, other: Shelf) -> None:
    for where, key, language in (
        (shelf, "lecture-1", "en"),
        (shelf, "lecture-2", "de"),
        (other, "lecture-3", "fr"),
    ):
        make_video(where.collection, key=key, lang=language)
    template = ResourceTemplateReference(uri=resources.TRANSCRIPT)
    prompt = PromptReference(name="summarise_video")
    completed = shelf.read.completed
    assert completed(template, "videoId", "lect") == ["lecture-2", "lecture-1"]
    assert completed(prompt, "videoId", "lecture-3") == []
    assert completed(template, "language", "") == ["de", "en"]
    assert completed(template, "language", "", videoId="lecture-1") == ["en"]
    assert completed(template, "language", "", videoId="lecture-3") == []
    assert completed(template, "collection", "l") == ["lectures"]
    assert completed(template, "collection", "sec") == []
    assert completed(prompt, "nothing", "x\0") == []


def test_ids_are_completed_from_what_the_caller_may_see(shelf: Shelf, other: Shelf) -> None:
    learning, baking = (str(talk.uuid) for talk in make_two_talks(shelf.collection))
    hidden = make_source(make_video(other.collection, key="hidden", title="Learning in secret"))
    template = ResourceTemplateReference(uri=resources.SOURCE)
    for value, ids in {
        "": [baking, learning],
        "learn": [learning],
        baking[:9]: [baking],
        str(hidden.uuid): [],
        "x\0" * 300: [],
    }.items():
        assert shelf.read.completed(template, "id", value) == ids


# Prompts


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("summarise_video", {}),
        ("find_and_cite", {"question": "What is a gradient?"}),
        ("study_questions", {"count": "4"}),
    ],
)
def test_a_prompt_names_the_video_and_the_tools(
    shelf: Shelf, name: str, arguments: dict[str, str]
) -> None:
    make_video(shelf.collection)
    prompt = shelf.read.prompt(name, videoId="lecture-1", **arguments)
    for value in ("videoId=lecture-1", "get_transcript", *arguments.values()):
        assert value in prompt


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
    shelf: Shelf, name: str, arguments: dict[str, str]
) -> None:
    with pytest.raises(MCPError) as caught:
        shelf.read.prompt(name, **arguments)
    assert caught.value.error.code == INVALID_PARAMS
