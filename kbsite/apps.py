"""The site and the admin as apps, and the system checks: what would fail later, and what to do."""

from collections.abc import Sequence
from typing import Any, Final

from django.apps import AppConfig, apps
from django.contrib.admin import autodiscover
from django.contrib.admin.apps import SimpleAdminConfig
from django.contrib.admin.checks import check_admin_app, check_dependencies
from django.core.checks import CheckMessage, Error, Tags, register
from django.db import DatabaseError, connections
from django.utils.translation import gettext_lazy as _
from psycopg_pool.base import AttemptWithBackoff

# What the admin calls the tables of libraries.
LIBRARIES: Final[dict[str, Any]] = {
    "auth": _("Users and groups"),
    "oauth2_provider": _("Connected applications"),
    "socialaccount": _("Sign-in of an organisation"),
}
TABLES_OF_LIBRARIES: Final[dict[str, tuple[Any, Any]]] = {
    "oauth2_provider.Application": (_("application"), _("applications")),
    "socialaccount.SocialAccount": (
        _("account at the organisation"),
        _("accounts at the organisation"),
    ),
}
COLUMNS_OF_LIBRARIES: Final[dict[str, dict[str, Any]]] = {
    "oauth2_provider.Application": {
        "authorization_grant_type": _("way to get access"),
        "client_type": _("kind of application"),
        "registration_source": _("registered by"),
        "skip_authorization": _("needs no consent"),
    }
}


class SiteConfig(AppConfig):
    default = True
    name = "kbsite"
    verbose_name = "Access"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        """Try soon to reconnect to a database that restarts: requests wait, and no option says.

        Let the admin call our tables and their columns, and explain these, in the language of its
        reader.
        """
        AttemptWithBackoff.INITIAL_DELAY = 0.25  # seconds
        AttemptWithBackoff.DELAY_BACKOFF = 1.5
        for label in ("transcripts", "citations", self.label):
            config: Any = apps.get_app_config(label)
            config.verbose_name = _(config.verbose_name)
            for model in config.get_models():
                _translate_names(model._meta)
        for label, name in LIBRARIES.items():
            apps.get_app_config(label).verbose_name = name
        for label, names in TABLES_OF_LIBRARIES.items():
            options: Any = apps.get_model(label)._meta
            options.verbose_name, options.verbose_name_plural = names
        for label, columns in COLUMNS_OF_LIBRARIES.items():
            for name, title in columns.items():
                apps.get_model(label)._meta.get_field(name).verbose_name = title


def _translate_names(options: Any) -> None:
    options.verbose_name = _(options.verbose_name)
    options.verbose_name_plural = _(options.verbose_name_plural)
    for field in options.local_fields + options.local_many_to_many:
        field.verbose_name = _(field.verbose_name)
        field.help_text = _(field.help_text) if field.help_text else ""


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


@register(Tags.database)
def vector_extension(databases: Sequence[str] | None = None, **_: Any) -> list[CheckMessage]:
    """Check that the PostgreSQL server has pgvector and the database may create it."""
    problems: list[CheckMessage] = []
    for alias in databases or ():
        try:
            problems += _vector_state(alias)
        except DatabaseError as error:
            hint = "Check DATABASE_URL, and that the server runs."
            problems.append(
                Error(f"The database cannot be queried: {error}", hint=hint, id="kbsite.E001")
            )
    return problems


def _vector_state(alias: str) -> list[CheckMessage]:
    with connections[alias].cursor() as cursor:
        cursor.execute("SELECT EXISTS (SELECT FROM pg_extension WHERE extname = 'vector')")
        if cursor.fetchone()[0]:
            return []
        cursor.execute(
            "SELECT bool_or(NOT superuser OR trusted) FROM pg_available_extension_versions "
            "WHERE name = 'vector'"
        )
        creatable = cursor.fetchone()[0]  # None: the server does not have it
        cursor.execute(
            "SELECT rolsuper OR (%s AND has_database_privilege(current_database(), 'CREATE')) "
            "FROM pg_roles WHERE rolname = current_user",
            [bool(creatable)],
        )
        may_create = cursor.fetchone()[0]
    if creatable is None:
        text = "This PostgreSQL server does not have the pgvector extension."
        hint = "Install it on the server, for example with `apt install postgresql-18-pgvector`; "
        hint += "managed services let you enable it in their console."
        return [Error(text, hint=hint, id="kbsite.E002")]
    if may_create:
        return []
    name = connections[alias].settings_dict["NAME"]
    text = "The database does not have the vector extension, and its user may not create it."
    hint = f'As a superuser: psql -d {name} -c "CREATE EXTENSION vector"'
    return [Error(text, hint=hint, id="kbsite.E003")]
