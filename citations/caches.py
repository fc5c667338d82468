"""What a process keeps of the lexicon between searches: things that never change, the last used longest."""

import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import Any

MAX_BYTES = 64 << 20


class Cache:
    """Values by key, up to so many bytes in all; safe to share between threads."""

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._max_bytes = max_bytes
        self._kept: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    @property
    def nbytes(self) -> int:
        """How many bytes are kept."""
        return self._bytes

    def get(self, key: Hashable) -> Any:
        """Return what is kept under a key, or None."""
        with self._lock:
            entry = self._kept.get(key)
            if entry is None:
                return None
            self._kept.move_to_end(key)
            return entry[0]

    def keep(self, key: Hashable, value: Any, nbytes: int) -> None:
        """Keep a value, at the cost of those that were used longest ago; not one that is larger than a quarter of all there is room for."""
        if nbytes > self._max_bytes // 4:
            return
        with self._lock:
            _, before = self._kept.pop(key, (None, 0))
            self._kept[key] = (value, nbytes)
            self._bytes += nbytes - before
            while self._bytes > self._max_bytes:
                _, (_, freed) = self._kept.popitem(last=False)
                self._bytes -= freed

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._kept.clear()
            self._bytes = 0


CACHE = Cache()
