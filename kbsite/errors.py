"""One error shape for every door: RFC 9457 problem details over HTTP, a sentence with a next step over MCP, message and exit code in a terminal."""

import logging
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils.deprecation import MiddlewareMixin
from rest_framework import exceptions as drf
from rest_framework.response import Response

from transcripts.errors import (
    Conflict,
    Forbidden,
    InvalidInput,
    KnowledgeBaseError,
    NotFound,
    NotSignedIn,
    Throttled,
    TooLarge,
    Unavailable,
    YouTubeError,
)

logger = logging.getLogger(__name__)

# Family -> (HTTP status, exit code). The first that fits counts, so a narrower family stands before a wider one.
FAMILIES: tuple[tuple[type[KnowledgeBaseError], int, int], ...] = (
    (NotSignedIn, 401, 4),
    (Forbidden, 403, 4),
    (NotFound, 404, 3),
    (Conflict, 409, 5),
    (TooLarge, 413, 2),
    (InvalidInput, 422, 2),
    (Throttled, 429, 6),
    (YouTubeError, 502, 7),
    (Unavailable, 503, 8),
    (KnowledgeBaseError, 500, 1),
)


def status_of(error: KnowledgeBaseError) -> int:
    """Return the HTTP status of an expected error."""
    return next(status for family, status, _ in FAMILIES if isinstance(error, family))


def exit_code_of(error: KnowledgeBaseError) -> int:
    """Return the exit code that `kb` ends with."""
    return next(code for family, _, code in FAMILIES if isinstance(error, family))


def problem(error: KnowledgeBaseError) -> dict[str, Any]:
    """Return the problem details (RFC 9457) of an expected error."""
    return {"type": "about:blank", "title": error.code.replace("_", " "), "status": status_of(error), "code": error.code, "detail": error.message, "hint": error.hint}


def problem_response(error: KnowledgeBaseError) -> JsonResponse:
    """Return the problem details as a response."""
    response = JsonResponse(problem(error), status=status_of(error), content_type="application/problem+json")
    if isinstance(error, NotSignedIn):
        response["WWW-Authenticate"] = 'Bearer realm="cuebase"'
    return response


def sentence(error: KnowledgeBaseError) -> str:
    """Return message and hint as one text, for models and logs."""
    return f"{error.message} {error.hint}".strip()


class ErrorMiddleware(MiddlewareMixin):
    """Turn an expected error of a page into a page (or a fragment) that says what happened and what to try."""

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """Render expected errors; let the unexpected rise."""
        if not isinstance(exception, KnowledgeBaseError):
            return None
        if request.path_info.startswith("/api/"):
            return problem_response(exception)
        template = "kbsite/_error.html" if getattr(request, "htmx", False) else "kbsite/error.html"
        return render(request, template, {"error": exception}, status=status_of(exception))


def drf_exception_handler(exception: Exception, context: dict[str, Any]) -> Response | None:
    """Give the content API the one error shape."""
    error = _known(exception)
    if error is None:
        return None
    return Response(problem(error), status=status_of(error), content_type="application/problem+json", headers=_challenge(error))


def _challenge(error: KnowledgeBaseError) -> dict[str, str]:
    return {"WWW-Authenticate": 'Bearer realm="cuebase"'} if isinstance(error, NotSignedIn) else {}


def _known(exception: Exception) -> KnowledgeBaseError | None:
    match exception:
        case KnowledgeBaseError():
            return exception
        case drf.NotAuthenticated() | drf.AuthenticationFailed():
            return NotSignedIn("This needs a session or a token.")
        case drf.PermissionDenied() | PermissionDenied():
            return Forbidden("You may not do this.")
        case drf.NotFound() | Http404():
            return NotFound("There is nothing here that you can see.")
        case drf.ValidationError():
            return InvalidInput(_flat(exception.detail))
        case drf.Throttled():
            return Throttled("Too many calls.", hint="Wait a moment.")
        case drf.APIException():
            return InvalidInput(str(exception.detail))
    return None


def _flat(detail: Any) -> str:
    if isinstance(detail, dict):
        return "; ".join(f"{name}: {_flat(value)}" for name, value in detail.items())
    if isinstance(detail, list):
        return " ".join(_flat(value) for value in detail)
    return str(detail)
