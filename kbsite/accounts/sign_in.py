"""One throttle for every password and code, wherever it is asked for. Only failures count.

Nobody is locked out for long: once a limit is reached, one attempt or some more are heard each
minute. A browser in which somebody has signed in before has a count of its own, which nobody else
can use up. SECURITY.md has the guesses that these figures leave.
"""

import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.auth.forms import AuthenticationForm
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from limits import RateLimitItem, RateLimitItemPerHour, RateLimitItemPerMinute

from kbsite.middleware import rate_limits
from transcripts.core import audit
from transcripts.core.audit import Action

Limits = Sequence[RateLimitItem]

# Failures that are heard, of passwords: so many an hour, and beyond that so many a minute.
BY_PAIR: Final[Limits] = (RateLimitItemPerHour(10), RateLimitItemPerMinute(1))
BY_NAME: Final[Limits] = (RateLimitItemPerHour(50), RateLimitItemPerMinute(3))
BY_ADDRESS: Final[Limits] = (RateLimitItemPerMinute(120),)  # by hand, no office reaches it
# Of codes: whoever is asked for one has given the password, and six digits are soon guessed.
BY_CODE: Final[Limits] = (RateLimitItemPerHour(10),)
LINKS: Final = RateLimitItemPerMinute(30)  # of one address; they cannot be guessed
MESSAGE: Final = "There were too many attempts to sign in."
KNOWN_BROWSER: Final = "known_browser"
KNOWN_SECONDS: Final = 365 * 86_400


class SignInForm(AuthenticationForm):
    """A name and a password, checked as often as the throttle allows."""

    def clean(self) -> dict[str, Any]:
        """Check them. Raises Throttled, which says when to come back."""
        name = self.cleaned_data.get("username")
        if self.request is None or not name:
            return super().clean()
        with attempt(self.request, name):
            return super().clean()


@contextmanager
def attempt(request: HttpRequest, name: str, *, by_code: bool = False) -> Iterator[None]:
    """Count and record an attempt that the block ends with a ValidationError. Raises Throttled."""
    counted: list[tuple[str, str, Limits]] = []
    try:
        for count in _counts(request, name.casefold(), by_code=by_code):
            rate_limits.count_failure(*count, message=MESSAGE)
            counted.append(count)
        yield
    except ValidationError:
        counted.clear()
        record_refusal(name)
        raise
    finally:
        for count in counted:
            rate_limits.uncount_failure(*count)


def record_refusal(name: str) -> None:
    """Record that somebody could not sign in; an unknown name may be a password."""
    is_known = get_user_model().objects.filter(username=name).exists()
    audit.record(Action.REFUSE, "sign-in", name if is_known else "")


def count_link(request: HttpRequest) -> None:
    """Count a link that signs nobody in. Raises Throttled."""
    who = rate_limits.address_of(request)
    rate_limits.count("links that sign nobody in", who, allowed=LINKS, message=MESSAGE)


def remember_browser(response: HttpResponse, name: str) -> None:
    """Give a browser a count of its own for the name that has signed in."""
    response.set_signed_cookie(
        KNOWN_BROWSER,
        secrets.token_urlsafe(16),
        salt=_salt(name.casefold()),
        max_age=KNOWN_SECONDS,
        path=reverse("sign-in"),
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )


def _counts(request: HttpRequest, name: str, *, by_code: bool) -> list[tuple[str, str, Limits]]:
    """Return what an attempt counts for: kind, whom it is about, and how many are heard."""
    browser = request.get_signed_cookie(
        KNOWN_BROWSER, default=None, salt=_salt(name), max_age=KNOWN_SECONDS
    )
    if by_code:
        return [("codes", browser or name, BY_CODE)]
    if browser is not None:
        return [("passwords in a browser", browser, BY_PAIR)]
    address = rate_limits.address_of(request)
    return [
        ("passwords by name and address", f"{address} {name}", BY_PAIR),
        ("passwords by name", name, BY_NAME),
        ("passwords by address", address, BY_ADDRESS),
    ]


def _salt(name: str) -> str:
    return f"known browser of {name}"
