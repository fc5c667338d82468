"""The addresses of the site. Libraries find those of OAuth, OIDC and second factors by name."""

from collections.abc import Iterable, Iterator

from allauth.account.views import reauthenticate
from allauth.mfa.base.views import index
from allauth.mfa.base.views import reauthenticate as reauthenticate_by_code
from allauth.mfa.recovery_codes import views as recovery
from django.conf import settings
from django.contrib import admin
from django.contrib.auth.views import LogoutView
from django.core.exceptions import ImproperlyConfigured
from django.urls import URLPattern, URLResolver, include, path, re_path
from oauth2_provider.views import OAuthServerMetadataView

from kbsite import api, celery
from kbsite.accounts import invitations, passwords
from kbsite.content.views import router as content
from kbsite.identity import provider, second_factor
from kbsite.oauth import audience, clients, consent, endpoints
from kbsite.pages import api_reference, guided_start, preferences, shared_page
from kbsite.pages import home as views
from kbsite.telemetry import page
from kbsite.webhooks import views as webhooks

admin.autodiscover()
celery.app.set_default()  # sends the tasks of the views
_METADATA = audience.METADATA.removeprefix("/")
# Clients look for metadata at the root of the host, too (RFC 8414, 9728): proxies may pass them on.
_PATHS = ("", settings.PUBLIC_PATH) if settings.PUBLIC_PATH else ("",)
_OAUTH = [
    path(
        ".well-known/oauth-authorization-server",
        OAuthServerMetadataView.as_view(),
        name="oauth-server-metadata",
    ),
    path(_METADATA, endpoints.ResourceMetadata.as_view(), name="oauth-resource-metadata"),
    *(
        path(f"{_METADATA}{base}{part}", endpoints.ResourceMetadata.as_view())
        for base in _PATHS
        for part in ("", *audience.RESOURCES)
    ),
    *(
        path(f".well-known/{name}{base}", OAuthServerMetadataView.as_view())
        for name in ("oauth-authorization-server", "openid-configuration")
        for base in _PATHS
        if base or settings.PUBLIC_PATH
    ),
    path("oauth/authorize/", consent.Consent.as_view(), name="authorize"),
    path("oauth/token/", endpoints.Exchange.as_view(), name="token"),
    path("oauth/revoke/", endpoints.Revocation.as_view(), name="revoke-token"),
    path("oauth/register/", clients.Registration.as_view(), name="dcr-register"),
    path(
        "oauth/register/<str:client_id>/",
        clients.RegistrationManagement.as_view(),
        name="dcr-register-management",
    ),
]
_PROVIDER = {"provider_id": "team"}
urlpatterns: list[URLPattern | URLResolver] = [
    path("admin/login/", views.admin_sign_in),
    path("admin/", admin.site.urls),
    path("api/v1/openapi.json", api_reference.document, name="openapi"),
    path("api/v1/docs", api_reference.overview, name="api-docs"),
    path("api/v1/docs/<slug:slug>", api_reference.group, name="api-docs-group"),
    path("api/v1/", api.api.urls),
    path("api/content/", include(content.urls)),
    re_path("^api/", api.not_found),
    path("", include("transcripts.urls")),
    path("", include("citations.urls")),
    path("", include((_OAUTH, "oauth2_provider"))),
    path("", views.home, name="home"),
    path("start/<int:number>/", guided_start.go, name="guided-start"),
    path("start/leave/", guided_start.leave, name="guided-start-leave"),
    path("sign-in/", views.SignIn.as_view(), name="sign-in"),
    path("sign-in/", views.SignIn.as_view(), name="account_login"),  # as django-allauth says
    path("sign-in/team/", provider.to_provider, _PROVIDER, name="openid_connect_login"),
    path("sign-in/team/done/", provider.from_provider, _PROVIDER, name="openid_connect_callback"),
    path("sign-in/code/", second_factor.SecondFactor.as_view(), name="mfa_authenticate"),
    path("sign-in/<str:secret>/", views.sign_in_link, name="sign-in-link"),
    path("sign-out/", LogoutView.as_view(), name="sign-out"),
    path("second-factor/", index, name="mfa_index"),
    path("second-factor/confirm/", reauthenticate, name="account_reauthenticate"),
    path("second-factor/confirm/code/", reauthenticate_by_code, name="mfa_reauthenticate"),
    path("second-factor/add/", second_factor.Activation.as_view(), name="mfa_activate_totp"),
    path("second-factor/remove/", second_factor.Deactivation.as_view(), name="mfa_deactivate_totp"),
    path("second-factor/codes/", recovery.view_recovery_codes, name="mfa_view_recovery_codes"),
    path(
        "second-factor/codes/renew/",
        recovery.generate_recovery_codes,
        name="mfa_generate_recovery_codes",
    ),
    path("account/password/", passwords.ChoosePassword.as_view(), name="choose-password"),
    path("settings/", preferences.show, name="preferences"),
    path("tokens/", views.tokens, name="tokens"),
    path("tokens/create/", views.create_token, name="token-create"),
    path("tokens/<int:pk>/revoke/", views.revoke_token, name="token-revoke"),
    path("tokens/cuebase.mcpb", views.mcp_bundle, name="mcp-bundle"),
    path("tokens/cuebase-extension.zip", views.browser_extension, name="browser-extension"),
    path("collections/<int:pk>/invite/", invitations.invite, name="collection-invite"),
    path(
        "collections/<int:pk>/members/<int:user>/invite/",
        invitations.invite_again,
        name="collection-invite-again",
    ),
    path("manifest.webmanifest", views.web_manifest, name="web-manifest"),
    path("webhooks/", webhooks.webhooks, name="webhooks"),
    path("webhooks/create/", webhooks.create, name="webhook-create"),
    path("webhooks/<uuid:webhook_id>/", webhooks.webhook, name="webhook"),
    path("webhooks/<uuid:webhook_id>/switch/", webhooks.switch, name="webhook-switch"),
    path("webhooks/<uuid:webhook_id>/secret/", webhooks.rotate, name="webhook-secret"),
    path("webhooks/<uuid:webhook_id>/test/", webhooks.test, name="webhook-test"),
    path("webhooks/<uuid:webhook_id>/delete/", webhooks.delete, name="webhook-delete"),
    path("shared/<str:link_id>/", shared_page.show, name="shared"),
    path("shared/<uuid:link_id>/page/", shared_page.show_image, name="shared-page"),
    path(
        "shared/<uuid:link_id>/media/<uuid:clip_id>/", shared_page.show_media, name="shared-media"
    ),
    path("glossary/", views.show_glossary, name="glossary"),
    path("favicon.ico", views.favicon, name="favicon"),
    path("healthz", views.healthz, name="healthz"),
    path("readyz", views.readyz, name="readyz"),
    path("metrics", page.show, name="metrics"),
]
handler400 = views.bad_request
handler403 = views.forbidden
handler404 = views.not_found
handler500 = views.broken


def _first_parts(patterns: Iterable[URLPattern | URLResolver]) -> Iterator[str]:
    for pattern in patterns:
        if text := str(pattern.pattern).lstrip("^"):
            yield text.partition("/")[0]
        elif isinstance(pattern, URLResolver):
            yield from _first_parts(pattern.url_patterns)


_part = settings.PUBLIC_PATH.split("/")[1:2]
if {"mcp", "static", *_first_parts(urlpatterns)}.intersection(_part):
    raise ImproperlyConfigured(
        f"PUBLIC_URL cannot have the path {settings.PUBLIC_PATH!r}: the site has one of that name."
        " Choose another, such as /kb."
    )
