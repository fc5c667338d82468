"""Versions of what the APIs return (RFC 9110): ETag, If-None-Match, and If-Match for changes."""

import copy
from typing import Any, Final
from zlib import crc32

from django.http import HttpRequest, HttpResponse
from django.middleware.http import ConditionalGetMiddleware
from django.utils.cache import set_response_etag
from django.utils.http import parse_etags

from kbsite import openapi
from kbsite.errors import API, EVENTS, Outdated, problem_response
from transcripts.core import locks
from transcripts.core.headers import header
from transcripts.core.locks import Lock

CHANGES: Final = ("PUT", "PATCH", "DELETE")


class VersionMiddleware(ConditionalGetMiddleware):
    """Answers 304 to whoever has the current version, and refuses a change of another one (412).

    The version is a hash of what a GET returns. Changes of one address that name a version follow
    one another, so that of two writers with the same version the second is refused.
    """

    def process_view(
        self, request: HttpRequest, view_func: Any, view_args: Any, view_kwargs: Any
    ) -> Any:
        """Change what an address returns if it is still a version that the caller names."""
        expected = request.headers.get("If-Match")
        if not expected or request.method not in CHANGES or not _is_api(request):
            return None
        with locks.hold(Lock.VERSION, crc32(request.path.encode()) - 2**31, wait=True):
            reading = copy.copy(request)
            reading.method = "GET"
            current = view_func(reading, *view_args, **view_kwargs)
            # Compared weakly: compressing an answer makes its version weak.
            etags = {etag.removeprefix("W/") for etag in parse_etags(expected)}
            if current.status_code == 200 and not etags & {"*", _version(current)}:
                return problem_response(Outdated())
            return view_func(request, *view_args, **view_kwargs)

    def process_response(self, request: HttpRequest, response: Any) -> Any:
        """Say the version of an answer, or only that it is the one that the caller has."""
        if not _is_api(request) or response.status_code != 200:
            return response
        return super().process_response(request, response)


def _is_api(request: HttpRequest) -> bool:
    return request.path_info.startswith(API)


def _version(response: HttpResponse) -> str:
    if not getattr(response, "is_rendered", True):
        response.render()  # type: ignore[attr-defined]
    set_response_etag(response)
    return response.get("ETag", "")


def describe(methods: openapi.Methods) -> None:
    """Describe this in the OpenAPI document."""
    get = methods.get("get")
    if get is None:
        return
    if EVENTS not in get["responses"]["200"].get("content", {}):
        version = header("The version of what is returned, unless that is empty.")
        get["responses"]["304"] = {"description": "If-None-Match names this version."}
        openapi.send(get, "ETag", version, lambda status: status in ("200", "304"))
        openapi.take(get, "If-None-Match", "Versions that you have: 304 if one is current.")
    for method in methods.keys() & {"put", "patch", "delete"}:
        operation = methods[method]
        # What its parameters choose among an address's things has no version of its own.
        if not any(parameter["in"] == "query" for parameter in operation.get("parameters", ())):
            about = "Change it only if it is still one of these versions, else 412."
            openapi.take(operation, "If-Match", about)
            openapi.answer(operation, 412)
