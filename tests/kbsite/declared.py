"""What the OpenAPI document declares, compared with what is sent."""

import json
import re
from functools import cache
from typing import Any, Final

from jsonschema_rs import Draft202012Validator

from kbsite.api import api
from kbsite.openapi import Operation, resolve

V1: Final = "/api/v1/"
# What any server sends, and what the site sends with all its pages.
_OF_EVERY_ANSWER: Final = {
    *("allow", "cache-control", "content-encoding", "content-language", "content-length"),
    *("content-security-policy", "content-type", "cross-origin-opener-policy", "expires"),
    *("permissions-policy", "referrer-policy", "set-cookie", "vary", "x-content-type-options"),
    *("x-accel-buffering", "x-frame-options"),
}


def document() -> dict[str, Any]:
    """Return the OpenAPI document."""
    return api.get_openapi_schema(path_prefix=V1)


def check(response: Any) -> None:
    """Fail unless an answer of Django's test client is declared; other pages are not looked at."""
    request = response.wsgi_request
    operation = operation_of(request.method, request.path)
    faults = _faults(operation, response) if operation else []
    assert not faults, (request.method, request.path, faults)


def headers_of(response: Any) -> dict[str, Any]:
    """Return the headers that are declared for an answer, by names in lower case."""
    operation = operation_of(response.wsgi_request.method, response.wsgi_request.path)
    return _headers(_answer(operation, response.status_code)) if operation else {}


def sent_by(response: Any) -> set[str]:
    """Return the names, in lower case, of the headers that are an answer's own."""
    return {name.lower() for name in response.headers} - _OF_EVERY_ANSWER


def operation_of(method: str, path: str) -> Operation | None:
    """Find what is called, as the most literal of the addresses that fit."""
    fitting = [
        (template.count("{"), -len(template), methods)
        for template, pattern, methods in _addresses()
        if pattern.fullmatch(path)
    ]
    _, _, methods = min(fitting, key=lambda fit: fit[:2], default=(0, 0, {}))
    operation: Operation | None = methods.get(method.lower())
    return operation


@cache
def _addresses() -> list[tuple[str, re.Pattern[str], dict[str, Any]]]:
    return [
        (path, re.compile(re.sub(r"{(\w+)}", _gap, path), re.DOTALL), methods)
        for path, methods in document()["paths"].items()
    ]


def _gap(match: re.Match[str]) -> str:
    return ".+" if match[1] == "video_id" else "[^/]+"


def _answer(operation: Operation, status: int) -> Any:
    declared = operation["responses"].get(str(status))
    return declared and resolve(declared, document()["components"]["responses"])


def _headers(answer: Any) -> dict[str, Any]:
    known = document()["components"]["headers"]
    return {
        name.lower(): resolve(header, known) for name, header in answer.get("headers", {}).items()
    }


def _faults(operation: Operation, response: Any) -> list[str]:
    answer = _answer(operation, response.status_code)
    if answer is None:
        return [f"{response.status_code} is not declared"]
    headers, sent = _headers(answer), sent_by(response)
    required = {name for name, header in headers.items() if header["required"]}
    return [
        *(f"{name} is sent, but not declared" for name in sorted(sent - headers.keys())),
        *(f"{name} is always sent, it says" for name in sorted(required - sent)),
        *_faults_of_body(answer, response),
    ]


def _faults_of_body(answer: Any, response: Any) -> list[str]:
    if response.streaming or not response.content:
        return []
    kind = response["Content-Type"].partition(";")[0]
    if kind not in answer.get("content", {}):
        return [] if kind == "text/html" else [f"{kind} is not declared"]  # a browsable page
    if "json" not in kind:
        return []
    schema = json.dumps(answer["content"][kind]["schema"], sort_keys=True)
    return [f"{error}" for error in validator(schema).iter_errors(json.loads(response.content))]


@cache
def validator(schema: str, *, of_body: bool = False) -> Draft202012Validator:
    """Return a check of values by a schema, given as JSON: with all fields, and no others; in a
    body without those that can only be read.
    """
    components = {
        name: _strict(component, of_body=of_body)
        for name, component in document()["components"]["schemas"].items()
    }
    whole = {**json.loads(schema), "components": {"schemas": components}}
    return Draft202012Validator(whole, validate_formats=True)


def _strict(component: dict[str, Any], *, of_body: bool) -> dict[str, Any]:
    fields = component.get("properties", {})
    if not fields:
        return component
    required = component.get("required", ())
    if of_body:
        required = [name for name in required if not fields[name].get("readOnly")]
    return {"additionalProperties": False, **component, "required": list(required)}
