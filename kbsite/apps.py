"""The site as an app: tokens, sign-in links, system checks; and the admin, which is there where the site's addresses are."""

from typing import Any

from django.apps import AppConfig
from django.contrib.admin import autodiscover
from django.contrib.admin.apps import SimpleAdminConfig
from django.contrib.admin.checks import check_admin_app, check_dependencies
from django.core.checks import CheckMessage, Tags, register

from kbsite import celery, checks  # noqa: F401  tasks find their broker through the one, the other registers the checks


class SiteConfig(AppConfig):
    """Where everything is put together."""

    default = True
    name = "kbsite"
    verbose_name = "Access"
    default_auto_field = "django.db.models.BigAutoField"


class AdminConfig(SimpleAdminConfig):
    """The admin, whose pages are registered with the addresses (see ``kbsite.urls``): they are a third of what a command would otherwise load."""

    default = False

    def ready(self) -> None:
        """Check the admin as Django does, with all of its pages."""
        register(check_dependencies, Tags.admin)
        register(_check_pages, Tags.admin)


def _check_pages(app_configs: Any, **options: Any) -> list[CheckMessage]:
    autodiscover()
    return list(check_admin_app(app_configs, **options))
