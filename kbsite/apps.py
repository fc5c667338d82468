"""The site as an app: tokens, sign-in links, system checks."""

from django.apps import AppConfig

from kbsite import celery, checks  # noqa: F401  tasks find their broker through the one, the other registers the checks


class SiteConfig(AppConfig):
    """Where everything is put together."""

    name = "kbsite"
    verbose_name = "Access"
    default_auto_field = "django.db.models.BigAutoField"
