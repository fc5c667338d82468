"""How many requests a token, or a user without one, may send a minute, by kind."""

import re
from dataclasses import dataclass
from typing import Any, Final

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils.deprecation import MiddlewareMixin
from limits import RateLimitItemPerMinute

from kbsite import openapi
from kbsite.callers import AnyRequest, caller_or_none
from kbsite.errors import error_response
from kbsite.middleware import rate_limits
from kbsite.middleware.rate_limits import Standing
from transcripts.core.errors import Throttled


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
    Policy(
        "questions", rate_limits.ASKING, "QUESTIONS_PER_MINUTE", "{} questions came in a minute."
    ),
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
        who = _name(request) if policies else ""
        request.standings = {}
        for policy in policies if who else ():
            try:
                request.standings[policy] = _count(policy, who)
            except Throttled as error:
                request.standings = {policy: Standing(0, error.retry_after or 60)}
                return error_response(request, error)
        return None

    def process_response(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        """Report the remainder."""
        standings: dict[Policy, Standing | None] = getattr(request, "standings", {})
        by_name = {policy.name: (policy.most, now) for policy, now in standings.items() if now}
        for name, value in rate_limits.headers(by_name).items():
            response[name] = value
        return response


def _count(policy: Policy, who: str) -> Standing | None:
    allowed = RateLimitItemPerMinute(policy.most)
    message = policy.message.format(f"{policy.most:,}")
    return rate_limits.count(policy.name, who, allowed=allowed, message=message)


def _name(request: AnyRequest) -> str:
    """Name the caller; empty: a stranger, whom the view refuses."""
    caller = caller_or_none(request)
    if caller is None:
        return ""
    return f"token {caller.token.pk}" if caller.token else f"user {caller.user.pk}"


def describe(methods: openapi.Methods) -> None:
    """Describe this in the OpenAPI document."""
    for operation in methods.values():
        for name, described in rate_limits.HEADERS.items():
            openapi.send(operation, name, described, lambda status: status != "401")
