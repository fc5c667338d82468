"""Keep immutable values in memory between calls: least recently used go first."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, Protocol, TypeVar

MAX_BYTES = 64 << 20


class Sized(Protocol):
    @property
    def nbytes(self) -> int: ...


Value = TypeVar("Value", bound=Sized)


class Cache:
    """Values by key within a limit of bytes; safe to share between threads."""

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._max_bytes = max_bytes
        self._entries: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    @property
    def nbytes(self) -> int:
        return self._bytes

    def get(self, key: Hashable) -> Any:
        """Return the value of a key, or None."""
        with self._lock:
            entry = self._entries.get(key)
            if entry is None:
                return None
            self._entries.move_to_end(key)
            return entry[0]

    def of(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """Return the value of a key, made and kept if there is none."""
        value: Value | None = self.get(key)
        if value is None:
            value = make()
            self.keep(key, value, value.nbytes)
        return value

    def keep(self, key: Hashable, value: Any, nbytes: int) -> None:
        """Keep a value of up to a quarter of the limit, dropping the least recently used."""
        if nbytes > self._max_bytes // 4:
            return
        with self._lock:
            _, previous = self._entries.pop(key, (None, 0))
            self._entries[key] = (value, nbytes)
            self._bytes += nbytes - previous
            while self._bytes > self._max_bytes:
                _, (_, freed) = self._entries.popitem(last=False)
                self._bytes -= freed

    def clear(self) -> None:
        with self._lock:
            self._entries.clear()
            self._bytes = 0


CACHE = Cache()  # of the lexicon
