"""Connect a command to the database."""

from contextlib import AbstractContextManager, nullcontext

import psycopg
from django.conf import settings
from django.db import connection

from kbsite import boot
from kbsite.apps import vector_extension
from kbsite.callers import everything
from kbsite.library import server_lock
from kbsite.postgres import watched
from kbsite.postgres.errors import unreachable
from transcripts.core.errors import Unavailable
from transcripts.core.scope import Scope
from transcripts.library import reading as library
from transcripts.models import Collection

CONNECT_SECONDS = 5


def open_library() -> Scope:
    """Start or join the database; return the scope of whoever has access to this machine."""
    open_database()
    return everything()


def open_collection(name: str) -> Collection:
    """Return a collection, by default the default one. Raises ``CollectionNotFound``."""
    scope = open_library()
    return library.find_collection(scope, name) if name else Collection.objects.default()


def open_database() -> None:
    """Start or join the database and migrate it.

    Raises ``Unavailable`` if it does not answer, or lacks pgvector and its user may not add it.
    """
    settings.PUBLIC_URL = server_lock.public_url()  # links lead to the running server
    if settings.DATABASE_URL:
        # The connection pool would retry until its timeout and then hide the reason.
        parameters = connection.get_connection_params() | {"connect_timeout": CONNECT_SECONDS}
        try:
            psycopg.connect(**parameters).close()
        except psycopg.OperationalError as error:
            raise unreachable(error) from None
        for problem in vector_extension(databases=["default"]):
            raise Unavailable(problem.msg, hint=problem.hint)
    boot.boot()


def watched_database() -> AbstractContextManager[None]:
    """Start the embedded database again when it dies during the block; another is left alone."""
    return watched(settings.DATA_DIR) if boot.is_embedded() else nullcontext()
