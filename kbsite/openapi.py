"""The terms of OpenAPI: schemas, and what each middleware says of the operations.

Pure. A middleware's ``describe`` adds what it takes, sends and refuses.
"""

from collections.abc import Callable, Mapping
from typing import Any

from transcripts.core.headers import header

Schema = Mapping[str, Any]
Operation = dict[str, Any]
Methods = Mapping[str, Operation]  # those of an address, by their names in lower case


def is_success(status: str) -> bool:
    return status.startswith("2")


def is_refusal(status: str) -> bool:
    return status >= "400"


def take(operation: Operation, name: str, about: str, **schema: Any) -> None:
    """Add a header that an operation takes."""
    described = header(about, **schema)
    operation.setdefault("parameters", []).append({"name": name, "in": "header", **described})


def send(operation: Operation, name: str, described: Any, when: Callable[[str], bool]) -> None:
    """Add a header to the answers whose status fits."""
    for status, answer in operation["responses"].items():
        if when(status):
            answer.setdefault("headers", {})[name] = described


def answer(operation: Operation, *statuses: int) -> None:
    """Add answers that an operation does not describe itself."""
    for status in statuses:
        operation["responses"].setdefault(str(status), {})


def resolve(schema: Schema, components: Schema) -> Schema:
    """Resolve references, and of alternatives take the first that is not null."""
    for _ in range(10):  # a reference to itself ends, too
        if "$ref" in schema:
            schema = components[schema["$ref"].rpartition("/")[2]]
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


def type_of(plain: Schema) -> str:
    """Return the type, of several the first that is not null; empty: any."""
    kinds = plain.get("type", "string" if "enum" in plain else "")
    if isinstance(kinds, list):
        return next((kind for kind in kinds if kind != "null"), "")
    return str(kinds)
