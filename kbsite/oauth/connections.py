"""Connections: what a user allows an application, kept as an API token without a text of its own.

One consent makes one connection. Its access and refresh tokens are a family of the toolkit's; they
reach what the connection reaches, and nothing once it is revoked.
"""

from datetime import timedelta
from typing import Final

from django.contrib.auth.models import User
from django.db.models import Q, QuerySet
from django.db.models.functions import Coalesce, Now
from django.utils import timezone
from oauth2_provider.models import AccessToken, Application, RefreshToken

from kbsite.models import ApiToken, digest
from transcripts.core.access import AccessLevel

UNUSED_AFTER: Final = timedelta(days=1)  # a registration without a connection is forgotten
ENDED_FOR: Final = timedelta(days=90)  # that pages still show tokens that can do nothing
MAX_TOKEN: Final = 100  # characters


def redeem(code: str, refresh_token: str) -> None:
    """Bind the tokens that a code was exchanged for to its connection.

    An application that registered itself is one installation, whose older connections end.
    """
    family = RefreshToken.objects.get(token_checksum=digest(refresh_token)).token_family
    connection = ApiToken.objects.select_related("application").get(digest=digest(code))
    connection.family = family
    connection.save(update_fields=["family"])
    application = connection.application
    if application and application.registration_source == Application.RegistrationSource.DCR:
        for older in live(connection.user).filter(application=application).exclude(family=family):
            older.revoke()


def end_of_code(code: str, application: Application) -> None:
    """Revoke the connection that a code was exchanged for, with all of its tokens, if there is one.

    Of two who have the code, one is a thief, and nobody knows which.
    """
    redeemed = ApiToken.objects.filter(family__isnull=False, revoked_at=None)
    if connection := redeemed.filter(digest=digest(code), application=application).first():
        connection.revoke()


def find(text: str, *, resource: str) -> ApiToken | None:
    """Return the connection of an access token that is meant for this address of the server.

    It lasts and reaches no longer and no further than the access token, so it must not be saved.
    """
    if len(text) > MAX_TOKEN:
        return None
    access = (
        AccessToken.objects.filter(
            token_checksum=digest(text), expires__gt=timezone.now(), refresh_token__revoked=None
        )
        .select_related("refresh_token")
        .first()
    )
    if access is None or not access.allows_audience(resource):
        return None
    family = access.refresh_token.token_family if hasattr(access, "refresh_token") else None
    connection = ApiToken.valid().filter(family=family, family__isnull=False).first()
    if connection is not None:
        connection.record_use()
        connection.narrow(AccessLevel.of_scopes(access.scope))
        connection.expires_at = access.expires
    return connection


def live(user: User) -> "QuerySet[ApiToken]":
    """Return a user's connections that still have tokens."""
    families = RefreshToken.objects.filter(user=user, revoked=None).values("token_family")
    return ApiToken.valid().filter(user=user, family__in=families)


def unused() -> "QuerySet[ApiToken]":
    """Return the connections whose code nobody exchanged for tokens within ``UNUSED_AFTER``."""
    before = Now() - UNUSED_AFTER
    return ApiToken.objects.filter(application__isnull=False, family=None, created_at__lt=before)


def ended() -> "QuerySet[ApiToken]":
    """Return the tokens that expired or were revoked ``ENDED_FOR`` ago, and the connections without
    valid OAuth tokens that were last used before that.
    """
    before = Now() - ENDED_FOR
    valid = RefreshToken.objects.filter(revoked=None, token_family__isnull=False)
    is_dead = Q(family__isnull=False, used_at__lt=before) & ~Q(
        family__in=valid.values("token_family")
    )
    used = ApiToken.objects.annotate(used_at=Coalesce("last_used_at", "created_at"))
    return used.filter(Q(revoked_at__lt=before) | Q(expires_at__lt=before) | is_dead)


def forgotten_applications() -> "QuerySet[Application]":
    """Return the ``unused_applications`` that are older than ``UNUSED_AFTER``."""
    return unused_applications().filter(created__lt=Now() - UNUSED_AFTER)


def unused_applications() -> "QuerySet[Application]":
    """Return the applications that made themselves known and that nobody has connected."""
    strangers: QuerySet[Application] = Application.objects.exclude(
        registration_source=Application.RegistrationSource.MANUAL
    )
    return strangers.filter(connections=None)
