"""The site as an app: tokens, sign-in links, system checks."""

from django.apps import AppConfig

from kbsite import checks  # noqa: F401  registers the checks


class SiteConfig(AppConfig):
    """Where everything is put together."""

    name = "kbsite"
    verbose_name = "Access"
    default_auto_field = "django.db.models.BigAutoField"
