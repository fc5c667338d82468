"""What the operations of the APIs need of a token: looked up, enforced, and described."""

import asyncio
from collections.abc import Mapping
from functools import cache
from inspect import getclosurevars, isfunction
from io import BytesIO
from typing import Any, Final

from asgiref.sync import sync_to_async
from django.conf import settings
from django.core.exceptions import SuspiciousOperation
from django.core.handlers.asgi import ASGIRequest
from django.http import Http404, HttpResponse
from django.urls import resolve
from django.utils.deprecation import MiddlewareMixin

from kbsite.accounts.auth import caller_of_request
from kbsite.callers import AnyRequest, caller_or_none
from kbsite.errors import DATABASE_ERRORS, problem_response
from kbsite.oauth import audience
from transcripts.core.access import AccessLevel, InsufficientScope, needed_by
from transcripts.core.errors import KnowledgeBaseError
from transcripts.core.locks import release_connection

OAUTH: Final = {
    "type": "oauth2",
    "flows": {
        "authorizationCode": {
            "authorizationUrl": "/oauth/authorize/",
            "tokenUrl": "/oauth/token/",
            "refreshUrl": "/oauth/token/",
            "scopes": {
                AccessLevel.READ: "Read, search and ask.",
                AccessLevel.WRITE: "Add, change and delete what the library holds.",
                AccessLevel.MANAGE: "Manage members, shared links and webhooks.",
            },
        }
    },
}


class AccessMiddleware(MiddlewareMixin):
    """Refuses what a token may not do, before its arguments are read."""

    def process_view(
        self, request: AnyRequest, view_func: Any, view_args: Any, view_kwargs: Any
    ) -> HttpResponse | None:
        needed = declared(view_func).get(request.method or "")
        caller = caller_or_none(request) if needed else None
        try:
            if needed and caller:
                caller.require(needed)
        except InsufficientScope as error:
            response = problem_response(error)
            if error.scope:
                own, about = (
                    audience.origin_of(request),
                    {"error": error.code, "scope": error.scope},
                )
                challenge = audience.challenge(own, request.path_info, **about)
                response["WWW-Authenticate"] = challenge
            return response
        return None


class UploadCheck:
    """An ASGI application that takes no files from a token that may not do what it asks for.

    Django takes in a whole body before it looks at anything. Of such a request it gets an empty
    one, which it refuses in the same words; the connection ends with the answer.
    """

    def __init__(self, application: Any) -> None:
        self._application = application

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if not _brings_files(scope) or await sync_to_async(_may_send)(scope):
            await self._application(scope, receive, send)
            return
        events = [{"type": "http.request", "body": b"", "more_body": False}]

        async def receive_nothing() -> Any:
            return events.pop() if events else await asyncio.Future()

        async def send_last(event: Any) -> None:
            if event["type"] == "http.response.start":
                event = {**event, "headers": [*event["headers"], (b"connection", b"close")]}
            await send(event)

        await self._application(scope, receive_nothing, send_last)


def _brings_files(scope: Any) -> bool:
    """Return whether a request with a token has more of a body than is kept in memory."""
    headers = dict(scope["headers"]) if scope["type"] == "http" else {}
    if not headers.get(b"authorization", b"").lower().startswith(b"bearer "):
        return False
    length = headers.get(b"content-length", b"")
    most = settings.FILE_UPLOAD_MAX_MEMORY_SIZE
    is_long = length.isdigit() and (len(length) > 18 or int(length) > most)
    return is_long or b"transfer-encoding" in headers


def _may_send(scope: Any) -> bool:
    request = ASGIRequest(scope, BytesIO())
    try:
        needed = declared(resolve(request.path_info).func).get(str(request.method))
        caller = caller_of_request(request) if needed else None
        if needed and caller:
            caller.require(needed)
    except DATABASE_ERRORS:
        return True  # the answer says so
    except (KnowledgeBaseError, Http404, SuspiciousOperation):
        return False
    finally:
        release_connection()
    return True


@cache
def declared(view: Any) -> Mapping[str, AccessLevel]:
    """Return what each method of an address needs, as its operations declare it."""
    if actions := getattr(view, "actions", None):  # of Django REST framework
        kinds = view.cls.http_method_names
        return {name.upper(): view.cls.needs[actions[name]] for name in actions if name in kinds}
    path = getclosurevars(view).nonlocals.get("self") if isfunction(view) else None
    return {  # of django-ninja, whose views keep their operations to themselves
        method: needed_by(operation.view_func)
        for operation in getattr(path, "operations", ())
        for method in operation.methods
    }


def security(needed: AccessLevel) -> list[dict[str, list[str]]]:
    """Describe what an operation needs, as OpenAPI does; a session may do whatever its user may."""
    scopes = list(map(str, needed.scopes))
    return [{"OAuth": scopes}, {"Bearer": scopes}, {"Session": []}]
