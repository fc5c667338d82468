"""Lists of the content API by combined conditions, chosen fields and populated relations."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from tests.makers import make_document, make_source, make_user, make_video, token_client
from transcripts.core.access import AccessLevel
from transcripts.models import Collection, Video

ROOT = "/api/content/"


@pytest.fixture
def user(collection: Collection) -> User:
    return make_user("ada", collection=collection)


@pytest.fixture
def asking(user: User) -> Client:
    return token_client(user, access=AccessLevel.READ)


def get(client: Client, path: str) -> Any:
    response = client.get(f"{ROOT}{path}")
    assert response.status_code == 200, response.content
    return response.json()


@pytest.mark.parametrize(
    ("query", "keys"),
    [
        ("filters[$or][0][title][$eq]=Whales&filters[$or][1][title][$eq]=Sharks", "a b"),
        ("filters[$or][0][title][$eq]=Whales&filters[$or][0][channel][$eq]=Ocean", ""),
        ("filters[$and][0][title][$contains]=s&filters[$and][1][channel][$eqi]=OCEAN", "a"),
        ("filters[$not][title][$in]=Whales,Sharks", "c"),
        ("filters[$not][title][$in][0]=Whales&filters[$not][title][$in][1]=Sharks", "c"),
        ("filters[title][$not][$contains]=hal", "a c"),
        ("filters[$not][duration][$gte]=200", ""),
        ("filters[$or][0][$not][title][$ne]=Whales&filters[$or][1][title][$eq]=Seals", "b c"),
        ("filters[$or][0][$and][0][title][$eq]=Seals&filters[title][$ne]=Whales", "c"),
        ("filters[$or][0][title][$eq]=Seals&filters[channel][$eq]=Ocean", ""),
        ("filters[$or][0][published_at][$null]=true&filters[$not][title][$eq]=Seals", "a b"),
    ],
)
def test_conditions_are_combined(
    asking: Client, collection: Collection, query: str, keys: str
) -> None:
    for key, title in (("a", "Sharks"), ("b", "Whales"), ("c", "Seals")):
        make_video(collection, key=key, title=title)
    Video.objects.filter(key="a").update(channel="Ocean")
    rows = get(asking, f"videos/?sort=title&{query}")["videos"]
    assert sorted(row["id"] for row in rows) == keys.split()


def test_no_combination_leads_out_of_what_may_be_seen(asking: Client) -> None:
    foreign = Collection.objects.create(name="Secrets", slug="secrets")
    make_video(foreign, title="Secret")
    for query in ("filters[$or][0][title][$eq]=Secret", "filters[$not][title][$eq]=x"):
        assert get(asking, f"videos/?{query}")["total"] == 0


DEEP = "filters" + "[$not]" * 5 + "[title][$eq]"


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("filters[$or][0][password][$eq]=x", "filters[$or][0][password][$eq]"),
        ("filters[$or][0][title][$like]=x", "filters[$or][0][title][$like]"),
        ("filters[$or][first][title][$eq]=x", "filters[$or][first][title][$eq]"),
        ("filters[$or][0]=x", "filters[$or]"),
        ("filters[$not][title]=x", "filters[$not][title]"),
        ("filters[$not][title][$eq]=", "filters[$not][title][$eq]"),
        ("filters[$not][created_at][$gt]=soon", "filters[$not][created_at][$gt]"),
        ("filters[$xor][0][title][$eq]=x", "filters[$xor][0][title][$eq]"),
        (f"{DEEP}=x", DEEP),
        ("&".join(f"filters[$or][{n}][title][$eq]=x" for n in range(31)), "filters"),
        ("filters[$not][title][$eq]=x&filters[$not][title][$eq][$in]=x", "filters[$not]"),
        ("fields=title,password", "fields"),
        ("populate=owner", "populate"),
        ("populate=collection.members", "populate"),
        ("populate[collection][fields]=password", "populate[collection][fields]"),
        ("populate[collection]=yes", "populate[collection]"),
        ("populate=collection,", "populate"),
    ],
)
def test_what_cannot_be_combined_or_chosen_is_refused_by_name(
    asking: Client, query: str, field: str
) -> None:
    refused = asking.get(f"{ROOT}videos/?{query}")
    assert refused.status_code == 422, refused.content
    assert refused.json()["errors"][0]["field"].startswith(field)


def test_only_the_chosen_fields_are_returned(asking: Client, collection: Collection) -> None:
    video = make_video(collection)
    (row,) = get(asking, "videos/?fields=title,duration")["videos"]
    assert row == {"pk": video.pk, "id": "lecture-1", "title": "Lecture 1", "duration": 300.0}
    fields = get(asking, f"videos/{video.pk}/?fields[0]=chapters&fields[1]=tags")
    assert fields.keys() == {"pk", "id", "chapters", "tags"}


def test_relations_stand_in_place_of_their_references(
    asking: Client, collection: Collection
) -> None:
    source = make_source(make_video(collection), texts=["Networks learn."])
    (row,) = get(asking, "sources/?populate=*")["sources"]
    assert (row["collection"]["name"], row["video"]["title"]) == ("Lectures", "Lecture 1")
    assert row["video"]["collection"] == "lectures"
    (row,) = get(asking, "chunks/?fields=text&populate=source.video")["chunks"]
    assert row.keys() == {"pk", "text", "source"}
    assert (row["source"]["id"], row["source"]["video"]["id"]) == (str(source.uuid), "lecture-1")
    nested = "populate[video][fields]=title&populate[video][populate][0]=collection"
    fields = get(asking, f"sources/{source.uuid}/?{nested}")
    assert fields["video"].keys() == {"pk", "id", "title", "collection"}
    assert fields["video"]["collection"]["slug"] == "lectures"


def test_a_relation_that_is_not_there_is_null(asking: Client, collection: Collection) -> None:
    make_document(collection, ["Networks learn."])
    (row,) = get(asking, "sources/?populate=video.collection")["sources"]
    assert row["video"] is None


@pytest.mark.parametrize(
    "path", ["sources/?populate=collection,video.collection", "chunks/?populate=source.video"]
)
def test_relations_cost_no_query_a_row(asking: Client, collection: Collection, path: str) -> None:
    counts = []
    for number in range(2):
        make_source(make_video(collection, key=f"v-{number}"), texts=["Networks learn."])
        with CaptureQueriesContext(connection) as queries:
            get(asking, path)
        counts.append(len(queries))
    assert counts[0] >= counts[1]
