"""The site as an app, with tokens, sign-in links and system checks; and the admin."""

from typing import Any

from django.apps import AppConfig
from django.contrib.admin import autodiscover
from django.contrib.admin.apps import SimpleAdminConfig
from django.contrib.admin.checks import check_admin_app, check_dependencies
from django.core.checks import CheckMessage, Tags, register

from kbsite import celery, checks

__all__ = ["SiteConfig", "celery", "checks"]  # both modules register themselves


class SiteConfig(AppConfig):
    default = True
    name = "kbsite"
    verbose_name = "Access"
    default_auto_field = "django.db.models.BigAutoField"


class AdminConfig(SimpleAdminConfig):
    """The admin. ``kbsite.urls`` loads its pages, so that commands do not: they would load a third
    more.
    """

    default = False

    def ready(self) -> None:
        register(check_dependencies, Tags.admin)
        register(_check_pages, Tags.admin)


def _check_pages(app_configs: Any, **options: Any) -> list[CheckMessage]:
    autodiscover()
    return list(check_admin_app(app_configs, **options))
