"""API tokens and one-time sign-in links. Only their hashes are stored."""

import hashlib
import secrets
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser
from django.db import models, transaction
from django.db.models import Q
from django.utils import timezone

from transcripts import audit
from transcripts.audit import Action

TOKEN_PREFIX = "kb_"


class ApiToken(models.Model):
    """A bearer token for REST and MCP: it acts for its user, within its own limits."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="api_tokens"
    )
    name = models.CharField(max_length=80)
    hint = models.CharField(
        max_length=12, help_text="How the token begins, to tell it from others."
    )
    digest = models.CharField(max_length=64, unique=True, help_text="SHA-256 of the token.")
    can_write = models.BooleanField(default=False)
    collections: "models.ManyToManyField[Any, Any]" = models.ManyToManyField(
        "transcripts.Collection",
        blank=True,
        related_name="+",
        help_text="None: all that the user may see.",
    )
    limited = models.BooleanField(
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

    def __str__(self) -> str:
        return f"{self.name} ({self.hint}…)"

    @classmethod
    def issue(
        cls,
        user: AbstractBaseUser,
        *,
        name: str,
        can_write: bool = False,
        collections: tuple[Any, ...] = (),
        days: int | None = None,
    ) -> "tuple[ApiToken, str]":
        """Create a token; its text is returned here and never again."""
        text = TOKEN_PREFIX + secrets.token_urlsafe(32)
        with transaction.atomic():
            token = cls.objects.create(
                user=user,
                name=name[:80],
                hint=text[:9],
                digest=digest(text),
                can_write=can_write,
                limited=bool(collections),
                expires_at=timezone.now() + timedelta(days=days) if days else None,
            )
            token.collections.set(collections)
            may = "write" if can_write else "read"
            audit.record(Action.ADD, "token", token.hint, user=user.get_username(), may=may)
        return token, text

    @classmethod
    def find(cls, text: str) -> "ApiToken | None":
        """Return the valid token of a text, and record its use (once a minute)."""
        if not text.startswith(TOKEN_PREFIX) or len(text) > 100:
            return None
        now = timezone.now()
        token = cls.valid().filter(digest=digest(text)).select_related("user").first()
        if token is not None and (
            token.last_used_at is None or now - token.last_used_at > timedelta(minutes=1)
        ):
            cls.objects.filter(pk=token.pk).update(last_used_at=now)
        return token

    @classmethod
    def valid(cls) -> "models.QuerySet[ApiToken]":
        """Return the tokens of active users that are neither expired nor revoked."""
        is_current = Q(expires_at=None) | Q(expires_at__gt=timezone.now())
        return cls.objects.filter(is_current, revoked_at=None, user__is_active=True)

    def revoke(self) -> None:
        """Make the token useless, but keep its record."""
        self.revoked_at = timezone.now()
        with transaction.atomic():
            self.save(update_fields=["revoked_at"])
            audit.record(Action.REVOKE, "token", self.hint, user=self.user.get_username())


class SignInLink(models.Model):
    """A link that signs one user in, once."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    digest = models.CharField(max_length=64, unique=True)
    expires_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"sign-in link for {self.user}"

    @classmethod
    def issue(cls, user: AbstractBaseUser, *, valid_for: timedelta = timedelta(hours=24)) -> str:
        """Create a link's secret; the user's older links and all expired ones stop working."""
        text = secrets.token_urlsafe(32)
        ends = timezone.now() + valid_for
        with transaction.atomic():
            cls.objects.filter(Q(user=user) | Q(expires_at__lt=timezone.now())).delete()
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
