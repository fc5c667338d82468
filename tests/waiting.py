"""Wait for what other processes do."""

import time
from collections.abc import Iterator

PAUSE = 0.05  # seconds between two looks
LONG_PAUSE = 1.0


def looks(seconds: float) -> Iterator[None]:
    """Come back again and again until the time is over.

    A look that takes long is repeated less often: it takes the processor from what it waits for.
    """
    deadline = time.monotonic() + seconds
    while (began := time.monotonic()) < deadline:
        yield
        time.sleep(min(LONG_PAUSE, max(PAUSE, 5 * (time.monotonic() - began))))
