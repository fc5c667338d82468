"""What a newcomer sees first: the demonstration, and the same through the door that language models
use. No network, no key.
"""

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests

from tests import template
from tests.kbsite.cli.test_serve import Serving
from tests.kbsite.mcp.endpoint import Endpoint, material, reply


@pytest.fixture
def serving(tmp_path: Path) -> Iterator[Serving]:
    template.copy_to(tmp_path / "home")
    running = Serving(tmp_path / "home", "--sample")
    yield running
    running.end(signal.SIGINT)


def test_the_demonstration_the_browser_and_a_language_model_see_the_same(serving: Serving) -> None:
    shown = serving.json("demo")
    assert sorted(shown) == ["hits", "lecture", "page", "reading"]
    assert [sorted(hit) for hit in shown["hits"]] == [
        ["end", "score", "spans", "start", "text", "timestamp_link"]
    ] * 3

    token = serving.json("token", "create", "journey")["token"]
    endpoint = Endpoint(int(serving.url.rsplit(":", 1)[1]))
    plain = {"videoId": shown["reading"]["video"]["id"], "times": "none"}
    whole = reply(endpoint.call(token, "get_transcript", **plain))
    plain = {"videoId": shown["page"]["video"]["id"], "times": "none"}
    page = reply(endpoint.call(token, "get_transcript", **plain, chunkIndex=1))
    hits = reply(
        endpoint.call(
            token,
            "search_transcript",
            videoId=shown["reading"]["video"]["id"],
            query="why should a rare word count more than a common one",
            maxResults=3,
        )
    )
    assert shown["reading"]["reading"]["text"] in whole
    assert shown["page"]["reading"]["text"] in page
    for line, hit in zip(material(hits).splitlines(), shown["hits"], strict=True):
        assert f"{hit['text']} ({hit['timestamp_link']})" in line

    browser = requests.Session()
    browser.get(serving.link, timeout=30)
    opened = browser.get(shown["hits"][0]["timestamp_link"], timeout=30)
    assert opened.status_code == 200
    assert "How BM25 ranks" in opened.text
