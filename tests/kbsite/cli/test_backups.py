"""db backup, verify and restore, mostly between real processes."""

import fcntl
import os
import random
import re
import subprocess
import time
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from kbsite.cli import backup_files, backups, db_backups
from kbsite.postgres import programs
from kbsite.postgres.errors import ProgramsTooOld
from tests.instance import Instance
from tests.kbsite.cli.conftest import Kb, kb_in
from transcripts.core.errors import InvalidInput, Unavailable


def test_a_backup_is_restored_into_an_empty_library(
    backed_up: tuple[Instance, Path], tmp_path: Path
) -> None:
    _, file = backed_up
    assert file.stat().st_mode & 0o077 == 0
    with Instance(tmp_path / "home") as fresh:
        assert "2 recordings" in kb_in(fresh, "db", "restore", str(file))
        assert fresh.rows("SELECT state FROM citations_source") == [("ready",), ("ready",)]
        assert fresh.rows("SELECT count(*) FROM citations_embedding") == fresh.rows(
            "SELECT count(*) FROM citations_chunk"
        )
        assert "Backpropagation" in kb_in(fresh, "search", "backpropagation")


def test_a_library_is_replaced_only_when_that_is_said(backed_up: tuple[Instance, Path]) -> None:
    instance, file = backed_up
    instance.rows("DELETE FROM citations_source RETURNING id")
    question = kb_in(instance, "db", "restore", str(file), code=1)
    assert "Replace this library of 2 recordings" in question
    kb_in(instance, "db", "restore", str(file), "--yes")
    assert instance.rows("SELECT state FROM citations_source") == [("ready",), ("ready",)]
    restored = "SELECT door, kind, thing FROM transcripts_auditentry WHERE action = 'restore'"
    assert instance.rows(restored) == [("kb", "library", file.name)]


def test_an_older_schema_is_brought_up_to_date_and_a_newer_one_refused(
    backed_up: tuple[Instance, Path], tmp_path: Path
) -> None:
    instance, file = backed_up
    instance.rows(
        "INSERT INTO django_migrations (app, name, applied)"
        " VALUES ('citations', '9999_future', now()) RETURNING id"
    )
    kb_in(instance, "db", "backup", str(tmp_path / "newer"))
    assert "newer Cuebase" in kb_in(
        instance, "db", "restore", str(tmp_path / "newer"), "--yes", code=2
    )
    kb_in(instance, "db", "restore", str(file), "--yes")
    assert instance.rows("SELECT FROM django_migrations WHERE name = '9999_future'") == []


def test_what_is_no_backup_is_refused_and_the_library_stays(
    backed_up: tuple[Instance, Path], tmp_path: Path
) -> None:
    instance, file = backed_up
    (tmp_path / "noise").write_bytes(b"\0nonsense" * 1000)
    (tmp_path / "torn").write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    assert "is not a backup of Cuebase" in kb_in(
        instance, "db", "restore", str(tmp_path / "noise"), "--yes", code=2
    )
    kb_in(instance, "db", "restore", str(tmp_path / "torn"), "--yes", code=2)
    assert instance.rows("SELECT count(*) FROM transcripts_video") == [(2,)]


def test_nothing_is_restored_under_a_running_worker(backed_up: tuple[Instance, Path]) -> None:
    instance, file = backed_up
    instance.rows(
        "INSERT INTO transcripts_workerpulse (id, seen_at) VALUES (1, now())"
        " ON CONFLICT (id) DO UPDATE SET seen_at = now() RETURNING id"
    )
    assert "A worker is running" in kb_in(instance, "db", "restore", str(file), "--yes", code=5)
    instance.rows("DELETE FROM transcripts_workerpulse RETURNING id")


def test_a_file_that_exists_is_replaced_only_when_that_is_said(
    backed_up: tuple[Instance, Path], tmp_path: Path
) -> None:
    instance, _ = backed_up
    (tmp_path / "mine").write_text("precious")
    kb_in(instance, "db", "backup", str(tmp_path / "mine"), code=1)
    assert (tmp_path / "mine").read_text() == "precious"
    kb_in(instance, "db", "backup", str(tmp_path / "no" / "folder"), code=2)


def test_what_a_killed_backup_has_left_goes_with_the_next(
    backed_up: tuple[Instance, Path], tmp_path: Path
) -> None:
    instance, _ = backed_up
    for name in ("killed", "running"):
        (tmp_path / f".backup-{name}").mkdir()
        (tmp_path / f".backup-{name}" / "backup").write_text("half")
    with (tmp_path / ".backup-running" / "backup").open() as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        kb_in(instance, "db", "backup", str(tmp_path / "whole"))
    assert {path.name for path in tmp_path.iterdir()} == {".backup-running", "whole"}


# Damage


def test_each_of_200_flipped_bits_is_detected(
    backed_up: tuple[Instance, Path], tmp_path: Path
) -> None:
    _, file = backed_up
    intact = file.read_bytes()
    damaged = tmp_path / "damaged"
    chance = random.Random(12)
    # The last bytes are the checksum itself.
    bits = [
        *range(len(intact) * 8 - 20, len(intact) * 8),
        *chance.sample(range(len(intact) * 8), 180),
    ]
    for bit in bits:
        content = bytearray(intact)
        content[bit // 8] ^= 1 << bit % 8
        damaged.write_bytes(content)
        with pytest.raises(InvalidInput, match="damaged"):
            backups.check(damaged)


@pytest.mark.parametrize("change", ["cut", "lengthened", "emptied", "zeroed"])
def test_a_backup_that_lost_or_got_bytes_is_refused(
    backed_up: tuple[Instance, Path], tmp_path: Path, change: str
) -> None:
    content = backed_up[1].read_bytes()
    changed = {
        "cut": content[:-1],
        "lengthened": content + b"\n",
        "emptied": b"",
        "zeroed": bytes(len(content)),
    }
    (tmp_path / "changed").write_bytes(changed[change])
    with pytest.raises(InvalidInput, match="not a backup of Cuebase, or damaged"):
        backups.check(tmp_path / "changed")


def test_a_backup_is_verified_without_a_database(
    kb: Kb, backed_up: tuple[Instance, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, file = backed_up

    def open_library() -> None:
        raise AssertionError("verifying opened the database")

    monkeypatch.setattr(db_backups, "open_library", open_library)
    answer = kb("db", "verify", file, "--json").json
    assert (answer["bytes"], len(answer["sha256"])) == (file.stat().st_size, 64)
    assert answer["manifest"]["tables"]["transcripts_video"][0] == 2
    assert "is undamaged" in kb("db", "verify", file).out
    content = bytearray(file.read_bytes())
    content[100] ^= 1  # in the table of contents
    (tmp_path / "damaged").write_bytes(content)
    for command in ("verify", "restore"):
        error = kb("db", command, tmp_path / "damaged", code=2).err
        assert "is damaged: its checksum does not match" in error


def test_a_restore_that_differs_from_the_manifest_is_undone(
    backed_up: tuple[Instance, Path], tmp_path: Path
) -> None:
    instance, file = backed_up
    manifest = backup_files.check(file).manifest
    videos = manifest.tables["transcripts_video"]
    for wrong in (videos._replace(rows=3), videos._replace(checksum="1")):
        manifest.tables["transcripts_video"] = wrong
        with (tmp_path / "wrong").open("wb") as stream:
            backup_files.write(BytesIO(file.read_bytes()), manifest, stream, keys=())
        instance.rows("UPDATE transcripts_video SET title = 'kept' RETURNING id")
        output = kb_in(instance, "db", "restore", str(tmp_path / "wrong"), "--yes", code=8)
        assert "table transcripts_video differs from the manifest" in output
        assert instance.rows("SELECT title FROM transcripts_video") == [("kept",), ("kept",)]
    kb_in(instance, "db", "restore", str(file), "--yes")


# Which programs


def make_program(folder: Path, name: str, version: str) -> Path:
    """Make a program that tells a version and can do nothing else."""
    folder.mkdir(exist_ok=True)
    program = folder / name
    program.write_text(
        f"#!/bin/sh\n[ \"$1\" = --version ] && echo '{name} (PostgreSQL) {version}'\n"
    )
    program.chmod(0o755)
    return program


def test_an_older_pg_dump_on_path_gives_way_to_the_bundled_one(
    backed_up: tuple[Instance, Path], tmp_path: Path
) -> None:
    instance, _ = backed_up
    for name in ("pg_dump", "pg_restore", "psql"):
        make_program(tmp_path / "old", name, "15.3")
    here = dict(instance.environment)
    instance.environment |= {
        "DATABASE_URL": instance.dsn,
        "PATH": f"{tmp_path / 'old'}{os.pathsep}{here['PATH']}",
    }
    try:
        kb_in(instance, "db", "backup", str(tmp_path / "external"))
        kb_in(instance, "db", "restore", str(tmp_path / "external"), "--yes")
    finally:
        instance.environment = here
    assert instance.rows("SELECT count(*) FROM transcripts_video") == [(2,)]


def test_a_program_on_path_that_fits_the_server_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fitting = make_program(tmp_path, "pg_dump", "16.9")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    assert programs.client("pg_dump", server=16) == fitting
    assert programs.client("pg_dump", server=17) == programs.program("pg_dump")
    assert programs.newest_client("pg_dump") == programs.program("pg_dump")


def test_programs_older_than_the_server_are_told_with_both_versions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_program(tmp_path, "pg_dump", "15.3 (Debian 15.3-1)")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    with pytest.raises(ProgramsTooOld, match="server is PostgreSQL 99.* of PostgreSQL 15 and"):
        programs.client("pg_dump", server=99)


def test_a_dump_of_postgresql_18_sets_nothing_that_15_does_not_know(
    backed_up: tuple[Instance, Path], tmp_path: Path
) -> None:
    raw = tmp_path / "raw.sql"
    restore = [programs.newest_client("pg_restore"), f"--file={raw}", backed_up[1]]
    subprocess.run(restore, check=True, env={**os.environ, "LC_ALL": "C"})
    assert b"\nSET transaction_timeout" in raw.read_bytes()
    script = backups.script_of(backed_up[1], tmp_path)
    assert b"\nSET transaction_timeout" not in script.read_bytes()
    assert b"\n--  transaction_timeout" in script.read_bytes()


# Rotation and schedule


def test_rotation_keeps_the_newest_of_the_name_and_every_other_file(kb: Kb, tmp_path: Path) -> None:
    old = [tmp_path / f"library-2026010{day}-030000.backup" for day in range(1, 6)]
    others = [
        tmp_path / name
        for name in ("library.backup", "library-old.backup", "other-20260101-030000.backup")
    ]
    for file in (*old, *others):
        file.touch()
    answer = kb("db", "backup", tmp_path / "library.backup", "--keep", "3", "--json").json
    written = Path(answer["file"])
    assert re.fullmatch(r"library-\d{8}-\d{6}\.backup", written.name)
    assert answer["deleted"] == [str(file) for file in old[:3]]
    assert set(tmp_path.iterdir()) == {*old[3:], *others, written}


def test_rotation_never_deletes_what_was_just_written(tmp_path: Path) -> None:
    future = tmp_path / "library-29991231-235959.backup"  # before the clock was set back
    written = tmp_path / "library-20260101-030000.backup"
    for file in (future, written):
        file.touch()
    assert backup_files.rotate(tmp_path / "library.backup", written, keep=1) == [future]
    assert written.exists()


def test_nothing_is_deleted_when_the_backup_fails(
    kb: Kb, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = tmp_path / "library-20260101-030000.backup"
    old.touch()

    def fail(*_: Any, **__: Any) -> None:
        raise Unavailable("pg_dump failed.")

    monkeypatch.setattr(backups, "_raise_failure", fail)
    kb("db", "backup", tmp_path / "library.backup", "--keep", "1", code=8)
    assert list(tmp_path.iterdir()) == [old]


@pytest.mark.parametrize(("age", "wait"), [(0, 3600), (1800, 1800), (7200, 0), (-7200, 0)])
def test_a_backup_is_due_when_the_newest_one_is_old_enough(
    tmp_path: Path, age: int, wait: int
) -> None:
    newest = tmp_path / "library-20260101-030000.backup"
    newest.touch()
    os.utime(newest, (time.time() - age,) * 2)
    due = backup_files.seconds_until_due(tmp_path / "library.backup", every=3600)
    assert due == pytest.approx(wait, abs=5)


def test_the_first_backup_is_due_at_once(tmp_path: Path) -> None:
    assert backup_files.seconds_until_due(tmp_path / "library.backup", every=3600) == 0


def test_the_schedule_goes_on_after_a_failure(
    kb: Kb, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses: list[float] = []
    tried: list[Path] = []

    def sleep(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == 2:
            raise KeyboardInterrupt

    def back_up(path: Path, **_: Any) -> int:
        tried.append(path)
        if len(tried) == 1:
            raise Unavailable("The database does not answer.")
        return path.write_bytes(b"a dump")

    monkeypatch.setattr(
        db_backups.connection, "close", lambda: None
    )  # the test's transaction is open
    monkeypatch.setattr(db_backups.time, "sleep", sleep)
    monkeypatch.setattr(backups, "back_up", back_up)
    ran = kb("db", "backup", tmp_path / "b", "--every", "1d", "--keep", "2", code=130)
    assert "does not answer" in ran.err
    assert (len(tried), pauses) == (2, [600, 60])
    assert list(tmp_path.iterdir()) == [tried[1]]


@pytest.mark.parametrize("time_span", ["1", "0d", "-1d", "1.5h", "1y", "day"])
def test_an_unknown_interval_is_refused(kb: Kb, tmp_path: Path, time_span: str) -> None:
    assert "such as 1d" in kb("db", "backup", tmp_path / "b", "--every", time_span, code=2).err
