"""The OpenAPI description of the content API, which stands in one document with the operations."""

from typing import Any, Final

from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.openapi import AutoSchema

from kbsite import openapi
from kbsite.content.requests import ALWAYS, FIELDS
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

IDS: Final = {  # in an address
    "id": {"type": "integer", "minimum": 0, "maximum": 10**18 - 1},
    "uuid": {"type": "string", "format": "uuid"},
}


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
        for parameter in operation.setdefault("parameters", []):
            if parameter["in"] == "path":
                parameter["schema"] = IDS[parameter["name"]]
        if self.method == "GET":
            names = list(self.view.get_serializer_class().Meta.fields)
            schema = {"type": "array", "items": {"type": "string", "enum": names}}
            where = {"name": FIELDS, "in": "query", "style": "form", "explode": False}
            about = {**where, "schema": schema, "description": "Only these fields."}
            operation["parameters"].append(about)
        if self.view.action == "create":
            operation["responses"]["201"] |= located(201)["responses"][201]
        for answer in operation["responses"].values():
            answer["description"] = answer["description"] or "Done."
        openapi.answer(operation, *(ERRORS if self.method == "GET" else ERRORS_OF_CHANGES))
        return operation


def describe(patterns: Any) -> dict[str, Any]:
    """Return the paths and components of the resources."""
    make: Any = SchemaGenerator
    description: dict[str, Any] = make(patterns=patterns).get_schema(public=True)
    schemas = description["components"]["schemas"]
    for methods in description["paths"].values():
        for content in methods["get"]["responses"]["200"]["content"].values():
            name = _named(content["schema"])
            if name.endswith("Page"):
                lists = schemas[name]["properties"].values()
                rows = next(listed for listed in lists if listed["type"] == "array")
                name = _named(rows["items"])
                rows["items"] = _with_fewer_fields(name, schemas)
            else:
                content["schema"] = _with_fewer_fields(name, schemas)
    return description


def _with_fewer_fields(name: str, schemas: dict[str, Any]) -> dict[str, Any]:
    always = [field for field in schemas[name]["required"] if field in ALWAYS]
    about = "With ``fields``: those that were chosen."
    schemas[f"{name}Fields"] = {**schemas[name], "required": always, "description": about}
    shapes = (name, f"{name}Fields")
    return {"anyOf": [{"$ref": f"#/components/schemas/{shape}"} for shape in shapes]}


def _named(schema: dict[str, Any]) -> str:
    name: str = schema["$ref"].rpartition("/")[2]
    return name
