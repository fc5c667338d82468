"""How many calls one token may make in a minute."""

from django.conf import settings
from limits import RateLimitItemPerMinute

from kbsite.rate_limits import count, forget

__all__ = ["count_call", "forget"]


def count_call(token_id: int) -> None:
    """Count one call. Raises ``Throttled``, which says when to come back."""
    calls = settings.MCP_CALLS_PER_MINUTE
    if calls > 0:
        count(
            "mcp",
            str(token_id),
            allowed=RateLimitItemPerMinute(calls),
            message=f"This token has made its {calls} calls of this minute.",
        )
