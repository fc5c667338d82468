"""Applications that make themselves known: by registration (RFC 7591) or by a document (CIMD)."""

import json
import time
from typing import Any, Final
from urllib.parse import urlsplit

import requests
import urllib3
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from limits import RateLimitItemPerHour
from oauth2_provider.cimd import CIMDError, SafeMetadataFetcher, _validate_client_id_url
from oauth2_provider.settings import oauth2_settings
from oauth2_provider.views import (
    DynamicClientRegistrationManagementView,
    DynamicClientRegistrationView,
)
from oauthlib.common import Request
from requests.adapters import HTTPAdapter

from kbsite.middleware import rate_limits
from kbsite.oauth import connections
from kbsite.oauth.endpoints import refusal, throttled
from transcripts.core.sanitize import clean
from transcripts.youtube.guard import connect_publicly

LOOPBACK: Final = frozenset({"127.0.0.1", "localhost", "::1"})
MAX_BODY: Final = 16_384  # bytes
MAX_NAME: Final = 100  # characters
MAX_REDIRECTS: Final = 10
MAX_REDIRECT: Final = 500  # characters
PER_ADDRESS: Final = RateLimitItemPerHour(60)  # registrations
DOCUMENTS: Final = RateLimitItemPerHour(600)  # that this process asks for
MAX_UNUSED: Final = 2_000  # registrations that nobody has connected yet
GRANTS: Final = ("authorization_code", "refresh_token")


class Registration(DynamicClientRegistrationView):
    """Registers an application: bounded, and as often as one address may."""

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        message = "Too many applications have registered from this address."
        if response := throttled(
            request, "client registration", allowed=PER_ADDRESS, message=message
        ):
            return response
        if connections.unused_applications().count() >= MAX_UNUSED:
            message = "Too many wait to be connected."
            return refusal("temporarily_unavailable", message, status=503, wait=3600)
        if len(request.body) > MAX_BODY:
            message = f"More than {MAX_BODY:,} bytes."
            return refusal("invalid_client_metadata", message, status=413)
        try:
            flaw = flaw_of(json.loads(request.body))
        except (ValueError, RecursionError):
            flaw = "This is not JSON."
        if flaw:
            noun = "redirect_uri" if "redirect_uri" in flaw else "client_metadata"
            return refusal(f"invalid_{noun}", flaw)
        answer: HttpResponse = super().post(request, *args, **kwargs)
        return answer


class RegistrationManagement(DynamicClientRegistrationManagementView):
    """Shows an application its registration, or deletes it (RFC 7592); it changes nothing."""

    http_method_names = ("get", "delete")


class DocumentPermission:
    """Fetch a document only for the page that asks a user's consent, and only so often."""

    def has_permission(self, request: Request, client_id: str) -> bool:
        """Raise ``Throttled`` beyond the limit."""
        if request.http_method != "GET":
            return False
        rate_limits.count(
            "client documents", "all", allowed=DOCUMENTS, message="Too many applications came."
        )
        return True


class DocumentFetcher(SafeMetadataFetcher):
    """Fetches the document that an application's id names, from public addresses only.

    The guard of addresses is that of YouTube's. One deadline holds for the whole answer.
    """

    def fetch(self, client_id: str) -> tuple[dict[str, Any], int]:
        """Return the document and how many seconds it is good for. Raises ``CIMDError``."""
        _validate_client_id_url(client_id)
        timeout = oauth2_settings.CIMD_FETCH_TIMEOUT_SECONDS
        with requests.Session() as session:
            session.trust_env = False  # otherwise a password from ~/.netrc would be sent
            session.mount("https://", connect_publicly(HTTPAdapter()))
            try:
                response = session.get(
                    client_id,
                    headers={"Accept": "application/json, application/*+json"},
                    timeout=timeout,
                    allow_redirects=False,
                    stream=True,
                )
                metadata, seconds = self._read_document(_Bounded(response.raw, timeout))
            except (OSError, urllib3.exceptions.HTTPError) as error:
                raise CIMDError(f"the document cannot be fetched: {error}") from error
        if flaw := flaw_of(metadata):
            raise CIMDError(flaw)
        return metadata, seconds


class _Bounded:
    """An answer that is read until a deadline: a slow trickle must not hold a thread."""

    def __init__(self, raw: Any, seconds: float) -> None:
        self.status, self.headers = raw.status, raw.headers
        self._raw, self._deadline = raw, time.monotonic() + seconds

    def read(self, size: int) -> bytes:
        pieces: list[bytes] = []
        while (remaining := size - sum(map(len, pieces))) > 0:
            piece = self._raw.read1(remaining, decode_content=True)
            if not piece:
                break
            if time.monotonic() > self._deadline:
                raise CIMDError("the document came too slowly")
            pieces.append(piece)
        return b"".join(pieces)


def flaw_of(metadata: Any) -> str:
    """Say what is wrong with an application's metadata beyond what the toolkit checks, or ""."""
    if not isinstance(metadata, dict):
        return "This is not a JSON object."
    name = metadata.get("client_name", "")
    if not isinstance(name, str) or len(name) > MAX_NAME or clean(name, MAX_NAME) != name:
        return f"client_name must be a line of at most {MAX_NAME} characters."
    for field, allowed in (("grant_types", GRANTS), ("response_types", ("code",))):
        values = metadata.get(field, [])
        if not isinstance(values, list) or any(value not in allowed for value in values):
            return f"{field} can be {', '.join(allowed)} only."
    addresses = metadata.get("redirect_uris")
    if not isinstance(addresses, list) or not 0 < len(addresses) <= MAX_REDIRECTS:
        return f"redirect_uris must be a list of at most {MAX_REDIRECTS}."
    if all(map(_may_redirect, addresses)):
        return ""
    return (
        "redirect_uris must be https, http on the user's own machine, or one of "
        f"{', '.join(settings.OAUTH_REDIRECT_SCHEMES)}."
    )


def _may_redirect(address: Any) -> bool:
    if not isinstance(address, str) or len(address) > MAX_REDIRECT:
        return False
    if not (address.isascii() and address.isprintable() and " " not in address):
        return False
    try:
        parts = urlsplit(address)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return False
    if parts.fragment or "@" in parts.netloc:
        return False
    if parts.scheme in settings.OAUTH_REDIRECT_SCHEMES:
        return True
    return bool(host) and (parts.scheme == "https" or (parts.scheme == "http" and host in LOOPBACK))
