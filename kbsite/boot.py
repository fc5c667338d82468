"""Make a process ready: the embedded PostgreSQL if it is the one, Django, and a schema that is up to date."""

import hashlib
import os
from pathlib import Path

import django
from django.apps import apps
from django.conf import settings
from django.core.management import call_command

from kbsite import postgres
from transcripts import locks
from transcripts.locks import Lock


def set_up(*, plain_log: bool = False) -> None:
    """Set Django up, without the database; ``plain_log`` leaves time and logger out of log lines."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "kbsite.settings")
    if apps.ready:
        return
    if plain_log:
        settings.LOGGING["formatters"]["line"]["format"] = "{message}"
    django.setup()


def boot(*, migrate: bool = True) -> None:
    """Start or join the database, set Django up and, unless told not to, bring the schema up to date.

    Raises ``EmbeddedPostgresError`` kinds, which say what to do.
    """
    set_up()
    join_database()
    Path(settings.STATIC_ROOT).mkdir(
        parents=True, exist_ok=True
    )  # WhiteNoise warns where it is missing; nothing has to be collected into it
    if migrate and _stamp() != _wanted_stamp():
        migrate_now()


def join_database() -> None:
    """Start the embedded server, or join it where another process started it; with DATABASE_URL set there is nothing to do."""
    if is_embedded():
        postgres.start(settings.DATA_DIR)


def is_embedded() -> bool:
    """Say whether the database is the embedded one."""
    return not settings.DATABASE_URL


def migrate_now() -> None:
    """Bring the schema up to date, whatever was noted of it; one process does, the others wait."""
    with locks.hold(Lock.SCHEMA, wait=True):
        call_command("migrate", verbosity=0, interactive=False)
    if is_embedded():
        _stamp_path().write_text(_wanted_stamp())


# Asking Django whether anything is to be migrated takes longer than most commands; the names of the migrations say it as well.


def _stamp_path() -> Path:
    return (
        Path(settings.DATA_DIR) / "postgres" / "schema"
    )  # beside the data: who deletes the database deletes it too


def _stamp() -> str:
    path = _stamp_path()
    return path.read_text() if is_embedded() and path.is_file() else ""


def _wanted_stamp() -> str:
    names = sorted(
        str(path.relative_to(settings.BASE_DIR))
        for path in Path(settings.BASE_DIR).glob("*/migrations/0*.py")
    )
    return hashlib.sha256("\n".join([django.__version__, *names]).encode()).hexdigest()
