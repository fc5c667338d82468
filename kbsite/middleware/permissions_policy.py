"""The Permissions-Policy header: what neither a page nor a frame in it may ask the browser for."""

from typing import Any, Final

from django.http import HttpRequest, HttpResponse
from django.utils.deprecation import MiddlewareMixin

# Lectures listen, and YouTube's player gets what its frame's ``allow`` attribute names.
OWN: Final = ("microphone",)
UNUSED: Final = (
    "accelerometer",
    "camera",
    "display-capture",
    "geolocation",
    "gyroscope",
    "hid",
    "magnetometer",
    "midi",
    "payment",
    "publickey-credentials-get",
    "screen-wake-lock",
    "serial",
    "usb",
    "xr-spatial-tracking",
)
POLICY: Final = ", ".join([f"{name}=(self)" for name in OWN] + [f"{name}=()" for name in UNUSED])


class PermissionsPolicyMiddleware(MiddlewareMixin):
    """Forbids on every page what the site does not use."""

    def process_response(self, request: HttpRequest, response: HttpResponse) -> Any:
        response["Permissions-Policy"] = POLICY
        return response
