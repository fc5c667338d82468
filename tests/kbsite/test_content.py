"""The content API under /api/content/: what it lists, to whom, and what may be changed."""

import json
import re
from contextlib import suppress
from threading import Thread
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import IntegrityError, connection
from django.db.models.signals import pre_delete
from django.test import Client

from kbsite.models import ApiToken
from tests.makers import caption_json, make_cues, make_source, make_user, make_video, token_client
from tests.problems import PROBLEM, problem
from transcripts.adding import storage
from transcripts.core.access import AccessLevel
from transcripts.models import Collection, Feed, Membership, Role, Transcript, Video

ROOT = "/api/content/"
RESOURCES = ("collections", "memberships", "videos", "transcripts", "feeds", "sources", "chunks")


@pytest.fixture
def feed(collection: Collection) -> Feed:
    return Feed.objects.create(
        collection=collection,
        kind="playlist",
        youtube_id="PLrAXtmErZgOeiKm4sgNOknGvNjby9efdf",
        title="Course",
    )


def send(client: Client, method: str, path: str, data: Any = None) -> Any:
    return getattr(client, method)(
        f"{ROOT}{path}", json.dumps(data), content_type="application/json"
    )


def listed(client: Client, path: str, **query: Any) -> list[dict[str, Any]]:
    response = client.get(f"{ROOT}{path}/", query)
    assert response.status_code == 200, response.content
    rows: list[dict[str, Any]] = response.json()[path]
    return rows


# Reading


def test_the_root_names_the_resources(asking: Client) -> None:
    assert set(asking.get(ROOT).json()) == set(RESOURCES)


def test_a_video_says_what_is_known_of_it_and_names_its_transcripts(
    asking: Client, collection: Collection
) -> None:
    video = make_video(collection)
    (row,) = listed(asking, "videos")
    assert (row["id"], row["pk"], row["collection"], row["duration"]) == (
        "lecture-1",
        video.pk,
        "lectures",
        300.0,
    )
    assert [transcript["language"] for transcript in row["transcripts"]] == ["en"]
    assert "description" not in row
    assert "description" in asking.get(f"{ROOT}videos/{video.pk}/").json()


def test_cues_come_with_a_single_transcript_only(asking: Client, collection: Collection) -> None:
    make_video(collection, cues=make_cues(3))
    (row,) = listed(asking, "transcripts")
    assert "cues" not in row
    detail = asking.get(f"{ROOT}transcripts/{row['pk']}/").json()
    welcome = "Welcome to this lecture on neural networks. Point 0."
    assert detail["cues"][0] == {"start": 0.0, "end": 5.0, "text": welcome}
    assert detail["video"] == "lecture-1"


def test_videos_are_filtered_searched_and_ordered(asking: Client, collection: Collection) -> None:
    make_video(collection, key="b", title="Whales")
    make_video(collection, key="a", title="Sharks", lang="de-AT")
    Video.objects.filter(key="a").update(tags=["sea", "teeth"], channel="Ocean")
    expected = {
        "search=whal": ["b"],
        "search=ocean%20shark": ["a"],
        "tag=teeth": ["a"],
        "language=de": ["a"],
        "channel=OCEAN": ["a"],
        "id=b": ["b"],
        "collection=lectures&sort=title": ["a", "b"],
        "sort=-title": ["b", "a"],
        "sort=duration&sort=title": ["a", "b"],
        "collection=nothing": [],
        "youtube_id=dQw4w9WgXcQ": [],
        "created_at__gte=2999-01-01T00:00:00Z": [],
        "title__icontains=HARK": ["a"],
        "title__not_icontains=HARK": ["b"],
        "title__in=Sharks,Whales&sort=title": ["a", "b"],
        "title__not_in=Sharks,Seals": ["b"],
        "channel__not_exact=Ocean": ["b"],
        "duration__not_exact=300": [],
        "title__in=Sharks&title__in=Seals": ["a"],
        "title__startswith=Wh&title__not_exact=Whale": ["b"],
        "duration__gt=299.5&duration__lte=300&channel=ocean": ["a"],
        "published_at__isnull=true&sort=title": ["a", "b"],
    }
    for query, keys in expected.items():
        rows = asking.get(f"{ROOT}videos/?{query}").json()["videos"]
        assert [row["id"] for row in rows] == keys, query


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("colection=lectures", "colection"),
        ("title__like=x", "title__like"),
        ("collection__members__password=x", "collection__members__password"),
        ("created_at__gt=soon", "created_at__gt"),
        ("sort=collection__members__password", "sort"),
        ("sort=title,-password", "sort"),
        ("fields=title,password", "fields"),
        ("limit=1000", "limit"),
        ("offset=-1", "offset"),
        ("page=2", "page"),
    ],
)
def test_what_a_list_does_not_have_is_refused_by_name(
    asking: Client, collection: Collection, query: str, field: str
) -> None:
    make_video(collection)
    response = asking.get(f"{ROOT}videos/?{query}")
    problem(response, 422, "invalid_input")
    (error,) = response.json()["errors"]
    assert error["field"] == field
    assert error["message"]
    assert f"{field}: {error['message']}" == response.json()["detail"]


def test_only_the_chosen_fields_are_returned(asking: Client, collection: Collection) -> None:
    video = make_video(collection)
    (row,) = listed(asking, "videos", fields="title,duration")
    assert row == {"pk": video.pk, "id": "lecture-1", "title": "Lecture 1", "duration": 300.0}
    fields = asking.get(f"{ROOT}videos/{video.pk}/?fields=chapters&fields=tags").json()
    assert fields.keys() == {"pk", "id", "chapters", "tags"}


def test_a_single_resource_takes_no_filter(asking: Client, collection: Collection) -> None:
    video = make_video(collection)
    problem(asking.get(f"{ROOT}videos/{video.pk}/?collection=other"), 422, "invalid_input")


def test_the_other_listings_are_filtered_too(
    asking: Client, collection: Collection, feed: Feed
) -> None:
    make_video(collection)
    assert (
        len(
            listed(
                asking,
                "transcripts",
                video="lecture-1",
                language="en",
                origin="upload",
                collection="lectures",
            )
        )
        == 1
    )
    assert listed(asking, "transcripts", language="fr") == []
    assert len(listed(asking, "feeds", kind="playlist", collection="lectures", search="cour")) == 1
    assert listed(asking, "feeds", kind="channel") == []
    assert [row["user"] for row in listed(asking, "memberships", role="owner", user="ada")] == [
        "ada"
    ]
    assert [row["videos"] for row in listed(asking, "collections", search="lect")] == [1]


def test_a_source_says_how_far_it_is_indexed_and_its_chunks_where_they_are(
    asking: Client, collection: Collection
) -> None:
    source = make_source(
        make_video(collection),
        state="words",
        author="Ada",
        texts=["Networks learn.", "Errors go back."],
    )
    (row,) = listed(asking, "sources")
    assert (row["id"], row["video"], row["state"], row["chunk_count"], row["collection"]) == (
        str(source.uuid),
        "lecture-1",
        "words",
        2,
        "lectures",
    )
    assert asking.get(f"{ROOT}sources/{source.uuid}/").json() == row
    chunks = listed(asking, "chunks", source=source.uuid)
    assert [
        (chunk["ordinal"], chunk["text"], chunk["start"], chunk["span_start"]) for chunk in chunks
    ] == [(0, "Networks learn.", 0, 0), (1, "Errors go back.", 10.0, 16)]
    assert asking.get(f"{ROOT}chunks/{chunks[0]['pk']}/").json() == chunks[0]


def test_sources_and_chunks_are_filtered_searched_and_ordered(
    asking: Client, collection: Collection
) -> None:
    whales = make_source(
        make_video(collection, key="b", title="Whales"), author="Ocean", texts=["They sing."]
    )
    sharks = make_source(
        make_video(collection, key="a", title="Sharks", lang="de-AT"),
        language="de-AT",
        state="failed",
    )
    sharks.tags = ["teeth"]
    sharks.save(update_fields=["tags"])
    expected = {
        "": [sharks, whales],
        "search=whal": [whales],
        "author=OCEAN": [whales],
        "tag=teeth": [sharks],
        "language=de": [sharks],
        "state=failed&kind=video": [sharks],
        "kind=pdf": [],
        "video=b&collection=lectures": [whales],
        "sort=title": [sharks, whales],
        "sort=chunk_count": [sharks, whales],
        "published_at__gt=2000-01-01T00:00:00Z": [],
        "state__in=failed,pending": [sharks],
    }
    for query, sources in expected.items():
        rows = asking.get(f"{ROOT}sources/?{query}").json()["sources"]
        assert [row["id"] for row in rows] == [str(source.uuid) for source in sources], query
    assert (
        len(listed(asking, "chunks", video="b", kind="video", collection="lectures", sort="-start"))
        == 1
    )
    assert listed(asking, "chunks", video="a") == []
    for query in ("chunks/?source=no-uuid", "chunks/?kind=book", "sources/?state=lost"):
        problem(asking.get(f"{ROOT}{query}"), 422, "invalid_input")


@pytest.mark.parametrize("name", ["sources", "chunks"])
def test_sources_and_chunks_are_only_read_here(
    asking: Client, collection: Collection, name: str
) -> None:
    source = make_source(make_video(collection), texts=["One."])
    which = source.uuid if name == "sources" else source.chunks.get().pk
    for method, path in (
        ("post", f"{name}/"),
        ("patch", f"{name}/{which}/"),
        ("delete", f"{name}/{which}/"),
        ("delete", f"{name}/{which}/?fields=pk"),  # before what is wrong with a parameter
    ):
        problem(send(asking, method, path, {}), 405, "method_not_allowed")


def test_a_page_has_at_most_a_hundred(asking: Client, collection: Collection) -> None:
    Video.objects.bulk_create(
        Video(collection=collection, key=f"v{n}", title=f"V {n}") for n in range(130)
    )
    answer = asking.get(f"{ROOT}videos/?limit=100").json()
    assert (answer["total"], len(answer["videos"]), answer["next"]) == (130, 100, 100)
    rest = asking.get(f"{ROOT}videos/?limit=100&offset=100").json()
    assert (len(rest["videos"]), rest["next"]) == (30, None)
    assert len(listed(asking, "videos")) == 25


@pytest.mark.parametrize("resource", RESOURCES)
@pytest.mark.parametrize("form", ["json", "api"])
def test_the_number_of_queries_does_not_grow_with_the_rows(
    asking: Client, owner: User, resource: str, form: str, django_assert_max_num_queries: Any
) -> None:
    for n in range(12):
        shelf = Collection.objects.create(name=f"C{n}", slug=f"c{n}")
        Membership.objects.create(collection=shelf, user=owner, role=Role.OWNER)
        make_source(make_video(shelf, key=f"v{n}", cues=make_cues(2)), texts=["One.", "Two."])
        Feed.objects.create(collection=shelf, kind="channel", youtube_id=f"UC{n}")
    with django_assert_max_num_queries(9):
        assert asking.get(f"{ROOT}{resource}/?format={form}").status_code == 200


def test_long_columns_stay_in_the_database_for_a_listing(
    asking: Client, collection: Collection, django_assert_max_num_queries: Any
) -> None:
    make_video(collection)
    for resource in ("videos", "transcripts"):
        with django_assert_max_num_queries(9) as captured:
            listed(asking, resource)
        assert not [
            query
            for query in captured.captured_queries
            if '"cues"' in query["sql"]
            or "word_times" in query["sql"]
            or '"transcripts_video"."description"' in query["sql"]
        ]


# Changing


def test_an_editor_changes_title_and_tags_and_nothing_else(
    asking: Client, collection: Collection
) -> None:
    video = make_video(collection)
    response = send(
        asking,
        "patch",
        f"videos/{video.pk}/",
        {
            "title": "New",
            "tags": ["a"],
            "id": "x",
            "youtube_id": "y",
            "collection": "z",
            "description": "d",
        },
    )
    assert response.status_code == 200
    video.refresh_from_db()
    assert (
        video.title,
        video.tags,
        video.key,
        video.youtube_id,
        video.description,
        video.collection,
    ) == ("New", ["a"], "lecture-1", "", "", collection)


def test_deleting_a_video_deletes_what_is_said_in_it_and_nothing_else(
    asking: Client, collection: Collection
) -> None:
    video, other = make_video(collection), make_video(collection, key="other")
    assert asking.delete(f"{ROOT}videos/{video.pk}/").status_code == 204
    assert list(Video.objects.all()) == [other]
    assert Transcript.objects.count() == 1


def test_a_feed_is_planned_anew_and_deleted_without_its_videos(
    asking: Client, collection: Collection, feed: Feed
) -> None:
    make_video(collection)
    answer = send(asking, "patch", f"feeds/{feed.pk}/", {"every_hours": 24, "newest": 5}).json()
    assert (answer["every_hours"], answer["newest"]) == (24, 5)
    assert answer["next_sync_at"] is not None
    assert (
        send(asking, "patch", f"feeds/{feed.pk}/", {"every_hours": None}).json()["next_sync_at"]
        is None
    )
    assert asking.delete(f"{ROOT}feeds/{feed.pk}/").status_code == 204
    assert Video.objects.count() == 1


def test_whoever_makes_a_collection_owns_it(asking: Client) -> None:
    response = send(asking, "post", "collections/", {"name": "New", "slug": "new"})
    assert response.status_code == 201
    assert Membership.objects.get(collection__slug="new").role == Role.OWNER
    pk = response.json()["pk"]
    assert (
        send(asking, "patch", f"collections/{pk}/", {"name": "Newer", "slug": "newer"}).json()[
            "slug"
        ]
        == "new"
    )
    assert asking.delete(f"{ROOT}collections/{pk}/").status_code == 204
    problem(
        send(asking, "post", "collections/", {"name": "Lectures", "slug": "x"}),
        422,
        "invalid_input",
    )


def test_a_token_limited_to_collections_makes_none(owner: User, collection: Collection) -> None:
    problem(
        send(
            token_client(owner, collections=(collection,)),
            "post",
            "collections/",
            {"name": "N", "slug": "n"},
        ),
        403,
        "forbidden",
    )


def test_an_owner_adds_members_changes_their_role_and_removes_them(asking: Client) -> None:
    make_user("grace")
    response = send(
        asking,
        "post",
        "memberships/",
        {"collection": "lectures", "user": "grace", "role": "viewer"},
    )
    assert response.status_code == 201, response.content
    path = f"memberships/{response.json()['pk']}/"
    changed = send(asking, "patch", path, {"role": "editor", "user": "ada"}).json()
    assert (changed["user"], changed["role"]) == ("grace", "editor")
    assert asking.delete(ROOT + path).status_code == 204
    problem(
        send(
            asking,
            "post",
            "memberships/",
            {"collection": "lectures", "user": "nobody", "role": "viewer"},
        ),
        422,
        "invalid_input",
    )
    problem(
        send(
            asking,
            "post",
            "memberships/",
            {"collection": "lectures", "user": "ada", "role": "viewer"},
        ),
        422,
        "invalid_input",
    )


def test_a_collection_keeps_an_owner(asking: Client, owner: User, collection: Collection) -> None:
    pk = Membership.objects.get(user=owner).pk
    problem(send(asking, "patch", f"memberships/{pk}/", {"role": "viewer"}), 409, "conflict")
    problem(asking.delete(f"{ROOT}memberships/{pk}/"), 409, "conflict")
    Membership.objects.create(collection=collection, user=make_user("grace"), role=Role.OWNER)
    assert asking.delete(f"{ROOT}memberships/{pk}/").status_code == 204


@pytest.mark.parametrize("role", [Role.VIEWER, Role.EDITOR])
def test_a_member_leaves_and_removes_nobody_else(
    asking: Client, collection: Collection, role: Role
) -> None:
    member = make_user("grace", collection=collection, role=role)
    other = Membership.objects.get(user=make_user("joan", collection=collection))
    browser, own = token_client(member), Membership.objects.get(user=member)
    problem(browser.delete(f"{ROOT}memberships/{other.pk}/"), 403, "forbidden")
    problem(send(browser, "patch", f"memberships/{own.pk}/", {"role": "owner"}), 403, "forbidden")
    assert browser.delete(f"{ROOT}memberships/{own.pk}/").status_code == 204
    assert not Membership.objects.filter(user=member).exists()


# Who may


def paths_of(collection: Collection, feed: Feed) -> list[str]:
    """One address of each resource, of things in the collection."""
    video = make_video(collection)
    member = Membership.objects.filter(collection=collection).order_by("pk").first()
    assert member is not None
    transcript = video.transcripts.get()
    source = make_source(video, texts=["One."])
    return [
        f"collections/{collection.pk}/",
        f"memberships/{member.pk}/",
        f"videos/{video.pk}/",
        f"transcripts/{transcript.pk}/",
        f"feeds/{feed.pk}/",
        f"sources/{source.uuid}/",
        f"chunks/{source.chunks.get().pk}/",
    ]


def test_what_belongs_to_others_is_not_there(
    owner: User, collection: Collection, feed: Feed
) -> None:
    own = Collection.objects.create(name="Own", slug="own")
    stranger = token_client(make_user("mallory", collection=own))
    for path in paths_of(collection, feed):
        for method in ("get", "patch", "delete"):
            response = (
                send(stranger, method, path, {}) if method != "get" else stranger.get(ROOT + path)
            )
            if response.status_code != 405:
                problem(response, 404, "not_found")
    for resource in RESOURCES:
        assert [
            row
            for row in listed(stranger, resource)
            if "lectures" in (row.get("slug"), row.get("collection"))
        ] == []
    problem(
        send(
            stranger,
            "post",
            "memberships/",
            {"collection": "lectures", "user": "mallory", "role": "owner"},
        ),
        422,
        "invalid_input",
    )


def test_a_viewer_and_a_token_that_may_only_read_see_all_and_change_nothing(
    owner: User, collection: Collection, feed: Feed
) -> None:
    viewer = token_client(make_user("eve", collection=collection, role=Role.VIEWER))
    reader = token_client(owner, access=AccessLevel.READ)
    for path in paths_of(collection, feed):
        for client in (viewer, reader):
            hidden = client is reader and path.startswith("memberships/")  # is for managing tokens
            assert client.get(ROOT + path).status_code == (403 if hidden else 200)
            for method in ("patch", "delete"):
                response = send(client, method, path, {"title": "x"})
                assert response.status_code in (403, 405), (path, method)
    for client, code in ((viewer, "forbidden"), (reader, "insufficient_scope")):
        problem(
            send(
                client,
                "post",
                "memberships/",
                {"collection": "lectures", "user": "eve", "role": "owner"},
            ),
            403,
            code,
        )
    new = {"name": "N", "slug": "n"}
    problem(send(reader, "post", "collections/", new), 403, "insufficient_scope")


def test_an_editor_changes_content_but_not_the_collection(
    owner: User, collection: Collection, feed: Feed
) -> None:
    editor = token_client(make_user("ed", collection=collection, role=Role.EDITOR))
    paths = paths_of(collection, feed)
    assert send(editor, "patch", paths[2], {"title": "x"}).status_code == 200
    for path in paths[:2]:
        problem(send(editor, "patch", path, {}), 403, "forbidden")
        problem(editor.delete(ROOT + path), 403, "forbidden")
    problem(
        send(
            editor,
            "post",
            "memberships/",
            {"collection": "lectures", "user": "ed", "role": "owner"},
        ),
        403,
        "forbidden",
    )


@pytest.mark.parametrize("token", ["", "Bearer kb_nonsense", "Bearer ", "Basic YTpi"])
def test_a_stranger_is_told_how_to_come_in(client: Client, db: None, token: str) -> None:
    for accept in ("application/json", "text/html"):
        for path in ("", "videos/", "videos/1/"):
            response = client.get(ROOT + path, headers={"Authorization": token, "Accept": accept})
            assert response.status_code == 401
            assert response["WWW-Authenticate"].startswith("Bearer")
            assert b"not_signed_in" in response.content


def test_a_session_needs_its_csrf_token_to_change_something(
    owner: User, collection: Collection
) -> None:
    video = make_video(collection)
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(owner)
    problem(send(browser, "patch", f"videos/{video.pk}/", {"title": "x"}), 403, "forbidden")


@pytest.mark.parametrize("method", ["post", "patch", "delete"])
def test_a_caller_with_a_token_learns_that_there_is_nothing_at_an_address(
    owner: User, collection: Collection, method: str
) -> None:
    _, text = ApiToken.issue(owner, name="test", access=AccessLevel.MANAGE)
    client = Client(enforce_csrf_checks=True, headers={"Authorization": f"Bearer {text}"})
    video = make_video(collection)
    # Addresses have the number of a video; its id is a filter of the list.
    problem(send(client, method, f"videos/{video.key}/", {}), 404, "not_found")
    assert Video.objects.filter(pk=video.pk).exists()


# The browsable pages


@pytest.mark.parametrize(
    "path", ["", *(f"{resource}/" for resource in RESOURCES), "videos/{video}/"]
)
def test_a_browsable_page_works_under_the_policy_of_all_pages(
    client: Client, owner: User, collection: Collection, path: str
) -> None:
    client.force_login(owner)
    response = client.get(
        ROOT + path.format(video=make_video(collection).pk), headers={"Accept": "text/html"}
    )
    assert response.status_code == 200
    assert response["Content-Type"].startswith("text/html")
    assert "unsafe" not in response["Content-Security-Policy"]
    page = response.content.decode()
    assert re.findall(r"<script(?![^>]* src=)", page) == []
    assert "<style" not in page
    assert not [
        attribute
        for attribute in ("onclick=", "onload=", "onsubmit=", "javascript:")
        if attribute in page
    ]
    assert len(page) < 100_000


def test_data_keeps_the_strict_policy(asking: Client) -> None:
    assert "unsafe" not in asking.get(f"{ROOT}videos/")["Content-Security-Policy"]


def test_a_browsable_page_names_no_user_of_another_collection(client: Client, owner: User) -> None:
    make_user("somebody-else")
    client.force_login(owner)
    assert (
        b"somebody-else"
        not in client.get(f"{ROOT}memberships/", headers={"Accept": "text/html"}).content
    )


# Hostile input

HOSTILE = (
    "%00",
    "a%00b",
    "%",
    "%ff%fe",
    "%F0%9F%98%80",
    "9" * 400,
    "-1",
    "0",
    "1e999999",
    "NaN",
    "inf",
    "'",
    '"',
    "';--",
    "{}",
    "[]",
    "null",
    "%25_%5C",
    "a%20" * 3000,
    "0001-01-01T00:00:00%2B14:00",
    "9999-12-31T23:59:59-14:00",
    "2024-02-30",
    "00:00",
    "..%2F",
    "%0A%0D",
    "x" * 20_000,
    "%ED%A0%80",
)
PARAMETERS = {
    "collections": ("page", "fields", "search", "sort", "format"),
    "memberships": ("search", "collection", "user", "role"),
    "videos": (
        "search",
        "collection",
        "id",
        "tag",
        "language",
        "created_at__gt",
        "published_at__lte",
        "duration__lt",
        "title__in",
        "channel",
    ),
    "transcripts": ("search", "video", "origin"),
    "feeds": ("sort", "kind"),
    "sources": ("search", "sort", "kind__in", "state", "tag", "author", "published_at"),
    "chunks": ("source", "video", "sort", "start__gte"),
}


@pytest.mark.parametrize("value", HOSTILE, ids=[value[:20] for value in HOSTILE])
def test_no_parameter_breaks_a_listing(
    asking: Client, collection: Collection, feed: Feed, value: str
) -> None:
    make_video(collection)
    for resource, parameters in PARAMETERS.items():
        for parameter in parameters:
            response = asking.get(f"{ROOT}{resource}/?{parameter}={value}")
            assert response.status_code in (200, 404, 422), (resource, parameter)
            if response.status_code != 200:
                assert response["Content-Type"] == PROBLEM


BODIES = (
    "",
    "{",
    "[]",
    "null",
    "1",
    '"x"',
    "NaN",
    "[" * 100_000,
    '{"title":' * 60_000,
    '{"title": "\\u0000"}',
    '{"title": "\\ud800"}',
    '{"title": null}',
    '{"title": {}}',
    '{"title": ["x"]}',
    '{"title": ""}',
    '{"tags": "x"}',
    '{"tags": [null]}',
    '{"tags": [[["x"]]]}',
    '{"tags": ["\\u0000"]}',
    '{"tags": {"a": 1}}',
    '{"newest": 1e400}',
    '{"newest": -1}',
    '{"newest": "x"}',
    '{"newest": ' + "9" * 5000 + "}",
    '{"every_hours": true}',
    '{"name": "\\u0000", "slug": "\\u0000"}',
    '{"slug": "../"}',
    '{"role": "king"}',
    '{"collection": ["x"], "user": {"a": 1}, "role": []}',
    '{"collection": "\\u0000", "user": "\\u0000", "role": "owner"}',
    '{"user": "\\ud800", "collection": "\\ud800", "role": "owner"}',
    '{"name": "' + "x" * 10_000 + '", "slug": "x"}',
    "\xff\xfe\xfa",
)


@pytest.mark.parametrize("body", BODIES, ids=[body[:20] for body in BODIES])
def test_no_body_breaks_a_change(
    asking: Client, collection: Collection, feed: Feed, body: str
) -> None:
    for path in (*paths_of(collection, feed), "collections/", "memberships/"):
        method = "post" if path.count("/") == 1 else "patch"
        response = getattr(asking, method)(
            ROOT + path, body.encode("latin-1"), content_type="application/json"
        )
        assert response.status_code in (200, 400, 405, 422), (path, response.content[:200])
        if response.status_code != 200:
            assert response["Content-Type"] == PROBLEM


@pytest.mark.parametrize(
    "media_type",
    [
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "multipart/form-data",
        "text/plain",
        "nonsense",
    ],
)
def test_no_kind_of_content_breaks_a_change(
    asking: Client, collection: Collection, media_type: str
) -> None:
    video = make_video(collection)
    for body in (b"", b"title=%00", b"title=%ff&tags=1&tags=2", b"--x\r\nbroken", b"a=1&" * 2000):
        response = asking.patch(f"{ROOT}videos/{video.pk}/", body, content_type=media_type)
        assert response.status_code in (200, 400, 413, 415, 422), (
            body[:20],
            response.content[:200],
        )


def test_a_body_beyond_the_limit_is_too_large(asking: Client, collection: Collection) -> None:
    video = make_video(collection)
    problem(
        send(asking, "patch", f"videos/{video.pk}/", {"title": "x" * 1_100_000}), 413, "too_large"
    )


@pytest.mark.parametrize(
    "accept",
    [
        "application/xml",
        "nonsense",
        "",
        "text/html;q=x",
        "*/*;" + "a" * 1000,
        "application/json; indent=9999",
    ],
)
def test_no_wish_for_a_form_breaks_an_answer(asking: Client, accept: str) -> None:
    assert asking.get(f"{ROOT}videos/", headers={"Accept": accept}).status_code in (200, 406)


# What is deleted while workers add to it


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("what", ["collections", "videos"])
def test_what_workers_add_to_can_be_deleted(owner: User, collection: Collection, what: str) -> None:
    video = make_video(collection)
    threads: list[Thread] = []

    def add() -> None:
        with suppress(IntegrityError):
            storage.add_captions(
                Collection.objects.get(),
                caption_json(make_cues(5), id="lecture-1", lang="de"),
                name="lecture-1.json",
            )
        connection.close()

    def add_now(**_: Any) -> None:
        threads.append(Thread(target=add))
        threads[-1].start()
        threads[-1].join(1)

    sender, pk = (Collection, collection.pk) if what == "collections" else (Video, video.pk)
    pre_delete.connect(add_now, sender=sender)
    try:
        assert send(token_client(owner), "delete", f"{what}/{pk}/").status_code == 204
    finally:
        pre_delete.disconnect(add_now, sender=sender)
        for thread in threads:
            thread.join()
