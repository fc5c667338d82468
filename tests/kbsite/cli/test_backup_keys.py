"""Encrypted backups: keys, and backup, verify and restore in real processes."""

import os
import random
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pyrage
import pytest

from kbsite.cli import backup_keys, backups
from kbsite.settings import django as settings
from tests.fork_server import Fork
from tests.instance import Instance, kill, wait_until
from tests.kbsite.cli.conftest import Kb, kb_in
from tests.programs import require_program
from transcripts.core.errors import InvalidInput


def secret_in(file: Path) -> str:
    return file.read_text().splitlines()[-1]


@pytest.fixture(scope="module")
def encrypted(
    backed_up: tuple[Instance, Path], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Path, Path]]:
    """An encrypted backup of the library of two talks, and the file of its key."""
    instance, _ = backed_up
    folder = tmp_path_factory.mktemp("encrypted")
    public = kb_in(instance, "db", "create-key", str(folder / "key")).strip()
    file = folder / "library.backup"
    output = kb_in(instance, "db", "backup", str(file), "--recipient", public)
    assert secret_in(folder / "key") not in output
    yield file, folder / "key"
    secret = secret_in(folder / "key").encode()
    files = [file for file in instance.home.rglob("*") if file.is_file()]
    assert not [file for file in files if secret in content_of(file)], "a key was left behind"


def content_of(file: Path) -> bytes:
    """Return what is in a file; of one that a server has removed meanwhile, nothing."""
    try:
        return file.read_bytes()
    except FileNotFoundError:
        return b""


def test_an_encrypted_backup_is_verified_and_restored_with_its_key(
    encrypted: tuple[Path, Path], tmp_path: Path
) -> None:
    file, key = encrypted
    assert b"Backpropagation" not in file.read_bytes()
    assert b"PGDMP" not in file.read_bytes()
    with Instance(tmp_path / "home") as fresh:
        output = kb_in(fresh, "db", "verify", str(file), "--identity", str(key))
        assert "is undamaged" in output
        output = kb_in(fresh, "db", "restore", str(file), "--identity", str(key))
        assert "2 recordings" in output
        assert "Backpropagation" in kb_in(fresh, "search", "backpropagation")


def test_without_the_right_key_nothing_is_verified_or_restored(
    backed_up: tuple[Instance, Path], encrypted: tuple[Path, Path], tmp_path: Path
) -> None:
    instance, _ = backed_up
    file, _ = encrypted
    kb_in(instance, "db", "create-key", str(tmp_path / "other"))
    output = kb_in(instance, "db", "verify", str(file), code=2)
    assert "is encrypted" in output
    assert "--identity" in output
    wrong = ("--identity", str(tmp_path / "other"))
    for command in (("verify", str(file)), ("restore", str(file), "--yes")):
        output = kb_in(instance, "db", *command, *wrong, code=2)
        assert "is encrypted for another key, or damaged" in output
        assert secret_in(tmp_path / "other") not in output
    assert instance.rows("SELECT count(*) FROM transcripts_video") == [(2,)]


def test_each_of_200_flipped_bits_of_an_encrypted_backup_is_detected(
    encrypted: tuple[Path, Path], tmp_path: Path
) -> None:
    file, key = encrypted
    keys = backup_keys.identities(key)
    intact = file.read_bytes()
    head_bits = range(0, 250 * 8, 25)
    bits = [*head_bits, *random.Random(12).sample(range(len(intact) * 8), 200 - len(head_bits))]
    for bit in bits:
        content = bytearray(intact)
        content[bit // 8] ^= 1 << bit % 8
        (tmp_path / "damaged").write_bytes(content)
        with pytest.raises(InvalidInput, match="damaged"):
            backups.check(tmp_path / "damaged", keys=keys)


@pytest.mark.parametrize("change", ["cut by a byte", "cut in the head", "cut", "lengthened"])
def test_an_encrypted_backup_that_lost_or_got_bytes_is_refused(
    encrypted: tuple[Path, Path], tmp_path: Path, change: str
) -> None:
    file, key = encrypted
    content = file.read_bytes()
    changed = {
        "cut by a byte": content[:-1],
        "cut in the head": content[:100],
        "cut": content[: 65536 * 2],
        "lengthened": content + b"\n",
    }
    (tmp_path / "changed").write_bytes(changed[change])
    with pytest.raises(InvalidInput, match="is damaged: it was changed or cut"):
        backups.check(tmp_path / "changed", keys=backup_keys.identities(key))


def test_a_schedule_writes_encrypted_backups_and_rotates_them(
    backed_up: tuple[Instance, Path], encrypted: tuple[Path, Path], tmp_path: Path
) -> None:
    instance, _ = backed_up
    _, key = encrypted
    public = tmp_path / "public"
    public.write_text(f"# of the safe\n{key.read_text().split()[3]}\n")
    old = [tmp_path / f"library-2026010{day}-030000.backup" for day in (1, 2)]
    for file in old:
        file.touch()
        os.utime(file, (0, 0))  # so that a backup is due
    command = ["-m", "kbsite.cli", "db", "backup", str(tmp_path / "library.backup")]
    command += ["--every", "1m", "--keep", "2", "--recipient", str(public)]
    with (tmp_path / "log").open("wb") as log:
        process = Fork(
            *command, environment=instance.environment, stdout=log.fileno(), stderr=log.fileno()
        )
        try:
            wait_until(lambda: not old[0].exists(), what="a rotation")
        finally:
            kill(process)
    (written,) = set(tmp_path.glob("library-*")) - set(old)
    checked = backups.check(written, keys=backup_keys.identities(key))
    assert checked.encrypted


# Keys


def test_a_new_key_is_closed_to_others_and_never_replaces_one(kb: Kb, tmp_path: Path) -> None:
    answer = kb("db", "create-key", tmp_path / "key", "--json").json
    assert answer["public_key"].startswith("age1")
    assert (tmp_path / "key").stat().st_mode & 0o777 == 0o600
    before = (tmp_path / "key").read_text()
    assert before not in str(answer)
    assert "exists" in kb("db", "create-key", tmp_path / "key", code=5).err
    assert (tmp_path / "key").read_text() == before


def test_a_key_is_not_written_into_the_data_directory(kb: Kb) -> None:
    file = Path(settings.DATA_DIR) / "key"
    assert "would be in the data directory" in kb("db", "create-key", file, code=2).err
    assert not file.exists()


def test_a_backup_can_be_encrypted_for_an_ssh_key(kb: Kb, tmp_path: Path) -> None:
    key = tmp_path / "id_ed25519"
    keygen = require_program("ssh-keygen")
    subprocess.run([keygen, "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    kb("db", "backup", tmp_path / "b", "--recipient", f"{key}.pub")
    assert kb("db", "verify", tmp_path / "b", "--identity", key, "--json").json["encrypted"]


@pytest.mark.parametrize(
    ("recipient", "message"),
    [
        ("age1abc", "A public key is invalid"),
        ("ssh-ed25519 AAAA", "A public key is invalid"),
        ("nothing-there", "cannot be read"),
        ("AGE-SECRET-KEY-1HUNTER2", "That is a secret key"),
    ],
)
def test_what_is_no_public_key_is_refused_and_not_repeated(
    kb: Kb, tmp_path: Path, recipient: str, message: str
) -> None:
    ran = kb("db", "backup", tmp_path / "b", "--recipient", recipient, code=2)
    assert message in ran.err
    assert "AGE-SECRET-KEY" not in ran.err
    assert not (tmp_path / "b").exists()


@pytest.mark.parametrize("content", ["", "# nothing\n", "age1abc\n", "hunter2\n"])
def test_a_file_without_secret_keys_is_refused(kb: Kb, tmp_path: Path, content: str) -> None:
    (tmp_path / "key").write_text(content)
    (tmp_path / "b").touch()
    error = kb("db", "verify", tmp_path / "b", "--identity", tmp_path / "key", code=2).err
    assert "something other than secret keys" in error
    assert "hunter2" not in error
    (tmp_path / "key").write_text(str(pyrage.x25519.Identity.generate()))
    error = kb("db", "backup", tmp_path / "c", "--recipient", tmp_path / "key", code=2).err
    assert "contains no public keys" in error
