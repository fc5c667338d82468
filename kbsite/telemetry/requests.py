"""Every request, by whichever door: its id, its duration, its span, and its line in the log."""

import logging
import re
import uuid
from time import perf_counter
from typing import Any, Final

from django.conf import settings
from django.http import HttpRequest
from django.utils.deprecation import MiddlewareMixin
from opentelemetry import propagate, trace
from opentelemetry.trace import SpanKind

from kbsite.telemetry import logs, metrics

ROUTE: Final = "cuebase.route"  # in the scope of a request
METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
HEADER: Final = b"x-request-id"

logger = logging.getLogger(__name__)
_is_id = re.compile(rb"[A-Za-z0-9._-]{1,64}").fullmatch


class WatchedRequests:
    """An ASGI application that watches the requests to another."""

    def __init__(self, application: Any) -> None:
        self._application = application
        self._tracer = trace.get_tracer("cuebase")

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await self._application(scope, receive, send)
            return
        headers = dict(scope["headers"])
        header = headers.get(HEADER, b"")
        request_id = header.decode() if _is_id(header) else uuid.uuid4().hex
        caller = {name: headers[name.encode()].decode("latin-1") for name in _sent(headers)}
        token = logs.REQUEST_ID.set(request_id)
        try:
            with self._tracer.start_as_current_span(
                _method(scope),
                context=propagate.extract(caller),
                kind=SpanKind.SERVER,
                attributes={"cuebase.request_id": request_id},
            ) as span:
                response = _Response(scope, send, request_id, span)
                await self._application(scope, receive, response.send)
        finally:
            logs.REQUEST_ID.reset(token)


class _Response:
    """A response on its way, which is counted when its head is sent."""

    def __init__(self, scope: Any, send: Any, request_id: str, span: trace.Span) -> None:
        self._scope, self._send, self._id, self._span = scope, send, request_id, span
        self._started = perf_counter()

    async def send(self, event: Any) -> None:
        if event["type"] == "http.response.start":
            event = {**event, "headers": [*event["headers"], (HEADER, self._id.encode())]}
            self._count(event["status"])
        await self._send(event)

    def _count(self, status: int) -> None:
        seconds = perf_counter() - self._started
        method, route = _method(self._scope), _route(self._scope)
        metrics.REQUESTS.labels(method, route, str(status)).observe(seconds)
        self._span.update_name(f"{method} {route}")
        self._span.set_attributes(
            {
                "http.request.method": method,
                "http.route": route,
                "http.response.status_code": status,
            }
        )
        extra = {"method": method, "route": route, "status": status, "seconds": round(seconds, 4)}
        logger.info("%s %s %s", method, route, status, extra=extra)


class RouteMiddleware(MiddlewareMixin):
    """Tells ``WatchedRequests`` which route Django found."""

    def process_view(self, request: HttpRequest, *_: Any) -> None:
        if request.resolver_match and (scope := getattr(request, "scope", None)):
            scope[ROUTE] = logs.route_of(request)


def _sent(headers: dict[bytes, bytes]) -> list[str]:
    return [name for name in ("traceparent", "tracestate") if name.encode() in headers]


def _method(scope: Any) -> str:
    method: str = scope["method"]
    return method if method in METHODS else "other"


def _route(scope: Any) -> str:
    prefixes = ("/mcp", f"/{settings.STATIC_URL.strip('/')}/")
    default = next((route for route in prefixes if scope["path"].startswith(route)), logs.UNMATCHED)
    route: str = scope.get(ROUTE, default)
    return route
