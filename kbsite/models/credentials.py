"""API tokens, connected applications and one-time sign-in links. Only hashes are stored."""

import hashlib
import secrets
from contextlib import suppress
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser
from django.db import InternalError, models, transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from oauth2_provider.models import RefreshToken

from transcripts.core import audit
from transcripts.core.access import AccessLevel
from transcripts.core.audit import Action

TOKEN_PREFIX = "kb_"
ACCESS_LABELS = (
    (AccessLevel.READ.value, _("read, search and ask")),
    (
        AccessLevel.WRITE.value,
        _("also add, change and delete sources, notes, highlights, conversations and lectures"),
    ),
    (
        AccessLevel.MANAGE.value,
        _(
            "also manage members, shared links and webhooks, and delete collections; people it "
            "lets in stay when it ends"
        ),
    ),
)


class ApiToken(models.Model):
    """A bearer token for REST and MCP: it acts for its user, within its own limits.

    A connection is one whose texts come from OAuth; see ``kbsite.oauth.connections``.
    """

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="api_tokens"
    )
    name = models.CharField(max_length=80)
    hint = models.CharField(
        max_length=12, help_text="How the token begins, to tell it from others."
    )
    digest = models.CharField(
        max_length=64,
        unique=True,
        help_text="SHA-256 of the token; of a connection's authorization code.",
    )
    application = models.ForeignKey(
        settings.OAUTH2_PROVIDER_APPLICATION_MODEL,
        null=True,
        blank=True,
        editable=False,
        on_delete=models.CASCADE,
        related_name="connections",
        help_text="The application that a user has connected by OAuth; none: a personal token.",
    )
    family = models.UUIDField(
        null=True, unique=True, editable=False, help_text="Of the OAuth tokens of a connection."
    )
    access = models.CharField(
        "may", max_length=6, choices=ACCESS_LABELS, default=AccessLevel.READ.value
    )
    collections: "models.ManyToManyField[Any, Any]" = models.ManyToManyField(
        "transcripts.Collection",
        blank=True,
        related_name="+",
        help_text="None: all that the user may see.",
    )
    limited = models.BooleanField(
        "limited to collections",
        default=False,
        help_text="Only the collections named; deleting one of them never widens the token.",
    )
    created_at = models.DateTimeField(auto_now_add=True)
    last_used_at = models.DateTimeField(null=True, blank=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("-created_at",)
        verbose_name = "API token"
        constraints = (
            models.CheckConstraint(
                condition=Q(access__in=[level.value for level in AccessLevel]), name="token_access"
            ),
        )

    def __str__(self) -> str:
        return f"{self.name} ({self.hint}…)"

    @classmethod
    def issue(
        cls,
        user: AbstractBaseUser,
        *,
        name: str,
        access: AccessLevel = AccessLevel.READ,
        collections: tuple[Any, ...] = (),
        days: int | None = None,
    ) -> "tuple[ApiToken, str]":
        """Create a token; its text is returned here and never again."""
        text = TOKEN_PREFIX + secrets.token_urlsafe(32)
        ends = timezone.now() + timedelta(days=days) if days else None
        token = cls._store(
            collections,
            user=user,
            name=name[:80],
            hint=text[:9],
            digest=digest(text),
            access=access,
            expires_at=ends,
        )
        return token, text

    @classmethod
    def connect(
        cls,
        user: AbstractBaseUser,
        application: Any,
        *,
        secret: str,
        name: str,
        access: AccessLevel = AccessLevel.READ,
        collections: tuple[Any, ...] = (),
    ) -> "ApiToken":
        """Create the connection of an application: what a user allows it.

        At first, ``secret`` stands for it: the authorization code that the application gets.
        """
        return cls._store(
            collections,
            user=user,
            application=application,
            name=name[:80],
            hint=f"oauth_{secrets.token_hex(3)}",
            digest=digest(secret),
            access=access,
        )

    @classmethod
    def _store(cls, collections: tuple[Any, ...], **values: Any) -> "ApiToken":
        with transaction.atomic():
            token = cls.objects.create(limited=bool(collections), **values)
            token.collections.set(collections)
            user = token.user.get_username()
            audit.record(Action.ADD, token.kind, token.hint, user=user, may=token.access)
        return token

    def narrow(self, limit: AccessLevel) -> None:
        """Allow no more than this from now on; it must not be saved."""
        self.access = AccessLevel(self.access).at_most(limit)

    @property
    def kind(self) -> str:
        return "connection" if self.application_id else "token"

    @property
    def state(self) -> str:
        """``valid``, ``expired`` or ``revoked``."""
        if self.revoked_at:
            return "revoked"
        return "expired" if self.expires_at and self.expires_at <= timezone.now() else "valid"

    @property
    def slugs(self) -> list[str] | None:
        """The collections that it is limited to; None: it is not."""
        return [each.slug for each in self.collections.all()] if self.limited else None

    @classmethod
    def find(cls, text: str) -> "ApiToken | None":
        """Return the valid token of a text, and record its use (once a minute)."""
        if not text.startswith(TOKEN_PREFIX) or len(text) > 100:
            return None
        token = cls.valid().filter(digest=digest(text)).first()
        if token is not None:
            token.record_use()
        return token

    @classmethod
    def valid(cls) -> "models.QuerySet[ApiToken]":
        """Return the tokens of active users that are neither expired nor revoked."""
        is_current = Q(expires_at=None) | Q(expires_at__gt=timezone.now())
        valid = cls.objects.filter(is_current, revoked_at=None, user__is_active=True)
        return valid.select_related("user")

    def record_use(self) -> None:
        """Record that the token was used now, once a minute."""
        now = timezone.now()
        if self.last_used_at is None or now - self.last_used_at > timedelta(minutes=1):
            with suppress(InternalError):  # a replica stands in for the primary
                ApiToken.objects.filter(pk=self.pk).update(last_used_at=now)

    def revoke(self) -> None:
        """Make the token useless, but keep its record."""
        self.revoked_at = timezone.now()
        with transaction.atomic():
            self.save(update_fields=["revoked_at"])
            RefreshToken.revoke_family(self.family)
            audit.record(Action.REVOKE, self.kind, self.hint, user=self.user.get_username())


class SignInLink(models.Model):
    """A link that signs one user in, once."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    digest = models.CharField(max_length=64, unique=True)
    expires_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"sign-in link for {self.user}"

    @classmethod
    def issue(cls, user: AbstractBaseUser, *, valid_for: timedelta = timedelta(hours=24)) -> str:
        """Create a link's secret; the user's older links stop working."""
        text = secrets.token_urlsafe(32)
        ends = timezone.now() + valid_for
        with transaction.atomic():
            cls.objects.filter(user=user).delete()
            cls.objects.create(user=user, digest=digest(text), expires_at=ends)
            audit.record(Action.ADD, "sign-in link", user=user.get_username())
        return text

    @classmethod
    def redeem(cls, text: str) -> Any | None:
        """Return the user and use the link up; None if it is unknown, used or expired."""
        links = cls.objects.filter(
            digest=digest(text), expires_at__gt=timezone.now(), user__is_active=True
        ).select_related("user")
        link = links.first()
        if link is None or not links.filter(pk=link.pk).delete()[0]:
            return None
        return link.user


def digest(text: str) -> str:
    """Return the SHA-256 of a secret. No salt or stretching: the secrets are 256 random bits."""
    return hashlib.sha256(text.encode()).hexdigest()
