"""What a newcomer sees first: the demonstration, and the same through the door that language models
use. No network, no key.
"""

import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests

from tests.kbsite.cli.test_serve import Serving
from tests.kbsite.mcp.endpoint import Endpoint, data


@pytest.fixture
def serving(tmp_path: Path) -> Iterator[Serving]:
    running = Serving(tmp_path / "home", "--sample")
    yield running
    running.end(signal.SIGINT)


def told(hit: dict[str, Any]) -> tuple[Any, ...]:
    """Return what every door says of a hit."""
    return hit["text"], hit["start"], hit["timestamp_link"]


def test_the_demonstration_the_browser_and_a_language_model_see_the_same(serving: Serving) -> None:
    shown = serving.json("demo")
    assert sorted(shown) == ["hits", "lecture", "page", "reading"]
    assert [sorted(hit) for hit in shown["hits"]] == [
        ["end", "score", "spans", "start", "text", "timestamp_link"]
    ] * 3

    token = serving.json("token", "create", "journey")["token"]
    endpoint = Endpoint(int(serving.url.rsplit(":", 1)[1]))
    whole = data(endpoint.call(token, "get_transcript", videoId=shown["reading"]["video"]["id"]))
    page = data(
        endpoint.call(token, "get_transcript", videoId=shown["page"]["video"]["id"], chunkIndex=1)
    )
    found = data(
        endpoint.call(
            token,
            "search_transcript",
            videoId=shown["reading"]["video"]["id"],
            query="why should a rare word count more than a common one",
            maxResults=3,
        )
    )
    assert whole["reading"]["text"] == shown["reading"]["reading"]["text"]
    assert page["reading"]["text"] == shown["page"]["reading"]["text"]
    assert [(hit["text"], hit["start"], hit["timestamp_link"]) for hit in found["hits"]] == [
        (hit["text"], hit["start"], hit["timestamp_link"]) for hit in shown["hits"]
    ]

    browser = requests.Session()
    browser.get(serving.link, timeout=30)
    opened = browser.get(shown["hits"][0]["timestamp_link"], timeout=30)
    assert opened.status_code == 200
    assert "How BM25 ranks" in opened.text
