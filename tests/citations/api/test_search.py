"""The operations on the whole library under /api/v1/: search, index again, mark."""

from typing import Any
from uuid import UUID

import pytest
from django.contrib.auth.models import User
from django.test import Client

from citations.models import Chunk, Mark, Source, State
from tests.citations.api.rest import V1, assert_has, good, send
from tests.makers import LEARNING, make_document, make_two_talks, make_user, token_client
from tests.problems import problem
from transcripts.core.access import AccessLevel
from transcripts.models import Collection, Role


@pytest.fixture
def talks(collection: Collection) -> list[Source]:
    return make_two_talks(collection)


@pytest.fixture
def asking(owner: User) -> Client:
    return token_client(owner)


@pytest.fixture
def stranger(db: None) -> Client:
    """Somebody with a collection of their own."""
    return token_client(
        make_user("mallory", collection=Collection.objects.create(name="Own", slug="own"))
    )


def search(client: Client, **query: Any) -> dict[str, Any]:
    response = client.get(f"{V1}search", {"mode": "words", **query})
    assert response.status_code == 200, response.content
    body: dict[str, Any] = response.json()
    return body


def titles(client: Client, **query: Any) -> list[str]:
    return [passage["title"] for passage in search(client, **query)["passages"]]


# Searching


def test_a_passage_says_where_it_is_said_and_leads_there(
    asking: Client, talks: list[Source]
) -> None:
    result = search(asking, q="missing page")
    (passage,) = result["passages"]
    assert_has(passage, source_id=str(talks[0].uuid), title="Learning", kind="video")
    assert_has(passage, video_id="dQw4w9WgXcQ", channel="Ada", collection="lectures")
    assert_has(passage, text=LEARNING[1], start=10.0, end=20.0, page=None)
    assert passage["timestamp_link"] == "https://www.youtube.com/watch?v=dQw4w9WgXcQ&t=10s"
    assert passage["link"].startswith("http")
    assert f"/videos/{talks[0].video_id}/?t=10s" in passage["link"]
    assert [passage["text"][start:end] for start, end in passage["spans"]] == ["missing", "page"]
    assert 0 < passage["score"] <= 1
    assert_has(passage, explanation=None, mark=None, duplicates=[])
    assert_has(result, query="missing page", mode="words", reranked=False, hypothesis="")
    assert result["suggestion"] == ""
    assert "lexical" in {stage["name"] for stage in result["stages"]}
    assert all(stage["milliseconds"] >= 0 for stage in result["stages"])


def test_a_passage_of_a_document_says_on_which_pages_it_is_printed_and_leads_there(
    asking: Client, collection: Collection
) -> None:
    book = make_document(collection, ["Gradients vanish in deep networks."], title="Deep Learning")
    book.chunks.update(page=3, last_page=4)
    (passage,) = search(asking, q="gradients")["passages"]
    assert_has(passage, start=None, end=None, page=3, last_page=4, video_id=None)
    assert f"/sources/{book.uuid}/pages/3/?from=0&to=" in passage["link"]
    assert passage["timestamp_link"] == passage["link"]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("source_id=bread", ["Baking"]),
        ("source_id=https://youtu.be/dQw4w9WgXcQ", ["Learning"]),
        ("source_id=bread&source_id=dQw4w9WgXcQ", ["Baking", "Learning"]),
        ("channel=ADA", ["Learning"]),
        ("kind=video&language=en&collection=Lectures", ["Baking", "Learning"]),
        ("kind=pdf&kind=text", []),
        ("tag=none", []),
        ("since=2000-01-01&until=2030-01-01", []),
        ("end=5", ["Learning"]),
        ("start=10&end=19.5", ["Baking"]),
        ("speaker=ann%20lee", ["Baking"]),
        ("speaker=Ann%20Lee&speaker=Bo&channel=Ada", []),
        ("limit=1", ["Learning"]),
    ],
)
def test_a_search_is_narrowed(
    asking: Client, talks: list[Source], query: str, expected: list[str]
) -> None:
    talks[1].chunks.update(speaker="Ann Lee")
    response = asking.get(f"{V1}search?mode=words&q=network+networks+learn&{query}")
    assert sorted({passage["title"] for passage in response.json()["passages"]}) == expected


def test_an_explanation_adds_up(asking: Client, talks: list[Source]) -> None:
    listed = search(asking, q="network networks", explain=True)["passages"]
    for rank, passage in enumerate(listed, start=1):
        how = passage["explanation"]
        assert how["lexical_rank"] == rank
        assert how["vector_rank"] is None
        assert how["rrf"] == pytest.approx(how["rrf_lexical"] + how["rrf_vector"])
        assert how["bm25"] == pytest.approx(sum(term["score"] for term in how["terms"]), abs=1e-3)
        assert how["formula"].startswith(f"{passage['score']:.4f}")


def test_an_explanation_says_of_other_hits_why_they_are_not_listed(
    asking: Client, talks: list[Source]
) -> None:
    result = search(asking, q="network networks", explain=True, limit=1)
    assert {hit["rule"] for hit in result["dropped"]} <= {"limit", "floor", "neighbour"}
    assert [hit["rank"] for hit in result["dropped"]] == sorted(
        hit["rank"] for hit in result["dropped"]
    )
    assert search(asking, q="network networks", limit=1)["dropped"] == []


def test_one_passage_is_looked_for(asking: Client, talks: list[Source]) -> None:
    (passage,) = search(asking, q="missing page")["passages"]
    traced = search(asking, q="missing page", find=passage["link"])["traced"]
    assert (traced["chunk"], traced["number"], traced["rule"]) == (passage["chunk"], 1, None)
    problem(asking.get(f"{V1}search", {"q": "page", "find": "1"}), 404, "passage_not_found")


def test_neighbouring_passages_are_one_with_its_extent_and_parts(
    asking: Client, talks: list[Source]
) -> None:
    (passage,) = search(asking, q="missing page flow")["passages"]
    (part,) = passage["parts"]
    assert {passage["text"], part["text"]} == set(LEARNING[1:3])
    assert {(passage["start"], passage["end"]), (part["start"], part["end"])} == {
        (10, 20),
        (20, 30),
    }
    assert passage["extent"] == {
        **{"start": 10.0, "end": 30.0, "place": "0:10–0:30"},
        **{"page": None, "last_page": None, "is_slide": False},
    }
    for at in (passage, part):
        assert f"?t={at['start']:.0f}s" in at["link"]


@pytest.mark.parametrize(
    ("query", "status", "code"),
    [
        ("", 422, "invalid_input"),
        ("q=", 422, "invalid_input"),
        ("q=%20%20", 422, "empty_query"),
        ("q=-only", 422, "empty_query"),
        (f"q={'w' * 1001}", 422, "invalid_input"),
        ("q=%00", 422, "invalid_input"),
        ("q=%ED%A0%80", 422, "empty_query"),
        ("q=page&mode=magic", 422, "invalid_input"),
        ("q=page&limit=0", 422, "invalid_input"),
        ("q=page&limit=51", 422, "invalid_input"),
        ("q=page&kind=scroll", 422, "invalid_input"),
        ("q=page&since=soon", 422, "invalid_input"),
        ("q=page&since=0001-01-01&until=9999-12-31", 200, ""),
        ("q=page&since=2024-02-01&until=2024-01-01", 422, "invalid_filter"),
        ("q=page&start=nan", 422, "invalid_input"),
        ("q=page&start=1e400", 422, "invalid_input"),
        ("q=page&start=-1", 422, "invalid_input"),
        ("q=page&start=20&end=10", 422, "invalid_filter"),
        ("q=page&source_id=nowhere", 404, "source_not_found"),
        ("q=page&source_id=", 404, "source_not_found"),
        (f"q=page&{'&'.join(['tag=x'] * 101)}", 422, "invalid_input"),
        ("q=page&collection=nowhere", 404, "collection_not_found"),
        ("q=page&mode=meaning", 503, "unavailable"),
    ],
)
def test_what_cannot_be_searched_is_refused_in_the_one_shape(
    asking: Client, talks: list[Source], query: str, status: int, code: str
) -> None:
    response = asking.get(f"{V1}search?{query}")
    assert response.status_code == status, response.content
    if code:
        problem(response, status, code)


# Indexing again


def test_an_editor_has_a_source_indexed_again(
    asking: Client, talks: list[Source], django_capture_on_commit_callbacks: Any
) -> None:
    with django_capture_on_commit_callbacks() as sent:
        response = asking.post(f"{V1}sources/{talks[0].uuid}/index")
    assert response.status_code == 202
    answer = response.json()
    assert_has(answer, id=str(talks[0].uuid), state="pending", chunks=3, video_id="dQw4w9WgXcQ")
    assert len(sent) == 1
    talks[0].refresh_from_db()
    assert talks[0].state == State.PENDING
    assert titles(asking, q="missing page") == ["Learning"], (
        "what is indexed is found until it is replaced"
    )


def test_only_who_may_write_has_a_source_indexed_again(
    owner: User, stranger: Client, collection: Collection, talks: list[Source]
) -> None:
    path = f"{V1}sources/{talks[0].uuid}/index"
    viewer = token_client(make_user("eve", collection=collection, role=Role.VIEWER))
    problem(viewer.post(path), 403, "forbidden")
    problem(token_client(owner, access=AccessLevel.READ).post(path), 403, "insufficient_scope")
    problem(stranger.post(path), 404, "source_not_found")
    problem(stranger.post(f"{V1}sources/{UUID(int=1)}/index"), 404, "source_not_found")
    problem(stranger.post(f"{V1}sources/nonsense/index"), 422, "invalid_input")
    assert Source.objects.get(pk=talks[0].pk).state == State.READY


# Marking


def test_a_hit_is_marked_and_the_search_gives_the_mark_back(
    asking: Client, talks: list[Source]
) -> None:
    (hit,) = search(asking, q="missing page")["passages"]
    for right in (True, False):
        body = {"chunk": hit["chunk"], "right": right}
        answer = send(asking, "marks", body | {"query": " missing  page "}, method="put")
        assert good(answer) == body | {"query": "missing page"}
        assert search(asking, q="missing page")["passages"][0]["mark"] is right
    assert search(asking, q="page missing")["passages"][0]["mark"] is None
    address = f"{V1}marks?query=missing+page&chunk={hit['chunk']}"
    assert [asking.delete(address).status_code for _ in range(2)] == [204, 204]
    assert search(asking, q="missing page")["passages"][0]["mark"] is None
    assert not Mark.objects.exists()


def test_ones_own_marks_are_listed_while_their_sources_may_be_read(
    asking: Client, owner: User, collection: Collection, talks: list[Source]
) -> None:
    for query, right in (("missing page", True), ("page missing", False)):
        (hit,) = search(asking, q=query)["passages"]
        body = {"query": query, "chunk": hit["chunk"], "right": right}
        asking.put(f"{V1}marks", body, content_type="application/json")
    listed = asking.get(f"{V1}marks").json()
    assert [mark["query"] for mark in listed["marks"]] == ["page missing", "missing page"]
    assert {mark["chunk"] for mark in listed["marks"]} == {hit["chunk"]}
    assert listed["marks"][0]["source_id"] == hit["source_id"]
    assert listed["marks"][0]["start"] == hit["start"]
    page = asking.get(f"{V1}marks?limit=1").json()
    assert (len(page["marks"]), page["total"], page["next"]) == (1, 2, 1)
    (only,) = asking.get(f"{V1}marks?right=true&query=missing+++page").json()["marks"]
    assert only["query"] == "missing page"
    viewer = token_client(make_user("eve", collection=collection, role=Role.VIEWER))
    assert viewer.get(f"{V1}marks").json()["total"] == 0
    Chunk.objects.filter(pk=hit["chunk"]).delete()
    assert asking.get(f"{V1}marks").json()["marks"][0]["chunk"] is None
    owner.memberships.all().delete()
    assert asking.get(f"{V1}marks").json()["marks"] == []


def test_only_what_may_be_read_can_be_marked(
    asking: Client, owner: User, stranger: Client, talks: list[Source]
) -> None:
    chunk = talks[0].chunks.first()
    body = {"query": "errors", "chunk": chunk.pk, "right": True}
    problem(send(stranger, "marks", body, method="put"), 404, "passage_not_found")
    problem(stranger.delete(f"{V1}marks?query=errors&chunk={chunk.pk}"), 404, "passage_not_found")
    reading = token_client(owner, access=AccessLevel.READ)
    problem(send(reading, "marks", body, method="put"), 403, "insufficient_scope")
    for wrong in (
        {"query": ""},
        {"query": "\0"},
        {"chunk": 0},
        {"chunk": 2**63},
        {"right": None},
        {"more": 1},
    ):
        problem(send(asking, "marks", {**body, **wrong}, method="put"), 422, "invalid_input")
    gone = {**body, "chunk": 2**62}
    problem(send(asking, "marks", gone, method="put"), 404, "passage_not_found")
    assert not Mark.objects.exists()
