"""A POST that is repeated with its Idempotency-Key is done once."""

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
import requests
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db.models import F
from django.test import Client
from django.test.client import encode_multipart
from django.utils import timezone

from citations.errors import ModelError
from citations.models import Answer, Note
from citations.notebook import questions
from citations.schemas.notebook import NoteOut
from kbsite import retention
from kbsite.api import api
from kbsite.models import ApiToken, KeyedRequest, keyed_requests
from kbsite.openapi import resolve
from tests.makers import make_document, make_user, token_client
from transcripts.core.access import AccessLevel
from transcripts.core.errors import Conflict
from transcripts.models import Collection, Job

V1 = "/api/v1/"
NOTE = {"collection": "lectures", "text": "One."}


def post(client: Client, path: str, body: Any, key: str = "k-1") -> Any:
    sent = json.dumps(body)
    headers = {"Idempotency-Key": key}
    return client.post(path, sent, content_type="application/json", headers=headers)


def test_a_repeated_request_returns_the_first_answer_and_does_nothing(asking: Client) -> None:
    first = post(asking, f"{V1}notes", NOTE)
    again = post(asking, f"{V1}notes", NOTE)
    assert (first.status_code, again.status_code) == (201, 201)
    assert (again.content, again["Location"]) == (first.content, first["Location"])
    assert again["Content-Type"] == first["Content-Type"]
    assert (again["Idempotent-Replayed"], "Idempotent-Replayed" in first) == ("true", False)
    assert Note.objects.count() == 1


def test_content_is_made_once_too(asking: Client) -> None:
    body = {"name": "New", "slug": "new"}
    first, again = (post(asking, "/api/content/collections/", body) for _ in range(2))
    assert (first.status_code, again.status_code) == (201, 201)
    assert again.json() == first.json()
    assert post(asking, "/api/content/collections/", body, key="k-2").status_code == 422


def test_a_form_is_the_same_whatever_separates_its_parts(asking: Client) -> None:
    for boundary in ("one", "two"):
        file = SimpleUploadedFile("talk.vtt", b"WEBVTT\n\n00:00.000 --> 00:01.000\nHello\n")
        fields = {"collection": "lectures", "files": file}
        kind = f"multipart/form-data; boundary={boundary}"
        sent, headers = encode_multipart(boundary, fields), {"Idempotency-Key": "files"}
        answer = asking.post(f"{V1}sources/files", sent, content_type=kind, headers=headers)
        assert answer.status_code == 202, answer.content
    assert Job.objects.count() == 1


def test_a_key_that_another_request_had_is_refused(asking: Client) -> None:
    post(asking, f"{V1}notes", NOTE)
    for path, body in ((f"{V1}notes", {**NOTE, "text": "Two."}), (f"{V1}sessions", NOTE)):
        refused = post(asking, path, body)
        assert (refused.status_code, refused.json()["code"]) == (422, "key_reused")
    assert Note.objects.count() == 1


def test_while_the_first_request_is_worked_on_its_repetition_has_to_wait(asking: Client) -> None:
    post(asking, f"{V1}notes", NOTE)
    KeyedRequest.objects.update(status=None, holder=uuid4())
    running = post(asking, f"{V1}notes", NOTE)
    assert (running.status_code, running.json()["code"]) == (409, "still_running")
    assert int(running["Retry-After"]) > 0
    KeyedRequest.objects.update(active_at=F("active_at") - timedelta(minutes=1))  # it has died
    assert post(asking, f"{V1}notes", NOTE).status_code == 201
    assert Note.objects.count() == 2


def test_every_post_declares_when_to_send_it_again() -> None:
    document = api.get_openapi_schema()
    posts = [methods["post"] for methods in document["paths"].values() if "post" in methods]
    for post in posts:
        refusal = resolve(post["responses"]["409"], document["components"]["responses"])
        assert refusal["headers"]["Retry-After"], post["operationId"]


def test_what_was_refused_may_be_sent_again_with_its_key(asking: Client) -> None:
    assert post(asking, f"{V1}notes", {"text": "One.", "collection": "absent"}).status_code == 404
    assert post(asking, f"{V1}notes", NOTE).status_code == 201


def test_what_was_refused_has_left_nothing_behind(
    asking: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def break_off(*_: Any, **__: Any) -> None:
        raise Conflict("Something is in the way.")

    with monkeypatch.context() as broken:
        broken.setattr(NoteOut, "read", break_off)
        assert post(asking, f"{V1}notes", NOTE).status_code == 409
    assert not Note.objects.exists()
    assert post(asking, f"{V1}notes", NOTE).status_code == 201
    assert Note.objects.count() == 1


def test_who_has_lost_the_lease_has_done_nothing(
    asking: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def take_over(note: Note, owner: User) -> Any:
        KeyedRequest.objects.update(holder=uuid4())
        return read(note, owner)

    read = NoteOut.read
    monkeypatch.setattr(NoteOut, "read", take_over)
    late = post(asking, f"{V1}notes", NOTE)
    assert (late.status_code, late.json()["code"]) == (409, "still_running")
    assert not Note.objects.exists()


def test_a_question_that_could_not_be_answered_is_answered_in_its_place(
    asking: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise ModelError("The model is away.")

    question = {"question": "What?", "collection": "lectures"}
    with monkeypatch.context() as broken:
        broken.setattr(questions.answer_pipeline, "ask", fail)
        assert post(asking, f"{V1}ask?stream=false", question).status_code == 503
    assert post(asking, f"{V1}ask?stream=false", question).status_code == 200
    assert Answer.objects.count() == 1


def test_secrets_are_kept_encrypted(asking: Client) -> None:
    body = {"url": "https://example.org/", "events": ["job.done"]}
    made, again = (post(asking, f"{V1}webhooks", body) for _ in range(2))
    secret = made.json()["secret"].encode()
    assert again.json() == made.json()
    assert secret not in bytes(KeyedRequest.objects.get().content)


def test_a_repeated_window_has_the_note_of_the_first(
    asking: Client, collection: Collection
) -> None:
    make_document(collection, ["A network is a chain of functions."])  # without vectors
    session = asking.post(f"{V1}sessions", {}, content_type="application/json").json()["id"]
    body = {"session_id": session, "transcript_text": "A network.", "window_index": 0}
    first, again = (post(asking, f"{V1}rag/query", body) for _ in range(2))
    assert first["Cuebase-Note"] == "not_indexed_yet"
    assert again["Cuebase-Note"] == first["Cuebase-Note"]


def test_a_version_of_the_list_does_not_get_round_the_key(asking: Client) -> None:
    headers = {"Idempotency-Key": "k-1", "If-Match": "*"}
    kind = "application/json"
    for _ in range(2):
        asking.post(f"{V1}notes", json.dumps(NOTE), content_type=kind, headers=headers)
    assert Note.objects.count() == 1


def test_keys_belong_to_who_sends_them(asking: Client, owner: User, collection: Collection) -> None:
    post(asking, f"{V1}notes", NOTE)
    others = token_client(make_user("grace", collection=collection))
    assert "Idempotent-Replayed" not in post(others, f"{V1}notes", {**NOTE, "text": "Two."})
    assert "Idempotent-Replayed" not in post(token_client(owner), f"{V1}notes", NOTE)
    stranger = post(Client(), f"{V1}notes", NOTE)
    assert stranger.status_code == 401


def test_an_answer_is_not_repeated_to_who_may_no_longer_see_it(asking: Client, owner: User) -> None:
    post(asking, f"{V1}notes", NOTE)
    owner.memberships.all().delete()
    refused = post(asking, f"{V1}notes", NOTE)
    assert (refused.status_code, refused.json()["code"]) == (409, "rights_changed")
    assert "One." not in refused.content.decode()


@pytest.mark.parametrize("key", ["", "k" * 256, "with\ttab"])
def test_a_key_that_cannot_be_kept_is_refused_by_its_name(asking: Client, key: str) -> None:
    refused = post(asking, f"{V1}notes", NOTE, key=key)
    assert refused.status_code == 422
    assert refused.json()["errors"][0]["field"] == "Idempotency-Key"
    assert not Note.objects.exists()


def test_a_stream_takes_no_key(asking: Client) -> None:
    question = {"question": "What?", "collection": "lectures"}
    assert post(asking, f"{V1}ask", question).json()["errors"][0]["field"] == "Idempotency-Key"
    answer, again = (post(asking, f"{V1}ask?stream=false", question) for _ in range(2))
    assert (answer.status_code, again.content) == (200, answer.content)


def test_keys_are_forgotten_after_a_day(asking: Client) -> None:
    post(asking, f"{V1}notes", NOTE)
    KeyedRequest.objects.update(created_at=timezone.now() - timedelta(hours=25))
    post(asking, f"{V1}notes", NOTE)
    assert Note.objects.count() == 2
    KeyedRequest.objects.update(created_at=timezone.now() - timedelta(hours=25))
    retention.clear()
    assert not KeyedRequest.objects.exists()


def test_a_users_oldest_answers_make_room_for_new_ones(
    asking: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keyed_requests, "MAX_KEPT", 2)
    for number in range(4):
        post(asking, f"{V1}notes", NOTE, key=f"k-{number}")
    assert set(KeyedRequest.objects.values_list("key", flat=True)) == {"k-2", "k-3"}
    monkeypatch.setattr(keyed_requests, "MAX_BYTES", 400)
    post(asking, f"{V1}notes", NOTE, key="k-4")
    assert set(KeyedRequest.objects.values_list("key", flat=True)) == {"k-4"}


@pytest.mark.django_db(transaction=True)
def test_of_many_requests_at_once_one_is_done(live_server: Any) -> None:
    shelf = Collection.objects.create(name="Lectures", slug="lectures")
    _, text = ApiToken.issue(
        make_user("ada", collection=shelf), name="test", access=AccessLevel.MANAGE
    )
    headers = {"Authorization": f"Bearer {text}", "Idempotency-Key": "k-1"}
    address = f"{live_server.url}{V1}notes"
    with ThreadPoolExecutor(8) as pool:
        sent = [pool.submit(requests.post, address, json=NOTE, headers=headers) for _ in range(24)]
        answers = [future.result() for future in sent]
    assert {answer.status_code for answer in answers} <= {201, 409}
    assert len({answer.text for answer in answers if answer.status_code == 201}) == 1
    assert Note.objects.count() == 1
