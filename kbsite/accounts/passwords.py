"""The password of one's own account: chosen after an invitation, changed later."""

from typing import Any

from allauth.core import context
from allauth.socialaccount.models import SocialAccount
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.forms import PasswordChangeForm, SetPasswordForm
from django.contrib.auth.models import User
from django.contrib.auth.views import PasswordChangeView
from django.http import HttpRequest, HttpResponse
from django.shortcuts import resolve_url
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme, urlencode
from django.utils.translation import gettext as _

from kbsite.accounts import sign_in
from kbsite.accounts.users import Invitation
from transcripts.core import audit
from transcripts.core.audit import Action
from transcripts.core.errors import Forbidden
from transcripts.core.views.requests import PageRequest
from transcripts.models import Collection


class ChangeForm(PasswordChangeForm):
    """A new password in place of the old one, which is asked for as sign-in does."""

    def clean_old_password(self) -> str:
        """Check it. Raises Throttled."""
        with sign_in.attempt(context.request, self.user.get_username()):
            return super().clean_old_password()


class ChoosePassword(PasswordChangeView):
    """Sets a first password, or changes the one there is."""

    template_name = "kbsite/choose_password.html"
    request: PageRequest

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        user = request.user
        if user.is_authenticated and SocialAccount.objects.filter(user=user).exists():
            raise Forbidden(
                f"You sign in by {settings.OIDC_NAME}, so this account has no password here.",
                hint="It is changed there.",
            )
        return super().dispatch(request, *args, **kwargs)

    def get_form_class(self) -> Any:
        user = self.request.user
        return ChangeForm if user.has_usable_password() else SetPasswordForm

    def form_valid(self, form: Any) -> HttpResponse:
        response = super().form_valid(form)
        audit.record(Action.CHANGE, "password", self.request.user.get_username())
        messages.success(self.request, _("From now on, you sign in with this password."))
        return response

    def get_success_url(self) -> str:
        return next_page(self.request)

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        request, shown = self.request, None
        invitation = Invitation.read(request)
        if invitation and not request.user.has_usable_password():
            visible = Collection.objects.visible(request.access)
            collection = visible.filter(pk=invitation.collection).first()
            shown = {"by": invitation.by, "collection": collection}
        more = {"next": next_page(request), "invitation": shown}
        return super().get_context_data(**kwargs) | more


def after_link(request: HttpRequest, user: User) -> str:
    """Return where a sign-in link leads a user: at first, to choose a password, and then to what
    they are invited to.

    Whoever runs the server is led on: each of its starts prints a link.
    """
    invitation = Invitation.read(request)
    target = reverse("collection", args=[invitation.collection]) if invitation else "library"
    page = next_page(request, default=target)
    if user.last_login or user.has_usable_password() or user.is_superuser:
        return page
    query = f"&{invitation.query}" if invitation else ""
    return f"{reverse('choose-password')}?{urlencode({'next': page})}{query}"


def next_page(request: HttpRequest, *, default: str = "library") -> str:
    """Return the page of this site that a request wants next."""
    address = request.GET.get("next", "")
    if url_has_allowed_host_and_scheme(
        address, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    ):
        return address
    return resolve_url(default)
