"""Regular tasks of the site itself."""

from celery import shared_task

from kbsite.models import KeyedRequest
from kbsite.oauth import connections


@shared_task
def prune() -> None:
    """Delete expired OAuth tokens, forgotten registrations, and answers kept for their keys."""
    connections.prune()
    KeyedRequest.objects.expired().delete()
