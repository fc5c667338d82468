"""The OpenAPI document, put together: operations, resources, and what middlewares add to them."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from django.core.serializers.json import DjangoJSONEncoder

from citations.api import shapes
from kbsite import api_examples, openapi, refusals
from kbsite.accounts import auth
from kbsite.middleware import body_limits, call_limits, conditional_requests, idempotency
from kbsite.webhooks.api import described_messages

Document = dict[str, Any]

TAGS: Final = {
    "sources": ("Sources and jobs", "Add videos and files, follow jobs, read transcripts."),
    "search": ("Search", "Find passages, mark the right ones, check quotes."),
    "ask": ("Questions and answers", "Ask the sources, and read the answers again."),
    "lectures": ("Lectures and citations", "Send speech, and get the passages that it is about."),
    "notebook": ("Highlights, notes and sharing", "Keep passages and answers, share, take along."),
    "webhooks": ("Webhooks", "Have what happens sent to an address of yours."),
    "content": ("Content as resources", "What the library holds: list, filter, change, delete."),
}
# Refusals come after what adds them, and before what adds headers to them.
_PARTS: Final = (body_limits, conditional_requests, idempotency, refusals, auth, call_limits)


def complete(operations: Mapping[str, Any], content: Mapping[str, Any]) -> Document:
    """Return one document of the operations under /api/v1/ and the resources of the content."""
    document: Document = _plain(operations)
    document["tags"] = [
        {"name": name, "x-displayName": title, "description": about}
        for name, (title, about) in TAGS.items()
    ]
    document["paths"] |= _plain(content["paths"])
    schemas = document["components"]["schemas"]
    document["components"]["schemas"] = (
        _plain(shapes.components()) | schemas | _plain(content["components"]["schemas"])
    )
    document["webhooks"] = described_messages()
    for methods in document["paths"].values():
        for part in _PARTS:
            part.describe(methods)
    api_examples.add(document)
    _name_what_is_repeated(document)
    return document


def _plain(described: Mapping[str, Any]) -> Any:
    """Return a copy as JSON has it: the decorators' own dictionaries stay as they are."""
    return json.loads(json.dumps(described, cls=DjangoJSONEncoder))


def _name_what_is_repeated(document: Document) -> None:
    """Move headers and refusals to the components: most operations have the same."""
    headers: Document = {}
    refusals: Document = {}
    for responses in _responses(document):
        for status, answer in responses.items():
            for name, header in answer.get("headers", {}).items():
                if headers.setdefault(name, header) == header:
                    answer["headers"][name] = {"$ref": f"#/components/headers/{name}"}
            if openapi.is_refusal(status) and refusals.setdefault(status, answer) == answer:
                responses[status] = {"$ref": f"#/components/responses/{status}"}
    document["components"] |= {"headers": headers, "responses": refusals}


def _responses(document: Document) -> Iterator[Document]:
    for methods in document["paths"].values():
        for operation in methods.values():
            yield operation["responses"]
