"""The language model that an administrator chose on a page."""

import time
from base64 import urlsafe_b64encode
from dataclasses import dataclass
from typing import ClassVar, Final

from cryptography.fernet import Fernet, InvalidToken
from django.db import Error, models
from django.db.models.functions import Now
from django.utils.crypto import salted_hmac

from citations import conf
from citations.conf import LlmChoice

_KNOWN_SECONDS: Final = 10.0  # until another process notices a change


@dataclass(slots=True)
class _Known:
    """What this process read last, and when."""

    choice: LlmChoice | None = None
    read_at: float | None = None


class ChosenModel(models.Model):
    """The language model that writes answers where the environment names none. At most one row."""

    KNOWN: ClassVar[_Known] = _Known()

    id = models.PositiveSmallIntegerField(primary_key=True, default=1)
    provider = models.CharField(max_length=20)
    model = models.CharField(max_length=200)
    base_url = models.CharField(max_length=200, blank=True, help_text="Empty: the service's own")
    secret = models.BinaryField(default=bytes, help_text="The key, encrypted by SECRET_KEY")
    chosen_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = (
            models.CheckConstraint(condition=models.Q(id=1), name="chosen_model_one_row"),
        )

    def __str__(self) -> str:
        return f"{self.provider}:{self.model}"

    @classmethod
    def choose(cls, choice: LlmChoice) -> None:
        """Store a choice in place of the last."""
        values = {"provider": choice.provider, "model": choice.model, "base_url": choice.base_url}
        secret = _cipher().encrypt(choice.key.encode()) if choice.key else b""
        cls.objects.update_or_create(
            pk=1, defaults={**values, "secret": secret, "chosen_at": Now()}
        )
        cls.KNOWN.read_at = None

    @classmethod
    def forget(cls) -> None:
        cls.objects.all().delete()
        cls.KNOWN.read_at = None

    @classmethod
    def read(cls) -> LlmChoice | None:
        """Return the choice, as it was at most ten seconds ago; None too without a database."""
        known = cls.KNOWN
        if known.read_at is None or time.monotonic() - known.read_at > _KNOWN_SECONDS:
            try:
                row = cls.objects.first()
            except Error:
                return None
            known.choice = row.choice if row else None
            known.read_at = time.monotonic()
        return known.choice

    @property
    def choice(self) -> LlmChoice:
        return LlmChoice(
            provider=self.provider,
            model=self.model,
            base_url=self.base_url,
            key=self._key,
            is_stored=True,
        )

    @property
    def _key(self) -> str:
        """The key; "" also in a restored library, where SECRET_KEY is another."""
        try:
            return _cipher().decrypt(bytes(self.secret)).decode() if self.secret else ""
        except InvalidToken:
            return ""


def _cipher() -> Fernet:
    """Return what encrypts the key, by SECRET_KEY, which stands in no backup."""
    return Fernet(urlsafe_b64encode(salted_hmac(__name__, "", algorithm="sha256").digest()))


conf.read_stored_llm_by(ChosenModel.read)
