"""How operations refuse, as the OpenAPI document describes it."""

from collections.abc import Mapping
from typing import Any, Final

from kbsite import openapi
from kbsite.errors import PROBLEM, Outdated, StillRunning, invalid_fields, problem, protocol_problem
from transcripts.core.errors import KnowledgeBaseError, NotFound, Throttled
from transcripts.core.headers import header

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
_WITH_PAUSE: Final = ("409", "429", "503")
_EXAMPLES: Final[Mapping[int, KnowledgeBaseError]] = {
    404: NotFound("There is nothing here that you can see."),
    409: StillRunning(),
    412: Outdated(),
    422: invalid_fields({"limit": "Input should be less than or equal to 100"}),
    429: Throttled("600 calls came in a minute.", hint="Come back in 12 seconds."),
}


def describe(methods: openapi.Methods) -> None:
    """Describe the refusals of operations in the OpenAPI document."""
    pause = header("The seconds after which to try again.", type="integer", minimum=1)
    for operation in methods.values():
        openapi.answer(operation, *OF_ALL)
        for status, answer in operation["responses"].items():
            if openapi.is_refusal(status):
                answer.update(_described(int(status)))
        openapi.send(operation, "Retry-After", pause, lambda status: status in _WITH_PAUSE)


def _described(status: int) -> dict[str, Any]:
    error = _EXAMPLES.get(status)
    example = problem(error) if error else protocol_problem(status)
    content = {"schema": {"$ref": "#/components/schemas/ProblemOut"}, "example": example}
    return {"description": MEANINGS[status], "content": {PROBLEM: content}}
