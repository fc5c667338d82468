"""The OpenAPI document as people read it: groups of operations with parameters and examples.

Pure: a document in, values out.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

Schema = Mapping[str, Any]

MESSAGES: Final = "webhooks"  # the group that also has the messages to webhooks
_GROUPS: Final = {
    "sources": ("sources", "jobs", "feeds", "transcripts", "youtube"),
    "search": ("search", "marks", "verify"),
    "ask": ("ask", "answers", "quotations", "conversations"),
    "lectures": ("sessions", "rag", "citations"),
    "notebook": ("notes", "highlights", "shared-links", "archives"),
    MESSAGES: ("webhooks",),
    "content": (),
}
GROUPS: Final = tuple(_GROUPS)
_DEEPEST: Final = 5  # levels of an example
_STREAM: Final = "text/event-stream"
_FORM: Final = "multipart/form-data"
_FORMATS: Final = {
    "date": "2026-01-31",
    "date-time": "2026-01-31T12:00:00Z",
    "uuid": "0c9d1b44-2f6e-4f7c-9d0e-3f6f2d3c9a51",
    "uri": "https://example.org/",
    "binary": "talk.vtt",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A parameter of an operation (``place`` says where it stands), or a field of JSON."""

    name: str
    type: str
    about: str
    is_required: bool
    place: str = ""
    default: str = ""
    choices: tuple[str, ...] = ()
    is_many: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """What a request or an answer contains; ``example`` is JSON, or empty for other formats."""

    media_types: tuple[str, ...]
    fields: tuple[Field, ...]
    example: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribedAnswer:
    status: str
    about: str
    content: Content | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """What a program can do; ``curl`` is a command that does it, empty for what is sent to it."""

    name: str
    method: str
    path: str
    summary: str
    about: str
    parameters: tuple[Field, ...]
    body: Content | None
    answers: tuple[DescribedAnswer, ...]
    refusals: tuple[DescribedAnswer, ...]
    curl: str

    @property
    def can_be_tried(self) -> bool:
        """Whether a form can send it: neither files nor an answer that does not end."""
        types = {kind for answer in self.answers for kind in _types(answer.content)}
        return bool(self.curl) and _STREAM not in types and _FORM not in _types(self.body)


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    slug: str
    operations: tuple[Operation, ...]
    messages: tuple[Operation, ...] = ()


def read(document: Mapping[str, Any], *, origin: str) -> tuple[Group, ...]:
    """Return the groups of an OpenAPI document, whose server is at ``origin``."""
    schemas = document["components"]["schemas"]
    operations: dict[str, list[Operation]] = {slug: [] for slug in _GROUPS}
    for path, methods in document["paths"].items():
        for method, described in methods.items():
            operation = _operation(method, path, described, schemas, origin)
            operations[group_of(path)].append(operation)
    messages = [
        _operation("post", kind, methods["post"], schemas, origin="")
        for kind, methods in document.get("webhooks", {}).items()
    ]
    return tuple(
        Group(
            slug=slug,
            operations=tuple(operations[slug]),
            messages=tuple(messages) if slug == MESSAGES else (),
        )
        for slug in _GROUPS
    )


def group_of(path: str) -> str:
    """Return the slug of the group of an address, such as /api/v1/search."""
    _, _, root, segment, *_ = path.split("/")
    if root == "content":
        return "content"
    return next(slug for slug, segments in _GROUPS.items() if segment in segments)


def _operation(
    method: str, path: str, described: Mapping[str, Any], schemas: Schema, origin: str
) -> Operation:
    parameters = tuple(
        _parameter(declared, schemas) for declared in described.get("parameters", ())
    )
    body = _content(described.get("requestBody", {}), schemas, all_fields=False)
    answers = [
        DescribedAnswer(
            status=str(status),
            about=answer.get("description", ""),
            content=_content(answer, schemas, all_fields=True),
        )
        for status, answer in described["responses"].items()
    ]
    good = tuple(answer for answer in answers if answer.status.startswith("2"))
    return Operation(
        name=described["operationId"],
        method=method.upper(),
        path=path,
        summary=described.get("summary", ""),
        about=described.get("description", ""),
        parameters=parameters,
        body=body,
        answers=good,
        refusals=tuple(
            sorted(
                (answer for answer in answers if answer not in good),
                key=lambda answer: answer.status,
            )
        ),
        curl=_curl(method, origin + path, parameters, body) if origin else "",
    )


def _parameter(declared: Mapping[str, Any], schemas: Schema) -> Field:
    field = _field(declared["name"], declared.get("schema", {}), schemas)
    return Field(
        name=field.name,
        type=field.type,
        about=declared.get("description", "") or field.about,
        is_required=declared.get("required", False),
        place=declared["in"],
        default=field.default,
        choices=field.choices,
        is_many=field.is_many,
    )


def _field(name: str, schema: Schema, schemas: Schema, *, is_required: bool = False) -> Field:
    plain = _plain(schema, schemas)
    items = _plain(plain.get("items", {}), schemas)
    default = schema.get("default")
    return Field(
        name=name,
        type=_type(plain, items),
        about=schema.get("description", "") or plain.get("description", ""),
        is_required=is_required,
        default="" if default in (None, "", [], {}) else json.dumps(default, ensure_ascii=False),
        choices=tuple(str(choice) for choice in plain.get("enum", items.get("enum", ()))),
        is_many=plain.get("type") == "array",
    )


def _plain(schema: Schema, schemas: Schema) -> Schema:
    """Resolve references, and of alternatives take the first that is not null."""
    for _ in range(10):  # a reference to itself ends, too
        if "$ref" in schema:
            schema = schemas[schema["$ref"].rpartition("/")[2]]
        elif schema.get("allOf"):
            schema = schema["allOf"][0]
        elif alternatives := schema.get("anyOf") or schema.get("oneOf"):
            schema = next(
                (alternative for alternative in alternatives if alternative.get("type") != "null"),
                {},
            )
        else:
            break
    return schema


def _type(schema: Schema, items: Schema) -> str:
    kind = _name_of_type(schema)
    if kind != "array":
        return kind
    return f"list of {_name_of_type(items)}" if items else "list"


def _name_of_type(schema: Schema) -> str:
    kind = schema.get("type", "string" if "enum" in schema else "")
    if isinstance(kind, list):
        kind = next((name for name in kind if name != "null"), "")
    if kind == "object":
        return str(schema.get("title", "object"))
    return str(schema.get("format") or kind or "anything")


def _content(declared: Mapping[str, Any], schemas: Schema, *, all_fields: bool) -> Content | None:
    content = declared.get("content") or {}
    if not content:
        return None
    schema: Schema = next((media.get("schema", {}) for media in content.values()), {})
    plain = _plain(schema, schemas)
    if plain.get("type") == "array":
        plain = _plain(plain.get("items", {}), schemas)
    required = plain.get("required", ())
    is_json = any("json" in kind for kind in content)
    example = _example(schema, schemas, all_fields=all_fields)
    return Content(
        media_types=tuple(content),
        fields=tuple(
            _field(name, each, schemas, is_required=name in required)
            for name, each in plain.get("properties", {}).items()
        ),
        example=json.dumps(example, indent=2, ensure_ascii=False) if is_json else "",
    )


def _example(schema: Schema, schemas: Schema, *, all_fields: bool, level: int = 0) -> Any:
    """Make a value of the schema; of a request's body only with the fields that it must have."""
    plain = _plain(schema, schemas)
    for place in (schema, plain):
        if examples := _given(place):
            return examples[0]
    kind = plain.get("type")
    if kind == "object" and level < _DEEPEST:
        properties = plain.get("properties", {})
        required = plain.get("required") or tuple(properties)[:1]
        return {
            name: _example(schema_of, schemas, all_fields=all_fields, level=level + 1)
            for name, schema_of in properties.items()
            if all_fields or name in required
        }
    if kind == "array":
        items = plain.get("items", {})
        inner = _example(items, schemas, all_fields=all_fields, level=level + 1)
        return [inner] if level < _DEEPEST else []
    return _simple_example(schema, plain)


def _given(schema: Schema) -> list[Any]:
    """Return the values that a schema itself gives as examples."""
    single = [schema[key] for key in ("example", "const") if key in schema]
    return [*single, *schema.get("examples", ()), *schema.get("enum", ())][:1]


def _simple_example(schema: Schema, plain: Schema) -> Any:
    kind = plain.get("type")
    if schema.get("default") not in (None, ""):
        return schema["default"]
    if kind == "integer":
        return plain.get("minimum", 1)
    simple = {"boolean": True, "number": 0.5, "object": {}, "null": None}
    return simple.get(str(kind), _FORMATS.get(plain.get("format", ""), "…"))


def _curl(method: str, address: str, parameters: Iterable[Field], body: Content | None) -> str:
    required = [field for field in parameters if field.place == "query" and field.is_required]
    if required:
        address += "?" + "&".join(f"{field.name}=…" for field in required)
    parts = ["curl", '-H "Authorization: Bearer $CUEBASE_TOKEN"']
    if method != "get":
        parts.insert(1, f"-X {method.upper()}")
    if _FORM in _types(body):
        parts.append("-F files=@talk.vtt")
    elif body:
        value = json.dumps(json.loads(body.example), ensure_ascii=False) if body.example else "{}"
        quoted = value.replace("'", r"'\''")
        parts += ['-H "Content-Type: application/json"', f"-d '{quoted}'"]
    return " \\\n  ".join([*parts, f'"{address}"'])


def _types(content: Content | None) -> tuple[str, ...]:
    return content.media_types if content else ()
