"""Examples of what operations take and return, made of one example of each field.

Pure: a document in, the document with examples out. A field has the same example wherever it
occurs, so that an answer fits the request before it.
"""

from collections.abc import Mapping
from typing import Any, Final

from kbsite.openapi import Schema, resolve, type_of

_DEEPEST: Final = 7  # levels of an example
_TALK: Final = "Introduction to neural networks"
_QUESTION: Final = "What is backpropagation?"
_QUOTE: Final = "Backpropagation carries the error of a network from its end back to its start."
_ADDRESS: Final = "https://www.youtube.com/watch?v=aircAruvnKk"
_PAGE: Final = "https://cuebase.example.org/sources/0c9d1b44-2f6e-4f7c-9d0e-3f6f2d3c9a51/?t=208"

# By the name of the field; one whose type is another has the example of its format or type.
FIELDS: Final[Mapping[str, Any]] = {
    "actual": "error",
    "answer": _QUOTE,
    "author": "ada",
    "bm25": 7.42,
    "by": "words",
    "captions": f"WEBVTT\n\n00:03:28.000 --> 00:03:40.000\n{_QUOTE}\n",
    "channel": "Open Lectures",
    "characters": 48_213,
    "code": "not_found",
    "context": "A talk that explains how networks learn.",
    "cosine": 0.81,
    "cue_count": 412,
    "description": "A course in twelve talks.",
    "detail": "There is nothing here that you can see.",
    "digest": "5f70bf18a086007016e948b04aed3b82103a36bea41755b6cddfaf10ace3c6ef",
    "duration": 1141.0,
    "end": 220.0,
    "event": "source.ready",
    "feedback": 1,
    "field": "limit",
    "folded": None,
    "formula": "0.81 = 0.5 · 0.80 + 0.5 · 0.82",
    "heading": "How networks learn",
    "hidden_words": "Backpropagation",
    "items": [
        {
            "type": "Annotation",
            "target": {
                "source": _ADDRESS,
                "selector": {"type": "TextQuoteSelector", "exact": _QUOTE},
            },
        }
    ],
    "jobs_before": 2,
    "keywords": ["backpropagation", "error"],
    "kind": "video",
    "label": "Backpropagation",
    "lang": "en",
    "language": "en",
    "languages": ["en", "de"],
    "limit": 25,
    "link": _PAGE,
    "made_by": "",
    "message": "Input should be less than or equal to 100",
    "milliseconds": 183.4,
    "name": "Lectures",
    "ocr": False,
    "offset": 0,
    "origin": "manual",
    "outcome": "cited",
    "outcomes": {"cited": 12, "off_topic": 3},
    "page_number": 12,
    "path": "/shared/0c9d1b44-2f6e-4f7c-9d0e-3f6f2d3c9a51/",
    "percent": 100,
    "place": "3:28–3:40",
    "position": 208.0,
    "prefix": "Then the weights change. ",
    "quoted": "fault",
    "secret": "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD",
    "section_heading": "How networks learn",
    "signs": [{"words": 0.8}],
    "size": 104_857_600,
    "span": [0, 78],
    "spans": [[0, 15]],
    "stage": "search",
    "start": 208.0,
    "state": "ready",
    "stem": "backpropag",
    "suffix": " So it learns.",
    "sureness": "likely",
    "tag": "networks",
    "tags": ["networks"],
    "target": _ADDRESS,
    "term": "backpropagation",
    "timestamp_link": f"{_ADDRESS}&t=208s",
    "tokens": {},
    "unread_pages": [],
    "url": _ADDRESS,
    "user": "ada",
    "verdict": "verbatim",
    "webhook-id": "msg_27xkq",
    "webhook-signature": "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=",
    "webhook-timestamp": "1769860800",
    **dict.fromkeys(
        (
            "error",
            "error_code",
            "hint",
            "hypothesis",
            "model",
            "negation",
            "note",
            "off_reason",
            "reason",
            "reason_code",
            "speaker",
            "step",
            "suggestion",
            "warning",
        ),
        "",
    ),
    **dict.fromkeys(("full_chunk_text", "quote", "snippet", "text", "transcript_text"), _QUOTE),
    **dict.fromkeys(("full_question", "q", "query", "question"), _QUESTION),
    **dict.fromkeys(("document_name", "source_title", "title"), _TALK),
    **dict.fromkeys(("last_page", "next", "page", "pages", "previous"), None),
    **dict.fromkeys(("expanded_concepts", "hints", "notes"), []),
    **dict.fromkeys(("collection", "shared_with", "slug"), "lectures"),
    **dict.fromkeys(("id", "video", "video_id", "youtube_id"), "aircAruvnKk"),
}
BODIES: Final[Mapping[str, tuple[str, ...]]] = {
    "ArchiveIn": ("collection",),
    "AskIn": ("question", "collection"),
    "NoteIn": ("collection", "title", "text"),
    "NoteText": ("title", "text"),
    "SessionIn": ("title", "collection"),
    "SharedLinkIn": ("highlight_id", "days"),
    "SourceIn": ("url", "collection", "tags"),
}
_FORMATS: Final = {
    "date": "2026-01-31",
    "date-time": "2026-01-31T12:00:00Z",
    "uuid": "0c9d1b44-2f6e-4f7c-9d0e-3f6f2d3c9a51",
    "uri": "https://example.org/",
    "uri-reference": "/highlights/",
    "binary": "talk.vtt",
}
_TYPES: Final[Mapping[str, Any]] = {
    "boolean": True,
    "integer": 1,
    "number": 0.5,
    "array": [],
    "object": {},
}


def add(document: dict[str, Any]) -> None:
    """Add an example to each body, JSON answer and parameter that has to be given."""
    schemas = document["components"]["schemas"]
    methods = (*document["paths"].values(), *document["webhooks"].values())
    for operation in (operation for each in methods for operation in each.values()):
        for parameter in operation.get("parameters", ()):
            if parameter.get("required"):
                parameter["example"] = _example(parameter["name"], parameter["schema"], schemas)
        for media in operation.get("requestBody", {}).get("content", {}).values():
            media["example"] = of_body(media["schema"], schemas)
        for answer in operation["responses"].values():
            for kind, media in answer.get("content", {}).items():
                if kind.endswith("json") and "example" not in media:
                    media["example"] = _example("", media["schema"], schemas)


def of_body(schema: Schema, schemas: Schema) -> Any:
    """Return what has to be sent, with what mostly is; if there is a choice, the first of it."""
    plain = resolve(schema, schemas)
    fields = plain.get("properties", {})
    writable = [name for name, field in fields.items() if not field.get("readOnly")]
    required = [name for name in plain.get("required", ()) if name in writable]
    names = BODIES.get(plain.get("title", "")) or required or writable[:1]
    return {name: _example(name, fields[name], schemas) for name in names}


def _example(name: str, schema: Schema, schemas: Schema, level: int = 0) -> Any:
    if name in FIELDS and _fits(FIELDS[name], schema, schemas):
        return FIELDS[name]
    plain = resolve(schema, schemas)
    given = [plain[key] for key in ("example", "const") if key in plain]
    if given := [*given, *plain.get("enum", ())]:
        return given[0]
    kind = type_of(plain)
    if kind == "object" and level < _DEEPEST:
        return {
            name: _example(name, field, schemas, level + 1)
            for name, field in plain.get("properties", {}).items()
        }
    if kind == "array" and level < _DEEPEST:
        return [_example(name, item, schemas, level + 1) for item in _items(plain)]
    if kind in ("integer", "number"):
        return max(_TYPES[kind], plain.get("minimum", 0))
    return _FORMATS.get(plain.get("format", "")) or _TYPES.get(kind, "…")


def _fits(value: Any, schema: Schema, schemas: Schema) -> bool:
    """Tell whether a value is of the type, and one of the choices, of a schema."""
    plain = resolve(schema, schemas)
    kind = type_of(plain)
    if value is None:
        options = (*schema.get("anyOf", ()), *schema.get("oneOf", ()), schema)
        return any("null" in option.get("type", ()) for option in options)
    if isinstance(value, list):
        return kind == "array" and all(_fits(part, _items(plain)[0], schemas) for part in value)
    if isinstance(value, dict):
        return kind == "object" and "properties" not in plain
    kinds = {str: ("string",), int: ("integer", "number"), float: ("number",)}[type(value)]
    is_any = kind != "string" or "format" not in plain
    return kind in kinds and is_any and value in plain.get("enum", [value])


def _items(plain: Schema) -> list[Schema]:
    return plain.get("prefixItems") or [plain.get("items", {})]
