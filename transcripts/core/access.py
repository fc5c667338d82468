"""What a token allows, and what an operation of an API or a tool needs of it."""

from collections.abc import Callable
from enum import StrEnum
from inspect import unwrap
from typing import Any, Final, Self, TypeVar

from transcripts.core.errors import Forbidden

Work = TypeVar("Work", bound=Callable[..., Any])


class AccessLevel(StrEnum):
    """What a token allows, by the names of OAuth's scopes; each level includes those before it."""

    READ = "read"
    WRITE = "write"  # sources, notes, highlights, conversations, lectures
    MANAGE = "manage"  # members, shared links, webhooks: what concerns people or keys

    @property
    def scopes(self) -> tuple[Self, ...]:
        """This level and those that it includes."""
        levels = tuple(type(self))
        return levels[: levels.index(self) + 1]

    def covers(self, needed: "AccessLevel") -> bool:
        return needed in self.scopes

    def at_most(self, limit: "AccessLevel") -> "AccessLevel":
        return self if limit.covers(self) else limit

    @classmethod
    def of_scopes(cls, names: str) -> "AccessLevel":
        """Return the highest level of which all scopes are named, separated by spaces."""
        named = {cls.READ, *names.split()}
        return [level for level in cls if named.issuperset(level.scopes)][-1]


class InsufficientScope(Forbidden):
    """The token does not allow this, whatever its user may do."""

    code = "insufficient_scope"
    scope = ""  # of OAuth, that an application has to ask for; empty: it is a personal token


_NEEDED: Final[dict[Callable[..., Any], AccessLevel]] = {}


def needs(level: AccessLevel) -> Callable[[Work], Work]:
    """Declare what a token has to allow for an operation or a tool."""

    def declare(work: Work) -> Work:
        _NEEDED[work] = level
        return work

    return declare


def needed_by(work: Callable[..., Any]) -> AccessLevel:
    """Return what was declared. Raises ``KeyError``: what has no level is open to nobody."""
    return _NEEDED[unwrap(work)]
