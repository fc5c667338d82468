"""Connect a command to the database."""

from typing import Any

import psycopg
from django.conf import settings

from kbsite import boot
from kbsite.auth import everything
from kbsite.cli import server_lock
from kbsite.cli.terminal import unreachable
from transcripts.scope import Scope

CONNECT_SECONDS = 5
_PARAMETERS = {
    "host": "HOST",
    "port": "PORT",
    "user": "USER",
    "password": "PASSWORD",
    "dbname": "NAME",
}


def open_library() -> Scope:
    """Start or join the database; return the scope of whoever has access to this machine."""
    open_database()
    return everything()


def open_database() -> None:
    """Start or join the database and migrate it. Raises ``Unavailable`` if it does not answer."""
    settings.PUBLIC_URL = server_lock.public_url()  # links lead to the running server
    if settings.DATABASE_URL:
        _try_connection(settings.DATABASES["default"])
    boot.boot()


def _try_connection(database: dict[str, Any]) -> None:
    # The connection pool would retry until its timeout and then hide the reason.
    given = {name: database[key] for name, key in _PARAMETERS.items() if database.get(key)}
    options = {name: value for name, value in database["OPTIONS"].items() if name != "pool"}
    try:
        psycopg.connect(**given, connect_timeout=CONNECT_SECONDS, **options).close()
    except psycopg.OperationalError as error:
        raise unreachable(error) from None
