"""The OpenAPI document, put together: operations, resources, and what middlewares add to them."""

import json
from collections.abc import Mapping
from typing import Any, Final

from django.core.serializers.json import DjangoJSONEncoder

from citations.api import shapes
from kbsite import api_examples, openapi
from kbsite.accounts import auth
from kbsite.errors import PROBLEM, Outdated, StillRunning, invalid_fields, problem, protocol_problem
from kbsite.middleware import conditional_requests, idempotency, rate_limits, request_limits
from kbsite.webhooks.api import described_messages
from transcripts.core import headers
from transcripts.core.errors import KnowledgeBaseError, NotFound, Throttled

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
MEANINGS: Final[Mapping[int, str]] = {
    400: "The request cannot be read.",
    401: "There is no valid session or token.",
    403: "You may see it, but not change it in this way.",
    404: "It does not exist, or you may not see it.",
    406: "It cannot be given in any form that you accept.",
    408: "The body came too slowly, or stopped.",
    409: "Its state does not allow it, or the first request with this key is being worked on.",
    412: "If-Match names another version.",
    413: "The request or a part of it is too large.",
    415: "That kind of content is not taken.",
    422: "A field or parameter cannot be used: errors says which and why.",
    429: "There were too many requests.",
    500: "Something unexpected went wrong.",
    503: "The server is busy, or something that it needs is out of reach.",
    507: "The disk is full.",
}
OF_ALL: Final = (500, 503, 507)
_PROBLEM: Final = {"$ref": "#/components/schemas/ProblemOut"}
_WITH_PAUSE: Final = ("409", "429", "503")
_EXAMPLES: Final[Mapping[int, KnowledgeBaseError]] = {
    404: NotFound("There is nothing here that you can see."),
    409: StillRunning(),
    412: Outdated(),
    422: invalid_fields({"limit": "Input should be less than or equal to 100"}),
    429: Throttled("600 calls came in a minute.", hint="Come back in 12 seconds."),
}


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
        for part in (request_limits, conditional_requests, idempotency):
            part.describe(methods)
        _describe_refusals(methods)
        for part in (auth, rate_limits):  # which add headers to refusals
            part.describe(methods)
    api_examples.add(document)
    _name_what_is_repeated(document)
    return document


def _plain(described: Mapping[str, Any]) -> Any:
    """Return a copy as JSON has it: the decorators' own dictionaries stay as they are."""
    return json.loads(json.dumps(described, cls=DjangoJSONEncoder))


def _name_what_is_repeated(document: Document) -> None:
    """Move headers and refusals to the components: most operations have the same."""
    named: Document = {}
    refusals: Document = {}
    operations = [each for methods in document["paths"].values() for each in methods.values()]
    for responses in (operation["responses"] for operation in operations):
        for status, answer in responses.items():
            for name, header in answer.get("headers", {}).items():
                if named.setdefault(name, header) == header:
                    answer["headers"][name] = {"$ref": f"#/components/headers/{name}"}
            if openapi.is_refusal(status) and refusals.setdefault(status, answer) == answer:
                responses[status] = {"$ref": f"#/components/responses/{status}"}
    document["components"] |= {"headers": named, "responses": refusals}


def _describe_refusals(methods: openapi.Methods) -> None:
    pause = headers.header("The seconds after which to try again.", type="integer", minimum=1)
    for operation in methods.values():
        openapi.answer(operation, *OF_ALL)
        for status, answer in operation["responses"].items():
            if openapi.is_refusal(status):
                error = _EXAMPLES.get(int(status))
                example = problem(error) if error else protocol_problem(int(status))
                content = {"schema": _PROBLEM, "example": example}
                answer |= {"description": MEANINGS[int(status)], "content": {PROBLEM: content}}
        openapi.send(operation, "Retry-After", pause, lambda status: status in _WITH_PAUSE)
