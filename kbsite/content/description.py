"""The OpenAPI description of the content API, which stands in one document with the operations."""

import re
from collections.abc import Iterable
from typing import Any, Final

from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.openapi import AutoSchema

from kbsite import openapi
from kbsite.content import selection, serializers
from kbsite.operations import security
from transcripts.core.headers import located

VERBS: Final = {
    "list": "List",
    "retrieve": "Get",
    "create": "Create",
    "partial_update": "Change",
    "destroy": "Delete",
}
ERRORS: Final = (400, 401, 403, 404, 406, 422, 429)
ERRORS_OF_CHANGES: Final = (*ERRORS, 409, 413, 415)

BIGGEST: Final = 10**18 - 1  # number in an address
_COMPARISON: Final = re.compile(r"(filters\[\w+\])\[(\$\w+)\]")


class Operations(AutoSchema):
    """Describes the operations on a resource by the terms of the others."""

    view: Any

    @property
    def _verb(self) -> str:
        return VERBS[self.view.action]

    @property
    def _name(self) -> str:
        plural: str = self.view.plural
        return plural if self._is_list_view() else plural.removesuffix("s")

    def get_operation_id(self) -> str:
        return f"{self._verb.lower()}_content_{self._name}"

    def get_summary(self) -> str:
        return f"{self._verb} {self._name}"

    def get_tags(self) -> list[str]:
        return ["content"]

    def get_auth(self) -> list[dict[str, list[str]]]:
        return security(self.view.needs[self.view.action])

    def get_paginated_name(self, serializer_name: str) -> str:
        return f"{serializer_name}Page"

    def map_parsers(self) -> list[str]:
        return ["application/json"]  # forms are for the browsable pages

    def _get_format_parameters(self) -> list[Any]:
        return []  # of the browsable pages, too

    def _get_paginator(self) -> Any:
        paginator = self.view.pagination_class()
        paginator.plural = self.view.plural
        return paginator

    def get_operation(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        operation: dict[str, Any] = super().get_operation(*args, **kwargs) or {}
        operation["parameters"] = _by_field(operation.get("parameters", ()))
        if self.method == "GET":
            operation["parameters"] += selection.parameters(self.view.get_serializer_class())
        if self.view.action == "create":
            operation["responses"]["201"] |= located(201)["responses"][201]
        for answer in operation["responses"].values():
            answer["description"] = answer["description"] or "Done."
        openapi.answer(operation, *(ERRORS if self.method == "GET" else ERRORS_OF_CHANGES))
        return operation


def _by_field(parameters: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Describe the comparisons of each field as one object, which clients send as they are."""
    described: dict[str, dict[str, Any]] = {}
    for parameter in parameters:
        if (parameter["name"], parameter["in"]) == ("id", "path"):
            parameter["schema"] = {"type": "integer", "minimum": 0, "maximum": BIGGEST}
        if (parameter["name"], parameter["in"]) == ("uuid", "path"):
            parameter["schema"] = {"type": "string", "format": "uuid"}
        match = _COMPARISON.fullmatch(parameter["name"])
        if match is None:
            described[parameter["name"]] = parameter
            continue
        field, operator = match.groups()
        schema = {"type": "object", "properties": {}, "additionalProperties": False}
        shape = {"name": field, "in": "query", "style": "deepObject", "explode": True}
        compared = described.setdefault(field, {**shape, "schema": schema})
        compared["schema"]["properties"][operator] = _of_value(parameter["schema"])
    return list(described.values())


def _of_value(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a value; several of ``$in`` stand in one text."""
    return {"type": "string"} if schema["type"] == "array" else schema


def describe(patterns: Any) -> dict[str, Any]:
    """Return the paths and components of the resources."""
    make: Any = SchemaGenerator
    description: dict[str, Any] = make(patterns=patterns).get_schema(public=True)
    schemas = description["components"]["schemas"]
    for methods in description["paths"].values():
        for content in methods["get"]["responses"]["200"]["content"].values():
            _add_selection(content, schemas)
    return description


def _add_selection(content: dict[str, Any], schemas: dict[str, Any]) -> None:
    """Say of an answer that it may have chosen fields and populated relations."""
    name = _named(content["schema"])
    holder, key = content, "schema"
    if name.endswith("Page"):
        lists = (
            definition
            for definition in schemas[name]["properties"].values()
            if definition["type"] == "array"
        )
        holder, key = next(lists), "items"
        name = _named(holder[key])
    serializer = getattr(serializers, f"{name}Serializer", None) or getattr(serializers, name)
    whole = schemas[name]
    properties = {
        field: {"anyOf": [schema, {"type": "object", "additionalProperties": {}}]}
        if field in serializer.relations
        else schema
        for field, schema in whole["properties"].items()
    }
    schemas[f"{name}Selection"] = {
        **whole,
        "properties": properties,
        "required": [field for field in whole["required"] if field in selection.ALWAYS],
        "description": "With ``fields`` or ``populate``: what was chosen.",
    }
    kinds = [{"$ref": f"#/components/schemas/{shape}"} for shape in (name, f"{name}Selection")]
    holder[key] = {"anyOf": kinds}


def _named(schema: dict[str, Any]) -> str:
    name: str = schema["$ref"].rpartition("/")[2]
    return name
