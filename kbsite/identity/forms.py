"""The forms of second factors: one label for each field, in place of a label and a placeholder."""

from contextlib import AbstractContextManager
from typing import Any

from allauth.account.forms import ReauthenticateForm as ByPassword
from allauth.core import context
from allauth.mfa.base.forms import AuthenticateForm, ReauthenticateForm
from allauth.mfa.totp.forms import ActivateTOTPForm
from django import forms
from django.contrib.auth.models import User
from django.utils.translation import gettext_lazy as _

from kbsite.accounts import sign_in


def _attempt(user: User, *, by_code: bool) -> AbstractContextManager[None]:
    return sign_in.attempt(context.request, user.get_username(), by_code=by_code)


class _CodeForm(forms.Form):
    """A code of an authenticator app, or a recovery code: digits in either case."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["code"].label = _("Code")
        self.fields["code"].widget = forms.TextInput(
            {"autocomplete": "one-time-code", "inputmode": "numeric", "autofocus": True}
        )


class CodeForm(_CodeForm, AuthenticateForm):
    """Signs in, after the password."""

    def clean_code(self) -> str:
        """Check it. Raises Throttled."""
        with _attempt(self.user, by_code=True):
            return str(super().clean_code())


class ConfirmingCodeForm(_CodeForm, ReauthenticateForm):
    """Confirms who is signed in."""

    def clean_code(self) -> str:
        """Check it. Raises Throttled."""
        with _attempt(self.user, by_code=True):
            return str(super().clean_code())


class ActivationForm(_CodeForm, ActivateTOTPForm):
    """Adds an authenticator app."""


class PasswordForm(ByPassword):
    """Confirms who is signed in, by password."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["password"].widget.attrs.pop("placeholder", None)
        self.fields["password"].widget.attrs["autofocus"] = True

    def clean_password(self) -> str:
        """Check it. Raises Throttled."""
        with _attempt(self.user, by_code=False):
            return str(super().clean_password())
