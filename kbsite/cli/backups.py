"""Back up and restore the whole library with pg_dump and pg_restore.

The embedded server comes with these programs. For an external one, those on PATH run if they are
new enough for it, else the bundled ones.
"""

import os
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from django.db import connection
from django.db.migrations.loader import MigrationLoader
from psycopg.pq import Conninfo

from kbsite import boot, settings
from kbsite.cli import backup_files, server_lock
from kbsite.postgres import programs as postgres_programs
from transcripts.errors import Conflict, InvalidInput, Unavailable
from transcripts.models import WorkerPulse

LOCK_SECONDS = 10  # a restore waits this long for users of a table
APPS = ("transcripts", "citations", "kbsite")

# Runs in one transaction with the restore. Extensions stay: they may serve other schemas.
_DROP_ALL = """
DO $$
DECLARE
    object record;
BEGIN
    FOR object IN SELECT c.oid::regclass AS name FROM pg_class c
        WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm')
            AND NOT EXISTS (
                SELECT FROM pg_depend d
                WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e'
            ) LOOP
        EXECUTE format('DROP TABLE IF EXISTS %s CASCADE', object.name);
    END LOOP;
    FOR object IN SELECT c.oid::regclass AS name FROM pg_class c
        WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'S' LOOP
        EXECUTE format('DROP SEQUENCE %s CASCADE', object.name);
    END LOOP;
    FOR object IN SELECT p.oid::regprocedure AS name FROM pg_proc p
        WHERE p.pronamespace = 'public'::regnamespace
            AND NOT EXISTS (
                SELECT FROM pg_depend d
                WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
            ) LOOP
        EXECUTE format('DROP ROUTINE %s CASCADE', object.name);
    END LOOP;
END
$$
"""


def back_up(path: Path) -> int:
    """Write the library to a file, which appears when it is complete; return its size in bytes.

    Raises ``InvalidInput``; ``Unavailable`` if a program is missing, too old or fails, or the disk
    is full.
    """
    if not path.absolute().parent.is_dir():
        raise InvalidInput(f"The folder of {path} does not exist.")
    try:
        with tempfile.TemporaryDirectory(dir=path.absolute().parent, prefix=".backup-") as folder:
            partial = Path(folder) / "dump"
            partial.touch(mode=0o600)
            with partial.open("wb") as stream:
                _run("pg_dump", "--format=custom", "--no-owner", "--no-privileges", stdout=stream)
            backup_files.append_checksum(partial)
            partial.replace(path)
            return path.stat().st_size
    except OSError as error:
        raise Unavailable(
            f"{path} cannot be written: {error.strerror}.",
            hint="Choose another folder, or free disk space.",
        ) from error


def check(path: Path) -> str:
    """Return a backup's SHA-256, without a database.

    Raises ``InvalidInput`` unless the file is undamaged and this version can restore it.
    """
    sha256 = backup_files.check_checksum(path)
    options = ("--data-only", "--table=django_migrations", "--file=-")
    try:
        text = _run("pg_restore", *options, str(path)).decode(errors="replace")
    except Unavailable as error:
        raise InvalidInput(
            f"{path} cannot be read by pg_restore: {error.hint or error.message}"
        ) from error
    rows = (line.split("\t") for line in text.splitlines())
    migrations = {
        (row[1], row[2]) for row in rows if len(row) == 4 and row[0].isdigit() and row[1] in APPS
    }
    if not migrations:
        raise InvalidInput(f"{path} is a dump of another database, not of Cuebase.")
    if newer := migrations - set(MigrationLoader(None).disk_migrations):
        names = ", ".join(sorted(f"{app}.{name}" for app, name in newer)[:3])
        raise InvalidInput(
            f"{path} was made by a newer Cuebase (it has {names}).",
            hint="Install that version, then restore.",
        )
    return sha256


def restore(path: Path) -> None:
    """Replace the library by a backup, all of it or nothing, and migrate its schema.

    Raises ``Conflict`` while a server or worker runs, ``InvalidInput`` for a damaged file.
    """
    if server := server_lock.find(Path(settings.DATA_DIR)):
        raise Conflict(
            f"Cuebase runs at {server.url}.", hint="Stop it (Ctrl-C in its terminal), then restore."
        )
    if WorkerPulse.is_alive():
        raise Conflict("A worker is running.", hint="Stop it, wait a minute, then restore.")
    connection.close()
    with tempfile.TemporaryDirectory() as folder:
        script = f"--file={Path(folder) / 'restore.sql'}"
        options = ("--no-owner", "--no-privileges", "--no-comments")
        try:
            _run("pg_restore", *options, script, str(path))
        except Unavailable as error:
            raise InvalidInput(
                f"{path} cannot be restored: {error.hint}", hint="Nothing was changed."
            ) from error
        _accept_older_servers(Path(folder) / "restore.sql")
        _run(
            "psql",
            *("--no-psqlrc", "--quiet", "--single-transaction", "--set=ON_ERROR_STOP=1"),
            f"--command=SET lock_timeout = '{LOCK_SECONDS}s'",
            f"--command={_DROP_ALL}",
            script,
        )
    boot.migrate_now()


def _accept_older_servers(script: Path) -> None:
    """Comment out the setting that PostgreSQL 15 and 16 do not know; the line sets its default."""
    line = b"\nSET transaction_timeout = 0;"
    with script.open("r+b") as stream:
        head = stream.read(4096)
        stream.seek(0)
        stream.write(head.replace(line, line.replace(b"SET", b"-- ")))


def _run(program: str, *arguments: str, stdout: Any = subprocess.PIPE) -> bytes:
    done = subprocess.run(
        [str(_find(program)), *arguments],
        env=_environment(),
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=subprocess.PIPE,
        check=False,
    )
    if done.returncode:
        reason = " ".join(done.stderr.decode(errors="replace").split())[:500]
        raise Unavailable(f"{program} failed.", hint=reason)
    return done.stdout or b""


def _find(program: str) -> Path:
    if program == "pg_restore":  # it only reads the file, whichever version wrote it
        return postgres_programs.newest_client(program)
    if boot.is_embedded():
        return postgres_programs.program(program)
    return postgres_programs.client(program, server=connection.get_database_version()[0])


def _environment() -> dict[str, str]:
    """Return the connection as variables, because others can read command lines."""
    values = connection.get_connection_params()
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
    given = {
        option.envvar.decode(): str(value)
        for option in Conninfo.get_defaults()
        if option.envvar and (value := values.get(option.keyword.decode()))
    }
    return {**environment, **given, "PGCONNECT_TIMEOUT": "10", "LC_ALL": "C"}
