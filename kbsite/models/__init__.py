"""The tables of the site: credentials, requests that are answered once, who has written, and
webhooks.
"""

from kbsite.models.credentials import ApiToken, SignInLink, digest
from kbsite.models.keyed_requests import KeyedRequest
from kbsite.models.webhooks import Webhook, WebhookDelivery, WebhookEvent, WebhookKind
from kbsite.models.write_positions import WritePosition

__all__ = [
    "ApiToken",
    "KeyedRequest",
    "SignInLink",
    "Webhook",
    "WebhookDelivery",
    "WebhookEvent",
    "WebhookKind",
    "WritePosition",
    "digest",
]
