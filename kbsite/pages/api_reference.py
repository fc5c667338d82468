"""The description of REST: its OpenAPI document, and the pages on which people read it, as groups
of operations with parameters and headers.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Final
from urllib.parse import quote_plus

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import translation
from django.views.decorators.http import require_safe

from kbsite import api
from kbsite.middleware import page_language
from kbsite.oauth import audience
from kbsite.openapi import Schema, is_success, resolve, type_of

MESSAGES: Final = "webhooks"  # the group that also has the messages to webhooks
_STREAM: Final = "text/event-stream"
_FORM: Final = "multipart/form-data"


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A parameter of an operation (``place`` says where it stands), or a field of JSON."""

    name: str
    type: str
    about: str
    is_required: bool
    place: str = ""
    default: str = ""
    example: str = ""
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
    headers: tuple[Field, ...]


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
    title: str
    about: str
    operations: tuple[Operation, ...]
    messages: tuple[Operation, ...] = ()


@require_safe
@api.for_members
def document(request: HttpRequest) -> HttpResponse:
    """Return the OpenAPI document, with the address through which this server is reached."""
    return JsonResponse(_document(audience.origin_of(request)))


@require_safe
@api.for_members
def overview(request: HttpRequest) -> HttpResponse:
    """List all operations."""
    groups = _groups(audience.origin_of(request))
    return page_language.reference(request, "kbsite/api.html", {"groups": groups})


@require_safe
@api.for_members
def group(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the operations of a group: parameters, examples, and a form to try each."""
    groups = {group.slug: group for group in _groups(audience.origin_of(request))}
    if slug not in groups:
        return api.not_found(request)
    context = {"group": groups[slug], "groups": groups.values()}
    return page_language.reference(request, "kbsite/api_group.html", context)


@lru_cache(maxsize=8)  # hosts: the document is the same, and takes half a second
def _groups(origin: str) -> tuple[Group, ...]:
    with translation.override(settings.LANGUAGE_CODE):  # for readers of all languages
        return read(_document(origin))


def _document(origin: str) -> dict[str, Any]:
    schema = api.api.get_openapi_schema(path_prefix="/api/v1/")
    return {**schema, "servers": [{"url": origin}]}


def read(document: Mapping[str, Any]) -> tuple[Group, ...]:
    """Return the groups of an OpenAPI document: its tags, with the operations that have each."""
    origin, components = document["servers"][0]["url"].rstrip("/"), document["components"]
    tagged = [
        (described["tags"], _operation(method, path, described, components, origin))
        for path, methods in document["paths"].items()
        for method, described in methods.items()
    ]
    messages = tuple(
        _operation("post", kind, methods["post"], components, origin="")
        for kind, methods in document.get("webhooks", {}).items()
    )
    return tuple(
        Group(
            slug=tag["name"],
            title=tag["x-displayName"],
            about=tag["description"],
            operations=tuple(operation for tags, operation in tagged if tag["name"] in tags),
            messages=messages if tag["name"] == MESSAGES else (),
        )
        for tag in document["tags"]
    )


def _operation(
    method: str, path: str, described: Mapping[str, Any], components: Schema, origin: str
) -> Operation:
    schemas = components["schemas"]
    parameters = tuple(
        _parameter(declared, schemas, declared["in"])
        for declared in described.get("parameters", ())
    )
    body = _content(described.get("requestBody", {}), schemas)
    answers = [
        _answer(status, answer, components) for status, answer in described["responses"].items()
    ]
    good = tuple(answer for answer in answers if is_success(answer.status))
    return Operation(
        name=described["operationId"],
        method=method.upper(),
        path=path,
        summary=described.get("summary", ""),
        about=described.get("description", ""),
        parameters=parameters,
        body=body,
        answers=good,
        refusals=_refusals(answers, {header.name for answer in good for header in answer.headers}),
        curl=_curl(method, origin + path, parameters, body) if origin else "",
    )


def _answer(status: str, declared: Schema, components: Schema) -> DescribedAnswer:
    answer = resolve(declared, components.get("responses", {}))
    headers = (
        {"name": name, **resolve(header, components.get("headers", {}))}
        for name, header in answer.get("headers", {}).items()
    )
    return DescribedAnswer(
        status=status,
        about=answer["description"],
        content=_content(answer, components["schemas"]),
        headers=tuple(_parameter(header, components["schemas"], "header") for header in headers),
    )


def _refusals(answers: Iterable[DescribedAnswer], known: set[str]) -> tuple[DescribedAnswer, ...]:
    """Return the other answers in order, with those of their headers that no good answer has."""
    return tuple(
        replace(
            answer, headers=tuple(header for header in answer.headers if header.name not in known)
        )
        for answer in sorted(answers, key=lambda answer: answer.status)
        if not is_success(answer.status)
    )


def _parameter(declared: Schema, schemas: Schema, place: str) -> Field:
    field = _field(declared["name"], declared["schema"], schemas)
    return replace(
        field,
        about=declared.get("description", "") or field.about,
        is_required=declared.get("required", False),
        place=place,
        example=str(declared.get("example", "")),
    )


def _field(name: str, schema: Schema, schemas: Schema, *, is_required: bool = False) -> Field:
    plain = resolve(schema, schemas)
    items = resolve(plain.get("items", {}), schemas)
    default, kind = schema.get("default"), _name_of_type(plain)
    return Field(
        name=name,
        type=kind if kind != "array" else f"list of {_name_of_type(items)}" if items else "list",
        about=schema.get("description", "") or plain.get("description", ""),
        is_required=is_required,
        default="" if default in (None, "", [], {}) else json.dumps(default, ensure_ascii=False),
        choices=tuple(str(choice) for choice in plain.get("enum", items.get("enum", ()))),
        is_many=plain.get("type") == "array",
    )


def _name_of_type(schema: Schema) -> str:
    kind = type_of(schema)
    if kind == "object":
        return str(schema.get("title", "object"))
    return str(schema.get("format") or kind or "anything")


def _content(declared: Schema, schemas: Schema) -> Content | None:
    content = declared.get("content") or {}
    if not content:
        return None
    media: Schema = next((media for kind, media in content.items() if "json" in kind), {})
    schema: Schema = next((media.get("schema", {}) for media in content.values()), {})
    plain = resolve(schema, schemas)
    if plain.get("type") == "array":
        plain = resolve(plain.get("items", {}), schemas)
    required = plain.get("required", ())
    example = json.dumps(media["example"], indent=2, ensure_ascii=False) if media else ""
    return Content(
        media_types=tuple(content),
        fields=tuple(
            _field(name, each, schemas, is_required=name in required)
            for name, each in plain.get("properties", {}).items()
        ),
        example=example,
    )


def _curl(method: str, address: str, parameters: Iterable[Field], body: Content | None) -> str:
    required = [field for field in parameters if field.place == "query" and field.is_required]
    if required:
        given = (f"{field.name}={quote_plus(field.example)}" for field in required)
        address += "?" + "&".join(given)
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
