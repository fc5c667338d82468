"""Streams of events as clients read them, and their description."""

import json
from typing import Any

from asgiref.sync import async_to_sync
from jsonschema_rs import Draft202012Validator

from kbsite.api import api
from kbsite.errors import EVENTS


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
