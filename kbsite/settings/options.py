"""Settings that the environment or a `.env` file may give. All are optional.

`OPTIONS` lists them: `kb config` prints it, and docs/settings.md is written from it.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import environ
from django.core.exceptions import ImproperlyConfigured
from platformdirs import user_config_path

PACKAGE_DIR = Path(__file__).resolve().parents[1]
BASE_DIR = PACKAGE_DIR.parent
# Beside manage.py in a checkout; an installed package has no folder that people edit.
IS_CHECKOUT = (BASE_DIR / "manage.py").is_file()
ENV_FILE = (BASE_DIR if IS_CHECKOUT else user_config_path("cuebase")) / ".env"
env = environ.Env()
environ.Env.read_env(ENV_FILE, overwrite=False)


@dataclass(frozen=True, slots=True)
class Option:
    """A setting: its name in the environment, its purpose, and whether its value is a secret.

    Numbers lie between ``least`` and ``most``.
    """

    name: str
    default: Any
    meaning: str
    secret: bool = False
    least: int = 0
    most: float = math.inf
    among: Sequence[str] = ()

    @property
    def is_set(self) -> bool:
        """Whether the environment gives a value."""
        return self.name in env.ENVIRON

    def parse(self, text: str) -> Any:
        """Return the value that a text gives the setting. Raises ImproperlyConfigured."""
        return self._checked(lambda: env.parse_value(text, type(self.default)), text)

    def read(self) -> Any:
        """Return the value in the environment, or the default. Raises ImproperlyConfigured."""
        reader = _READERS.get(type(self.default), env.str)
        return self._checked(lambda: reader(self.name, default=self.default))

    def _checked(self, read: Callable[[], Any], text: str | None = None) -> Any:
        kind, (least, most) = type(self.default), (self.least, self.most)
        try:
            value = read()
        except ValueError as error:
            entry = env.str(self.name) if text is None else text
            raise self.refusal(repr(entry), _EXPECTED[kind]) from error
        if kind in (int, float) and not least <= value <= most:
            raise self.refusal(
                value, f"{least} " + ("or more" if most == math.inf else f"to {most}")
            )
        if self.among and value not in self.among:
            expected = f"{', '.join(self.among[:-1])} or {self.among[-1]}"
            raise self.refusal(repr(value), expected)
        return value

    def refusal(self, value: object, expected: str) -> ImproperlyConfigured:
        """Return the error of a value that cannot be used."""
        return ImproperlyConfigured(
            f"{self.name} cannot be {value}: {expected} is expected ({self.meaning})"
        )


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
    """Declare a setting and return its value, of its default's type. Raises
    ImproperlyConfigured.
    """
    OPTIONS[name] = Option(name, default, meaning, secret, least, most, among)
    return OPTIONS[name].read()
