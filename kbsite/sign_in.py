"""One throttle for every way to sign in: the form, which the admin shares, and one-time links.

Attempts are counted by name and address together, by address, and by name. They are counted before
the password is checked, so that simultaneous ones cannot slip through. Nobody is locked out for
good: each count ends after ``MINUTES``, and a browser in which somebody has signed in before has a
count of its own, which no attacker can use up.
"""

import secrets
from typing import Any, Final

from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.auth.forms import AuthenticationForm
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from limits import RateLimitItemPerMinute

from kbsite import rate_limits
from transcripts import audit
from transcripts.audit import Action

MINUTES: Final = 5
BY_PAIR: Final = 10  # attempts with one name from one address, or from a known browser
BY_ADDRESS: Final = 30
BY_NAME: Final = 20
KNOWN_BROWSER: Final = "known_browser"
KNOWN_SECONDS: Final = 365 * 86_400


class SignInForm(AuthenticationForm):
    """A name and a password, checked as often as the throttle allows."""

    def clean(self) -> dict[str, Any]:
        """Check them. Raises Throttled, which says when to come back."""
        name = self.cleaned_data.get("username")
        if self.request is not None and name:
            count_password(self.request, name)
        try:
            return super().clean()
        except ValidationError:
            record_refusal(name or "")
            raise


def record_refusal(name: str) -> None:
    """Record that somebody could not sign in; an unknown name may be a password."""
    is_known = get_user_model().objects.filter(username=name).exists()
    audit.record(Action.REFUSE, "sign-in", name if is_known else "")


def count_password(request: HttpRequest, name: str) -> None:
    """Count an attempt to sign in by password. Raises Throttled."""
    name = name.casefold()
    browser = request.get_signed_cookie(
        KNOWN_BROWSER, default=None, salt=_salt(name), max_age=KNOWN_SECONDS
    )
    if browser is not None:
        _count("browser", browser, BY_PAIR)
        return
    address = rate_limits.address_of(request)
    _count("name and address", f"{address} {name}", BY_PAIR)
    _count("address", address, BY_ADDRESS)
    _count("name", name, BY_NAME)


def count_link(request: HttpRequest) -> None:
    """Count a link that signs nobody in. Raises Throttled."""
    _count("address", rate_limits.address_of(request), BY_ADDRESS)


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


def _count(kind: str, who: str, allowed: int) -> None:
    rate_limits.count(
        f"sign-in by {kind}",
        who,
        allowed=RateLimitItemPerMinute(allowed, MINUTES),
        message="There were too many attempts to sign in.",
    )


def _salt(name: str) -> str:
    return f"known browser of {name}"
