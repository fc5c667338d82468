"""Headers of a request to the endpoint: which are refused, with a sentence about the one that is
wrong, and in which form the client reads the answer.
"""

import json
import re
from typing import Any, Final
from urllib.parse import SplitResult, urlsplit

from django.conf import settings
from django.http.request import split_domain_port, validate_host
from django.utils.http import is_same_domain
from mcp_types import PROTOCOL_VERSION_META_KEY, UNSUPPORTED_PROTOCOL_VERSION
from mcp_types.version import SUPPORTED_PROTOCOL_VERSIONS
from starlette.datastructures import Headers
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import Scope

JSON: Final = "application/json"
STREAM: Final = "text/event-stream"
LOOPBACK: Final = frozenset({"127.0.0.1", "localhost", "::1"})
_INVALID_REQUEST: Final = -32600
_VERSION: Final = "mcp-protocol-version"


def refusal(scope: Scope, *, stateless: bool) -> Response | None:
    """Return the answer to a request whose headers cannot be served."""
    headers = Headers(scope=scope)
    host, content = headers.get("host", ""), headers.get("content-type", "")
    if not _host_is_ours(host):
        text = "This server does not answer to that name; see ALLOWED_HOSTS."
        return PlainTextResponse(text, status_code=421)
    if not _origin_may_call(headers.get("origin", ""), host=host):
        text = "Pages of this origin may not call; see CSRF_TRUSTED_ORIGINS."
        return PlainTextResponse(text, status_code=403)
    if scope["method"] != "POST":
        # The SDK would hold a stream open on which, without sessions, nothing is ever sent.
        text, allow = "Only POST is served here.", {"Allow": "POST"}
        return PlainTextResponse(text, status_code=405, headers=allow) if stateless else None
    if content.partition(";")[0].strip().lower() != JSON:
        is_other = f"not {content[:100]}" if content else "and is missing"
        return _error(415, f"The Content-Type has to be {JSON}, {is_other}.")
    if not preferred(headers.get("accept", "")):
        return _error(406, f"The answer is {JSON} or {STREAM}; Accept names neither.")
    return None


def has_unknown_version(scope: Scope) -> bool:
    """Return whether the header of the protocol's version cannot be served."""
    versions = _versions(scope)
    return bool(versions - set(SUPPORTED_PROTOCOL_VERSIONS)) or len(versions) > 1


def version_refusal(scope: Scope, body: bytes) -> Response | None:
    """Return the answer to a message with an unknown version; None if the message names a version
    itself, as the SDK then answers.
    """
    message = message_in(body)
    parameters = message.get("params")
    meta = parameters.get("_meta") if isinstance(parameters, dict) else None
    if isinstance(meta, dict) and PROTOCOL_VERSION_META_KEY in meta:
        return None
    requested = ", ".join(sorted(_versions(scope)))[:100]
    text = (
        f"MCP-Protocol-Version “{requested}” is not a version that this server speaks: "
        f"{', '.join(SUPPORTED_PROTOCOL_VERSIONS)}. Without the header it is 2025-03-26."
    )
    about = {"supported": list(SUPPORTED_PROTOCOL_VERSIONS), "requested": requested}
    number = message.get("id")
    number = number if isinstance(number, str | int) else None
    return _error(400, text, code=UNSUPPORTED_PROTOCOL_VERSION, data=about, number=number)


def message_in(body: bytes) -> dict[str, Any]:
    """Return the message of a request; {} for anything else, which the SDK refuses."""
    try:
        message = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    return message if isinstance(message, dict) else {}


def _versions(scope: Scope) -> set[str]:
    return set(Headers(scope=scope).getlist(_VERSION))


def preferred(accept: str) -> str:
    """Return the form in which an answer is preferred, ``JSON`` or ``STREAM``; "" for neither.

    A stream has to be named: who accepts anything, or says nothing, reads plain JSON.
    """
    qualities = dict(map(_with_quality, (accept.strip() or "*/*").lower().split(",")))
    plain = next(
        (qualities[kind] for kind in (JSON, "application/*", "*/*") if kind in qualities), 0
    )
    stream = qualities.get(STREAM, qualities.get("text/*", 0))
    return STREAM if stream and stream >= plain else JSON if plain else ""


def _with_quality(text: str) -> tuple[str, float]:
    kind, *parameters = (part.strip() for part in text.split(";"))
    given = next((part[2:] for part in parameters if re.fullmatch(r"q=[01](\.\d*)?", part)), "1")
    return kind, float(given)


def tidied(scope: Scope, path: str) -> Scope:
    """Return the request as the SDK takes it: it takes the last slash for a path, and asks for more
    of Accept and Content-Type than HTTP does.
    """
    ours = {b"accept": f"{JSON}, {STREAM}".encode(), b"content-type": JSON.encode()}
    headers = [(name, value) for name, value in scope["headers"] if name not in ours]
    return {**scope, "headers": [*headers, *ours.items()], "path": path, "raw_path": path.encode()}


def _error(
    status: int,
    message: str,
    *,
    code: int = _INVALID_REQUEST,
    data: Any = None,
    number: str | int | None = None,
) -> Response:
    error = {"code": code, "message": message} | ({"data": data} if data else {})
    return JSONResponse({"jsonrpc": "2.0", "id": number, "error": error}, status_code=status)


# Host and Origin by Django's settings


def _host_is_ours(host: str) -> bool:
    """Return whether a Host header names this server: protection against DNS rebinding."""
    domain, _ = split_domain_port(host)
    return bool(domain) and validate_host(
        domain, [*settings.ALLOWED_HOSTS, _split(settings.PUBLIC_URL).hostname or ""]
    )


def _origin_may_call(origin: str, *, host: str) -> bool:
    """Return whether a page of this origin may call; programs send no origin.

    Allowed are this server's own pages, PUBLIC_URL, CSRF_TRUSTED_ORIGINS, and any port of this
    machine if the server is called on this machine.
    """
    parts = _split(origin)
    if not origin:
        return True
    if parts.scheme not in ("http", "https") or not parts.netloc:
        return False
    own = _split(settings.PUBLIC_URL)
    if parts.netloc == host or origin == f"{own.scheme}://{own.netloc}":
        return True
    if parts.hostname in LOOPBACK and split_domain_port(host)[0].strip("[]") in LOOPBACK:
        return True
    return any(
        parts.scheme == trusted.scheme
        and is_same_domain(parts.netloc, trusted.netloc.removeprefix("*"))
        for trusted in map(_split, settings.CSRF_TRUSTED_ORIGINS)
    )


def _split(address: str) -> SplitResult:
    try:
        return urlsplit(address)
    except ValueError:
        return urlsplit("")
