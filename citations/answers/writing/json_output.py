"""Reads claims and quotes from JSON as small models write it: fenced, cut off, with stray commas.

Strings and numbers are taken in their order, by the key before them; the rest is ignored. So broken
JSON is read as far as it goes, and any nesting is harmless. Linear time.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

_START: Final = re.compile(r"\s*(?:```\s*json\b|\[\s*$|\[?\s*\{\s*(?:[\"']|$))", re.IGNORECASE)
_TOKEN: Final = re.compile(
    r'"(?P<string>(?>(?:[^"\\]|\\.)*))"\s*(?P<colon>:)?|(?P<number>\b\d{1,4}\b)|(?P<brace>[{}])',
    re.DOTALL,
)
_CLAIMS: Final = frozenset({"claim", "text", "statement", "sentence", "answer", "content", "fact"})
_QUOTES: Final = frozenset({"quote", "quotes", "quotation", "evidence", "excerpt", "support"})
_MISSING: Final = frozenset({"notfound", "missing", "unanswered"})
_PASSAGES: Final = frozenset(
    {"passage", "passages", "source", "sources", "number", "id", "reference", "references"}
    | {"citation", "citations", "passagenumber", "passageid"}
)


@dataclass(slots=True)
class JsonClaim:
    """The values of an object: a claim, its quotes, its passages, or what is missing."""

    text: str = ""
    quotes: list[str] = field(default_factory=list)
    passages: list[int] = field(default_factory=list)
    missing: str = ""


def begins_json(line: str) -> bool:
    """Tell whether an answer goes on as JSON from a line; "[2] …" is prose."""
    return _START.match(line) is not None


def read_claims(text: str) -> Iterator[JsonClaim]:
    """Yield the objects that have a claim, or say what is missing, in their order."""
    claim, key, depth, own_depth = JsonClaim(), "", 0, 0
    for token in _TOKEN.finditer(text):
        if token["brace"]:
            depth += 1 if token["brace"] == "{" else -1
            is_end = depth < own_depth and bool(claim.text)
        elif token["colon"]:
            key = re.sub(r"\W|_", "", token["string"].lower())
            continue
        else:
            is_end = bool(claim.text) and key in _CLAIMS
        if is_end:
            yield claim
            claim, own_depth = JsonClaim(), 0
        if not token["brace"]:
            _add(claim, key, token["number"] or _unescaped(token["string"]))
            own_depth = own_depth or (depth if claim.text else 0)
        if claim.missing:
            yield JsonClaim(missing=claim.missing)
            claim.missing = ""
    if claim.text:
        yield claim


def _add(claim: JsonClaim, key: str, value: str) -> None:
    if key in _CLAIMS:
        claim.text = value
    elif key in _MISSING:
        claim.missing = value
    elif key in _PASSAGES:
        claim.passages += map(int, re.findall(r"\d{1,4}", value)[:8])
    elif key in _QUOTES and not value.isdecimal():
        claim.quotes.append(value)


def _unescaped(string: str) -> str:
    try:
        return str(json.loads(f'"{string}"', strict=False))
    except ValueError:
        return string
