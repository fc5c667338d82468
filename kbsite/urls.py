"""The addresses of the site."""

from django.contrib import admin
from django.urls import URLPattern, URLResolver, include, path, re_path

from kbsite import api, celery
from kbsite.accounts import invitations, passwords
from kbsite.content.views import router as content
from kbsite.pages import api_pages, shared_page
from kbsite.pages import home as views
from kbsite.telemetry import page

admin.autodiscover()
celery.app.set_default()  # sends the tasks of the views
urlpatterns: list[URLPattern | URLResolver] = [
    path("admin/login/", views.admin_sign_in),
    path("admin/", admin.site.urls),
    path("api/v1/openapi.json", api_pages.document, name="openapi"),
    path("api/v1/docs", api_pages.overview, name="api-docs"),
    path("api/v1/docs/<slug:slug>", api_pages.group, name="api-docs-group"),
    path("api/v1/", api.api.urls),
    path("api/content/", include(content.urls)),
    re_path("^api/", api.not_found),
    path("", include("transcripts.urls")),
    path("", include("citations.urls")),
    path("", include("kbsite.oauth.urls")),
    path("", views.home, name="home"),
    path("sign-in/", views.SignIn.as_view(), name="sign-in"),
    path("sign-in/", views.SignIn.as_view(), name="account_login"),  # as django-allauth says
    path("", include("kbsite.identity.urls")),
    path("sign-in/<str:secret>/", views.sign_in_link, name="sign-in-link"),
    path("sign-out/", views.SignOut.as_view(), name="sign-out"),
    path("account/password/", passwords.ChoosePassword.as_view(), name="choose-password"),
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
    path("", include("kbsite.webhooks.urls")),
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
