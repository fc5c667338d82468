"""The forms of second factors: one label for each field, in place of a label and a placeholder."""

from typing import Any

from allauth.account.forms import ReauthenticateForm as ByPassword
from allauth.mfa.base.forms import AuthenticateForm, ReauthenticateForm
from allauth.mfa.totp.forms import ActivateTOTPForm
from django import forms
from django.utils.translation import gettext_lazy as _


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


class ConfirmingCodeForm(_CodeForm, ReauthenticateForm):
    """Confirms who is signed in."""


class ActivationForm(_CodeForm, ActivateTOTPForm):
    """Adds an authenticator app."""


class PasswordForm(ByPassword):
    """Confirms who is signed in, by password."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["password"].widget.attrs.pop("placeholder", None)
        self.fields["password"].widget.attrs["autofocus"] = True
