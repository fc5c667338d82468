"""What clients of a server were promised, and what they were told that they should not be."""

import threading
from collections.abc import Collection
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from itertools import count


class Promise(Enum):
    """What the server acknowledged of something with a title."""

    ASKED = "asked for, without an answer"
    KEPT = "acknowledged"
    LEAVING = "to be deleted, without an answer"
    DELETED = "acknowledged as deleted"


@dataclass(slots=True)
class Ledger:
    """The promises of one run; many threads write to it."""

    titles: dict[str, Promise] = field(default_factory=dict)
    questions: dict[str, Promise] = field(default_factory=dict)
    segments: dict[str, list[int]] = field(default_factory=dict)  # by lecture
    backups: list[str] = field(default_factory=list)
    models: list[str] = field(default_factory=list)  # migrated to, in order; the last one is tried
    faults: list[str] = field(default_factory=list)
    requests: int = 0
    refusals: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _numbers: "count[int]" = field(default_factory=count)

    def new_title(self, kind: str) -> str:
        """Return a title with a word of its own, by which a search finds it."""
        with self._lock:
            title = f"{kind} {word(next(self._numbers))}"
            self.titles[title] = Promise.ASKED
        return title

    def fault(self, what: str) -> None:
        """Note something that must not happen, once."""
        with self._lock:
            if what not in self.faults:
                self.faults.append(what)

    def with_promise(self, *promises: Promise) -> set[str]:
        """Return the titles of which this was promised."""
        with self._lock:
            return {title for title, promise in self.titles.items() if promise in promises}

    @contextmanager
    def deleting(self, titles: Collection[str]):
        """Note that these are deleted, unless the block raises: then perhaps."""
        with self._lock:
            self.titles.update(dict.fromkeys(titles, Promise.LEAVING))
        yield
        with self._lock:
            self.titles.update(dict.fromkeys(titles, Promise.DELETED))


def word(number: int) -> str:
    """Return a word of letters that no other number has."""
    letters = ""
    for _ in range(4):
        number, rest = divmod(number, 26)
        letters += chr(ord("a") + rest)
    return f"qz{letters}"
