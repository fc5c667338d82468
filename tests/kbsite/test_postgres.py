import contextlib
import fcntl
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from kbsite import postgres
from kbsite.postgres import errors as postgres_errors
from kbsite.postgres import home as postgres_home
from kbsite.postgres import process as postgres_process
from kbsite.postgres import programs as postgres_programs
from kbsite.postgres.account import account_for
from tests.instance import wait_until

ROOT = Path(__file__).parents[2]
AS_ROOT = os.geteuid() == 0
USER = """
import sys
from pathlib import Path
from kbsite import postgres
server = postgres.start(Path(sys.argv[1]), fast=True)
print(server.dsn, flush=True)
sys.stdin.read()
"""

FORKING_USER = """
import os, sys
from pathlib import Path
from kbsite import postgres
server = postgres.start(Path(sys.argv[1]), fast=True)
parent_reads, child_writes = os.pipe()
child = os.fork()
if child == 0:
    server = postgres.start(Path(sys.argv[1]), fast=True)
    os.write(child_writes, b".")
    sys.stdin.read()
    sys.exit(0)
os.read(parent_reads, 1)
server.release()
print(server.dsn, flush=True)
os.waitpid(child, 0)
"""


@pytest.fixture
def quick_path() -> Iterator[Path]:
    """A folder in memory where there is enough of it: each new database is 40 MB in a thousand
    files.
    """
    memory = Path("/dev/shm")
    roomy = (
        memory.is_dir() and os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > 2**30
    )
    with tempfile.TemporaryDirectory(dir=memory if roomy else None) as folder:
        yield Path(folder)


@pytest.fixture
def data_dir(quick_path: Path) -> Iterator[Path]:
    """A directory that is not there yet."""
    directory = quick_path / "kb"
    yield directory
    clean_up(directory)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    directory = tmp_path_factory.mktemp("template") / "kb"
    postgres.start(directory, fast=True).release()
    yield directory
    clean_up(directory)


@pytest.fixture
def made_dir(data_dir: Path, template: Path) -> Path:
    """A directory whose server was started and stopped before."""
    subprocess.run(["cp", "-a", str(template), str(data_dir)], check=True)
    return data_dir


def clean_up(directory: Path) -> None:
    """Remove a directory; end a server that a failed test left behind, and say so."""
    left = answers(directory) and postmaster_pid(directory)
    if left:
        os.kill(left, signal.SIGQUIT)
    shutil.rmtree(directory, ignore_errors=True)
    assert not left, f"PostgreSQL was left running in {directory}"


def postmaster_pid(directory: Path) -> int | None:
    with contextlib.suppress(FileNotFoundError):
        return int((directory / "postgres/data/postmaster.pid").read_text().partition("\n")[0])
    return None


def answers(directory: Path) -> bool:
    path = Path(postgres.database_settings(directory)["HOST"]) / ".s.PGSQL.5432"
    with socket.socket(socket.AF_UNIX) as client:
        try:
            client.connect(str(path))
        except OSError:
            return False
    return True


def ask(dsn: str, question: str) -> object:
    with psycopg.connect(dsn, autocommit=True) as connection:
        cursor = connection.execute(question)
        row = cursor.fetchone() if cursor.description else None
    return row[0] if row else None


@contextlib.contextmanager
def process(directory: Path, script: str = USER) -> "Iterator[subprocess.Popen[str]]":
    """Run another user of the server; it ends when its standard input does."""
    command = [sys.executable, "-W", "error", "-c", script, str(directory)]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as running:
        try:
            yield running
        finally:
            running.kill()


def address(running: "subprocess.Popen[str]") -> str:
    assert running.stdout is not None
    line: str = running.stdout.readline()
    return line.strip()


def leave(running: "subprocess.Popen[str]") -> None:
    assert running.stdin is not None
    running.stdin.close()
    assert running.wait(30) == 0


@contextlib.contextmanager
def mounted(directory: Path, options: str) -> Iterator[None]:
    if not AS_ROOT:
        pytest.skip("only root can mount a small disk")
    directory.mkdir()
    process = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(directory)],
        check=False,
        capture_output=True,
        text=True,
    )
    if process.returncode != 0:
        pytest.skip(f"no disk can be mounted here: {process.stderr.strip()}")
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", str(directory)], check=True)


def test_settings_are_derived_without_touching_the_disk(data_dir: Path) -> None:
    settings = postgres.database_settings(data_dir)

    assert settings == {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": "cuebase",
        "USER": "cuebase",
        "HOST": str(data_dir / "postgres"),
        "PORT": "5432",
    }
    assert not data_dir.exists()


@pytest.mark.parametrize("name", ["x" * 110, "ü" * 60, "a,b"])
def test_a_path_that_no_socket_can_have_gets_a_short_directory_of_its_own(
    tmp_path: Path, name: str
) -> None:
    host = postgres.database_settings(tmp_path / name)["HOST"]

    assert host == postgres.database_settings(tmp_path / name)["HOST"]
    assert host != postgres.database_settings(tmp_path / f"{name}2")["HOST"]
    assert len(os.fsencode(host)) < 60
    assert "," not in host


def test_the_first_start_makes_a_database_that_is_safe_and_local(data_dir: Path) -> None:
    with postgres.start(data_dir) as server:
        shown = {
            name: ask(server.dsn, f"SHOW {name}")
            for name in (
                "listen_addresses",
                "fsync",
                "max_connections",
                "maintenance_work_mem",
                "server_encoding",
            )
        }
        ask(server.dsn, "CREATE EXTENSION vector")

        assert shown == {
            "listen_addresses": "",
            "fsync": "on",
            "max_connections": "200",
            "maintenance_work_mem": "256MB",
            "server_encoding": "UTF8",
        }
        assert ask(server.dsn, "SELECT '[1,2]'::vector <-> '[4,6]'::vector") == 5
        assert ask(server.dsn, "SELECT upper('äж')") == "ÄЖ"
        assert not (data_dir / "postgres/.s.PGSQL.5432").stat().st_mode & 0o077
        assert not (data_dir / "postgres").stat().st_mode & 0o077
    assert not answers(data_dir)


def test_the_servers_log_has_no_statement_that_failed(made_dir: Path) -> None:
    with postgres.start(made_dir) as server, pytest.raises(psycopg.errors.DivisionByZero):
        ask(server.dsn, "SELECT 1 / 0 WHERE '5ecret' <> ''")
    written = "".join(file.read_text() for file in (made_dir / "postgres/log").iterdir())
    assert "division by zero" in written
    assert "5ecret" not in written


def test_a_start_within_a_start_ends_nothing(made_dir: Path) -> None:
    with postgres.start(made_dir, fast=True) as outer:
        with postgres.start(made_dir, fast=True) as inner:
            assert inner is outer
        assert ask(outer.dsn, "SELECT 1") == 1
    assert not answers(made_dir)


def test_releasing_more_often_than_starting_does_nothing(made_dir: Path) -> None:
    server = postgres.start(made_dir, fast=True)
    server.release()
    server.release()

    with postgres.start(made_dir, fast=True) as again:
        assert ask(again.dsn, "SELECT 1") == 1


def test_the_server_stops_with_the_last_process_that_uses_it(made_dir: Path) -> None:
    with process(made_dir) as first, process(made_dir) as second:
        dsn = address(first)
        assert address(second) == dsn
        leave(first)
        assert ask(dsn, "SELECT 1") == 1
        leave(second)

        assert not answers(made_dir)
        assert postmaster_pid(made_dir) is None


def test_the_server_stops_with_the_last_process_when_others_were_killed(made_dir: Path) -> None:
    with process(made_dir) as first, process(made_dir) as second:
        dsn = address(first)
        address(second)
        first.kill()
        first.wait(10)
        assert ask(dsn, "SELECT 1") == 1
        leave(second)

        assert not answers(made_dir)


def test_a_server_whose_last_user_was_killed_is_stopped_by_the_next(made_dir: Path) -> None:
    with process(made_dir) as only:
        dsn = address(only)
        only.kill()
        only.wait(10)
        assert ask(dsn, "SELECT 1") == 1
        pid = postmaster_pid(made_dir)

    with postgres.start(made_dir, fast=True):
        assert postmaster_pid(made_dir) == pid
    assert not answers(made_dir)


def test_a_forked_child_does_not_end_its_parents_server(made_dir: Path) -> None:
    script = USER.replace(
        "print(",
        "import os\nif (child := os.fork()) == 0:\n    server.release()\n   "
        " sys.exit(0)\nos.waitpid(child, 0)\nprint(",
    )
    with process(made_dir, script) as parent:
        assert ask(address(parent), "SELECT 1") == 1
        leave(parent)

    assert not answers(made_dir)


def test_a_forked_child_that_starts_the_server_keeps_it_until_it_ends(made_dir: Path) -> None:
    with process(made_dir, FORKING_USER) as both:
        assert ask(address(both), "SELECT 1") == 1
        leave(both)

    assert not answers(made_dir)


def test_four_processes_that_start_at_once_share_one_new_database(data_dir: Path) -> None:
    with contextlib.ExitStack() as stack:
        users = [stack.enter_context(process(data_dir)) for _ in range(4)]
        identities = {
            (
                ask(address(user), "SELECT system_identifier FROM pg_control_system()"),
                postmaster_pid(data_dir),
            )
            for user in users
        }
        assert len(identities) == 1
        for user in users:
            leave(user)

    assert not answers(data_dir)
    assert not list((data_dir / "postgres").glob("new-*"))


def test_a_killed_server_is_started_anew_with_what_was_committed(made_dir: Path) -> None:
    with postgres.start(made_dir) as server:
        ask(server.dsn, "CREATE TABLE kept AS SELECT 7 AS n")
        with psycopg.connect(server.dsn) as connected:
            kill_postmaster(made_dir)
            with postgres.start(made_dir) as again:
                assert ask(again.dsn, "SELECT n FROM kept") == 7
            with pytest.raises(psycopg.OperationalError):
                connected.execute("SELECT 1")


def kill_postmaster(directory: Path) -> int:
    pid = postmaster_pid(directory)
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    return pid


def test_a_watched_server_that_is_killed_runs_again_within_seconds(made_dir: Path) -> None:
    with postgres.watched(made_dir):
        kill_postmaster(made_dir)
        wait_until(lambda: not answers(made_dir), what="its end")
        wait_until(lambda: answers(made_dir), what="a new server", patience=10)
    assert not answers(made_dir), "it stops with its last user"


def test_a_watched_server_that_cannot_start_is_tried_again(
    made_dir: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(postgres, "CHECK_SECONDS", 0.1)
    settings = made_dir / "postgres/data/postgresql.auto.conf"
    with postgres.watched(made_dir):
        settings.write_text("nonsense = on\n")
        kill_postmaster(made_dir)
        wait_until(lambda: "Trying again" in caplog.text, what="a failed start")
        settings.write_text("")
        wait_until(lambda: "runs again" in caplog.text, what="a new server")
        assert answers(made_dir)


def test_a_stale_pid_file_that_names_another_living_process_is_overcome(made_dir: Path) -> None:
    with postgres.start(made_dir, fast=True):
        killed = kill_postmaster(made_dir)
        account = account_for(made_dir / "postgres")
        with subprocess.Popen(["sleep", "60"], **account.options) as unrelated:
            for name in ("data/postmaster.pid", ".s.PGSQL.5432.lock"):
                file = made_dir / "postgres" / name
                file.write_text(file.read_text().replace(str(killed), str(unrelated.pid), 1))
            with postgres.start(made_dir, fast=True) as again:
                assert ask(again.dsn, "SELECT 1") == 1
            assert unrelated.poll() is None
            unrelated.kill()


@pytest.mark.parametrize("content", ["", "nonsense\n", "-1\n"])
def test_a_broken_pid_file_is_overcome(made_dir: Path, content: str) -> None:
    (made_dir / "postgres/data/postmaster.pid").write_text(content)

    with postgres.start(made_dir, fast=True) as server:
        assert ask(server.dsn, "SELECT 1") == 1


def test_a_database_that_was_cut_off_while_it_was_made_is_made_again(data_dir: Path) -> None:
    unfinished = data_dir / "postgres/new-0123"
    unfinished.mkdir(parents=True)
    (data_dir / "postgres").chmod(0o700)
    (unfinished / "PG_VERSION").write_text("18\n")
    if AS_ROOT:
        account = account_for()
        os.chown(data_dir / "postgres", account.uid, account.gid)

    with postgres.start(data_dir, fast=True) as server:
        assert ask(server.dsn, "SELECT 1") == 1


@pytest.mark.parametrize(
    ("seconds", "number"), [(0.1, signal.SIGINT), (0.3, signal.SIGKILL), (0.6, signal.SIGINT)]
)
def test_a_first_start_that_is_interrupted_leaves_nothing_that_harms_the_next(
    data_dir: Path, seconds: float, number: signal.Signals
) -> None:
    with process(
        data_dir,
        USER.replace("server =", "print('here', flush=True)\nserver =").replace(
            "sys.stdin.read()", ""
        ),
    ) as starting:
        assert address(starting) == "here"
        time.sleep(seconds)
        starting.send_signal(number)
        starting.wait(10)

        with postgres.start(data_dir, fast=True) as server:
            assert ask(server.dsn, "SELECT 1") == 1
        assert not answers(data_dir)


def test_a_directory_of_another_major_version_is_told_with_both_versions(made_dir: Path) -> None:
    (made_dir / "postgres/data/PG_VERSION").write_text("16\n")

    with pytest.raises(
        postgres_errors.OtherVersion, match=r"PostgreSQL 16; PostgreSQL 18"
    ) as caught:
        postgres.start(made_dir)
    assert "pg_dump" in caught.value.hint


def test_a_directory_of_other_files_is_left_alone(made_dir: Path) -> None:
    (made_dir / "postgres/data/PG_VERSION").unlink()

    with pytest.raises(postgres_errors.PathUnusable, match="no PostgreSQL database"):
        postgres.start(made_dir)


@pytest.mark.skipif(not AS_ROOT, reason="only root can give a directory to another user")
def test_a_directory_of_another_user_is_told(made_dir: Path) -> None:
    os.chown(made_dir / "postgres/data", 1, 1)

    with pytest.raises(postgres_errors.OwnedByAnother, match="belongs to the user"):
        postgres.start(made_dir)


def test_a_read_only_directory_is_told(tmp_path: Path) -> None:
    directory = tmp_path / "closed"
    with mounted(directory, "ro,size=1m") if AS_ROOT else contextlib.nullcontext():
        if not AS_ROOT:
            directory.mkdir(mode=0o500)
        with pytest.raises(postgres_errors.NotWritable):
            postgres.start(directory)


def test_a_file_in_the_directorys_place_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(postgres_errors.PathUnusable):
        postgres.start(tmp_path / "file")


def test_a_path_with_a_line_break_is_refused(tmp_path: Path) -> None:
    with pytest.raises(postgres_errors.PathUnusable, match="control characters"):
        postgres.start(tmp_path / "a\nb")


def test_a_disk_too_small_for_a_new_database_is_told(tmp_path: Path) -> None:
    with mounted(tmp_path / "small", "size=20m,mode=755"):
        with pytest.raises(postgres_errors.DiskFull):
            postgres.start(tmp_path / "small/kb")
        assert not (tmp_path / "small/kb/postgres/data").exists()


def test_a_disk_that_is_full_at_the_next_start_is_told_and_can_be_mended(tmp_path: Path) -> None:
    with mounted(tmp_path / "small", "size=100m,mode=755"):
        directory = tmp_path / "small/kb"
        postgres.start(directory, fast=True).release()
        ballast = tmp_path / "small/ballast"
        with contextlib.suppress(OSError), ballast.open("wb") as stream:
            while True:
                stream.write(bytes(65536))
        with pytest.raises(postgres_errors.DiskFull):
            postgres.start(directory, fast=True)
        ballast.unlink()
        with postgres.start(directory, fast=True) as server:
            assert ask(server.dsn, "SELECT 1") == 1


@pytest.mark.parametrize(
    "name", ["with a space and ünïcödé", "$(touch oops) \"'`,", "deep/" + "x" * 200]
)
def test_any_path_can_hold_the_database(quick_path: Path, name: str) -> None:
    with postgres.start(quick_path / name, fast=True) as server:
        assert ask(server.dsn, "SELECT 1") == 1
        host = Path(server.settings["HOST"])
        with psycopg.connect(
            host=str(host), port=5432, user="cuebase", dbname="cuebase"
        ) as connection:
            assert connection.execute("SELECT 2").fetchone() == (2,)
        assert not host.stat().st_mode & 0o077
    clean_up(quick_path / name)
    if not host.is_relative_to(quick_path):
        host.rmdir()


def test_a_socket_directory_that_others_can_enter_is_refused(tmp_path: Path) -> None:
    directory = tmp_path / ("x" * 150)
    host = Path(postgres.database_settings(directory)["HOST"])
    host.mkdir()
    host.chmod(0o777)
    try:
        with pytest.raises(postgres_errors.PathUnusable, match="closed to other users"):
            postgres.start(directory)
    finally:
        host.rmdir()


def test_a_server_whose_program_is_still_read_from_the_disk_is_not_dead(
    data_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = postgres_home.home_of(data_dir)
    (tmp_path / "self").mkdir()
    (tmp_path / "self/cmdline").write_bytes(b"python\0")
    process = tmp_path / "4711"
    process.mkdir()
    (process / "stat").write_text("4711 (post) gres) D 1 4709 4709 0 -1 4194304 24")
    (process / "cmdline").write_bytes(b"")
    monkeypatch.setattr(postgres_process, "_PROC", tmp_path)
    read = threading.Timer(
        0.2, (process / "cmdline").write_bytes, [b"postgres\0-D\0%s\0" % os.fsencode(home.data)]
    )
    read.start()
    assert postgres_process._is_postmaster(4711, home)
    read.join()


@pytest.mark.parametrize(
    "state",
    ["Z 1 4709 4709 0 -1 4227084", "S 2 0 0 0 -1 2129984"],
    ids=["a dead one", "a thread of the kernel"],
)
def test_what_never_has_a_command_line_is_not_waited_for(
    state: str, data_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, content in (
        ("self/cmdline", "python"),
        ("4711/cmdline", ""),
        ("4711/stat", f"4711 (postgres) {state} 24"),
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(content)
    monkeypatch.setattr(postgres_process, "_PROC", tmp_path)
    monkeypatch.setattr(time, "sleep", lambda seconds: pytest.fail("it is waited for"))
    assert not postgres_process._is_postmaster(4711, postgres_home.home_of(data_dir))


def test_a_server_that_cannot_start_is_told_with_its_log(made_dir: Path) -> None:
    with (made_dir / "postgres/data/postgresql.conf").open("a") as stream:
        stream.write("no_such_setting = on\n")

    with pytest.raises(postgres_errors.StartFailed, match="no_such_setting"):
        postgres.start(made_dir)


def test_waiting_for_another_start_has_an_end(
    made_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres, "START_SECONDS", 0.1)
    with (made_dir / "postgres/start.lock").open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(postgres_errors.StartTimeout, match="Another process"):
            postgres.start(made_dir)


def test_a_dropped_database_is_made_again(made_dir: Path) -> None:
    with postgres.start(made_dir, fast=True) as server:
        ask(server.dsn.replace("@/cuebase", "@/postgres"), "DROP DATABASE cuebase")
        with postgres.start(made_dir, fast=True):
            assert ask(server.dsn, "SELECT 1") == 1


def test_a_persons_postgres_variables_do_not_lead_astray(
    made_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {
        "PGHOST": "nowhere.invalid",
        "PGPORT": "1",
        "PGDATA": "/nowhere",
        "PGOPTIONS": "-c nonsense=1",
        "LC_ALL": "xx_YY",
    }.items():
        monkeypatch.setenv(name, value)
    server = postgres.start(made_dir, fast=True)
    monkeypatch.undo()

    with server:
        assert ask(server.dsn, "SELECT 1") == 1


def test_missing_programs_are_told(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres_programs, "MAJOR_VERSION", 99)

    with pytest.raises(postgres_errors.ProgramsMissing, match="PostgreSQL 99") as caught:
        postgres.start(data_dir)
    assert "DATABASE_URL" in caught.value.hint


@pytest.mark.skipif(not AS_ROOT, reason="only root runs the server under another account")
def test_roots_closed_directories_stay_closed_to_others(quick_path: Path) -> None:
    closed = quick_path / "closed"
    for mode in (0o700, 0o700):  # chmod takes away what the first start gave
        closed.mkdir(exist_ok=True)
        closed.chmod(mode)
        with postgres.start(closed / "kb", fast=True) as server:
            assert ask(server.dsn, "SELECT 1") == 1

    assert not closed.stat().st_mode & 0o007
    stranger = subprocess.run(
        ["ls", str(closed / "kb")],
        check=False,
        capture_output=True,
        user=65534,
        group=65534,
        extra_groups=[],
    )
    assert stranger.returncode != 0
    clean_up(closed / "kb")


def test_every_error_has_a_code_of_its_own_and_a_hint() -> None:
    family = [
        postgres_errors.EmbeddedPostgresError,
        *postgres_errors.EmbeddedPostgresError.__subclasses__(),
    ]

    assert len({kind.code for kind in family}) == len(family)
    assert all(kind.default_hint for kind in family if kind is not postgres_errors.OtherVersion)
