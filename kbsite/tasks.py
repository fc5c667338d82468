"""Regular tasks of the site itself."""

from celery import shared_task

from kbsite import retention


@shared_task
def clear() -> None:
    """Clear all that grows and has ended."""
    retention.clear()
