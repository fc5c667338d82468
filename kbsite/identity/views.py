"""The way to the provider, and the second factor with this site's audit trail."""

from typing import Any, cast

from allauth.mfa.base.views import AuthenticateView
from allauth.mfa.totp.views import ActivateTOTPView, DeactivateTOTPView
from allauth.socialaccount.providers.openid_connect import views as provider
from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.utils.decorators import method_decorator
from django.utils.http import url_has_allowed_host_and_scheme
from requests import RequestException

from transcripts.core import audit
from transcripts.core.audit import Action
from transcripts.core.errors import Forbidden, NotFound, Unavailable


@login_not_required
def to_provider(request: HttpRequest, provider_id: str) -> HttpResponse:
    """Lead to the provider's sign-in. Raises ``NotFound`` and ``Unavailable``."""
    return _at_provider(provider.login, request, provider_id)


@login_not_required
def from_provider(request: HttpRequest, provider_id: str) -> HttpResponse:
    """Sign in whom the provider sends back. Raises ``NotFound``, ``Unavailable``, ``Forbidden``."""
    return _at_provider(provider.callback, request, provider_id)


def _at_provider(view: Any, request: HttpRequest, provider_id: str) -> HttpResponse:
    if not settings.OIDC_ISSUER:
        raise NotFound("This server has no other sign-in.", hint="Use its own sign-in page.")
    fields = request.GET.copy()
    if not url_has_allowed_host_and_scheme(fields.get("next", ""), {request.get_host()}):
        fields.pop("next", None)
    request.GET = cast(Any, fields)
    try:
        response: HttpResponse = view(request, provider_id)
    except RequestException as error:
        raise Unavailable(
            f"The sign-in of {settings.OIDC_NAME} does not answer.", hint="Try again later."
        ) from error
    return response


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
