"""Settings that the environment or a `.env` file beside manage.py may give. All are optional.

`OPTIONS` lists them: `kb config` prints it, and docs/settings.md is written from it.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import environ
from django.core.exceptions import ImproperlyConfigured

BASE_DIR = Path(__file__).resolve().parent.parent
env = environ.Env()
environ.Env.read_env(BASE_DIR / ".env", overwrite=False)


@dataclass(frozen=True, slots=True)
class Option:
    """A setting: its name in the environment, its purpose, and whether its value is a secret."""

    name: str
    default: Any
    meaning: str
    secret: bool = False

    @property
    def is_set(self) -> bool:
        """Whether the environment gives a value."""
        return self.name in env.ENVIRON


OPTIONS: dict[str, Option] = {}
_READERS = {bool: env.bool, int: env.int, float: env.float, list: env.list}
_EXPECTED = {bool: "true or false", int: "a whole number", float: "a number"}


def option(
    name: str,
    default: Any,
    meaning: str,
    *,
    secret: bool = False,
    least: int = 0,
    most: float = math.inf,
    among: Sequence[str] = (),
) -> Any:
    """Declare a setting and return its value, of its default's type.

    Numbers lie between ``least`` and ``most``. Raises ImproperlyConfigured.
    """
    OPTIONS[name] = Option(name=name, default=default, meaning=meaning, secret=secret)
    try:
        value = _READERS.get(type(default), env.str)(name, default=default)
    except ValueError as error:
        raise _refusal(name, repr(env.str(name)), _EXPECTED[type(default)]) from error
    if type(default) in (int, float) and not least <= value <= most:
        raise _refusal(name, value, f"{least} " + ("or more" if most == math.inf else f"to {most}"))
    if among and value not in among:
        raise _refusal(name, repr(value), f"{', '.join(among[:-1])} or {among[-1]}")
    return value


def _refusal(name: str, value: object, expected: str) -> ImproperlyConfigured:
    meaning = OPTIONS[name].meaning
    return ImproperlyConfigured(f"{name} cannot be {value}: {expected} is expected ({meaning})")
