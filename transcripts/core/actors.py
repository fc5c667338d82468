"""Who acts now, for the audit trail: each door sets it, and what changes something reads it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Actor:
    """A user, perhaps with a token, at a door; nobody: the server or a worker itself."""

    door: str = "server"
    name: str = ""
    token: str = ""  # how it begins
    address: str | None = None


_find: ContextVar[Callable[[], Actor]] = ContextVar("actor", default=Actor)


def current() -> Actor:
    return _find.get()()


def resolve_with(find: Callable[[], Actor]) -> None:
    """Look the actor up with this function, from now on, in this context."""
    _find.set(find)


@contextmanager
def acting(actor: Actor) -> Iterator[None]:
    """Act as this actor during the block."""
    token = _find.set(lambda: actor)
    try:
        yield
    finally:
        _find.reset(token)
