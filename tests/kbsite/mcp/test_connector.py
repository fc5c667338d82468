"""search and fetch, as ChatGPT's connectors call them."""

import json
from typing import Any

from kbsite.mcp.answer_text import tokens
from tests.kbsite.mcp.conftest import Shelf
from tests.kbsite.mcp.endpoint import Endpoint, material, reply
from tests.makers import make_cues, make_document, make_source, make_video


def call(endpoint: Endpoint, token: str, tool: str, **arguments: Any) -> Any:
    return json.loads(reply(endpoint.call(token, tool, **arguments)))


def test_a_result_has_an_id_that_fetch_takes_a_title_and_an_address(
    endpoint: Endpoint, shelf: Shelf, other: Shelf
) -> None:
    sentences = [f"Sentence {n} is about whales." for n in range(12)]
    make_source(make_video(shelf.collection, title="Whales"), author="Ada", texts=sentences)
    hidden = make_source(make_video(other.collection, key="hidden"), texts=["About whales."])
    results = call(endpoint, shelf.reading, "search", query="whales")["results"]
    assert results
    for result in results:
        assert set(result) == {"id", "title", "url"}
        assert result["title"].startswith("Whales, ")
        assert result["url"].startswith("http")
    fetched = call(endpoint, shelf.reading, "fetch", id=results[0]["id"])
    assert set(fetched) == {"id", "title", "text", "url", "metadata"}
    assert fetched["id"] == results[0]["id"]
    assert fetched["metadata"] == {"kind": "video", "author": "Ada"}
    shelf.read.refused("fetch", id=str(hidden.uuid))


def test_a_text_is_fetched_page_by_page_to_its_end_with_times(shelf: Shelf) -> None:
    cues = make_cues(900)
    source = make_source(make_video(shelf.collection, cues=cues))
    read, reference = "", str(source.uuid)
    while reference:
        answer = shelf.read("fetch", id=reference, maxTokens=2_000)
        page = json.loads(answer)
        assert tokens(answer) <= 2_000
        assert material(page["text"]).startswith("[")
        read += "\n" + material(page["text"])
        reference = page["metadata"].get("next", "")
    said = [line.partition("] ")[2] for line in read.strip().splitlines()]
    assert " ".join(said) == " ".join(cue.text for cue in cues)


def test_a_position_leads_to_its_line(endpoint: Endpoint, shelf: Shelf) -> None:
    source = make_source(make_video(shelf.collection, cues=make_cues(60)))
    page = call(endpoint, shelf.reading, "fetch", id=f"{source.uuid}:1000")
    assert material(page["text"]).partition(" ")[0] != "[0:00]"
    for wrong in ("x", "99999999", "-1"):
        shelf.read.refused("fetch", id=f"{source.uuid}:{wrong}")


def test_a_document_without_text_is_empty(endpoint: Endpoint, shelf: Shelf) -> None:
    source = make_document(shelf.collection, ["One."], title="Notes")
    assert call(endpoint, shelf.reading, "fetch", id=str(source.uuid))["text"] == ""
