"""Regular tasks of the site itself."""

from celery import shared_task

from kbsite.oauth import connections


@shared_task
def prune() -> None:
    """Delete expired OAuth tokens and forgotten registrations."""
    connections.prune()
