"""The second factor: its forms, with a label for each field in place of a label and a placeholder,
and its pages, with this site's audit trail.
"""

from contextlib import AbstractContextManager
from typing import Any

from allauth.account.forms import ReauthenticateForm as ByPassword
from allauth.core import context
from allauth.mfa.base.forms import AuthenticateForm, ReauthenticateForm
from allauth.mfa.base.views import AuthenticateView
from allauth.mfa.totp.forms import ActivateTOTPForm
from allauth.mfa.totp.views import ActivateTOTPView, DeactivateTOTPView
from django import forms
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.utils.decorators import method_decorator
from django.utils.translation import gettext_lazy as _

from kbsite.accounts import sign_in
from transcripts.core import audit
from transcripts.core.audit import Action
from transcripts.core.errors import Forbidden


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


class _CountedCodeForm(_CodeForm):
    user: User

    def clean_code(self) -> str:
        """Check it. Raises Throttled."""
        form: Any = super()
        with _attempt(self.user, by_code=True):
            return str(form.clean_code())


class CodeForm(_CountedCodeForm, AuthenticateForm):
    """Signs in, after the password."""


class ConfirmingCodeForm(_CountedCodeForm, ReauthenticateForm):
    """Confirms who is signed in."""


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


@method_decorator(login_not_required, name="dispatch")
class SecondFactor(AuthenticateView):
    """Asks for a code after the password."""

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return {"form": self.auth_form}


class Activation(ActivateTOTPView):
    """Adds an authenticator app to an account with a password."""

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        if request.user.is_authenticated and not request.user.has_usable_password():
            raise Forbidden(
                "This account has no password, so it needs no second factor here.",
                hint="Your organisation's sign-in may ask for one.",
            )
        return super().dispatch(request, *args, **kwargs)

    def form_valid(self, form: Any) -> HttpResponse:
        response: HttpResponse = super().form_valid(form)
        audit.record(Action.ADD, "second factor", self.request.user.get_username())
        return response


class Deactivation(DeactivateTOTPView):
    """Removes it."""

    def form_valid(self, form: Any) -> HttpResponse:
        response: HttpResponse = super().form_valid(form)
        audit.record(Action.DELETE, "second factor", self.request.user.get_username())
        return response
