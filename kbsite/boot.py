"""Prepare a process: the embedded PostgreSQL if used, Django, and the current schema."""

import hashlib
import os
import sys
from pathlib import Path
from typing import Any

import allauth
import django
import oauth2_provider
from django.apps import apps
from django.conf import settings
from django.core.management import call_command

from kbsite import postgres
from transcripts.core import locks
from transcripts.core.locks import Lock
from transcripts.core.work.disk import make_private_folder


def set_up(*, plain_log: bool = False) -> None:
    """Set Django up without the database; ``plain_log`` shows the messages of the log alone, as a
    terminal does, and keeps tracebacks in the file kb.log of the data directory.
    """
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "kbsite.settings.django")
    if apps.ready:
        return
    if plain_log or (sys.stderr.isatty() and settings.LOG_FORMAT == "text"):
        config: dict[str, Any] = settings.LOGGING
        file, classes = Path(settings.DATA_DIR) / "kb.log", "kbsite.telemetry.logs"
        tracebacks = {"()": f"{classes}.TracebackFile", "path": file, "formatter": "line"}
        config["formatters"]["message"] = {"()": f"{classes}.MessageFormatter", "log": file}
        config["handlers"]["console"]["formatter"] = "message"
        config["handlers"]["tracebacks"] = tracebacks
        config["root"]["handlers"].append("tracebacks")
        # It warns of every connection that has ended, which the command's own error explains.
        config["loggers"]["psycopg.pool"] = {"level": "ERROR"}
    django.setup()


def boot(*, migrate: bool = True) -> None:
    """Start or join the database, set Django up and, by default, migrate the schema.

    Raises EmbeddedPostgresError.
    """
    set_up()
    join_database()
    # WhiteNoise warns if the directory is missing; it may stay empty.
    make_private_folder(Path(settings.STATIC_ROOT))
    path = _stamp_path()
    stamp = path.read_text() if is_embedded() and path.is_file() else ""
    if migrate and stamp != _current_stamp():
        migrate_now()


def join_database() -> None:
    """Start or join the embedded server, unless DATABASE_URL names another one."""
    if is_embedded():
        postgres.start(settings.DATA_DIR)


def is_embedded() -> bool:
    return not settings.DATABASE_URL


def migrate_now() -> None:
    """Migrate the schema, whatever its stamp says; one process does, the others wait."""
    with locks.hold(Lock.SCHEMA, wait=True):
        call_command("migrate", verbosity=0, interactive=False)
    if is_embedded():
        _stamp_path().write_text(_current_stamp())


# Django's own check for migrations takes longer than most commands; their names do as well.


def _stamp_path() -> Path:
    # Beside the data: whoever deletes the database deletes the stamp, too.
    return Path(settings.DATA_DIR) / "postgres" / "schema"


def _current_stamp() -> str:
    names = sorted(
        str(path.relative_to(settings.BASE_DIR))
        for app in ("citations", "kbsite", "transcripts")
        for path in Path(settings.BASE_DIR, app).glob("migrations/0*.py")
    )
    versions = [package.__version__ for package in (django, allauth, oauth2_provider)]
    return hashlib.sha256("\n".join([*versions, *names]).encode()).hexdigest()
