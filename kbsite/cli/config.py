"""`kb config`: the settings in use, and the origin of each value."""

from dataclasses import dataclass
from typing import Any

import environ

from kbsite.cli import db
from kbsite.cli.options import Json
from kbsite.cli.terminal import expected_error, note, print_json, table_of_sentences
from kbsite.library.database import open_database
from kbsite.settings import django as settings
from kbsite.settings.options import ENV_FILE, OPTIONS, Option, env
from transcripts.core.sanitize import MASK, redact

# Options whose effective value has another name.
_EFFECTIVE = {"YOUTUBE_KB_DATA_DIR": "DATA_DIR"}


@dataclass(frozen=True, slots=True)
class SettingInUse:
    """A setting, its value (secrets masked) and its origin: environment, .env or default."""

    name: str
    value: Any
    origin: str
    meaning: str
    secret: bool

    @property
    def shown(self) -> str:
        """The value as it is written in .env."""
        if isinstance(self.value, list):
            return ",".join(map(str, self.value))
        return str(self.value).lower() if isinstance(self.value, bool) else str(self.value)


class _File(environ.Env):
    """The .env file without the environment."""

    ENVIRON: dict[str, str] = {}


def config(as_json: Json = False) -> None:
    """Show all settings with value, origin and meaning.

    Secrets are masked, also those inside addresses.
    """
    rows = settings_in_use()
    if as_json:
        print_json(rows)
        return
    table_of_sentences(
        ("Setting", "Value", "From", "Meaning"),
        ((row.name, row.shown, row.origin, row.meaning) for row in rows),
    )
    for line in (*_lock_lines(), f"Settings can be given in {ENV_FILE}."):
        note(line)


def settings_in_use() -> list[SettingInUse]:
    _File.ENVIRON.clear()
    _File.read_env(ENV_FILE)
    used = []
    for option in OPTIONS.values():
        origin = "default"
        if option.is_set:
            is_from_file = _File.ENVIRON.get(option.name) == env.ENVIRON[option.name]
            origin = ".env" if is_from_file else "environment"
        setting = SettingInUse(option.name, _value(option), origin, option.meaning, option.secret)
        used.append(setting)
    return used


def _lock_lines() -> list[str]:
    if not settings.DATABASE_URL and not (settings.DATA_DIR / "postgres").is_dir():
        return []
    try:
        open_database()
        return db.lock_lines()
    except Exception as error:
        expected = expected_error(error)
        if expected is None:
            raise
        return [expected.message, expected.hint]


def _value(option: Option) -> Any:
    if option.secret:
        return MASK if option.is_set and env.ENVIRON[option.name] else ""
    value = getattr(settings, _EFFECTIVE.get(option.name, option.name), option.default)
    if isinstance(value, list):
        return [redact(str(entry)) for entry in value]
    return value if isinstance(value, bool | int | float) else redact(str(value))
