"""Errors that are answered before Django sees the request: problem details under /api/, otherwise a
page for browsers and text for others.
"""

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, Final

from django.template.loader import render_to_string
from django.urls import set_script_prefix
from django.utils import translation
from django.utils.translation.trans_real import (
    get_supported_language_variant,
    parse_accept_lang_header,
)

from kbsite.errors import API, problem_response, status_of
from kbsite.languages import LANGUAGE_CODE
from transcripts.core.errors import KnowledgeBaseError
from transcripts.core.site_path import site_path

HTML: Final = "text/html; charset=utf-8"
TEXT: Final = "text/plain; charset=utf-8"


async def refuse(
    error: KnowledgeBaseError, scope: Any, send: Any, more: Mapping[str, str] | None = None
) -> None:
    """Answer with an error, and ``more`` headers, and close the connection: the rest of the body is
    not wanted, and a client that comes back later would meet a connection that just ends.
    """
    if scope["path"].startswith(API):
        response = problem_response(error)
        kind, body = response["Content-Type"], response.content
    else:
        kind, body = _describe(error, scope["headers"])
    headers = {
        "content-type": kind,
        "content-length": str(len(body)),
        "connection": "close",
        "x-content-type-options": "nosniff",
        **(more or {}),
    }
    encoded = [(name.encode(), value.encode()) for name, value in headers.items()]
    start = {"type": "http.response.start", "status": status_of(error), "headers": encoded}
    await send(start)
    await send({"type": "http.response.body", "body": body})


def _describe(
    error: KnowledgeBaseError, headers: Iterable[tuple[bytes, bytes]]
) -> tuple[str, bytes]:
    decoded = {name: value.decode("latin-1") for name, value in headers}
    is_part = b"hx-request" in decoded
    if is_part or "text/html" in decoded.get(b"accept", ""):
        language = _language(decoded.get(b"accept-language", ""))
        return HTML, _page(error.message, error.hint, language, is_part)
    return TEXT, error.text.encode()


@cache  # few errors: an overloaded server must not render a page for each request
def _page(message: str, hint: str, language: str, is_part: bool) -> bytes:
    template = "kbsite/_error.html" if is_part else "kbsite/error.html"
    set_script_prefix(site_path("/"))  # no request has done so
    with translation.override(language):
        return render_to_string(template, {"error": {"message": message, "hint": hint}}).encode()


def _language(accepted: str) -> str:
    """Return the first language that the pages have, of those that a browser prefers."""
    for code, _ in parse_accept_lang_header(accepted):
        try:
            return get_supported_language_variant(code)
        except LookupError:
            continue
    return LANGUAGE_CODE
