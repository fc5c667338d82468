"""The OIDC provider: the way there and back, its groups as memberships of collections, as
OIDC_GROUPS says, and whether it and the settings fit.
"""

import logging
from collections.abc import Iterable, Mapping
from typing import Any, Final, cast

import requests
from allauth.socialaccount.providers.openid_connect import views
from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.models import User
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.utils.http import url_has_allowed_host_and_scheme

from transcripts.core import audit
from transcripts.core.audit import Action
from transcripts.core.errors import NotFound, Unavailable
from transcripts.models import Collection, Membership, Role

TIMEOUT: Final = 5.0  # seconds
NEEDED: Final = ("authorization_endpoint", "token_endpoint", "userinfo_endpoint", "jwks_uri")
MAX_GROUPS: Final = 1_000  # that are looked at
_DOCUMENT: Final = "/.well-known/openid-configuration"
_RANK: Final = (Role.VIEWER, Role.EDITOR, Role.OWNER)

Check = tuple[bool | None, str, str]  # ok, detail, hint

logger = logging.getLogger(__name__)


@login_not_required
def to_provider(request: HttpRequest, provider_id: str) -> HttpResponse:
    """Lead to the provider's sign-in. Raises ``NotFound`` and ``Unavailable``."""
    return _at_provider(views.login, request, provider_id)


@login_not_required
def from_provider(request: HttpRequest, provider_id: str) -> HttpResponse:
    """Sign in whom the provider sends back. Raises ``NotFound``, ``Unavailable``, ``Forbidden``."""
    return _at_provider(views.callback, request, provider_id)


def _at_provider(view: Any, request: HttpRequest, provider_id: str) -> HttpResponse:
    if not settings.OIDC_ISSUER:
        raise NotFound("This server has no other sign-in.", hint="Use its own sign-in page.")
    fields = request.GET.copy()
    if not url_has_allowed_host_and_scheme(fields.get("next", ""), {request.get_host()}):
        fields.pop("next", None)
    request.GET = cast(Any, fields)
    try:
        response: HttpResponse = view(request, provider_id)
    except requests.RequestException as error:
        raise Unavailable(
            f"The sign-in of {settings.OIDC_NAME} does not answer.", hint="Try again later."
        ) from error
    return response


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
    if unknown := sorted(roles(()).keys() - existing):
        detail = f"OIDC_GROUPS names collections that do not exist: {', '.join(unknown)}"
        return None, detail, "Create them, or correct OIDC_GROUPS: it takes slugs."
    redirect = f"{settings.PUBLIC_URL.rstrip('/')}/sign-in/team/done/"
    return True, f"{issuer}, with the redirect address {redirect}", ""


def claimed(data: Mapping[str, Any]) -> set[str]:
    """Return the groups that a provider names in its userinfo or its ID token.

    Keycloak writes a group as a path, ``/students``.
    """
    for part in (data.get("userinfo"), data.get("id_token"), data):
        values = part.get(settings.OIDC_GROUPS_CLAIM) if isinstance(part, dict) else None
        if isinstance(values, str):
            values = [values]
        if isinstance(values, list):
            names = (value for value in values[:MAX_GROUPS] if isinstance(value, str))
            return {name.removeprefix("/") for name in names}
    return set()


def roles(groups: Iterable[str]) -> dict[str, Role | None]:
    """Return the role by slug of every collection in OIDC_GROUPS; None: not a member."""
    groups = set(groups)
    roles: dict[str, Role | None] = {}
    for rule in settings.OIDC_GROUPS:
        group, _, granted = rule.rpartition("=")
        slug, _, role = granted.partition(":")
        ranks = [roles.get(slug), Role(role) if group in groups else None]
        roles[slug] = max(filter(None, ranks), key=_RANK.index, default=None)
    return roles


@transaction.atomic
def apply(user: User, groups: Iterable[str]) -> None:
    """Make a user a member of the collections of OIDC_GROUPS exactly as the groups say."""
    collections = {collection.slug: collection for collection in Collection.objects.all()}
    for slug, role in roles(groups).items():
        collection = collections.get(slug)
        if collection is None:
            logger.warning("OIDC_GROUPS names the collection %r, which does not exist.", slug)
            continue
        membership = Membership.objects.filter(collection=collection, user=user).first()
        before = membership.role if membership else None
        if before == role:
            continue
        name = user.get_username()
        if role is None:
            Membership.objects.filter(collection=collection, user=user).delete()
            audit.record(Action.DELETE, "member", name, collection=collection)
        else:
            values = {"defaults": {"role": role}}
            Membership.objects.update_or_create(collection=collection, user=user, **values)
            audit.record(Action.CHANGE, "member", name, collection=collection, role=role)
