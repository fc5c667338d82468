"""Requests with an Idempotency-Key, and their first answers."""

from base64 import urlsafe_b64encode
from collections.abc import Mapping
from datetime import timedelta
from typing import ClassVar, Final, Self
from uuid import UUID

from cryptography.fernet import Fernet
from django.conf import settings
from django.db import models
from django.db.models import F, Sum, Window
from django.db.models.functions import Now, RowNumber
from django.utils.crypto import salted_hmac

from kbsite.models.credentials import ApiToken
from transcripts.core.scope import Scope
from transcripts.core.work.models import LeasedWork, LeasedWorkQuerySet

KEPT_FOR: Final = timedelta(days=1)
MAX_KEY: Final = 255  # characters
MAX_KEPT: Final = 10_000  # answers of one user
MAX_BYTES: Final = 50_000_000  # of one user's answers


class KeyedRequestQuerySet(LeasedWorkQuerySet["KeyedRequest"]):
    def expired(self) -> Self:
        """Keep the answers that are older than a day."""
        return self.filter(created_at__lt=Now() - KEPT_FOR)

    def surplus(self) -> "models.QuerySet[KeyedRequest]":
        """Keep a user's oldest answers beyond what is kept for one user."""
        newest_first = F("pk").desc()
        ranked = self.annotate(
            rank=Window(RowNumber(), order_by=newest_first),
            bytes=Window(Sum("size"), order_by=newest_first),
        )
        return ranked.exclude(rank__lte=MAX_KEPT, bytes__lte=MAX_BYTES)


class KeyedRequest(LeasedWork):
    """A request of a user, by one session or token, that its sender may repeat.

    The process that works on it holds a lease: if that process dies, a repetition does the work.
    """

    LEASE: ClassVar[timedelta] = timedelta(seconds=30)

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    token = models.ForeignKey(
        ApiToken, on_delete=models.CASCADE, null=True, related_name="+", help_text="None: a session"
    )
    key = models.CharField(max_length=MAX_KEY)
    fingerprint = models.CharField(max_length=64, help_text="HMAC of the request")
    created_at = models.DateTimeField(db_default=Now(), db_index=True)
    begun = models.UUIDField(null=True, help_text="The long work that it has queued: an answer")
    status = models.PositiveSmallIntegerField(null=True, help_text="None: there is no answer yet")
    headers = models.JSONField(default=dict)
    content = models.BinaryField(
        default=bytes, help_text="Encrypted: some answers hold a secret that is shown once"
    )
    size = models.PositiveIntegerField(default=0)
    readable = models.JSONField(default=list, help_text="Collections that its sender could read")
    writable = models.JSONField(default=list)

    objects = KeyedRequestQuerySet.as_manager()

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=("user", "token", "key"), name="keyed_request_once", nulls_distinct=False
            ),
        )

    def __str__(self) -> str:
        return self.key

    def allows(self, scope: Scope) -> bool:
        """Tell whether whoever has this scope may still see and change what the sender could."""
        may_read = scope.readable.issuperset(self.readable)
        return may_read and scope.writable.issuperset(self.writable)

    @property
    def answer(self) -> bytes:
        """The body of the answer."""
        return _cipher().decrypt(bytes(self.content))

    def begin(self, holder: UUID, work: UUID | None) -> bool:
        """Record the long work that the request has queued; return False if the lease was lost."""
        return bool(self._held_by(holder).update(begun=work))

    def finish(
        self, holder: UUID, *, status: int, headers: Mapping[str, str], content: bytes, scope: Scope
    ) -> bool:
        """Keep the answer, in the transaction of its work; return False if the lease was lost."""
        stored = _cipher().encrypt(content)
        answer = {"status": status, "headers": dict(headers), "content": stored}
        rights = {"readable": sorted(scope.readable), "writable": sorted(scope.writable)}
        held = self._held_by(holder)
        return bool(held.update(**answer, **rights, size=len(stored), holder=None))

    def make_room(self) -> None:
        """Forget the oldest answers of its user beyond what is kept for one."""
        own = KeyedRequest.objects.filter(user=self.user_id)
        KeyedRequest.objects.filter(pk__in=[row.pk for row in own.surplus()[:MAX_KEPT]]).delete()

    def give_back(self, holder: UUID) -> None:
        """Let a request that was refused or failed be sent again; what it has begun goes on then,
        else it is forgotten.
        """
        self._held_by(holder).filter(begun=None).delete()
        self._held_by(holder).update(holder=None)

    def _held_by(self, holder: UUID) -> KeyedRequestQuerySet:
        return KeyedRequest.objects.filter(pk=self.pk, holder=holder)


def _cipher() -> Fernet:
    """Return what encrypts answers, by SECRET_KEY, which stands in no backup."""
    return Fernet(urlsafe_b64encode(salted_hmac(__name__, "", algorithm="sha256").digest()))
