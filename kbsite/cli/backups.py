"""Back up and restore the whole library with pg_dump and pg_restore.

The embedded server comes with these programs. For an external one, those on PATH run if they are
new enough for it, else the bundled ones.
"""

import fcntl
import os
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO, cast

from django.db import connection
from django.db.migrations.loader import MigrationLoader
from psycopg.pq import Conninfo

from kbsite import boot
from kbsite.cli import backup_files
from kbsite.library import server_lock
from kbsite.postgres import programs as postgres_programs
from kbsite.settings import django as settings
from transcripts.core import audit
from transcripts.core.audit import Action
from transcripts.core.errors import Conflict, InvalidInput, Unavailable
from transcripts.models import WorkerPulse

PARTIAL = ".backup-"  # prefix of the folder of a backup that is being written
LOCK_SECONDS = 10  # a restore waits this long for users of a table

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


def back_up(path: Path, *, keys: Sequence[Any] = ()) -> int:
    """Write the library to a file, which appears when it is complete; return its size in bytes.

    With public ``keys``, only encrypted bytes are written. Raises ``InvalidInput``; ``Unavailable``
    if a program is missing, too old or fails, or the disk is full.
    """
    if not path.absolute().parent.is_dir():
        raise InvalidInput(f"The folder of {path} does not exist.")
    try:
        _remove_abandoned(path.absolute().parent)
        with tempfile.TemporaryDirectory(dir=path.absolute().parent, prefix=PARTIAL) as folder:
            partial = Path(folder) / "backup"
            partial.touch(mode=0o600)
            with partial.open("wb") as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                _write_dump(file, keys=keys)
            partial.replace(path)
            return path.stat().st_size
    except OSError as error:
        raise Unavailable(
            f"{path} cannot be written: {error.strerror}.",
            hint="Choose another folder, or free disk space.",
        ) from error


def _remove_abandoned(folder: Path) -> None:
    for partial in folder.glob(f"{PARTIAL}*/backup"):
        with partial.open("rb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue  # it is being written
            shutil.rmtree(partial.parent, ignore_errors=True)


def check(
    path: Path, *, keys: Sequence[Any] = (), copy: BinaryIO | None = None
) -> backup_files.CheckedBackup:
    """Return what a backup's manifest says, without a database.

    Raises ``InvalidInput`` unless the file is undamaged and this version can restore it.
    """
    checked = backup_files.check(path, keys=keys, copy=copy)
    names = {f"{app}.{name}" for app, name in MigrationLoader(None).disk_migrations}
    if newer := sorted({*checked.manifest.migrations} - names):
        raise InvalidInput(
            f"{path} was made by a newer Cuebase (it has {', '.join(newer[:3])}).",
            hint="Install that version, then restore.",
        )
    return checked


def restore(path: Path, *, keys: Sequence[Any] = ()) -> None:
    """Replace the library by a backup, all of it or nothing, and migrate its schema.

    Every table is compared with the manifest first. Raises ``Conflict`` while a server or worker
    runs, ``InvalidInput`` for a damaged file.
    """
    if server := server_lock.find(Path(settings.DATA_DIR)):
        raise Conflict(
            f"Cuebase runs at {server.url}.", hint="Stop it (Ctrl-C in its terminal), then restore."
        )
    if WorkerPulse.is_alive():
        raise Conflict("A worker is running.", hint="Stop it, wait a minute, then restore.")
    connection.close()
    with tempfile.TemporaryDirectory() as folder:
        _run(
            "psql",
            *("--no-psqlrc", "--quiet", "--single-transaction", "--set=ON_ERROR_STOP=1"),
            f"--command=SET lock_timeout = '{LOCK_SECONDS}s'; SET client_min_messages = warning",
            f"--command={_DROP_ALL}",
            f"--file={script_of(path, Path(folder), keys=keys)}",
        )
    boot.migrate_now()
    audit.record(Action.RESTORE, "library", path.name)


def _write_dump(file: BinaryIO, *, keys: Sequence[Any]) -> None:
    options = ("--format=custom", "--no-owner", "--no-privileges")
    with (
        backup_files.snapshot() as (name, manifest),
        tempfile.TemporaryFile() as errors,
        subprocess.Popen(
            [_find("pg_dump"), *options, f"--snapshot={name}"],
            env=_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
        ) as process,
    ):
        backup_files.write(cast("BinaryIO", process.stdout), manifest, file, keys=keys)
        process.wait()
        errors.seek(0)
        _raise_failure("pg_dump", process.returncode, errors.read())


def script_of(path: Path, folder: Path, *, keys: Sequence[Any] = ()) -> Path:
    """Write the SQL that restores a backup and compares the result with its manifest.

    Raises ``InvalidInput`` for a damaged file.
    """
    dump, script = folder / "dump", folder / "restore.sql"
    with dump.open("wb") as copy:
        manifest = check(path, keys=keys, copy=copy).manifest
    try:
        options = ("--no-owner", "--no-privileges", "--no-comments")
        _run("pg_restore", *options, f"--file={script}", str(dump))
    except Unavailable as error:
        raise InvalidInput(
            f"{path} cannot be restored: {error.hint}", hint="Nothing was changed."
        ) from error
    # PostgreSQL 15 and 16 do not know this setting, which has its default.
    line = b"\nSET transaction_timeout = 0;"
    with script.open("r+b") as file:
        head = file.read(4096)
        file.seek(0)
        file.write(head.replace(line, line.replace(b"SET", b"-- ")))
        file.seek(0, os.SEEK_END)
        file.write(manifest.check_script().encode())
    return script


def _run(program: str, *arguments: str) -> None:
    run = subprocess.run(
        [_find(program), *arguments],
        env=_environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    _raise_failure(program, run.returncode, run.stderr)


def _raise_failure(program: str, code: int, errors: bytes) -> None:
    if code:
        reason = " ".join(errors.decode(errors="replace").split())[:500]
        raise Unavailable(f"{program} failed.", hint=reason)


def _find(program: str) -> str:
    if program == "pg_restore":  # it only reads the file, whichever version wrote it
        return str(postgres_programs.newest_client(program))
    if boot.is_embedded():
        return str(postgres_programs.program(program))
    return str(postgres_programs.client(program, server=connection.get_database_version()[0]))


def _environment() -> dict[str, str]:
    """Return the connection as variables, because others can read command lines."""
    values = connection.get_connection_params()
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
    credentials = {
        option.envvar.decode(): str(value)
        for option in Conninfo.get_defaults()
        if option.envvar and (value := values.get(option.keyword.decode()))
    }
    return {**environment, **credentials, "PGCONNECT_TIMEOUT": "10", "LC_ALL": "C"}
