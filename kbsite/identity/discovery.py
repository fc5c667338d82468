"""Whether the OIDC provider and the settings fit, as far as it says so itself."""

from typing import Any, Final

import requests
from django.conf import settings

from kbsite.identity import groups
from transcripts.models import Collection

TIMEOUT: Final = 5.0  # seconds
NEEDED: Final = ("authorization_endpoint", "token_endpoint", "userinfo_endpoint", "jwks_uri")
_DOCUMENT: Final = "/.well-known/openid-configuration"

Check = tuple[bool | None, str, str]  # ok, detail, hint


def check() -> Check:
    """Check issuer, client and groups; ``ok`` is None if people can sign in, but not all is well.

    Raises ``requests.RequestException`` if the issuer does not answer.
    """
    issuer: str = settings.OIDC_ISSUER
    if not issuer:
        return True, "no provider: local accounts only", ""
    for name in ("OIDC_CLIENT_ID", "OIDC_CLIENT_SECRET"):
        if not getattr(settings, name):
            hint = f"Register Cuebase at {issuer} as a confidential client, and set {name}."
            return False, f"{name} is not set", hint
    document = _fetch(issuer)
    missing = [name for name in NEEDED if not isinstance(document.get(name), str)]
    if missing:
        hint = f"OIDC_ISSUER is the address before {_DOCUMENT}; docs/access.md has examples."
        return False, f"{issuer} does not describe itself: no {', '.join(missing)}", hint
    return _compare(issuer, document)


def _fetch(issuer: str) -> dict[str, Any]:
    """Return what an issuer says of itself (OpenID Connect Discovery), empty if it does not."""
    address = issuer if "/.well-known/" in issuer else issuer + _DOCUMENT  # as at a sign-in
    answer = requests.get(address, timeout=TIMEOUT)
    if answer.status_code != requests.codes.ok:
        return {}
    try:
        document = answer.json()
    except requests.JSONDecodeError:
        return {}
    return document if isinstance(document, dict) else {}


def _compare(issuer: str, document: dict[str, Any]) -> Check:
    value = document.get("issuer")
    if value != issuer and "/.well-known/" not in issuer:
        return None, f"{issuer} calls itself {value}", f"Set OIDC_ISSUER={value}."
    existing = set(Collection.objects.values_list("slug", flat=True))
    if unknown := sorted(groups.roles(()).keys() - existing):
        detail = f"OIDC_GROUPS names collections that do not exist: {', '.join(unknown)}"
        return None, detail, "Create them, or correct OIDC_GROUPS: it takes slugs."
    redirect = f"{settings.PUBLIC_URL.rstrip('/')}/sign-in/team/done/"
    return True, f"{issuer}, with the redirect address {redirect}", ""
