"""The addresses of OIDC and of second factors. django-allauth finds its own by these names."""

from allauth.account.views import reauthenticate
from allauth.mfa.base.views import index
from allauth.mfa.base.views import reauthenticate as reauthenticate_by_code
from allauth.mfa.recovery_codes import views as recovery
from django.urls import path

from kbsite.identity import views

_PROVIDER = {"provider_id": "team"}
urlpatterns = [
    path("sign-in/team/", views.to_provider, _PROVIDER, name="openid_connect_login"),
    path("sign-in/team/done/", views.from_provider, _PROVIDER, name="openid_connect_callback"),
    path("sign-in/code/", views.SecondFactor.as_view(), name="mfa_authenticate"),
    path("second-factor/", index, name="mfa_index"),
    path("second-factor/confirm/", reauthenticate, name="account_reauthenticate"),
    path("second-factor/confirm/code/", reauthenticate_by_code, name="mfa_reauthenticate"),
    path("second-factor/add/", views.Activation.as_view(), name="mfa_activate_totp"),
    path("second-factor/remove/", views.Deactivation.as_view(), name="mfa_deactivate_totp"),
    path("second-factor/codes/", recovery.view_recovery_codes, name="mfa_view_recovery_codes"),
    path(
        "second-factor/codes/renew/",
        recovery.generate_recovery_codes,
        name="mfa_generate_recovery_codes",
    ),
]
