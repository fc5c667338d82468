"""Signatures of messages, and the secrets that they are made with.

A secret is derived from SECRET_KEY, so that none stands in the database or in a backup.
"""

from base64 import b64encode
from datetime import datetime

from django.utils.crypto import salted_hmac
from standardwebhooks import Webhook as Signer

from kbsite.models import Webhook

PREFIX = "whsec_"


def secret_of(webhook: Webhook, *, generation: int | None = None) -> str:
    """Return the current secret, or that of another generation."""
    value = f"{webhook.uuid}:{generation or webhook.generation}"
    key = salted_hmac("kbsite.webhooks", value, algorithm="sha256").digest()
    return PREFIX + b64encode(key).decode()


def headers(webhook: Webhook, message_id: str, at: datetime, body: str) -> dict[str, str]:
    """Return the headers of a message; for a day after a rotation, both secrets sign."""
    generations = [webhook.generation]
    if webhook.old_secret_until:
        generations.append(webhook.generation - 1)
    signatures = (
        Signer(secret_of(webhook, generation=generation)).sign(message_id, at, body)
        for generation in generations
    )
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(int(at.timestamp())),
        "webhook-signature": " ".join(signatures),
    }
