"""Every request, by whichever door: its id, its duration, its span, and its line in the log."""

import logging
import re
import uuid
from time import perf_counter
from typing import Any, Final

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
        caller = {
            name: headers[name.encode()].decode("latin-1")
            for name in ("traceparent", "tracestate")
            if name.encode() in headers
        }
        started = perf_counter()

        async def send_counted(event: Any) -> None:
            if event["type"] == "http.response.start":
                event = {**event, "headers": [*event["headers"], (HEADER, request_id.encode())]}
                _count(scope, event["status"], perf_counter() - started, span)
            await send(event)

        token = logs.REQUEST_ID.set(request_id)
        try:
            with self._tracer.start_as_current_span(
                _method(scope),
                context=propagate.extract(caller),
                kind=SpanKind.SERVER,
                attributes={"cuebase.request_id": request_id},
            ) as span:
                await self._application(scope, receive, send_counted)
        finally:
            logs.REQUEST_ID.reset(token)


def _count(scope: Any, status: int, seconds: float, span: trace.Span) -> None:
    """Record a response whose head is sent."""
    method, route = _method(scope), _route(scope)
    metrics.REQUESTS.labels(method, route, str(status)).observe(seconds)
    span.update_name(f"{method} {route}")
    span.set_attributes(
        {"http.request.method": method, "http.route": route, "http.response.status_code": status}
    )
    extra = {"method": method, "route": route, "status": status, "seconds": round(seconds, 4)}
    logger.info("%s %s %s", method, route, status, extra=extra)


class RouteMiddleware(MiddlewareMixin):
    """Tells ``WatchedRequests`` which route Django found."""

    def process_view(self, request: HttpRequest, *_: Any) -> None:
        if request.resolver_match and (scope := getattr(request, "scope", None)):
            scope[ROUTE] = logs.route_of(request)


def _method(scope: Any) -> str:
    method: str = scope["method"]
    return method if method in METHODS else "other"


def _route(scope: Any) -> str:
    prefixes = ("/mcp", "/static/")
    default = next((route for route in prefixes if scope["path"].startswith(route)), logs.UNMATCHED)
    route: str = scope.get(ROUTE, default)
    return route
