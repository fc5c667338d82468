"""Expected errors as HTTP responses: problem details (RFC 9457), or a page."""

import logging
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from django.core.exceptions import (
    PermissionDenied,
    RequestDataTooBig,
    SuspiciousOperation,
    TooManyFieldsSent,
    TooManyFilesSent,
)
from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed, JsonResponse
from django.shortcuts import render
from django.utils.deprecation import MiddlewareMixin
from django.utils.translation import gettext as _
from rest_framework import exceptions as drf
from rest_framework.response import Response

from citations.views import for_pages
from transcripts.core.errors import (
    Conflict,
    DatabaseLost,
    Forbidden,
    InvalidInput,
    KnowledgeBaseError,
    NotFound,
    NotSignedIn,
    Throttled,
    TooLarge,
    Unavailable,
    UnexpectedError,
    YouTubeError,
)
from transcripts.core.views.requests import SAFE, page_above, page_of_form
from transcripts.core.work.disk import StorageFull, storage_full

logger = logging.getLogger(__name__)

API = "/api/"
DATABASE_ERRORS = (OperationalError, InterfaceError)  # the database ended, restarts or is full
RETRY_SECONDS = 5  # until a database that ended is expected back, or a first request has ended
PROBLEM = "application/problem+json"
NON_FIELD = "non_field_errors"  # of Django REST framework
EVENTS = "text/event-stream"
CHALLENGE = 'Bearer realm="cuebase"'


class Outdated(Conflict):
    """The resource has changed since the version that the caller named."""

    code = "outdated"
    default_message = "This was changed since you read it."
    default_hint = "Read it again, and send your change with its new ETag."


class KeyReused(InvalidInput):
    """This Idempotency-Key was used for a different request."""

    code = "key_reused"
    default_message = "Another request with this Idempotency-Key was answered."
    default_hint = "Make a new key for every new request, such as a UUID."


class StillRunning(Conflict):
    """The first request with this Idempotency-Key is still being processed."""

    code = "still_running"
    default_message = "The first request with this Idempotency-Key is still being worked on."
    default_hint = "Send it again in a few seconds."
    retry_after = RETRY_SECONDS


class RightsChanged(Conflict):
    """The caller may no longer see everything in the response to the first request."""

    code = "rights_changed"
    default_message = "You may see or change less than when this request was answered."
    default_hint = "If you want it to be done once more, send it with a new key."


class TooSlow(KnowledgeBaseError):
    """The body of the request arrives too slowly, or not at all."""

    code = "too_slow"
    default_message = "The request did not arrive in time."
    default_hint = "Send it again over a better connection."


# Family -> HTTP status. The first that fits counts, so a narrower family stands before a wider one.
FAMILIES: tuple[tuple[type[KnowledgeBaseError], int], ...] = (
    (NotSignedIn, 401),
    (Forbidden, 403),
    (NotFound, 404),
    (TooSlow, 408),
    (Outdated, 412),
    (Conflict, 409),
    (TooLarge, 413),
    (InvalidInput, 422),
    (Throttled, 429),
    (YouTubeError, 502),
    (StorageFull, 507),
    (Unavailable, 503),
    (KnowledgeBaseError, 500),
)


class Overloaded(Unavailable):
    """The server has more requests than it can process."""

    code = "overloaded"
    default_message = "The server is busy."
    default_hint = "Try again in a few seconds."


def status_of(error: KnowledgeBaseError) -> int:
    """Return the HTTP status of an expected error."""
    return next(status for family, status in FAMILIES if isinstance(error, family))


def problem(error: KnowledgeBaseError) -> dict[str, Any]:
    """Return the problem details (RFC 9457) of an expected error.

    What is refused has at least one complaint; its field is "" where it is about no field alone.
    """
    complaints: Iterable[tuple[str, str]] = ()
    if isinstance(error, InvalidInput):
        complaints = error.complaints or (("", error.message),)
    return {
        "type": "about:blank",
        "title": error.code.replace("_", " "),
        "status": status_of(error),
        **error.problem(),
        "errors": [{"field": name, "message": text} for name, text in complaints],
    }


def invalid_fields(complaints: Mapping[str, str]) -> InvalidInput:
    """Return the error of a request whose fields or parameters cannot be used; "": all of it."""
    sentences = (f"{name}: {text}" if name else text for name, text in complaints.items())
    error = InvalidInput("; ".join(sentences), hint="The parameters are described at /api/v1/docs.")
    error.complaints = tuple(complaints.items())
    return error


def problem_response(error: KnowledgeBaseError) -> JsonResponse:
    """Return the problem details as a response."""
    response = _response(problem(error))
    _say_when_to_return(response, error)
    return response


def _say_when_to_return(response: HttpResponse, error: KnowledgeBaseError) -> None:
    if error.retry_after:
        response["Retry-After"] = str(error.retry_after)


def _response(details: dict[str, Any]) -> JsonResponse:
    status = details["status"]
    headers = {"WWW-Authenticate": CHALLENGE} if status == 401 else {}
    return JsonResponse(details, status=status, content_type=PROBLEM, headers=headers)


def complaint(entry: Mapping[str, Any]) -> str:
    """Return an entry of pydantic's ``ValidationError.errors()`` without words of Python's."""
    message = str(entry["msg"]).removeprefix("Value error, ")
    about = entry.get("ctx") or {}
    if about.get("field_type") != "Value":  # a list
        return message
    if "max_length" in about:
        return f"has more than {about['max_length']:,} characters"
    least = about["min_length"]
    return f"has fewer than {least:,} characters" if about["actual_length"] else "is empty"


# Failures before any use case is called, by status: code and message. They have no error class.
PROTOCOL: dict[int, tuple[str, str]] = {
    400: ("bad_request", "The request cannot be read."),
    401: ("not_signed_in", "This needs a session or a token."),
    403: ("forbidden", "You may not do this; a browser session has to send its CSRF token along."),
    404: ("not_found", "There is nothing at this address."),
    405: ("method_not_allowed", "This address does not take that method."),
    406: ("not_acceptable", "This cannot be given in any form that you accept."),
    413: ("too_large", "The request is larger than this server takes."),
    415: ("unsupported_media_type", "This address does not take that kind of content."),
    429: ("throttled", "Too many calls."),
    500: (UnexpectedError.code, UnexpectedError().text),
    507: (StorageFull.code, StorageFull().text),
    503: (DatabaseLost.code, DatabaseLost().text),
}


def protocol_problem(status: int, detail: str = "") -> dict[str, Any]:
    """Return the problem details of a request that no use case saw."""
    code, message = PROTOCOL.get(status, PROTOCOL[400 if status < 500 else 500])
    return {
        "type": "about:blank",
        "title": code.replace("_", " "),
        "status": status,
        "code": code,
        "detail": detail or message,
        "hint": "",
        "errors": [],
    }


def protocol_response(status: int, detail: str = "") -> JsonResponse:
    """Return those problem details as a response."""
    return _response(protocol_problem(status, detail))


def status_of_refusal(exception: SuspiciousOperation) -> int:
    """Return the status of a request that Django refuses: 413 if too large, else 400."""
    too_large = (RequestDataTooBig, TooManyFieldsSent, TooManyFilesSent)
    return 413 if isinstance(exception, too_large) else 400


def error_response(request: HttpRequest, error: KnowledgeBaseError) -> HttpResponse:
    """Return problem details, a page, or a fragment for htmx and for a page that streams."""
    if request.path_info.startswith(API):
        return problem_response(error)
    page = error_page(request, for_pages(error), status_of(error))
    _say_when_to_return(page, error)
    return page


def error_page(
    request: HttpRequest, error: KnowledgeBaseError | Mapping[str, str], status: int
) -> HttpResponse:
    """Return the page or the fragment of an error; a page leads back to the form that was sent."""
    if getattr(request, "htmx", False) or request.headers.get("Accept") == EVENTS:
        return render(request, "kbsite/_error.html", {"error": error}, status=status)
    context: dict[str, Any] = {"error": error}
    if status == 405:
        context["parent_page"] = page_above(request.path)
    elif status == 422 or (request.method == "POST" and status != 404):
        context["form_page"] = page_of_form(request)
    return render(request, "kbsite/error.html", context, status=status)


class ErrorMiddleware(MiddlewareMixin):
    """Shows expected errors as pages or fragments, and failures of the APIs as problem details."""

    def process_view(
        self, request: HttpRequest, view_func: Any, view_args: Any, view_kwargs: Any
    ) -> HttpResponse | None:
        """Refuse a NUL character in an address: PostgreSQL can neither store nor compare it."""
        if "\0" in request.path_info or "%00" in request.META.get("QUERY_STRING", ""):
            error = InvalidInput(
                "The address has a NUL character in it.", hint="Leave the NUL character out."
            )
            return self.process_exception(request, error)
        return None

    def process_response(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        """Turn Django's own refusals and crashes under the API into problem details, and explain
        an address that is opened although it only takes forms.
        """
        is_api = request.path_info.startswith(API)
        if (
            isinstance(response, HttpResponseNotAllowed)
            and request.method in SAFE
            and "POST" in response["Allow"]
            and not is_api
            and request.accepts("text/html")
        ):
            message = _("This address only takes what a form sends.")
            error = {"message": message, "hint": _("Nothing was changed.")}
            page = error_page(request, error, response.status_code)
            page["Allow"] = response["Allow"]
            return page
        kind = response.get("Content-Type", "")
        is_ours = isinstance(response, Response) or kind.startswith((PROBLEM, "application/json"))
        if response.status_code < 400 or not is_api or is_ours:
            return response
        answer = protocol_response(response.status_code)
        for name in {"Allow", "Retry-After"} & set(response.headers):
            answer[name] = response[name]
        return answer

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        """Render expected errors; let unexpected ones rise."""
        exception = storage_full(exception) or exception
        if not isinstance(exception, KnowledgeBaseError):
            return None
        return error_response(request, exception)


def drf_exception_handler(exception: Exception, context: dict[str, Any]) -> Response | None:
    """Return problem details for the content API; browsable pages embed them."""
    expected = _known(exception)
    if expected is None:
        return None
    data = problem(expected) if isinstance(expected, KnowledgeBaseError) else expected
    renderer = getattr(context["request"], "accepted_renderer", None)
    as_page = renderer is not None and renderer.media_type == "text/html"
    headers = {"WWW-Authenticate": CHALLENGE} if data["status"] == 401 else {}
    return Response(
        data, status=data["status"], content_type=None if as_page else PROBLEM, headers=headers
    )


def _known(exception: Exception) -> KnowledgeBaseError | dict[str, Any] | None:
    match exception:
        case KnowledgeBaseError():
            return exception
        case drf.NotAuthenticated() | drf.AuthenticationFailed():
            return NotSignedIn(str(exception.detail))
        case drf.PermissionDenied() | PermissionDenied():
            return Forbidden(str(getattr(exception, "detail", "")) or "You may not do this.")
        case drf.NotFound() | Http404():
            return NotFound("There is nothing here that you can see.")
        case drf.ValidationError():
            return invalid_fields(dict(_complaints(exception.detail)))
        case SuspiciousOperation():
            return protocol_problem(status_of_refusal(exception))
        case drf.APIException():
            return protocol_problem(exception.status_code, _flat(exception.detail))
    return None


def _complaints(detail: Any, field: str = "") -> Iterator[tuple[str, str]]:
    """Yield the fields and complaints of a nested ``ValidationError.detail``."""
    if isinstance(detail, dict):
        for name, value in detail.items():
            path = "" if name == NON_FIELD else f"{field}.{name}".lstrip(".")
            yield from _complaints(value, path)
    else:
        yield field, _flat(detail)


def _flat(detail: Any) -> str:
    if isinstance(detail, dict):
        return "; ".join(f"{name}: {_flat(value)}" for name, value in detail.items())
    return " ".join(map(_flat, detail)) if isinstance(detail, list) else str(detail)
