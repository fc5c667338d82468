"""Rate limits per caller and action, counted in Redis if there is one, else in each process."""

import logging
import math
import time
from functools import cache

from django.conf import settings
from limits import RateLimitItem
from limits.storage import Storage, storage_from_string
from limits.strategies import MovingWindowRateLimiter

from transcripts.errors import Throttled

logger = logging.getLogger(__name__)


def count(what: str, who: str, *, allowed: RateLimitItem, message: str) -> None:
    """Count one action of a caller. Raises Throttled, with the time to wait.

    If the counter cannot be reached, everything passes.
    """
    limiter = _limiter(settings.CELERY_BROKER_URL)
    try:
        if limiter.hit(allowed, what, who):
            return
        seconds = limiter.get_window_stats(allowed, what, who).reset_time - time.time()
    except limiter.storage.base_exceptions:
        logger.exception("the rate limit's counter cannot be reached")
        return
    wait = max(1, math.ceil(seconds))
    raise Throttled(message, hint=f"Come back in {wait} seconds.", retry_after=wait)


def forget() -> None:
    """Reset all counts."""
    _limiter.cache_clear()


@cache
def _limiter(broker: str) -> MovingWindowRateLimiter:
    is_redis = broker.startswith(("redis://", "rediss://"))
    storage = (
        storage_from_string(broker, socket_timeout=2)
        if is_redis
        else storage_from_string("memory://")
    )
    if not isinstance(storage, Storage):
        raise TypeError(f"not a storage for counts: {storage!r}")
    return MovingWindowRateLimiter(storage)
