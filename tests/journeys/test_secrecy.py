"""What the reader of one collection is shown does not depend on what the others hold, to the last
bit of a score.

Libraries are drawn at random; sources that the reader may not see come and go, and after each step
every door is asked again.
"""

import re
from collections.abc import Iterator
from difflib import unified_diff
from typing import Any

import httpx2
import pytest
from django.test import Client
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from mcp_types import PromptReference

from citations.ingest import discovery
from citations.ingest import pipeline as ingest_pipeline
from citations.lexical import merging
from citations.models import Source
from kbsite.mcp.server import Application
from kbsite.middleware import rate_limits
from kbsite.models import ApiToken
from tests.kbsite.mcp.endpoint import Endpoint, served
from tests.loopback import NO_TLS
from tests.makers import make_cues, make_document, make_user, make_video, replace_chunks
from transcripts.models import Collection, Role, Video

WORDS = (
    *("the network learns", "an error flows back", "the whale sings at night", "rivers carry sand"),
    *("weights move a little", "error 404 is a missing page", "sand and water make the network"),
    "猫が好き",
)
TEXTS = st.lists(
    st.lists(st.sampled_from(WORDS), min_size=2, max_size=5).map(", ".join), min_size=1, max_size=5
)
QUERIES = ("the network error", '"error 404" -whale', "猫 sand", "netwrk whael sanb")
QUESTIONS = ("What flows back to the network?", "What are these sources about?")
# What follows from the moment and not from the library.
CLOCK = re.compile(
    r'"milliseconds": ?[\d.e-]+|[\d.,]+\s(ms|s)\b|<td>\d+\.\d</td>|\d+ seconds? ago'
    r"""|csrf\w*["'][^>]*|nonce="[^"]*\""""
)


class Shown:
    """Every door that a reader of a collection has."""

    def __init__(self, endpoint: Endpoint, name: str) -> None:
        self.shelf = Collection.objects.create(name=f"Open {name}", slug=f"open-{name}")
        reader = make_user(f"reader-{name}", collection=self.shelf, role=Role.EDITOR)
        _, self._token = ApiToken.issue(reader, name="reading")
        self._endpoint = endpoint
        self._browser = Client()
        self._browser.force_login(reader)

    def everything(self) -> dict[str, str]:
        rate_limits.forget()
        return {name: CLOCK.sub("", text) for name, text in self._answers()}

    def _answers(self) -> Iterator[tuple[str, str]]:
        for query in QUERIES:
            for mode in ("both", "words", "meaning"):
                arguments = {"q": query, "mode": mode, "explain": "true", "limit": 50}
                yield f"{mode} search for {query}", self._rest("GET", "search", params=arguments)
            quote = {"quote": f"{query} that nobody ever said in this way"}
            yield f"check of {query}", self._rest("POST", "verify", json=quote)
        narrowed = {"q": QUERIES[0], "kind": "text", "explain": "true"}
        yield "narrowed search", self._rest("GET", "search", params=narrowed)
        for question in QUESTIONS:
            arguments = {"question": question, "keep": False}
            yield f"answer to {question}", self._rest("POST", "ask?stream=false", json=arguments)
        for path in ("/", "/library/", "/search/?q=whale&explain=1", "/ask/"):
            yield f"page {path}", self._browser.get(path).content.decode()
        yield "completions", self._endpoint.talk(self._token, completions)

    def _rest(self, method: str, path: str, **sent: Any) -> str:
        headers = {"Authorization": f"Bearer {self._token}"}
        url = f"{self._endpoint.base}/api/v1/{path}"
        options = {"headers": headers, "timeout": 60, "verify": NO_TLS}
        return httpx2.request(method, url, **options, **sent).text


async def completions(client: Any) -> str:
    prompt = PromptReference(name="summarise_video")
    return str(
        [
            (await client.complete(prompt, {"name": name, "value": typed})).completion
            for name in ("videoId", "source", "language", "collection")
            for typed in ("", "open", "secret")
        ]
    )


class Hidden:
    """A collection that the reader may not see, and the ways in which it changes."""

    def __init__(self, name: str) -> None:
        self.shelf = Collection.objects.create(name=f"Secret {name}", slug=f"secret-{name}")
        self._name = name

    def change(self, step: str, texts: list[str], number: int) -> None:
        sources = Source.objects.filter(collection=self.shelf)
        if step == "add a talk":
            add_talk(self.shelf, texts, key=f"secret-{self._name}-{number}")
        elif step == "add a document":
            make_document(self.shelf, texts)
        elif step == "replace" and sources:
            replace_chunks(sources[number % len(sources)], texts)
        elif step == "delete" and sources:
            Video.objects.filter(sources=sources[0]).delete()
            Source.objects.filter(pk__in=sources[:1]).delete()
        elif step == "merge":
            merging.merge(spare=0)


STEPS = st.lists(
    st.tuples(
        st.sampled_from(("add a talk", "add a document", "replace", "delete", "merge")), TEXTS
    ),
    min_size=1,
    max_size=3,
)


def add_talk(shelf: Collection, texts: list[str], *, key: str) -> None:
    make_video(shelf, key=key, title=f"Talk {key}", cues=make_cues(20, sentences=texts))
    for source in discovery.adopt():
        ingest_pipeline.ingest(source.pk)


def difference(before: str, after: str) -> str:
    return "\n".join(unified_diff(before.splitlines(), after.splitlines(), n=0, lineterm=""))


@pytest.fixture(scope="module")
def endpoint() -> Iterator[Endpoint]:
    with served(Application()) as running:
        yield running


@pytest.mark.usefixtures("transactional_db", "fake_models")
def test_what_others_keep_changes_no_byte_of_what_a_reader_is_shown(endpoint: Endpoint) -> None:
    names = iter(range(1000))

    @settings(
        max_examples=3,
        phases=[Phase.generate],
        deadline=None,
        derandomize=True,
        suppress_health_check=[HealthCheck.too_slow],
    )
    @given(readable=st.lists(TEXTS, min_size=1, max_size=2), is_merged=st.booleans(), steps=STEPS)
    def compare(
        readable: list[list[str]], is_merged: bool, steps: list[tuple[str, list[str]]]
    ) -> None:
        name = str(next(names))
        reader, hidden = Shown(endpoint, name), Hidden(name)
        add_talk(reader.shelf, readable[0], key=f"open-{name}")
        for texts in readable[1:]:
            make_document(reader.shelf, texts)
        merging.merge(spare=0 if is_merged else 100)
        before = reader.everything()
        for number, (step, texts) in enumerate(steps):
            hidden.change(step, texts, number)
            after = reader.everything()
            assert {door: difference(before[door], after[door]) for door in after} == dict.fromkeys(
                before, ""
            ), step

    compare()
