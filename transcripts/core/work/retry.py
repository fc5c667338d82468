"""When failed work is tried again: one table for all kinds of work."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from transcripts.core import clock
from transcripts.core.errors import KnowledgeBaseError, Retry


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """Attempt ``n`` is followed by a pause of ``pause * factor**n``, at most ``longest``."""

    pause: timedelta
    factor: int = 1
    longest: timedelta = timedelta(hours=1)
    attempts: int | None = None  # the last of which is final; None: no limit

    def next_try(self, attempts: int) -> datetime | None:
        """Return when to try again after this many attempts, or None to give up."""
        if self.attempts is not None and attempts >= self.attempts:
            return None
        growth: int = self.factor ** min(attempts, 8)
        return clock.now() + min(self.pause * growth, self.longest)


_LATER = RetryPolicy(pause=timedelta(minutes=10), factor=6, longest=timedelta(days=1), attempts=4)
POLICIES: Mapping[Retry, RetryPolicy] = {
    Retry.ONCE: RetryPolicy(pause=timedelta(minutes=1), attempts=2),
    Retry.NETWORK: RetryPolicy(pause=timedelta(seconds=15), factor=4, attempts=3),
    Retry.UNEXPECTED: RetryPolicy(pause=timedelta(seconds=15), factor=4, attempts=3),
    Retry.COOL_DOWN: RetryPolicy(pause=timedelta(minutes=15), factor=2, attempts=3),
    Retry.RESTART: RetryPolicy(pause=timedelta(milliseconds=500), factor=2),
    Retry.SERVER: RetryPolicy(pause=timedelta(seconds=15), factor=4),
    Retry.LATER: _LATER,
    Retry.AT_TIME: _LATER,  # for a time that is unknown
    Retry.RECEIVER: RetryPolicy(
        pause=timedelta(seconds=10), factor=4, longest=timedelta(hours=6), attempts=10
    ),
    Retry.SPACE: RetryPolicy(pause=timedelta(seconds=10)),
    Retry.SETTINGS: RetryPolicy(pause=timedelta(minutes=10)),
}


def next_try(error: Exception, attempts: int) -> datetime | None:
    """Return when to try again after this error, or None to give up."""
    retry = error.retry if isinstance(error, KnowledgeBaseError) else Retry.UNEXPECTED
    policy = POLICIES.get(retry)
    return policy.next_try(attempts) if policy else None
