"""`kb db backup`, `verify`, `restore` and `create-key`."""

import re
import time
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from django.db import OperationalError, connection

from kbsite.cli import backup_files, backup_keys, backups
from kbsite.cli.options import Json, Many, Yes, argument, option
from kbsite.cli.terminal import confirm, expected_error, print_result, report, say
from kbsite.library.database import open_library
from transcripts.core import audit
from transcripts.core.audit import Action
from transcripts.core.errors import Retry, Unavailable, UnexpectedError
from transcripts.core.work.models import POLICIES
from transcripts.models import Video

UNITS = {"m": 60, "h": 3600, "d": 86_400, "w": 604_800}  # seconds


def _seconds(time_span: str) -> int:
    match = re.fullmatch(r"([1-9]\d{0,3})([mhdw])", time_span)
    if match is None:
        raise typer.BadParameter("give a number and m, h, d or w, such as 1d")
    return int(match[1]) * UNITS[match[2]]


BackupFile = Annotated[
    Path, argument("FILE", "A file written by `kb db backup`.", exists=True, dir_okay=False)
]
Identity = Annotated[
    Path | None,
    option(
        "--identity",
        "-i",
        metavar="KEYFILE",
        help="The file of the secret key, if the backup is encrypted.",
    ),
]


def backup(
    file: Annotated[Path, argument("FILE", "The file to write.", dir_okay=False)],
    keep: Annotated[
        int | None,
        option(
            "--keep",
            metavar="N",
            min=1,
            help="Add the time to the name, and delete all but the newest N such files.",
        ),
    ] = None,
    every: Annotated[
        int | None,
        option(
            "--every",
            metavar="TIME",
            parser=_seconds,
            help="Repeat every 6h, 1d, 1w, … until Ctrl-C; adds the time to the name.",
        ),
    ] = None,
    recipient: Annotated[
        Many,
        option(
            *("--recipient", "-r"),
            metavar="KEY",
            help="Encrypt for this public key (age or SSH), or for those in this file; repeatable.",
        ),
    ] = None,
    yes: Yes = False,
    as_json: Json = False,
) -> None:
    """Back up the whole library, including users and tokens, to one file. Store it safely."""
    keys = backup_keys.recipients(recipient or ())
    if every:
        _repeat_backup(file, every=every, keep=keep, keys=keys, as_json=as_json)
    path = backup_files.dated(file) if keep else file
    if path.exists():
        confirm(f"{path} exists. Replace it?", yes=yes)
    open_library()
    _write_backup(file, path, keep=keep, keys=keys, as_json=as_json)


def verify(file: BackupFile, identity: Identity = None, as_json: Json = False) -> None:
    """Check, without a database, that a backup is intact and can be restored."""
    checked = backups.check(file, keys=backup_keys.identities(identity))
    size, manifest = file.stat().st_size, checked.manifest
    text = (
        f"{file} is undamaged: {size / 2**20:,.1f} MB, {manifest.rows:,} rows of"
        f" {len(manifest.tables)} tables, made {manifest.made} by Cuebase {manifest.version}."
    )
    print_result(text, {"file": str(file), "bytes": size, **asdict(checked)}, as_json=as_json)


def restore(file: BackupFile, identity: Identity = None, yes: Yes = False) -> None:
    """Verify a backup and replace the library with it, completely or not at all."""
    keys = backup_keys.identities(identity)
    backups.check(file, keys=keys)
    open_library()
    if videos := Video.objects.count():
        confirm(f"Replace this library of {videos:,} recordings with {file}?", yes=yes)
    backups.restore(file, keys=keys)
    say(f"Restored: {Video.objects.count():,} recordings.")


def create_key(
    file: Annotated[Path, argument("FILE", "The file to write, outside the data directory.")],
    as_json: Json = False,
) -> None:
    """Create a secret key for encrypted backups in a file, and print its public key."""
    public = backup_keys.create(file)
    print_result(public, {"file": str(file), "public_key": public}, as_json=as_json)


def _write_backup(
    file: Path, path: Path, *, keep: int | None, keys: list[Any], as_json: bool
) -> None:
    size = backups.back_up(path, keys=keys)
    audit.record(Action.EXPORT, "library", path.name)
    deleted = backup_files.rotate(file, path, keep=keep) if keep else []
    lines = [f"{path}: {size / 2**20:,.1f} MB. `kb db restore` restores it."]
    lines += [f"Deleted {old}." for old in deleted]
    value = {"file": str(path), "bytes": size, "deleted": [str(old) for old in deleted]}
    print_result("\n".join(lines), value, as_json=as_json)


def _repeat_backup(
    file: Path, *, every: int, keep: int | None, keys: list[Any], as_json: bool
) -> NoReturn:
    """Write a backup whenever the newest one is old enough; after a failure, try again later."""
    while True:
        while wait := backup_files.seconds_until_due(file, every=every):
            time.sleep(min(wait, 60))  # the clock may be set meanwhile
        try:
            open_library()
            path = backup_files.dated(file)
            _write_backup(file, path, keep=keep, keys=keys, as_json=as_json)
        except (Unavailable, OperationalError) as error:
            report(expected_error(error) or UnexpectedError(), as_json=as_json)
            time.sleep(POLICIES[Retry.SETTINGS].pause.total_seconds())
        finally:
            connection.close()
