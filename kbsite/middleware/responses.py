"""How responses leave: compressed where that tells nothing, kept by nobody else, and with what the
browser may do for them.
"""

from typing import Any, Final

from django.http import HttpRequest, HttpResponse
from django.middleware.gzip import GZipMiddleware
from django.utils.deprecation import MiddlewareMixin

from kbsite import secret_addresses
from kbsite.errors import API
from transcripts.core.site_path import own_path, site_path

TEXTS: Final = ("text/", "image/svg")  # static files that get smaller
NOT_KEPT: Final = "private, no-store"
CHECKED: Final = "private, no-cache"  # kept, and shown once the server has said that it may be
# Lectures listen, and YouTube's player gets what its frame's ``allow`` attribute names.
OWN: Final = ("microphone",)
UNUSED: Final = (
    *("accelerometer", "camera", "display-capture", "geolocation", "gyroscope", "hid"),
    *("magnetometer", "midi", "payment", "publickey-credentials-get", "screen-wake-lock"),
    *("serial", "usb", "xr-spatial-tracking"),
)
POLICY: Final = ", ".join([f"{name}=(self)" for name in OWN] + [f"{name}=()" for name in UNUSED])


class PublicGZipMiddleware(GZipMiddleware):
    """Compresses what programs ask for with a token, and static files.

    What a browser's session can ask for stays as it is: whoever lures the browser could guess its
    secrets from the size (BREACH).
    """

    def process_response(self, request: HttpRequest, response: Any) -> Any:
        """Compress an API's answer that is not a stream, or a whole static file."""
        is_program = request.path_info.startswith(API) and "Authorization" in request.headers
        is_static_text = (
            request.method == "GET"
            and response.status_code == 200
            and request.path_info.startswith("/static/")
            and response.get("Content-Type", "").startswith(TEXTS)
        )
        if is_program and not response.streaming or is_static_text:
            return super().process_response(request, response)
        return response


class PermissionsPolicyMiddleware(MiddlewareMixin):
    """Says on every page what neither it nor a frame in it may ask the browser for: what the site
    does not use.
    """

    def process_response(self, request: HttpRequest, response: HttpResponse) -> Any:
        response["Permissions-Policy"] = POLICY
        return response


class LocationMiddleware(MiddlewareMixin):
    """Leads to addresses below the path of the site, also where an operation knows but its own."""

    def process_response(self, request: HttpRequest, response: HttpResponse) -> Any:
        location = response.get("Location", "")
        if location.startswith("/") and not location.startswith("//"):
            response["Location"] = site_path(own_path(location))
        return response


class PrivacyMiddleware(MiddlewareMixin):
    """Forbids keeping a response that does not say itself how long it may be kept, and sending an
    address that is a secret to other sites. Static files never come here.
    """

    def process_response(self, request: HttpRequest, response: HttpResponse) -> Any:
        response.headers.setdefault("Cache-Control", CHECKED if "ETag" in response else NOT_KEPT)
        if secret_addresses.is_secret(request.path):
            response["Referrer-Policy"] = "no-referrer"
        return response
