"""Regular tasks of the site itself."""

from celery import shared_task

from kbsite.models import KeyedRequest
from kbsite.oauth import connections
from kbsite.webhooks import delivery


@shared_task
def prune() -> None:
    """Delete expired OAuth tokens, forgotten registrations, kept answers and old deliveries."""
    connections.prune()
    KeyedRequest.objects.expired().delete()
    delivery.prune()
