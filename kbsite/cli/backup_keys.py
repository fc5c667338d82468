"""Encryption of backups in the format age: for public keys, opened with a file of secret keys.

The program `age` reads and writes the same files. Messages never contain a key.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, BinaryIO, Final

import pyrage

from kbsite.settings import django as settings
from transcripts.core.errors import Conflict, InvalidInput, Unavailable

HEAD: Final = b"age-encryption.org/"
_SECRET: Final = "AGE-SECRET-KEY-"


def create(path: Path) -> str:
    """Write a new secret key to a file that only its owner can read; return the public key.

    Raises ``Conflict`` for a file that exists, ``InvalidInput`` inside the data directory.
    """
    if path.resolve().is_relative_to(Path(settings.DATA_DIR).resolve()):
        hint = "Whoever copies the data directory must not get the key. Choose another folder."
        raise InvalidInput("The key would be in the data directory.", hint=hint)
    key = pyrage.x25519.Identity.generate()
    public = str(key.to_public())
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError as error:
        raise Conflict(f"{path} exists.", hint="It may be the key of other backups.") from error
    except OSError as error:
        raise Unavailable(f"{path} cannot be written: {error.strerror}.") from error
    with os.fdopen(descriptor, "w") as file:
        file.write(f"# public key: {public}\n{key}\n")
    return public


def recipients(values: Sequence[str]) -> list[Any]:
    """Return the public keys that are given, or listed in files. Raises ``InvalidInput``."""
    return [_parsed(key) for value in values for key in _keys_in(value)]


def identities(path: Path | None) -> list[Any]:
    """Return the secret keys of a file, of age or SSH; none without a file.

    Raises ``InvalidInput``.
    """
    if path is None:
        return []
    text = _text(path)
    try:
        if text.startswith("-----BEGIN"):
            return [pyrage.ssh.Identity.from_buffer(text.encode())]
        keys = [pyrage.x25519.Identity.from_str(line) for line in _lines(text)]
    except pyrage.IdentityError:
        keys = []
    if not keys:
        hint = f"A secret key of age begins with {_SECRET}; one of SSH must have no passphrase."
        raise InvalidInput(f"{path} contains something other than secret keys.", hint=hint)
    return keys


def encrypt(source: Any, target: BinaryIO, keys: Sequence[Any]) -> None:
    """Encrypt what ``source`` reads. Raises ``OSError`` if a file cannot be read or written."""
    try:
        pyrage.encrypt_io(source, target, keys)
    except pyrage.EncryptError as error:
        reason = str(error).removeprefix("OSError: ")
        raise OSError(None, reason) from error


def decrypt(path: Path, source: BinaryIO, target: Any, keys: Sequence[Any]) -> None:
    """Decrypt a file. Raises ``InvalidInput`` for a wrong key and for a file that was changed."""
    if not keys:
        hint = "Give the file of your secret key with --identity."
        raise InvalidInput(f"{path} is encrypted.", hint=hint)
    try:
        pyrage.decrypt_io(source, target, keys)
    except pyrage.DecryptError as error:
        if "No matching keys" in str(error):
            text = f"{path} is encrypted for another key, or damaged."
            raise InvalidInput(text, hint="Give the file of the right key.") from error
        raise _damaged(path) from error
    except OSError as error:
        if error.errno is None:  # not of a file, but of the library: it cannot be authenticated
            raise _damaged(path) from error
        raise


def _damaged(path: Path) -> InvalidInput:
    text = f"{path} is damaged: it was changed or cut after it was encrypted."
    return InvalidInput(text, hint="Use another backup.")


def _keys_in(value: str) -> list[str]:
    if value.startswith(_SECRET):
        hint = "Others may have read it in the list of processes: create another one."
        raise InvalidInput("That is a secret key; the public one is needed.", hint=hint)
    if value.startswith(("age1", "ssh-")):
        return [value]
    path = Path(value)
    lines = _lines(_text(path))
    if not lines or any(line.startswith((_SECRET, "-----BEGIN")) for line in lines):
        raise InvalidInput(
            f"{path} contains no public keys.",
            hint="A public key begins with age1, ssh-ed25519 or ssh-rsa.",
        )
    return lines


def _parsed(key: str) -> Any:
    kind = pyrage.x25519 if key.startswith("age1") else pyrage.ssh
    try:
        return kind.Recipient.from_str(key)
    except pyrage.RecipientError as error:
        hint = "A public key begins with age1, ssh-ed25519 or ssh-rsa. Check that it is complete."
        raise InvalidInput("A public key is invalid.", hint=hint) from error


def _lines(text: str) -> list[str]:
    stripped = (line.strip() for line in text.splitlines())
    return [line for line in stripped if line and not line.startswith("#")]


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{path} is not a file of keys.") from error
    except OSError as error:
        raise InvalidInput(f"{path} cannot be read: {error.strerror}.") from error
