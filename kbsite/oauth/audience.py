"""This server by its addresses: what access tokens are made for (RFC 8707), and challenges."""

from typing import Final

from django.http import HttpRequest
from oauth2_provider.settings import oauth2_settings
from oauthlib.common import Request

from transcripts.core.access import AccessLevel
from transcripts.core.site_path import site_path

METADATA: Final = "/.well-known/oauth-protected-resource"
RESOURCES: Final = ("/mcp", "/api")  # that have metadata of their own
SCOPES: Final = " ".join(AccessLevel.WRITE.scopes)  # that clients are told to ask for


def origin(scheme: str, host: str) -> str:
    """Return the address of this server: PUBLIC_URL, or on one machine the name that is used."""
    return str(oauth2_settings.OIDC_ISS_ENDPOINT) or f"{scheme}://{host}{site_path('')}"


def origin_of(request: HttpRequest) -> str:
    return origin(request.scheme or "http", request.get_host())


def origin_of_oauthlib(request: Request) -> str:
    """Return the same of a request as oauthlib knows it: with Django's META as headers."""
    is_secure = request.headers.get("X_DJANGO_OAUTH_TOOLKIT_SECURE")
    host = request.headers.get("HTTP_HOST") or request.headers.get("SERVER_NAME", "")
    return origin("https" if is_secure else "http", host)


def is_own(resource: str, own: str) -> bool:
    """Tell whether a resource is a part of the server with the origin ``own``."""
    is_part = oauth2_settings.RESOURCE_SERVER_TOKEN_RESOURCE_VALIDATOR  # imported only by who asks
    try:
        return bool(is_part(resource, [own]))
    except ValueError:  # such as https://[::1
        return False


def challenge(own: str, path: str, *, error: str = "", scope: str = "") -> str:
    """Return the WWW-Authenticate header of a path (RFC 6750, 9728)."""
    part = next((resource for resource in RESOURCES if path.startswith(resource)), "")
    fields = {
        "realm": "cuebase",
        "error": error,
        "scope": scope,
        "resource_metadata": f"{own}{METADATA}{part}",
    }
    return "Bearer " + ", ".join(f'{name}="{value}"' for name, value in fields.items() if value)
