"""The rate limit: how many calls one token may make in a minute, counted in Redis where there is one, else in each process."""

import logging
import math
import time
from functools import cache

from django.conf import settings
from limits import RateLimitItemPerMinute
from limits.storage import Storage, storage_from_string
from limits.strategies import MovingWindowRateLimiter

from transcripts.errors import Throttled

logger = logging.getLogger(__name__)


def count_call(token_id: int) -> None:
    """Count one call. Raises ``Throttled``, which says when to come back. A counter out of reach lets the call through."""
    calls = settings.MCP_CALLS_PER_MINUTE
    if calls <= 0:
        return
    limiter = _limiter(_address(settings.CELERY_BROKER_URL))
    per_minute = RateLimitItemPerMinute(calls)
    try:
        if limiter.hit(per_minute, "mcp", str(token_id)):
            return
        seconds = limiter.get_window_stats(per_minute, "mcp", str(token_id)).reset_time - time.time()
    except limiter.storage.base_exceptions:
        logger.exception("the rate limit's counter cannot be reached")
        return
    raise Throttled(f"This token has made its {calls} calls of this minute.", hint=f"Come back in {max(1, math.ceil(seconds))} seconds.")


def forget() -> None:
    """Begin all counts anew."""
    _limiter.cache_clear()


def _address(broker: str) -> str:
    return broker if broker.startswith(("redis://", "rediss://")) else "memory://"


@cache
def _limiter(address: str) -> MovingWindowRateLimiter:
    storage = storage_from_string(address, socket_timeout=2) if address.startswith("redis") else storage_from_string(address)
    if not isinstance(storage, Storage):
        raise TypeError(f"not a storage for counts: {storage!r}")
    return MovingWindowRateLimiter(storage)
