"""Groups at the OIDC provider as memberships of collections, as OIDC_GROUPS says."""

import logging
from collections.abc import Iterable, Mapping
from typing import Any, Final

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction

from transcripts.core import audit
from transcripts.core.audit import Action
from transcripts.models import Collection, Membership, Role

MAX_GROUPS: Final = 1_000  # that are looked at
_RANK: Final = (Role.VIEWER, Role.EDITOR, Role.OWNER)

logger = logging.getLogger(__name__)


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
