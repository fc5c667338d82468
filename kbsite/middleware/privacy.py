"""Headers that leave a page to the one who asked for it: nothing else keeps it or learns its
address.
"""

from typing import Any, Final

from django.http import HttpRequest, HttpResponse
from django.utils.deprecation import MiddlewareMixin

from kbsite import secret_addresses

NOT_KEPT: Final = "private, no-store"
CHECKED: Final = "private, no-cache"  # kept, and shown once the server has said that it may be


class PrivacyMiddleware(MiddlewareMixin):
    """Forbids keeping a response that does not say itself how long it may be kept, and sending an
    address that is a secret to other sites. Static files never come here.
    """

    def process_response(self, request: HttpRequest, response: HttpResponse) -> Any:
        response.headers.setdefault("Cache-Control", CHECKED if "ETag" in response else NOT_KEPT)
        if secret_addresses.is_secret(request.path):
            response["Referrer-Policy"] = "no-referrer"
        return response
