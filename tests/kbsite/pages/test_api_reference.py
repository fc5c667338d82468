"""The OpenAPI document as groups of operations with parameters and examples."""

import json
from typing import Any

from kbsite.pages.api_reference import Operation, read

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
NOTE = {"application/json": {"schema": {"$ref": "#/components/schemas/Note"}, "example": {"a": 1}}}
COMPONENTS = {
    "schemas": SCHEMAS,
    "headers": {"ETag": {"description": "A version.", "required": True, "schema": {}}},
    "responses": {"404": {"description": "Nothing."}, "429": {"description": "Later."}},
}
TAGS = [
    {"name": name, "x-displayName": name.title(), "description": "About it."}
    for name in ("notes", "webhooks")
]


def document(described: dict[str, Any], method: str = "get", path: str = "") -> dict[str, Any]:
    """Return a document with one operation."""
    path = path or "/api/v1/notes"
    answered = {"operationId": "it", "tags": ["notes"], "responses": {"200": {"description": "OK"}}}
    return {
        "servers": [{"url": "https://cuebase.test"}],
        "tags": TAGS,
        "components": COMPONENTS,
        "paths": {path: {method: {**answered, **described}}},
    }


def operation(*described: Any, **more: Any) -> Operation:
    """Read a document with one operation, and return it."""
    (read_operation,) = (
        operation for group in read(document(*described, **more)) for operation in group.operations
    )
    return read_operation


def test_the_groups_are_the_tags_in_their_order() -> None:
    groups = read(document({}))
    assert [(group.slug, group.title, group.about) for group in groups] == [
        ("notes", "Notes", "About it."),
        ("webhooks", "Webhooks", "About it."),
    ]
    assert [operation.name for operation in groups[0].operations] == ["it"]


def test_an_answer_has_its_fields_example_and_headers() -> None:
    etag = {"ETag": {"$ref": "#/components/headers/ETag"}}
    answer = {"responses": {"200": {"description": "OK", "content": NOTE, "headers": etag}}}
    (good,) = operation(answer).answers
    assert good.content
    assert json.loads(good.content.example) == {"a": 1}
    assert [(field.name, field.type, field.is_required) for field in good.content.fields] == [
        ("title", "string", True),
        ("kind", "string", True),
        ("parent", "Note", False),
        ("tags", "list of string", False),
        ("made_at", "date-time", False),
    ]
    assert [(header.name, header.about) for header in good.headers] == [("ETag", "A version.")]


def test_a_curl_command_names_what_is_required_and_quotes_for_a_shell() -> None:
    parameters = [
        {"in": "query", "name": "q", "required": True, "schema": {}, "example": "it & I"},
        {"in": "query", "name": "limit", "schema": {"type": "integer"}},
    ]
    command = operation({"parameters": parameters}, path="/api/v1/search").curl
    assert command.endswith('"https://cuebase.test/api/v1/search?q=it+%26+I"')
    quoted = {"application/json": {"schema": {}, "example": {"title": "it's"}}}
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
        "429": {"$ref": "#/components/responses/429"},
        "201": {"description": "Made."},
        "404": {"$ref": "#/components/responses/404"},
    }
    read_operation = operation({"responses": responses}, "post")
    assert [answer.status for answer in read_operation.answers] == ["201"]
    assert [(answer.status, answer.about) for answer in read_operation.refusals] == [
        ("404", "Nothing."),
        ("429", "Later."),
    ]
