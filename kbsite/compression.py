"""Compressed answers of the APIs."""

from typing import Any

from django.http import HttpRequest
from django.middleware.gzip import GZipMiddleware

from kbsite.errors import API


class TokenGZipMiddleware(GZipMiddleware):
    """Compresses what programs ask for with a token.

    What a browser's session can ask for stays as it is: whoever lures the browser could guess its
    secrets from the size (BREACH).
    """

    def process_response(self, request: HttpRequest, response: Any) -> Any:
        """Compress an answer that is not a stream."""
        is_program = request.path_info.startswith(API) and "Authorization" in request.headers
        if not is_program or response.streaming:
            return response
        return super().process_response(request, response)
