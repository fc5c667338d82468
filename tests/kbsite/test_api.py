"""The operations under /api/v1/: what they answer, to whom, and how they refuse."""

import json
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import OperationalError
from django.test import Client
from django.utils import timezone

from kbsite import errors
from kbsite.api import api
from kbsite.api_description import TAGS
from kbsite.models import ApiToken
from kbsite.openapi import resolve
from kbsite.pages.api_reference import MESSAGES
from tests.makers import (
    caption_json,
    make_cues,
    make_user,
    make_video,
    restarting_vtt,
    token_client,
)
from tests.problems import PROBLEM
from transcripts import captions
from transcripts.adding import storage
from transcripts.core.access import AccessLevel
from transcripts.core.errors import InvalidInput, InvalidUrl, NoCaptions
from transcripts.models import Collection, Feed, Job, Membership, Role, Video, YouTubeGate

WATCH = "https://www.youtube.com/watch?v=dQw4w9WgXcQ"


def post(client: Client, path: str, data: Any) -> Any:
    return client.post(f"/api/v1/{path}", json.dumps(data), content_type="application/json")


def problem(response: Any, status: int, code: str) -> dict[str, Any]:
    assert response.status_code == status, response.content[:300]
    assert response["Content-Type"] == PROBLEM
    data: dict[str, Any] = response.json()
    assert data["code"] == code, data
    assert set(data) == {"type", "title", "status", "code", "detail", "hint", "errors"}
    assert data["status"] == status
    assert data["detail"]
    assert status != 422 or data["errors"], "a refusal names what is wrong"
    return data


# Adding


def test_an_address_is_answered_at_once_with_its_job(
    asking: Client, owner: User, collection: Collection
) -> None:
    response = post(
        asking,
        "sources",
        {"url": WATCH, "collection": "lectures", "language": "German", "tags": ["music"]},
    )
    assert response.status_code == 202
    job = Job.objects.get()
    assert response.json()["id"] == job.pk
    assert (job.target, job.language, job.tags, job.created_by, job.collection) == (
        "dQw4w9WgXcQ",
        "de",
        ["music"],
        owner,
        collection,
    )
    assert response.json()["state"] == "queued"
    assert response.json()["collection"] == "lectures"


def test_the_same_address_twice_is_one_job(asking: Client) -> None:
    first, second = (post(asking, "sources", {"url": WATCH}).json()["id"] for _ in range(2))
    assert first == second


def test_a_machine_translation_can_be_asked_for(asking: Client) -> None:
    wanted = {"url": WATCH, "language": "de", "translated": True}
    assert post(asking, "sources", wanted).status_code == 202
    assert Job.objects.get().translated
    assert post(asking, "sources", {"url": WATCH, "translated": True}).status_code == 422


def test_a_playlist_keeps_how_much_of_it_is_wanted(asking: Client) -> None:
    url = "https://www.youtube.com/playlist?list=PLrAXtmErZgOeiKm4sgNOknGvNjby9efdf"
    assert post(asking, "sources", {"url": url, "newest": 3, "every_hours": 24}).status_code == 202
    feed = Feed.objects.get()
    assert (feed.newest, feed.every_hours) == (3, 24)


def test_a_text_whose_clock_starts_again_is_stored_with_a_warning(asking: Client) -> None:
    text = restarting_vtt().decode()
    stored = post(asking, "sources", {"text": text, "title": "Talks"}).json()
    assert stored["transcript"]["cue_count"] == 20
    assert "read as 2 parts" in stored["warning"]


def test_a_pasted_text_is_stored_at_once(asking: Client) -> None:
    response = post(
        asking, "sources", {"text": "0:00\nHello there.\n0:05\nGood bye.", "title": "Greetings"}
    )
    assert response.status_code == 201
    assert response.json()["video"]["title"] == "Greetings"
    assert response.json()["transcript"]["cue_count"] == 2
    assert (response.json()["change"], response.json()["warning"]) == ("added", None)


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"url": WATCH, "text": "Hello", "title": "Both"},
        {"text": "without a title"},
        {"url": "example.com/watch?v=dQw4w9WgXcQ"},
        {"url": WATCH, "newest": 0},
        {"url": WATCH, "newest": 10**30},
        {"url": WATCH, "tags": ["x" * 61]},
        {"url": WATCH, "unknown": 1},
        {"url": WATCH + "\0"},
        {"text": "a", "title": "\ud800"},
        [],
        "text",
        None,
    ],
)
def test_what_cannot_be_used_is_said_to_be_so(asking: Client, body: Any) -> None:
    response = post(asking, "sources", body)
    assert response.status_code == 422
    assert response["Content-Type"] == PROBLEM
    assert not Job.objects.exists()


def test_every_field_that_cannot_be_used_is_named(asking: Client) -> None:
    sent = {"url": "x", "tags": ["a", ""], "newest": 0, "nonsense": 1}
    answer = problem(post(asking, "sources", sent), 422, "invalid_input")
    assert [error["field"] for error in answer["errors"]] == ["tags.1", "newest", "nonsense"]
    answer = problem(asking.get("/api/v1/notes?limit=1000&offset=x"), 422, "invalid_input")
    assert [error["field"] for error in answer["errors"]] == ["offset", "limit"]
    answer = problem(post(asking, "notes", {"text": ["x"]}), 422, "invalid_input")
    assert [error["field"] for error in answer["errors"]] == ["text"]


def test_every_refusal_has_a_complaint(asking: Client) -> None:
    for refusal in (InvalidInput("It is no use."), InvalidUrl("It is no use.")):
        assert errors.problem(refusal)["errors"] == [{"field": "", "message": "It is no use."}]
    details = problem(asking.get("/api/v1/search?q=-only"), 422, "empty_query")
    assert details["errors"] == [{"field": "", "message": details["detail"]}]


@pytest.mark.parametrize(
    ("path", "field"),
    [
        ("rag/query", "transcript_text"),
        ("ask", "question"),
        ("highlights", "quote"),
        ("verify", "quote"),
        ("sources/captions", "url"),
    ],
)
def test_a_text_of_blanks_alone_is_refused_as_an_empty_one_is(
    asking: Client, path: str, field: str
) -> None:
    for text in ("", " \n"):
        complaints = problem(post(asking, path, {field: text}), 422, "invalid_input")["errors"]
        assert field in [each["field"] for each in complaints]


WRONG = {
    "integer": (True, "1", 1.5),
    "number": (True, "1"),
    "boolean": (1, "true"),
    "string": (1, True),
    "array": ("1",),
}


def typed_fields() -> Iterator[tuple[str, str, str, set[str]]]:
    """Yield each field of the JSON bodies under /api/v1/, with its operation and its types."""
    description = api.get_openapi_schema(path_prefix="/api/v1/")
    components = description["components"]["schemas"]
    for path, methods in description["paths"].items():
        for method in methods.keys() & {"post", "put", "patch"} if "/v1/" in path else ():
            content = methods[method].get("requestBody", {}).get("content", {})
            reference = content.get("application/json", {}).get("schema", {}).get("$ref", "")
            body = components.get(reference.rpartition("/")[2], {})
            for name, field in body.get("properties", {}).items():
                parts = field.get("anyOf", [field])
                yield method, path, name, {part.get("type", "") for part in parts}


def test_a_value_of_another_json_type_is_never_taken_for_one_of_a_field(asking: Client) -> None:
    tried = 0
    for method, path, name, types in typed_fields():
        address = re.sub("{job_id}|{feed_id}", "1", path)
        address = re.sub("{[^}]+}", "00000000-0000-4000-8000-000000000000", address)
        (kind,) = types - {"null"}
        for wrong in WRONG.get(kind, ()):
            sent = json.dumps({name: wrong})
            response = getattr(asking, method)(address, sent, content_type="application/json")
            complaints = problem(response, 422, "invalid_input")["errors"]
            assert name in [each["field"] for each in complaints], (path, name, wrong)
            tried += 1
    assert tried > 60


@pytest.mark.parametrize("path", ["jobs?colection=lectures", "search?q=a&page=2", "youtube?x="])
def test_a_parameter_that_an_operation_does_not_have_is_refused(asking: Client, path: str) -> None:
    (error,) = problem(asking.get(f"/api/v1/{path}"), 422, "invalid_input")["errors"]
    assert error["field"] in ("colection", "page", "x")


@pytest.mark.parametrize(
    "body", ["{", "", "nonsense", "[" * 100_000, '{"url": ' * 50_000, "\xff\xfe"]
)
def test_a_body_that_is_not_json_is_a_bad_request(asking: Client, body: str) -> None:
    response = asking.post(
        "/api/v1/sources", body.encode("latin-1"), content_type="application/json"
    )
    assert response.status_code == (400 if body else 422)
    assert response["Content-Type"] == PROBLEM


def test_a_text_with_a_nul_is_stored_without_it(asking: Client) -> None:
    response = post(asking, "sources", {"text": "Hello\0 there.", "title": "Greetings"})
    assert response.status_code == 201
    assert "Hello" in asking.get("/api/v1/transcripts/Greetings").json()["reading"]["text"]


def test_a_text_beyond_the_limit_is_too_large(asking: Client, settings: Any) -> None:
    settings.MAX_UPLOAD_BYTES = 100
    problem(post(asking, "sources", {"text": "word " * 50, "title": "Long"}), 413, "too_large")


def test_a_body_beyond_the_limit_is_too_large(asking: Client, settings: Any) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 1000
    problem(post(asking, "sources", {"text": "word " * 500, "title": "Long"}), 413, "too_large")


def test_another_recording_does_not_take_the_place_of_one(
    asking: Client, collection: Collection
) -> None:
    storage.add_captions(
        collection,
        b"All about whales and the wide sea they swim in.",
        name="whales.txt",
        key="Talk",
    )
    problem(
        post(asking, "sources", {"text": "Entirely different words here.", "title": "Talk"}),
        409,
        "conflict",
    )


def test_without_a_name_things_go_to_the_only_collection_that_may_be_changed(
    owner: User, asking: Client, collection: Collection
) -> None:
    other = Collection.objects.create(name="Reading only", slug="reading-only")
    Membership.objects.create(collection=other, user=owner, role=Role.VIEWER)
    assert post(asking, "sources", {"url": WATCH}).json()["collection"] == collection.slug


def test_with_several_collections_one_has_to_be_named(owner: User, asking: Client) -> None:
    other = Collection.objects.create(name="Second", slug="second")
    Membership.objects.create(collection=other, user=owner, role=Role.EDITOR)
    data = problem(post(asking, "sources", {"url": WATCH}), 422, "invalid_input")
    assert "second" in data["hint"]


def test_files_become_one_job(asking: Client) -> None:
    files = [SimpleUploadedFile(f"lecture-{n}.json", caption_json(make_cues(3))) for n in range(3)]
    response = asking.post(
        "/api/v1/sources/files", {"files": files, "collection": "lectures", "tags": ["a", "b"]}
    )
    assert response.status_code == 202, response.content
    job = Job.objects.get()
    assert job.files.count() == 3
    assert job.tags == ["a", "b"]


@pytest.mark.parametrize("name", ["picture.png", "talk.live_chat.json", "a\0b.exe"])
def test_files_that_are_no_transcripts_are_refused(asking: Client, name: str) -> None:
    response = asking.post(
        "/api/v1/sources/files", {"files": [SimpleUploadedFile(name, b"PK\x03\x04")]}
    )
    assert response.status_code == 422
    assert response["Content-Type"] == PROBLEM


def test_files_that_are_not_sent_are_missed(asking: Client) -> None:
    assert asking.post("/api/v1/sources/files", {"collection": "lectures"}).status_code == 422
    problem(
        asking.post("/api/v1/sources/files", b"--x\r\nbroken", content_type="multipart/form-data"),
        400,
        "bad_request",
    )


def test_a_file_beyond_the_limit_is_too_large(asking: Client, settings: Any) -> None:
    settings.MAX_UPLOAD_BYTES = 100
    problem(
        asking.post("/api/v1/sources/files", {"files": [SimpleUploadedFile("a.json", b"x" * 101)]}),
        413,
        "too_large",
    )
    many = [SimpleUploadedFile(f"{n}.json", b"x" * 90) for n in range(5)]
    problem(asking.post("/api/v1/sources/files", {"files": many}), 413, "too_large")


# Jobs


def test_a_job_is_followed_and_listed(asking: Client) -> None:
    body = post(asking, "sources", {"url": WATCH}).json()
    assert asking.get(f"/api/v1/jobs/{body['id']}").json()["target"] == "dQw4w9WgXcQ"
    listed = asking.get("/api/v1/jobs", {"state": "queued", "collection": "lectures"}).json()
    assert [job["id"] for job in listed["jobs"]] == [body["id"]]
    assert listed["next"] is None


def test_jobs_come_in_pages_with_the_same_few_queries(
    asking: Client, collection: Collection, django_assert_max_num_queries: Any
) -> None:
    video = make_video(collection)
    Job.objects.bulk_create(
        Job(collection=collection, kind="video", target=f"v{n}", state="done", video=video)
        for n in range(60)
    )
    seen: list[int] = []
    offset: int | None = 0
    while offset is not None:
        with django_assert_max_num_queries(6):
            page = asking.get("/api/v1/jobs", {"limit": 25, "offset": offset}).json()
        seen += [job["id"] for job in page["jobs"]]
        offset = page["next"]
    assert seen == sorted(Job.objects.values_list("pk", flat=True), reverse=True)


def test_a_job_says_how_many_are_before_it(asking: Client, collection: Collection) -> None:
    Job.objects.create(collection=collection, kind="video", target="first-video", priority=10)
    queued = post(asking, "sources", {"url": WATCH}).json()
    assert queued["jobs_before"] == 1
    assert asking.get(f"/api/v1/jobs/{queued['id']}").json()["jobs_before"] == 1
    listed = asking.get("/api/v1/jobs").json()["jobs"]
    assert [job["jobs_before"] for job in listed] == [1, 0]


def test_a_failed_job_is_tried_again(asking: Client, collection: Collection) -> None:
    job = Job.objects.create(
        collection=collection,
        kind="video",
        target="dQw4w9WgXcQ",
        state="failed",
        error="no",
        finished_at=timezone.now(),
    )
    response = asking.post(f"/api/v1/jobs/{job.pk}/retry?listen=true")
    assert Job.objects.get(pk=job.pk).listens == Job.Listens.MISSING
    assert response.status_code == 202
    job.refresh_from_db()
    assert (job.state, job.error) == ("queued", "")


def test_a_job_that_has_not_ended_is_not_tried_again(
    asking: Client, collection: Collection
) -> None:
    job = Job.objects.create(collection=collection, kind="video", target="dQw4w9WgXcQ")
    problem(asking.post(f"/api/v1/jobs/{job.pk}/retry"), 409, "conflict")


def test_a_job_whose_files_are_gone_is_not_tried_again(
    asking: Client, collection: Collection
) -> None:
    job = Job.objects.create(collection=collection, kind="files", target="3 files", state="failed")
    problem(asking.post(f"/api/v1/jobs/{job.pk}/retry"), 409, "conflict")


def test_trying_again_what_is_queued_anew_answers_with_that_job(
    asking: Client, collection: Collection
) -> None:
    old = Job.objects.create(
        collection=collection, kind="video", target="dQw4w9WgXcQ", state="failed"
    )
    new = Job.objects.create(collection=collection, kind="video", target="dQw4w9WgXcQ")
    assert asking.post(f"/api/v1/jobs/{old.pk}/retry").json()["id"] == new.pk


@pytest.mark.parametrize("number", ["0", "-1", "9" * 19, "9" * 5000, "x", "1.5", "%F0%9F%98%80"])
def test_no_number_of_a_job_is_too_strange(asking: Client, number: str) -> None:
    assert asking.get(f"/api/v1/jobs/{number}").status_code in (404, 422)


# Captions that were fetched elsewhere


def json3(*lines: str) -> str:
    events = [
        {"tStartMs": 2000 * number, "dDurationMs": 2000, "segs": [{"utf8": line}]}
        for number, line in enumerate(lines)
    ]
    return json.dumps({"wireMagic": "pb3", "events": events})


def test_captions_that_were_fetched_elsewhere_make_a_video(asking: Client) -> None:
    sent = {
        "url": WATCH,
        "captions": json3("Errors flow backwards.", "Weights follow."),
        "language": "en",
        "title": "Networks <b>",
        "channel": "Lecture Hall",
        "tags": ["week 1"],
    }
    response = post(asking, "sources/captions", sent)
    assert response.status_code == 201, response.content
    assert response["Location"] == "/api/v1/transcripts/dQw4w9WgXcQ"
    video = Video.objects.get()
    assert (video.youtube_id, video.title, video.channel, video.tags) == (
        *("dQw4w9WgXcQ", "Networks <b>", "Lecture Hall"),
        ["week 1"],
    )
    transcript = video.transcripts.get()
    assert (transcript.origin, transcript.cue_count) == ("manual", 2)
    again = post(asking, "sources/captions", sent)
    assert (again.status_code, again.json()["change"]) == (200, "unchanged")
    better = {**sent, "captions": json3("Errors flow backwards.", "Weights follow it.")}
    assert post(asking, "sources/captions", better).json()["change"] == "updated"
    other = {**sent, "captions": json3("Buy something else entirely now, please")}
    problem(post(asking, "sources/captions", other), 409, "conflict")
    spoken = post(asking, "sources/captions", {**sent, "automatic": True})
    assert spoken.json()["transcript"]["origin"] == "auto"
    assert Video.objects.count() == 1


@pytest.mark.parametrize(
    ("change", "status", "code"),
    [
        ({"url": "https://www.youtube.com.evil.example/watch?v=dQw4w9WgXcQ"}, 422, "invalid_url"),
        ({"url": "https://www.youtube.com/playlist?list=PL" + "a" * 32}, 422, "invalid_input"),
        ({"captions": ""}, 422, "invalid_input"),
        ({"captions": "  "}, 422, "empty"),
        ({"captions": "words without times"}, 422, "unknown_format"),
        ({"captions": "<!doctype html><p>Sign in"}, 422, "html_page"),
        ({"captions": '{"events": ['}, 422, "bad_json"),
        ({"captions": "[" * 100_000}, 422, "bad_json"),
        ({"captions": '{"events": [{"tStartMs": 0}]}'}, 422, "empty"),
        ({"captions": json3("x" * 2000)}, 413, "too_large"),
        ({"title": "a\0b"}, 422, "invalid_input"),
        ({"html": "<b>"}, 422, "invalid_input"),
        ({"collection": "secrets"}, 404, "collection_not_found"),
    ],
)
def test_captions_that_cannot_be_stored_are_refused(
    asking: Client,
    collection: Collection,
    settings: Any,
    change: dict[str, Any],
    status: int,
    code: str,
) -> None:
    settings.MAX_UPLOAD_BYTES = 1000 if status == 413 else settings.MAX_UPLOAD_BYTES
    Collection.objects.create(name="Secrets", slug="secrets")
    sent = {"url": WATCH, "captions": json3("Hello there"), **change}
    problem(post(asking, "sources/captions", sent), status, code)
    assert not Video.objects.exists()


def test_captions_need_the_right_to_write(owner: User) -> None:
    sent = {"url": WATCH, "captions": json3("Hello there")}
    problem(
        post(token_client(owner, access=AccessLevel.READ), "sources/captions", sent),
        403,
        "insufficient_scope",
    )


# Reading


def test_a_short_transcript_is_read_whole(asking: Client, collection: Collection) -> None:
    make_video(collection)
    data = asking.get("/api/v1/transcripts/lecture-1").json()
    assert data["reading"]["mode"] == "full"
    assert data["reading"]["text"].startswith("Welcome to this lecture")
    assert data["video"] == {
        "id": "lecture-1",
        "title": "Lecture 1",
        "channel": "",
        "url": "",
        "duration": 300.0,
        "collection": "lectures",
        "published_at": None,
    }
    assert data["transcript"]["language"] == "en"


def test_a_long_transcript_is_previewed_ranged_chunked_or_read_whole_on_demand(
    asking: Client, collection: Collection, settings: Any
) -> None:
    settings.MAX_FULL_TRANSCRIPT_LENGTH = 1000
    make_video(collection)
    modes: dict[str, str] = {
        "": "preview",
        "?full=true": "full",
        "?chunk_index=1&chunk_size=60": "chunk",
        "?start=10&end=20": "range",
        "?start=10&chunk_index=0&full=1": "range",
    }
    for query, mode in modes.items():
        reading = asking.get(f"/api/v1/transcripts/lecture-1{query}").json()["reading"]
        assert reading["mode"] == mode, query
        assert (reading["chunk"] is not None) == (mode == "chunk")
        assert bool(reading["hints"]) == (mode == "preview")


@pytest.mark.parametrize(
    "query",
    [
        "start=nan",
        "start=-1",
        "start=5&end=2",
        "start=1e400",
        "end=inf",
        "chunk_size=1",
        "chunk_index=x",
        "full=maybe",
    ],
)
def test_a_strange_part_is_refused(asking: Client, collection: Collection, query: str) -> None:
    make_video(collection)
    assert asking.get(f"/api/v1/transcripts/lecture-1?{query}").status_code == 422


def test_a_chunk_behind_the_end_is_not_found(asking: Client, collection: Collection) -> None:
    make_video(collection)
    problem(asking.get("/api/v1/transcripts/lecture-1?chunk_index=7"), 404, "chunk_not_found")


@pytest.mark.parametrize(
    "key",
    [
        "with blanks in it",
        "Ünïcödé — лекция 講義",
        "100% sure? #1 & more+plus",
        "a;b=c,d@e",
        "quote\"s 'n' \\back",
        "😀",
    ],
)
def test_any_id_can_be_asked_for(asking: Client, collection: Collection, key: str) -> None:
    video = make_video(collection, key=key)
    path = f"/api/v1/transcripts/{quote(key, safe='')}"
    assert asking.get(path).json()["video"]["id"] == video.key
    assert asking.get(f"{path}/search?query=gradient").json()["hits"]
    answer = asking.get(f"{path}/download?format=vtt")
    assert answer.status_code == 200
    assert "attachment" in answer["Content-Disposition"]


def test_an_id_with_slashes_and_an_address_are_ids_too(
    asking: Client, collection: Collection
) -> None:
    make_video(collection, key="week 1/intro")
    assert (
        asking.get(
            f"/api/v1/transcripts/{quote('week 1/intro', safe='')}/search?query=gradient"
        ).status_code
        == 200
    )
    Video.objects.update(youtube_id="dQw4w9WgXcQ")
    assert (
        asking.get(f"/api/v1/transcripts/{quote(WATCH, safe='')}")
        .json()["video"]["url"]
        .endswith("dQw4w9WgXcQ")
    )


@pytest.mark.parametrize(
    "path",
    [
        "transcripts/a%00b",
        "transcripts/lecture-1?collection=%00",
        "jobs?collection=a%00",
        "transcripts/x/search?query=a%00b",
    ],
)
def test_a_nul_in_an_address_is_refused(asking: Client, collection: Collection, path: str) -> None:
    problem(asking.get(f"/api/v1/{path}"), 422, "invalid_input")


def test_a_search_names_times_places_and_links(asking: Client, collection: Collection) -> None:
    make_video(collection)
    data = asking.get("/api/v1/transcripts/lecture-1/search?query=error+404&limit=2").json()
    assert len(data["hits"]) == 2
    best = data["hits"][0]
    assert set(best) == {"text", "start", "end", "score", "spans", "timestamp_link"}
    assert {best["text"][start:end].casefold() for start, end in best["spans"]} >= {"error 404"}
    assert data["hits"][0]["score"] >= data["hits"][1]["score"] > 0


@pytest.mark.parametrize(
    "query",
    ["query=", "query=%20", "", "query=x&limit=0", "query=x&limit=51", "query=" + "x" * 1001],
)
def test_a_search_for_nothing_is_refused(
    asking: Client, collection: Collection, query: str
) -> None:
    make_video(collection)
    assert asking.get(f"/api/v1/transcripts/lecture-1/search?{query}").status_code == 422


@pytest.mark.parametrize("form", ["vtt", "srt", "txt", "json"])
def test_a_download_is_read_again_as_what_it_was(
    asking: Client, collection: Collection, form: str
) -> None:
    make_video(collection)
    answer = asking.get("/api/v1/transcripts/lecture-1/download", {"format": form})
    assert answer["Content-Disposition"] == f'attachment; filename="lecture-1.en.{form}"'
    cues = captions.parse(answer.content, name=f"x.{form}").cues
    assert " ".join(cue.text for cue in cues) == " ".join(cue.text for cue in make_cues())


def test_markdown_has_a_heading_for_each_chapter_or_chunk(
    asking: Client, collection: Collection
) -> None:
    video = make_video(collection)
    video.chapters = [[60_000, "Weights"], [120_000, "The end"]]
    video.save()
    text = asking.get("/api/v1/transcripts/lecture-1/download", {"format": "md"}).content.decode()
    assert text.startswith("# Lecture 1\n")
    headings = [line for line in text.splitlines() if line.startswith("## ")]
    # Nothing plays it: a link would lead nowhere.
    assert headings == ["## 0:00", "## 1:00 Weights", "## 2:00 The end"]
    assert text.count("Point ") == 60


def test_a_file_cannot_be_fetched_again(asking: Client, collection: Collection) -> None:
    make_video(collection)
    problem(asking.post("/api/v1/transcripts/lecture-1/refetch"), 422, "invalid_input")


def test_a_video_is_fetched_again_in_another_language(
    asking: Client, collection: Collection
) -> None:
    make_video(collection)
    Video.objects.update(youtube_id="dQw4w9WgXcQ")
    assert asking.post("/api/v1/transcripts/lecture-1/refetch?language=fr").status_code == 202
    assert Job.objects.get().language == "fr"


def test_the_gate_says_until_when_youtube_is_left_alone(asking: Client) -> None:
    assert asking.get("/api/v1/youtube").json()["state"] == "open"
    YouTubeGate.refused(NoCaptions("blocked"))
    data = asking.get("/api/v1/youtube").json()
    assert data["state"] == "closed"
    assert data["closed_until"]


# Who may


OPERATIONS = [
    ("post", "sources", {"url": WATCH, "collection": "lectures"}),
    ("post", "transcripts/lecture-1/refetch", None),
    ("post", "jobs/{job}/retry", None),
    ("post", "feeds/{feed}/sync", None),
]


@pytest.mark.parametrize(("method", "path", "body"), OPERATIONS)
def test_a_token_that_may_only_read_changes_nothing(
    owner: User, collection: Collection, method: str, path: str, body: Any
) -> None:
    make_video(collection)
    job = Job.objects.create(collection=collection, kind="video", target="x", state="failed")
    feed = Feed.objects.create(collection=collection, kind="channel", youtube_id="@hall")
    path = path.format(job=job.pk, feed=feed.pk)
    problem(
        post(token_client(owner, access=AccessLevel.READ), path, body or {}),
        403,
        "insufficient_scope",
    )
    assert not Job.objects.filter(state="queued").exists()


@pytest.mark.parametrize(("method", "path", "body"), OPERATIONS)
def test_a_viewer_changes_nothing(
    collection: Collection, method: str, path: str, body: Any
) -> None:
    make_video(collection)
    job = Job.objects.create(collection=collection, kind="video", target="x", state="failed")
    viewer = token_client(make_user("eve", collection=collection, role=Role.VIEWER))
    feed = Feed.objects.create(collection=collection, kind="channel", youtube_id="@hall")
    path = path.format(job=job.pk, feed=feed.pk)
    problem(post(viewer, path, body or {}), 403, "forbidden")


@pytest.mark.parametrize(
    "path",
    [
        "transcripts/lecture-1",
        "transcripts/lecture-1/search?query=error",
        "transcripts/lecture-1/download?format=vtt",
        "jobs/{job}",
    ],
)
def test_what_belongs_to_others_is_answered_as_if_it_were_not_there(
    collection: Collection, path: str
) -> None:
    make_video(collection)
    job = Job.objects.create(collection=collection, kind="video", target="x")
    stranger = token_client(
        make_user("mallory", collection=Collection.objects.create(name="Own", slug="own")),
        access=AccessLevel.MANAGE,
    )
    there = problem(
        stranger.get(f"/api/v1/{path.format(job=job.pk)}"),
        404,
        "job_not_found" if "jobs" in path else "video_not_found",
    )
    missing = path.format(job=999999).replace("lecture-1", "lecture-0")
    absent = stranger.get(f"/api/v1/{missing}").json()
    assert {**absent, "detail": ""} == {**there, "detail": ""}
    assert stranger.get("/api/v1/jobs").json()["jobs"] == []


def test_a_token_reaches_no_further_than_its_collections(
    owner: User, collection: Collection
) -> None:
    other = Collection.objects.create(name="Other", slug="other")
    Membership.objects.create(collection=other, user=owner, role=Role.OWNER)
    make_video(collection)
    problem(
        token_client(owner, collections=(other,)).get("/api/v1/transcripts/lecture-1"),
        404,
        "video_not_found",
    )


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": "Bearer nonsense"},
        {"Authorization": "Bearer"},
        {"Authorization": "Basic YTpi"},
    ],
)
def test_a_stranger_is_told_how_to_come_in(
    client: Client, db: None, headers: dict[str, str]
) -> None:
    for method, path in (
        ("get", "jobs"),
        ("post", "sources"),
        ("get", "youtube"),
        ("get", "openapi.json"),
    ):
        response = getattr(client, method)(f"/api/v1/{path}", headers=headers)
        problem(response, 401, "not_signed_in")
        assert response["WWW-Authenticate"].startswith("Bearer")


def test_revoked_and_expired_tokens_are_worth_nothing(owner: User) -> None:
    token, text = ApiToken.issue(owner, name="x")
    client = Client(headers={"Authorization": f"Bearer {text}"})
    assert client.get("/api/v1/youtube").status_code == 200
    token.revoke()
    problem(client.get("/api/v1/youtube"), 401, "not_signed_in")


def test_a_session_needs_its_csrf_token_to_change_something(owner: User) -> None:
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(owner)
    assert browser.get("/api/v1/jobs").status_code == 200
    problem(post(browser, "sources", {"url": WATCH}), 403, "forbidden")
    browser.get("/api/v1/docs")
    token = browser.cookies["csrftoken"].value
    with_csrf = browser.post(
        "/api/v1/sources",
        json.dumps({"url": WATCH}),
        content_type="application/json",
        headers={"X-CSRFToken": token},
    )
    assert with_csrf.status_code == 202


# What is not an operation


@pytest.mark.parametrize(
    "path", ["", "v1/", "v1/nothing", "v2/jobs", "nothing/at/all", "content/nothing/", "v1/docs/x"]
)
def test_an_unknown_address_is_a_problem_too(asking: Client, path: str) -> None:
    problem(asking.get(f"/api/{path}"), 404, "not_found")


def test_a_wrong_method_is_a_problem_that_names_the_right_ones(asking: Client) -> None:
    response = asking.delete("/api/v1/jobs")
    problem(response, 405, "method_not_allowed")
    assert response["Allow"] == "GET"


def test_a_crash_is_a_problem_without_details(
    asking: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def crash() -> None:
        raise RuntimeError("secret")

    monkeypatch.setattr(YouTubeGate, "current", crash)
    asking.raise_request_exception = False
    response = asking.get("/api/v1/youtube")
    assert "secret" not in json.dumps(problem(response, 500, "internal_error"))


def test_a_lost_database_is_a_problem_that_says_when_to_come_back(
    asking: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> None:
        raise OperationalError("the server closed the connection")

    monkeypatch.setattr(YouTubeGate, "current", fail)
    asking.raise_request_exception = False
    response = asking.get("/api/v1/youtube")
    assert "closed" not in json.dumps(problem(response, 503, "database_lost"))
    assert response["Retry-After"] == "5"


# The description


@pytest.mark.parametrize(
    ("public", "server"), [("", "https://inside:8000"), ("https://kb.test", "https://kb.test")]
)
def test_the_description_names_the_address_that_its_reader_came_by(
    asking: Client, settings: Any, public: str, server: str
) -> None:
    settings.ALLOWED_HOSTS = ["*"]
    settings.OAUTH2_PROVIDER = {**settings.OAUTH2_PROVIDER, "OIDC_ISS_ENDPOINT": public}
    response = asking.get("/api/v1/openapi.json", headers={"host": "inside:8000"}, secure=True)
    assert response.json()["servers"] == [{"url": server}]
    page = asking.get("/api/v1/docs/search", headers={"host": "inside:8000"}, secure=True)
    assert f"&quot;{server}/api/v1/search?q=" in page.content.decode()


def test_every_operation_says_how_it_may_refuse(asking: Client) -> None:
    schema = asking.get("/api/v1/openapi.json").json()
    refusals = schema["components"]["responses"]
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            assert {"401", "403", "422", "500", "503", "507"} <= set(operation["responses"]), (
                method,
                path,
            )
            oauth, bearer, session = operation["security"]
            assert oauth["OAuth"] == bearer["Bearer"] == [*AccessLevel(oauth["OAuth"][-1]).scopes]
            assert session == {"Session": []}
            for status, response in operation["responses"].items():
                if status >= "400":
                    assert list(resolve(response, refusals)["content"]) == [PROBLEM]


def test_the_description_names_the_scopes_and_where_to_ask_for_them(asking: Client) -> None:
    schema = asking.get("/api/v1/openapi.json").json()
    schemes = schema["components"]["securitySchemes"]
    assert schemes.keys() == {"OAuth", "Bearer", "Session"}
    flow = schemes["OAuth"]["flows"]["authorizationCode"]
    assert list(flow["scopes"]) == list(AccessLevel)
    metadata = asking.get("/.well-known/oauth-authorization-server").json()
    assert metadata["authorization_endpoint"].endswith(flow["authorizationUrl"])
    assert metadata["token_endpoint"].endswith(flow["tokenUrl"])


def test_the_description_is_shown_under_the_strict_policy_from_this_host_alone(
    client: Client, owner: User, settings: Any
) -> None:
    client.force_login(owner)
    response = client.get("/api/v1/docs")
    page = response.content.decode()
    assert response.status_code == 200
    assert "https://" not in page
    assert "<style" not in page
    assert re.findall(r"<script(?![^>]* src=)", page) == []
    assert "unsafe" not in response["Content-Security-Policy"]


def test_the_description_has_a_page_for_each_group_and_all_operations(
    client: Client, owner: User
) -> None:
    client.force_login(owner)
    schema = client.get("/api/v1/openapi.json").json()
    overview = client.get("/api/v1/docs").content.decode()
    pages = {group: client.get(f"/api/v1/docs/{group}").content.decode() for group in TAGS}
    for methods in schema["paths"].values():
        for operation in methods.values():
            (group,) = operation["tags"]
            assert f'id="{operation["operationId"]}"' in pages[group]
            assert f"/api/v1/docs/{group}#{operation['operationId']}" in overview
    assert 'id="tell_job_done"' in pages[MESSAGES]


def test_the_description_asks_strangers_to_sign_in(client: Client, db: None) -> None:
    response = client.get("/api/v1/docs")
    assert response.status_code == 302
    assert "next=/api/v1/docs" in response["Location"]
