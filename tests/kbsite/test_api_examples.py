"""Examples are made of one example of each field."""

from typing import Any

from kbsite.api_examples import add, of_body

SCHEMAS: dict[str, Any] = {
    "Note": {
        "type": "object",
        "title": "Note",
        "required": ["title", "kind"],
        "properties": {
            "id": {"type": "string", "format": "uuid", "readOnly": True},
            "title": {"type": "string"},
            "kind": {"enum": ["long", "short"], "type": "string"},
            "parent": {"anyOf": [{"type": "null"}, {"$ref": "#/components/schemas/Note"}]},
            "tags": {"type": "array", "items": {"type": "string"}},
            "span": {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "integer"}]},
            "rank": {"type": "integer", "minimum": 2},
            "made_at": {"type": ["string", "null"], "format": "date-time"},
        },
    }
}
NOTE = {"$ref": "#/components/schemas/Note"}


def example_of(schema: Any) -> Any:
    media = {"schema": schema}
    answer = {"content": {"application/json": media}}
    add(
        {
            "components": {"schemas": SCHEMAS},
            "paths": {"/notes": {"get": {"responses": {"200": answer}}}},
            "webhooks": {},
        }
    )
    return media["example"]


def test_an_answer_has_every_field_and_ends_where_a_schema_contains_itself() -> None:
    example = example_of(NOTE)
    assert example.keys() == SCHEMAS["Note"]["properties"].keys()
    assert (example["kind"], example["tags"], example["rank"]) == ("long", ["networks"], 2)
    assert len(example["span"]) == 2
    assert example["parent"]["parent"]["made_at"] == "2026-01-31T12:00:00Z"


def test_a_field_has_the_same_example_in_a_body_and_in_an_answer() -> None:
    assert of_body(NOTE, SCHEMAS)["title"] == example_of(NOTE)["title"]


def test_a_body_has_only_what_must_be_sent_or_else_its_first_field_that_can_be_written() -> None:
    assert of_body(NOTE, SCHEMAS).keys() == {"title", "kind"}
    optional = {**SCHEMAS["Note"], "required": []}
    assert of_body(optional, SCHEMAS).keys() == {"title"}


def test_a_field_of_another_type_has_the_example_of_its_type() -> None:
    fields = {"title": {"type": "integer"}, "span": {"type": "boolean"}}
    assert example_of({"type": "object", "properties": fields}) == {"title": 1, "span": True}
