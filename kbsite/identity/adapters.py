"""How django-allauth meets this site: accounts come from the provider, sign-ins are recorded."""

from typing import Any

from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.internal.flows.login import get_authentication_records
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from django.contrib.auth.models import User
from django.db import transaction
from django.http import HttpRequest, HttpResponse

from kbsite.accounts import sign_in
from kbsite.identity import provider as oidc
from transcripts.core import audit
from transcripts.core.audit import Action
from transcripts.core.errors import Forbidden


class AccountAdapter(DefaultAccountAdapter):
    """Signs users in, whichever way they have shown who they are."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False

    def pre_login(self, request: HttpRequest, user: User, **about: Any) -> Any:
        """Take the groups of the provider over before anything is seen. Raises ``Forbidden``."""
        if not user.is_active:
            raise Forbidden("This account is deactivated.", hint="Ask the operator of this server.")
        if social := (about.get("signal_kwargs") or {}).get("sociallogin"):
            oidc.apply(user, oidc.claimed(social.account.extra_data))
        return super().pre_login(request, user, **about)

    def login(self, request: HttpRequest, user: User) -> None:
        """Open the session, and record how."""
        methods = [record["method"] for record in get_authentication_records(request, user)]
        with transaction.atomic():
            super().login(request, user)
            kind = "OIDC" if "socialaccount" in methods else "password"
            factor: dict[str, Any] = {"second_factor": True} if "mfa" in methods else {}
            audit.record(Action.SIGN_IN, kind, user.get_username(), **factor)

    def post_login(self, request: HttpRequest, user: User, **about: Any) -> Any:
        response: HttpResponse = super().post_login(request, user, **about)
        sign_in.remember_browser(response, user.get_username())
        return response

    def add_message(self, *about: Any, **named: Any) -> None:
        """Say what concerns the second factor; that somebody has signed in is seen."""
        template = named.get("message_template", about[2] if len(about) > 2 else "")
        if not str(template).startswith("account/"):
            super().add_message(*about, **named)


class ProviderAdapter(DefaultSocialAccountAdapter):
    """Makes an account for whoever the provider vouches for. No address of theirs is needed."""

    def is_open_for_signup(self, request: HttpRequest, sociallogin: Any) -> bool:
        return True

    def pre_social_login(self, request: HttpRequest, sociallogin: Any) -> None:
        sociallogin.email_addresses = []

    def on_authentication_error(self, request: HttpRequest, provider: Any, **about: Any) -> None:
        """Count and record a sign-in that failed. Raises ``Forbidden``."""
        sign_in.count_link(request)
        sign_in.record_refusal("")
        raise Forbidden(
            f"{getattr(provider, 'name', 'The provider')} has not signed you in.",
            hint="Try again; if it happens again, ask the operator of this server.",
        )
