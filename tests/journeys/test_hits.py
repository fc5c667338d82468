"""A hit begins at the same second, and has the same extent, on every door."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from citations.models import Source
from kbsite import boot
from kbsite.callers import SignedInCaller, everything
from kbsite.library.local import LocalLibrary
from kbsite.mcp import tool_inputs, tools
from tests.kbsite.cli.conftest import run_here
from tests.makers import make_source, make_video
from transcripts.models import Collection
from transcripts.text.cues import Cue

TEXT = "We begin with a joke that is long. A rare word counts more."
SECOND = 20 * TEXT.index("A rare") // len(TEXT)
YOUTUBE = f"https://www.youtube.com/watch?v=dQw4w9WgXcQ&t={SECOND}s"


@pytest.fixture
def talk(collection: Collection) -> Source:
    cues = [Cue(start=0, end=20_000, text=TEXT)]
    return make_source(make_video(collection, cues=cues, youtube_id="dQw4w9WgXcQ"), texts=[TEXT])


def test_every_door_opens_a_hit_at_the_sentence_with_its_words(
    page: Client, owner: User, talk: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(boot, "boot", lambda **_: None)  # the tests' database runs, and goes on
    monkeypatch.setattr(LocalLibrary, "close", lambda _: None)
    place = f"0:{SECOND}–0:10"
    caller = SignedInCaller(user=owner, scope=everything())

    (rest,) = page.get("/api/v1/search", {"q": "rare", "mode": "words"}).json()["passages"]
    (json_hit,) = run_here("search", "rare", "--json").json["passages"]
    printed = run_here("search", "rare").out
    answer = tools.search_knowledge_base(
        caller, tool_inputs.SearchKnowledgeBase.model_validate({"query": "rare"})
    )
    listed = tools.search(caller, tool_inputs.ConnectorSearch(query="rare"))
    html = page.get("/search/?q=rare&mode=words").content.decode()

    for hit in (rest, json_hit):
        assert (hit["timestamp_link"], hit["opening"]["place"]) == (YOUTUBE, place)
        assert f"/videos/{talk.video_id}/?t={SECOND}s" in hit["link"]
        assert (hit["start"], hit["text"]) == (0.0, TEXT)
    for text in (printed, answer, listed):
        assert YOUTUBE in text
        assert place in text
    assert YOUTUBE.replace("&", "&amp;") in html
    assert place in html


def test_every_door_shows_the_whole_extent_of_neighbours_that_became_one_hit(
    page: Client, collection: Collection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(boot, "boot", lambda **_: None)  # the tests' database runs, and goes on
    monkeypatch.setattr(LocalLibrary, "close", lambda _: None)
    said = ["A rare word comes.", "It was long in coming. A rare word is rare, a rare one."]
    cues = [
        Cue(start=10_000 * number, end=10_000 * number + 10_000, text=text)
        for number, text in enumerate(said)
    ]
    make_source(make_video(collection, cues=cues), texts=said)
    extent = "0:00–0:20"

    (rest,) = page.get("/api/v1/search", {"q": "rare", "mode": "words"}).json()["passages"]
    assert (rest["text"], rest["extent"]["place"]) == (said[1], extent)
    assert rest["opening"]["start"] > 10, "it opens where its sentence is said"
    shown = f"0:14, in {extent}"
    assert rest["opening"]["place"].startswith("0:14–")
    assert f" 1. {shown}" in run_here("search", "rare").out
    html = page.get("/search/?q=rare&mode=words").content.decode()
    assert f"</span>{shown}</span>" in html
