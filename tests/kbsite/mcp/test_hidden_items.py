"""For the half minute in which a deletion can be taken back, no door shows what it is about."""

import pytest
from django.test import Client

from citations.ingest import selection
from citations.models import Source
from kbsite.callers import everything
from tests.kbsite.mcp.conftest import Shelf
from tests.kbsite.mcp.endpoint import Endpoint, text
from tests.makers import make_document, make_source, make_video
from transcripts.models import Collection

SAID = "Moss drinks the rain."
QUERY = "moss rain"


@pytest.fixture
def talk(shelf: Shelf) -> Source:
    make_document(shelf.collection, ["Ferns like the rain."], title="On ferns")
    return make_source(make_video(shelf.collection, key="moss", title="On moss"), texts=[SAID])


def titles(rest: Client, query: str = QUERY) -> set[str]:
    body = rest.get(f"/api/v1/search?q={query}&mode=words").json()
    return {passage["title"] for passage in body["passages"]}


def test_what_is_being_deleted_is_found_by_no_door_and_comes_back(
    endpoint: Endpoint, shelf: Shelf, talk: Source
) -> None:
    rest = Client(headers={"Authorization": f"Bearer {shelf.token}"})
    called = {"query": QUERY, "mode": "words"}
    video = f"/api/content/videos/{talk.video_id}/"
    assert titles(rest) == {"On moss", "On ferns"}
    assert rest.get(video).status_code == 200
    chosen = selection.select(everything(), [f"video-{talk.video_id}"])
    deletion = selection.delete(chosen, by=shelf.owner)
    assert titles(rest) == {"On ferns"}
    for path in (video, f"/api/content/sources/{talk.uuid}/", "/api/v1/transcripts/moss"):
        assert rest.get(path).status_code == 404
    listed = rest.get("/api/content/sources/").json()["sources"]
    assert [row["title"] for row in listed] == ["On ferns"]
    searched = shelf.read("search_knowledge_base", **called)
    assert SAID not in searched
    assert "On ferns" in searched
    shelf.read.refused("get_transcript", videoId="moss")
    assert "On moss" not in text(endpoint.call(shelf.reading, "list_sources"))
    selection.take_back(deletion.uuid, by=shelf.owner)
    assert titles(rest) == {"On moss", "On ferns"}
    assert SAID in shelf.read("search_knowledge_base", **called)
    assert rest.get(video).status_code == 200


def test_it_is_hidden_from_those_who_may_read_everything(shelf: Shelf, talk: Source) -> None:
    assert Collection.objects.count() == 1
    rest = Client(headers={"Authorization": f"Bearer {shelf.token}"})
    assert titles(rest, "moss") == {"On moss"}
    selection.delete(selection.select(everything(), [f"video-{talk.video_id}"]), by=shelf.owner)
    assert titles(rest, "moss") == set()
