"""Versions of what the APIs return, and where new things are."""

import json
from typing import Any

import pytest
from django.test import Client

from citations.models import Note
from tests.makers import make_video
from transcripts.models import Collection, Video

V1 = "/api/v1/"


def send(client: Client, method: str, path: str, body: Any, **headers: str) -> Any:
    call = getattr(client, method)
    return call(path, json.dumps(body), content_type="application/json", headers=headers)


@pytest.fixture
def address(asking: Client, collection: Collection) -> str:
    """The address of a new note."""
    response = send(asking, "post", f"{V1}notes", {"collection": "lectures", "text": "One."})
    assert response.status_code == 201
    location: str = response["Location"]
    return location


def test_what_did_not_change_is_not_sent_again(asking: Client, address: str) -> None:
    first = asking.get(address)
    again = asking.get(address, headers={"If-None-Match": first["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    send(asking, "put", address, {"text": "Two."})
    changed = asking.get(address, headers={"If-None-Match": first["ETag"]})
    assert (changed.status_code, changed.json()["text"]) == (200, "Two.")


def test_of_two_changes_of_one_version_the_second_is_refused(asking: Client, address: str) -> None:
    version = asking.get(address)["ETag"]
    change = {"text": "Two."}
    assert send(asking, "put", address, change, **{"If-Match": version}).status_code == 200
    refused = send(asking, "put", address, {"text": "Three."}, **{"If-Match": version})
    assert (refused.status_code, refused.json()["code"]) == (412, "outdated")
    assert send(asking, "delete", address, None, **{"If-Match": version}).status_code == 412
    assert Note.objects.get().text == "Two."
    assert send(asking, "delete", address, None, **{"If-Match": "*"}).status_code == 204


def test_content_has_versions_too(asking: Client, collection: Collection) -> None:
    address = f"/api/content/videos/{make_video(collection).pk}/"
    version = asking.get(address)["ETag"]
    changed = send(asking, "patch", address, {"title": "New"}, **{"If-Match": version})
    assert changed.status_code == 200
    late = send(asking, "patch", address, {"title": "Late"}, **{"If-Match": version})
    assert late.status_code == 412
    assert Video.objects.get().title == "New"


def test_a_compressed_answer_has_a_version_to_change(asking: Client, address: str) -> None:
    send(asking, "put", address, {"text": "One. " * 200})
    zipped = asking.get(address, headers={"Accept-Encoding": "gzip"})
    assert zipped["ETag"].startswith("W/")
    changed = send(asking, "put", address, {"text": "Two."}, **{"If-Match": zipped["ETag"]})
    assert changed.status_code == 200


def test_what_is_not_there_is_not_there_in_any_version(asking: Client, address: str) -> None:
    nowhere = f"{address[:-4]}0000"
    assert send(asking, "put", nowhere, {"text": "x"}, **{"If-Match": '"x"'}).status_code == 404


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        (f"{V1}sources", {"url": "https://youtu.be/dQw4w9WgXcQ"}, 202),
        (f"{V1}sources", {"text": "Hello there.", "title": "Greeting & co"}, 201),
        (f"{V1}sessions", {"collection": "lectures"}, 201),
        ("/api/content/collections/", {"name": "New", "slug": "new"}, 201),
    ],
)
def test_what_was_made_is_where_the_answer_says(
    asking: Client, path: str, body: dict[str, str], status: int
) -> None:
    response = send(asking, "post", path, body)
    assert response.status_code == status
    assert asking.get(response["Location"]).status_code == 200
