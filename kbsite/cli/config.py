"""The settings in use, and where each value comes from."""

from dataclasses import asdict, dataclass
from typing import Any

import environ

from kbsite import settings
from kbsite.cli.terminal import known_error, open_database
from kbsite.settings import BASE_DIR, OPTIONS, Option

MASK = "••••••"
# The settings whose value in use is not the one under their own name.
_EFFECTIVE = {"YOUTUBE_KB_DATA_DIR": "DATA_DIR"}


@dataclass(frozen=True, slots=True)
class InUse:
    """A setting, its value (masked for a secret) and the value's origin: ``environment``, ``.env`` or ``default``."""

    name: str
    value: Any
    origin: str
    meaning: str
    secret: bool

    @property
    def shown(self) -> str:
        """The value as a person writes it."""
        if isinstance(self.value, list):
            return ",".join(str(part) for part in self.value)
        return str(self.value).lower() if isinstance(self.value, bool) else str(self.value)

    def as_json(self) -> dict[str, Any]:
        """Return it for programs."""
        return asdict(self)


class _File(environ.Env):  # type: ignore[misc]
    """The .env file alone, apart from the environment."""

    ENVIRON: dict[str, str] = {}


def settings_in_use() -> list[InUse]:
    """Return every option."""
    _File.ENVIRON.clear()
    _File.read_env(BASE_DIR / ".env")
    return [_in_use(option) for option in OPTIONS.values()]


def lock_lines() -> list[str]:
    """Say what the library is locked to, and what the settings name instead; a database that is not there, or away, is no reason to show no settings."""
    if not settings.DATABASE_URL and not (settings.DATA_DIR / "postgres").is_dir():
        return []
    try:
        open_database()
        from kbsite.cli import db_status

        return db_status.lock_lines()
    except Exception as error:
        known = known_error(error)
        if known is None:
            raise
        return [known.message, known.hint]


def _in_use(option: Option) -> InUse:
    return InUse(
        name=option.name,
        value=_value(option),
        origin=_origin(option),
        meaning=option.meaning,
        secret=option.secret,
    )


def _value(option: Option) -> Any:
    if option.secret:
        return MASK if option.is_set and settings.env.ENVIRON[option.name] else ""
    value = getattr(settings, _EFFECTIVE.get(option.name, option.name), option.default)
    return value if isinstance(value, bool | int | float | list) else str(value)


def _origin(option: Option) -> str:
    if not option.is_set:
        return "default"
    in_file = _File.ENVIRON.get(option.name)
    return (
        ".env"
        if in_file is not None and in_file == settings.env.ENVIRON[option.name]
        else "environment"
    )
