"""Each token, and each user without one, may send so many requests of a kind a minute."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from kbsite.middleware import rate_limits
from tests.instance import redis_server
from tests.kbsite.declared import V1
from tests.makers import signed_in, token_client


@pytest.mark.parametrize("path", [f"{V1}jobs", "/api/content/videos/"])
def test_a_token_over_its_limit_is_told_when_to_come_back_and_others_are_served(
    owner: User, settings: Any, path: str
) -> None:
    settings.API_CALLS_PER_MINUTE = 2
    first, second = token_client(owner), token_client(owner)
    served = first.get(path)
    assert served.status_code == 200
    assert served["RateLimit-Policy"] == '"api";q=2;w=60'
    assert served["RateLimit"].startswith('"api";r=1;t=')
    assert first.get(path)["RateLimit"].startswith('"api";r=0;t=')
    refused = first.get(path)
    assert (refused.status_code, refused["Content-Type"]) == (429, "application/problem+json")
    assert refused.json()["code"] == "throttled"
    assert 1 <= int(refused["Retry-After"]) <= 60
    assert refused["RateLimit"] == f'"api";r=0;t={refused["Retry-After"]}'
    assert second.get(path).status_code == 200
    browser = signed_in(owner)
    assert browser.get(path).status_code == 200


def test_questions_have_a_limit_in_rest_and_in_the_browser(page: Client, settings: Any) -> None:
    settings.QUESTIONS_PER_MINUTE = 1
    assert page.post("/ask/", {"q": ""}).status_code == 422
    refused = page.post(
        "/ask/", {"q": "What is a network?"}, headers={"Accept": "text/event-stream"}
    )
    assert (refused.status_code, refused["RateLimit-Policy"]) == (429, '"questions";q=1;w=60')
    assert "1 questions came in a minute." in refused.content.decode()
    assert "<html" not in refused.content.decode()
    response = page.post(f"{V1}ask", {"question": "?"}, content_type="application/json")
    assert response.status_code == 429
    assert page.get("/ask/").status_code == 200


def test_additions_have_a_limit(page: Client, settings: Any) -> None:
    settings.ADDITIONS_PER_MINUTE = 1
    assert page.post("/add/", {}).status_code != 429
    operations = (f"{V1}sources{ending}" for ending in ("", "/files", "/captions"))
    for path in ("/add/", *operations):
        assert page.post(path, {}).status_code == 429


def test_no_limit_is_0_and_strangers_are_not_counted(owner: User, settings: Any) -> None:
    settings.API_CALLS_PER_MINUTE = 0
    assert "RateLimit" not in token_client(owner).get(f"{V1}jobs")
    settings.API_CALLS_PER_MINUTE = 1
    for headers in ({}, {"Authorization": "Bearer kb_unknown"}):
        for _ in range(3):
            assert Client(headers=headers).get(f"{V1}jobs").status_code == 401


@pytest.mark.redis
def test_with_redis_all_servers_count_together(owner: User, settings: Any, tmp_path: Any) -> None:
    with redis_server(tmp_path) as (_, address):
        settings.CELERY_BROKER_URL = address
        settings.API_CALLS_PER_MINUTE = 1
        asking = token_client(owner)
        assert asking.get(f"{V1}jobs").status_code == 200
        rate_limits.forget()  # as another server would begin
        assert asking.get(f"{V1}jobs").status_code == 429
