"""The whole library as one file, and back: pg_dump and pg_restore, those that come with Cuebase or, for another server, those that are installed."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.db import connection
from django.db.migrations.loader import MigrationLoader

from kbsite import boot, settings
from kbsite.cli import server_lock
from kbsite.postgres import process as postgres_process
from transcripts.errors import Conflict, InvalidInput, Unavailable
from transcripts.models import Video, WorkerPulse

LOCK_SECONDS = 10  # how long a restore waits for somebody who uses a table

# All that is ours, in one transaction with what takes its place. Extensions stay: they may belong to somebody else.
_EMPTY = """
DO $$
DECLARE
    one record;
BEGIN
    FOR one IN SELECT c.oid::regclass AS name FROM pg_class c
        WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm')
            AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e') LOOP
        EXECUTE format('DROP TABLE IF EXISTS %s CASCADE', one.name);
    END LOOP;
    FOR one IN SELECT c.oid::regclass AS name FROM pg_class c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'S' LOOP
        EXECUTE format('DROP SEQUENCE %s CASCADE', one.name);
    END LOOP;
    FOR one IN SELECT p.oid::regprocedure AS name FROM pg_proc p WHERE p.pronamespace = 'public'::regnamespace
            AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e') LOOP
        EXECUTE format('DROP ROUTINE %s CASCADE', one.name);
    END LOOP;
END
$$
"""


def back_up(path: Path) -> int:
    """Write the library to a file, which appears when it is whole; return its size in bytes.

    Raises ``InvalidInput``, and ``Unavailable`` when the programs are missing, refuse, or the disk is full.
    """
    if not path.absolute().parent.is_dir():
        raise InvalidInput(f"The folder of {path} does not exist.")
    try:
        with tempfile.TemporaryDirectory(dir=path.absolute().parent, prefix=".backup-") as folder:
            made = Path(folder) / "whole"
            made.touch(mode=0o600)
            with made.open("wb") as stream:
                _run("pg_dump", "--format=custom", "--no-owner", "--no-privileges", stdout=stream)
                os.fsync(stream.fileno())
            made.replace(path)
            return path.stat().st_size
    except OSError as error:
        raise Unavailable(
            f"{path} cannot be written: {error.strerror}.",
            hint="Choose another folder, or make room.",
        ) from error


def check(path: Path) -> None:
    """Raise ``InvalidInput`` for a file that is no backup, or one that this Cuebase is too old for."""
    try:
        known = _migrations_in(path)
    except Unavailable as error:
        raise InvalidInput(
            f"{path} is no backup of Cuebase, or damaged: {error.hint or error.message}"
        ) from error
    if not known:
        raise InvalidInput(f"{path} is a dump of another database, not of Cuebase.")
    if newer := known - set(MigrationLoader(connection).disk_migrations):
        names = ", ".join(sorted(f"{app}.{name}" for app, name in newer)[:3])
        raise InvalidInput(
            f"{path} was made by a newer Cuebase (it has {names}).",
            hint="Install that version, then restore.",
        )


def restore(path: Path) -> None:
    """Put a backup in the library's place, all of it or nothing, and bring its schema up to date.

    Raises ``Conflict`` while a server or worker runs, ``InvalidInput`` for a damaged file.
    """
    _refuse_while_used()
    connection.close()
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "restore.sql"
        try:
            _run(
                "pg_restore",
                "--no-owner",
                "--no-privileges",
                "--no-comments",
                f"--file={script}",
                str(path),
            )
        except Unavailable as error:
            raise InvalidInput(
                f"{path} is damaged: {error.hint}", hint="Nothing was changed."
            ) from error
        options = ["--no-psqlrc", "--quiet", "--single-transaction", "--set=ON_ERROR_STOP=1"]
        _run(
            "psql",
            *options,
            f"--command=SET lock_timeout = '{LOCK_SECONDS}s'",
            f"--command={_EMPTY}",
            f"--file={script}",
        )
    boot.migrate_now()


def videos_here() -> int:
    """Count the videos that a restore would replace."""
    return Video.objects.count()


def _refuse_while_used() -> None:
    if server := server_lock.find(Path(settings.DATA_DIR)):
        raise Conflict(
            f"Cuebase runs at {server.url}.", hint="Stop it (Ctrl-C in its terminal), then restore."
        )
    if WorkerPulse.is_alive():
        raise Conflict("A worker is running.", hint="Stop it, wait a minute, then restore.")


def _migrations_in(path: Path) -> set[tuple[str, str]]:
    rows = (
        _run("pg_restore", "--data-only", "--table=django_migrations", "--file=-", str(path))
        .decode(errors="replace")
        .splitlines()
    )
    cells = (row.split("\t") for row in rows)
    return {
        (row[1], row[2])
        for row in cells
        if len(row) == 4 and row[0].isdigit() and row[1] in ("transcripts", "citations", "kbsite")
    }


def _run(program: str, *arguments: str, stdout: Any = subprocess.PIPE) -> bytes:
    command: Sequence[str] = [str(_find(program)), *arguments]
    done = subprocess.run(
        command,
        env=_environment(),
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=subprocess.PIPE,
        check=False,
    )
    if done.returncode:
        told = " ".join(done.stderr.decode(errors="replace").split())[:500]
        raise Unavailable(f"{program} failed.", hint=told)
    return done.stdout or b""


def _find(program: str) -> Path:
    installed = None if boot.is_embedded() else shutil.which(program)
    return Path(installed) if installed else postgres_process.program(program)


def _environment() -> dict[str, str]:
    """Tell the programs where the database is, apart from their command lines, which others can read."""
    values = connection.settings_dict
    given = {
        "PGHOST": "HOST",
        "PGPORT": "PORT",
        "PGUSER": "USER",
        "PGPASSWORD": "PASSWORD",
        "PGDATABASE": "NAME",
    }
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
    environment |= {name: str(values[key]) for name, key in given.items() if values.get(key)}
    ssl = {
        f"PG{name.upper()}": str(value)
        for name, value in values["OPTIONS"].items()
        if name.startswith("ssl")
    }
    return environment | ssl | {"PGCONNECT_TIMEOUT": "10", "LC_ALL": "C"}
