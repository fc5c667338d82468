"""The OpenAPI document as groups of operations with parameters and examples."""

import json
from typing import Any

from kbsite.api_reference import Operation, read

SCHEMAS = {
    "Note": {
        "type": "object",
        "title": "Note",
        "required": ["title", "kind"],
        "properties": {
            "title": {"type": "string", "description": "One line."},
            "kind": {"enum": ["long", "short"], "type": "string", "default": "short"},
            "parent": {"anyOf": [{"type": "null"}, {"$ref": "#/components/schemas/Note"}]},
            "tags": {"type": "array", "items": {"type": "string"}},
            "made_at": {"type": "string", "format": "date-time"},
        },
    }
}
NOTE = {"application/json": {"schema": {"$ref": "#/components/schemas/Note"}}}


def operation(described: dict[str, Any], method: str = "get", path: str = "") -> Operation:
    """Read a document with one operation, and return it."""
    path = path or "/api/v1/notes"
    answered = {"operationId": "it", "responses": {"200": {"description": "OK"}}, **described}
    document = {"components": {"schemas": SCHEMAS}, "paths": {path: {method: answered}}}
    groups = read(document, origin="https://cuebase.test")
    (read_operation,) = (operation for group in groups for operation in group.operations)
    return read_operation


def test_an_example_has_every_field_and_ends_where_a_schema_contains_itself() -> None:
    answer = {"responses": {"200": {"description": "OK", "content": NOTE}}}
    (good,) = operation(answer).answers
    assert good.content
    example = json.loads(good.content.example)
    assert example["kind"] == "long"
    assert example["tags"] == ["…"]
    assert example["parent"]["parent"]["made_at"] == "2026-01-31T12:00:00Z"


def test_the_example_of_a_body_has_only_what_must_be_sent() -> None:
    body = operation({"requestBody": {"content": NOTE}}, "post").body
    assert body
    assert json.loads(body.example) == {"title": "…", "kind": "long"}
    assert [(field.name, field.type, field.is_required) for field in body.fields] == [
        ("title", "string", True),
        ("kind", "string", True),
        ("parent", "Note", False),
        ("tags", "list of string", False),
        ("made_at", "date-time", False),
    ]


def test_a_curl_command_names_what_is_required_and_quotes_for_a_shell() -> None:
    parameters = [
        {"in": "query", "name": "q", "required": True, "schema": {"type": "string"}},
        {"in": "query", "name": "limit", "schema": {"type": "integer"}},
    ]
    command = operation({"parameters": parameters}, path="/api/v1/search").curl
    assert command.endswith('"https://cuebase.test/api/v1/search?q=…"')
    quoted = {"application/json": {"schema": {"const": {"title": "it's"}}}}
    command = operation({"requestBody": {"content": quoted}}, "put").curl
    assert "-X PUT" in command
    assert r"""-d '{"title": "it'\''s"}'""" in command


def test_files_and_streams_are_not_offered_to_be_tried() -> None:
    assert operation({}).can_be_tried
    files = {"multipart/form-data": {"schema": {"type": "object"}}}
    assert not operation({"requestBody": {"content": files}}, "post").can_be_tried
    stream = {"200": {"description": "OK", "content": {"text/event-stream": {"schema": {}}}}}
    assert not operation({"responses": stream}).can_be_tried


def test_refusals_stand_apart_in_order() -> None:
    responses = {
        status: {"description": text}
        for status, text in (("429", "Later"), ("201", "Made"), ("404", "Nothing"))
    }
    read_operation = operation({"responses": responses}, "post")
    assert [answer.status for answer in read_operation.answers] == ["201"]
    assert [answer.status for answer in read_operation.refusals] == ["404", "429"]
