"""Work that its caller has given up: it ends at its next step, in whichever thread it runs."""

from contextvars import ContextVar
from threading import Event
from typing import Final

GIVEN_UP: Final[ContextVar[Event | None]] = ContextVar("given_up", default=None)


class Cancelled(BaseException):
    """Nobody waits for the result any more. No failure, which other ways could be tried after."""


def check() -> None:
    """Raise ``Cancelled`` if the caller has given up."""
    given_up = GIVEN_UP.get()
    if given_up is not None and given_up.is_set():
        raise Cancelled
