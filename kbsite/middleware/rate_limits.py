"""Rate limits per caller and action, counted in Redis if there is one, else in each process."""

import logging
import math
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from ipaddress import IPv4Address, IPv6Network, ip_address
from typing import Final

from django.conf import settings
from django.http import HttpRequest
from limits import RateLimitItem
from limits.storage import Storage, storage_from_string
from limits.strategies import FixedWindowRateLimiter, MovingWindowRateLimiter

from transcripts.core.errors import Throttled
from transcripts.core.headers import header

# Method and path of requests that are answered in seconds: questions.
ASKING: Final = re.compile(
    r"POST /(ask/([0-9a-f-]{36}/)?|ask/answers/[^/]+/again/|api/v1/(ask|answers/[^/]+/again))"
)

HEADERS: Final = {
    "RateLimit-Policy": header("Limits by name: q requests in w seconds."),
    "RateLimit": header("What is left of each limit: r requests; after t seconds there are more."),
}
IPV6_PREFIX: Final = 64  # bits; whoever has an IPv6 address can choose the others

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Standing:
    """The remainder of a limit, and the seconds until there is more."""

    left: int
    seconds: int


def headers(standings: Mapping[str, tuple[int, Standing]]) -> dict[str, str]:
    """Tell limits a minute, by name, and their remainders, in the headers of
    draft-ietf-httpapi-ratelimit-headers-10.
    """
    if not standings:
        return {}
    limits = (f'"{name}";q={most};w=60' for name, (most, _) in standings.items())
    remaining = (f'"{name}";r={now.left};t={now.seconds}' for name, (_, now) in standings.items())
    return {"RateLimit-Policy": ", ".join(limits), "RateLimit": ", ".join(remaining)}


def count(kind: str, who: str, *, allowed: RateLimitItem, message: str) -> Standing | None:
    """Count one action of a caller. Raises Throttled, with the time to wait.

    If the counter cannot be reached, everything passes.
    """
    limiter = _limiter(settings.CELERY_BROKER_URL)
    try:
        is_allowed = limiter.hit(allowed, kind, who)
        window = limiter.get_window_stats(allowed, kind, who)
    except limiter.storage.base_exceptions:
        logger.exception("the rate limit's counter cannot be reached")
        return None
    if is_allowed:
        return Standing(window.remaining, max(1, math.ceil(window.reset_time - time.time())))
    raise _throttled(message, window.reset_time)


def count_failure(kind: str, who: str, allowed: Sequence[RateLimitItem], *, message: str) -> None:
    """Count an attempt as a failure before its outcome is known, so that simultaneous ones cannot
    slip through. Raises Throttled if none of the limits has room.

    If the counter cannot be reached, everything passes.
    """
    limiter = FixedWindowRateLimiter(_limiter(settings.CELERY_BROKER_URL).storage)
    try:
        heard = [limiter.hit(limit, kind, who) for limit in allowed]
        if any(heard):
            return
        ends = min(limiter.get_window_stats(limit, kind, who).reset_time for limit in allowed)
    except limiter.storage.base_exceptions:
        logger.exception("the rate limit's counter cannot be reached")
        return
    raise _throttled(message, ends)


def uncount_failure(kind: str, who: str, allowed: Sequence[RateLimitItem]) -> None:
    """Take back what ``count_failure`` counted: the attempt was none."""
    limiter = FixedWindowRateLimiter(_limiter(settings.CELERY_BROKER_URL).storage)
    try:
        for limit in allowed:
            limiter.hit(limit, kind, who, cost=-1)
    except limiter.storage.base_exceptions:
        logger.exception("the rate limit's counter cannot be reached")


def _throttled(message: str, ends: float) -> Throttled:
    wait = max(1, math.ceil(ends - time.time()))
    return Throttled(message, hint=f"Come back in {wait} seconds.", retry_after=wait)


def address_of(request: HttpRequest) -> str:
    """Return the address that a request comes from; for an IPv6 address, its network."""
    text: str = request.META.get("REMOTE_ADDR", "")
    try:
        address = ip_address(text)
    except ValueError:
        return text
    if isinstance(address, IPv4Address):
        return str(address)
    return str(address.ipv4_mapped or IPv6Network((int(address), IPV6_PREFIX), strict=False))


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
