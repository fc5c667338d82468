"""What is compressed, and which other origins may call."""

import gzip
import json
from typing import Any

import pytest
from django.http import HttpRequest, HttpResponse
from django.test import Client

from kbsite.middleware.responses import LocationMiddleware
from kbsite.models import ApiToken
from tests.makers import make_user, make_video
from transcripts.models import Collection

VIDEOS = "/api/content/videos/"
ORIGIN = "https://app.example.org"


@pytest.fixture
def bearer(collection: Collection) -> dict[str, str]:
    make_video(collection)
    _, text = ApiToken.issue(make_user("ada", collection=collection), name="test")
    return {"Authorization": f"Bearer {text}"}


def test_a_program_gets_its_answer_compressed(client: Client, bearer: dict[str, str]) -> None:
    answer = client.get(VIDEOS, headers={**bearer, "Accept-Encoding": "gzip"})
    assert answer["Content-Encoding"] == "gzip"
    assert json.loads(gzip.decompress(answer.content))["total"] == 1


def test_a_session_gets_nothing_compressed(client: Client, collection: Collection) -> None:
    client.force_login(make_user("ada", collection=collection))
    for path in (VIDEOS, "/tokens/"):
        answer = client.get(path, headers={"Accept-Encoding": "gzip"})
        assert answer.status_code == 200
        assert "Content-Encoding" not in answer


def test_static_texts_are_compressed_and_images_and_unchanged_files_are_not(
    client: Client, db: None
) -> None:
    wanted = {"Accept-Encoding": "gzip"}
    whole: Any = client.get("/static/cuebase/base.css")
    style: Any = client.get("/static/cuebase/base.css", headers=wanted)
    assert style["Content-Encoding"] == "gzip"
    plain, packed = (b"".join(response.streaming_content) for response in (whole, style))
    assert gzip.decompress(packed) == plain
    assert len(packed) < len(plain) / 2
    again = client.get(
        "/static/cuebase/base.css", headers={**wanted, "If-Modified-Since": style["Last-Modified"]}
    )
    assert again.status_code == 304
    assert "Content-Encoding" not in again
    picture = client.get("/static/cuebase/icon.png", headers=wanted)
    assert "Content-Encoding" not in picture
    picture.close()


def test_pages_of_named_origins_may_call_and_others_may_not(
    client: Client, bearer: dict[str, str], settings: Any
) -> None:
    settings.CORS_ALLOWED_ORIGINS = [ORIGIN]
    headers = {
        "Access-Control-Request-Method": "PATCH",
        "Access-Control-Request-Headers": "if-match",
    }
    answer = client.options(VIDEOS, headers={"Origin": ORIGIN, **headers})
    assert answer["Access-Control-Allow-Origin"] == ORIGIN
    assert "if-match" in answer["Access-Control-Allow-Headers"]
    answer = client.get(VIDEOS, headers={"Origin": ORIGIN, **bearer})
    assert answer["Access-Control-Allow-Origin"] == ORIGIN
    assert "ETag" in answer["Access-Control-Expose-Headers"]
    assert "Access-Control-Allow-Credentials" not in answer  # no cookies
    other = client.get(VIDEOS, headers={"Origin": "https://elsewhere.example", **bearer})
    assert "Access-Control-Allow-Origin" not in other
    settings.CORS_ALLOWED_ORIGINS = []
    assert "Access-Control-Allow-Origin" not in client.get(VIDEOS, headers={"Origin": ORIGIN})


@pytest.mark.parametrize(
    ("location", "below"),
    [
        ("/api/v1/notes/1", "/kb/api/v1/notes/1"),
        ("/kb/library/", "/kb/library/"),
        ("//elsewhere.example/", "//elsewhere.example/"),
        ("https://elsewhere.example/", "https://elsewhere.example/"),
    ],
)
def test_an_operation_leads_below_the_path_of_the_site(
    settings: Any, location: str, below: str
) -> None:
    settings.PUBLIC_PATH = "/kb"
    answer = HttpResponse(headers={"Location": location})
    middleware = LocationMiddleware(lambda _: answer)
    assert middleware.process_response(HttpRequest(), answer)["Location"] == below
