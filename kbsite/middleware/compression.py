"""Compressed answers of the APIs, and compressed static files."""

from typing import Any, Final

from django.conf import settings
from django.http import HttpRequest
from django.middleware.gzip import GZipMiddleware

from kbsite.errors import API

TEXTS: Final = ("text/", "image/svg")  # static files that get smaller


class PublicGZipMiddleware(GZipMiddleware):
    """Compresses what programs ask for with a token, and static files.

    What a browser's session can ask for stays as it is: whoever lures the browser could guess its
    secrets from the size (BREACH).
    """

    def process_response(self, request: HttpRequest, response: Any) -> Any:
        """Compress an API's answer that is not a stream, or a whole static file."""
        is_program = request.path_info.startswith(API) and "Authorization" in request.headers
        if is_program and not response.streaming or _is_static_text(request, response):
            return super().process_response(request, response)
        return response


def _is_static_text(request: HttpRequest, response: Any) -> bool:
    return (
        request.method == "GET"
        and response.status_code == 200
        and request.path_info.startswith(settings.STATIC_URL)
        and response.get("Content-Type", "").startswith(TEXTS)
    )
