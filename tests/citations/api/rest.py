"""Calls of /api/v1/, what they answer, and streams of events as clients read them."""

import json
from typing import Any

from asgiref.sync import async_to_sync
from django.test import Client
from jsonschema_rs import Draft202012Validator

from kbsite.api import api
from kbsite.errors import EVENTS

V1 = "/api/v1/"


def send(client: Client, path: str, data: Any = None, *, method: str = "post") -> Any:
    body = json.dumps({} if data is None else data)
    return getattr(client, method)(f"{V1}{path}", body, content_type="application/json")


def good(response: Any, status: int = 200) -> Any:
    """Return what a call answers that has this status."""
    assert response.status_code == status, response.content[:500]
    return response.json()


def assert_has(record: dict[str, Any], **fields: Any) -> None:
    """Assert the values of some fields."""
    assert {name: record[name] for name in fields} == fields


def heard(response: Any) -> list[tuple[str, Any]]:
    """Return the events of a stream, name and data, once it has ended."""

    async def collect() -> str:
        return b"".join([part async for part in response.streaming_content]).decode()

    events: list[tuple[str, Any]] = []
    for block in async_to_sync(collect)().split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines())
        if "event" in fields:
            events.append((fields["event"], json.loads(fields["data"])))
    return events


def schema_of_events(path: str, method: str) -> Draft202012Validator:
    """Return a check of an operation's events, as the OpenAPI document describes them."""
    description = api.get_openapi_schema(path_prefix="/api/v1/")
    content = description["paths"][path][method]["responses"]["200"]["content"][EVENTS]
    schema = {**content["schema"]["contentSchema"], "components": description["components"]}
    return Draft202012Validator(json.loads(json.dumps(schema)))
