"""What a token may not do is refused before its arguments are read."""

import asyncio
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from kbsite.middleware.event_streams import SiteHandler
from kbsite.models import ApiToken, KeyedRequest
from kbsite.operations import UploadCheck
from tests.makers import token_client
from tests.problems import problem
from transcripts.core.access import AccessLevel

V1, CONTENT = "/api/v1/", "/api/content/"


@pytest.fixture
def reader(owner: User) -> Client:
    """A program that may only read."""
    return token_client(owner, access=AccessLevel.READ)


@pytest.mark.parametrize("headers", [{}, {"Idempotency-Key": "k-1"}, {"If-Match": '"x"'}], ids=str)
@pytest.mark.parametrize(
    ("path", "sent"),
    [
        (f"{V1}notes", {"data": "{", "content_type": "application/json"}),
        (f"{V1}notes?unknown=1", {"data": "{}", "content_type": "application/json"}),
        (f"{V1}sources/files", {"data": {"files": SimpleUploadedFile("a.vtt", b"WEBVTT")}}),
        (f"{V1}jobs/no-number/retry", {"data": "{}", "content_type": "application/json"}),
        (f"{CONTENT}collections/", {"data": "{", "content_type": "application/json"}),
        (f"{CONTENT}memberships/", {"data": {"user": "eve"}}),
        (f"{CONTENT}collections/?unknown=1", {"data": "x", "content_type": "text/csv"}),
    ],
    ids=str,
)
def test_a_refusal_reads_neither_parameters_nor_body(
    reader: Client, path: str, sent: dict[str, Any], headers: dict[str, str]
) -> None:
    response = reader.post(path, headers=headers, **sent)
    problem(response, 403, "insufficient_scope")
    request: Any = response.wsgi_request
    assert not hasattr(request, "_body")
    assert not request._read_started
    assert not KeyedRequest.objects.exists()


NAMED = b'Content-Disposition: form-data; name="files"; filename="a.vtt"'
UPLOAD = [b"--x\r\n%s\r\n\r\nWEBVTT\n\r\n" % NAMED, b"--x--\r\n"]
LENGTH = (b"content-length", b"%d" % sum(map(len, UPLOAD)))
TRANSFER = (b"transfer-encoding", b"chunked")


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("access", "path", "length", "status", "taken"),
    [
        (AccessLevel.WRITE, f"{V1}sources/files", LENGTH, 202, 2),
        (AccessLevel.READ, f"{V1}sources/files", LENGTH, 403, 0),
        (AccessLevel.READ, f"{V1}sources/files", TRANSFER, 403, 0),
        (None, f"{V1}sources/files", LENGTH, 401, 0),
        (AccessLevel.WRITE, f"{CONTENT}memberships/", LENGTH, 403, 0),
    ],
)
def test_no_file_is_taken_in_from_a_token_that_may_not_send_it(
    owner: User,
    settings: Any,
    access: AccessLevel | None,
    path: str,
    length: tuple[bytes, bytes],
    status: int,
    taken: int,
) -> None:
    settings.FILE_UPLOAD_MAX_MEMORY_SIZE = 50  # bytes
    text = ApiToken.issue(owner, name="test", access=access)[1] if access else "kb_unknown"
    headers = [
        length,
        (b"host", b"testserver"),
        (b"authorization", f"Bearer {text}".encode()),
        (b"content-type", b"multipart/form-data; boundary=x"),
    ]
    parts, sent = [*UPLOAD], list[Any]()

    async def receive() -> Any:
        if not parts:
            await asyncio.Future()
        return {"type": "http.request", "body": parts.pop(0), "more_body": bool(parts)}

    async def send(event: Any) -> None:
        sent.append(event)

    about = {"type": "http", "method": "POST", "path": path, "query_string": b""}
    asyncio.run(UploadCheck(SiteHandler())({**about, "headers": headers}, receive, send))
    assert sent[0]["status"] == status, sent
    assert len(UPLOAD) - len(parts) == taken
    assert ((b"connection", b"close") in sent[0]["headers"]) == (taken == 0)


def test_a_refusal_says_what_to_do(owner: User, reader: Client) -> None:
    refusal = reader.post(f"{V1}notes").json()
    assert refusal["detail"] == "This token may only read."
    assert refusal["hint"] == "Create one with `kb token create --write`."
    writer = token_client(owner, access=AccessLevel.WRITE)
    refusal = writer.get(f"{V1}shared-links").json()
    assert refusal["detail"] == "This token may not manage members, links and webhooks."
    assert refusal["hint"] == "Create one with `kb token create --manage`."


def test_a_session_does_whatever_its_user_may(owner: User, client: Client) -> None:
    client.force_login(owner)
    assert client.get(f"{CONTENT}memberships/").json()["total"] == 1


def test_an_unknown_token_is_unknown_whatever_it_asks_for(db: None) -> None:
    stranger = Client(headers={"Authorization": "Bearer kb_unknown"})
    for path in (f"{V1}notes", f"{CONTENT}memberships/"):
        problem(stranger.post(path), 401, "not_signed_in")


def test_a_method_that_is_not_served_is_refused_as_such(reader: Client) -> None:
    problem(reader.put(f"{CONTENT}collections/1/"), 405, "method_not_allowed")
    problem(reader.patch(f"{V1}notes"), 405, "method_not_allowed")
