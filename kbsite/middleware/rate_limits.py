"""Rate limits per caller and action, counted in Redis if there is one, else in each process: of
requests a minute, by kind, and of what other modules count.
"""

import logging
import math
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from ipaddress import IPv4Address, IPv6Network, ip_address
from typing import Any, Final

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils.deprecation import MiddlewareMixin
from limits import RateLimitItem, RateLimitItemPerMinute
from limits.storage import Storage, storage_from_string
from limits.strategies import FixedWindowRateLimiter, MovingWindowRateLimiter

from kbsite import openapi
from kbsite.callers import AnyRequest, caller_or_none
from kbsite.errors import error_response
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


@dataclass(frozen=True, slots=True)
class Policy:
    """A limit on requests whose method and path fit."""

    name: str
    requests: re.Pattern[str]
    setting: str
    message: str

    @property
    def most(self) -> int:
        """The number of requests a minute; 0: any."""
        return int(getattr(settings, self.setting))


POLICIES: Final = (
    Policy("questions", ASKING, "QUESTIONS_PER_MINUTE", "{} questions came in a minute."),
    Policy(
        "additions",
        re.compile(r"POST /(add/|api/v1/sources(/files|/captions)?)"),
        "ADDITIONS_PER_MINUTE",
        "Something was added {} times in a minute.",
    ),
    Policy(
        "api",
        re.compile(r"\w+ /api/.*", re.DOTALL),
        "API_CALLS_PER_MINUTE",
        "{} calls came in a minute.",
    ),
)


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
    options = {"socket_timeout": 2} if is_redis else {}
    storage = storage_from_string(broker if is_redis else "memory://", **options)
    if not isinstance(storage, Storage):
        raise TypeError(f"not a storage for counts: {storage!r}")
    return MovingWindowRateLimiter(storage)


class CallLimitMiddleware(MiddlewareMixin):
    """Counts the requests of a caller, and reports the remainder in each response.

    Strangers are not counted: they are refused before any work is done.
    """

    def process_view(
        self, request: AnyRequest, view_func: Any, view_args: Any, view_kwargs: Any
    ) -> HttpResponse | None:
        """Refuse a request over a limit."""
        line = f"{request.method} {request.path_info}"
        policies = [
            policy for policy in POLICIES if policy.most and policy.requests.fullmatch(line)
        ]
        caller = caller_or_none(request) if policies else None
        request.standings = {}
        if caller is None:  # the view refuses a stranger
            return None
        who = f"token {caller.token.pk}" if caller.token else f"user {caller.user.pk}"
        for policy in policies:
            allowed = RateLimitItemPerMinute(policy.most)
            message = policy.message.format(f"{policy.most:,}")
            try:
                standing = count(policy.name, who, allowed=allowed, message=message)
                request.standings[policy] = standing
            except Throttled as error:
                request.standings = {policy: Standing(0, error.retry_after or 60)}
                return error_response(request, error)
        return None

    def process_response(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        """Report the remainder."""
        standings: dict[Policy, Standing | None] = getattr(request, "standings", {})
        by_name = {policy.name: (policy.most, now) for policy, now in standings.items() if now}
        for name, value in headers(by_name).items():
            response[name] = value
        return response


def describe(methods: openapi.Methods) -> None:
    """Describe this in the OpenAPI document."""
    for operation in methods.values():
        for name, described in HEADERS.items():
            openapi.send(operation, name, described, lambda status: status != "401")
