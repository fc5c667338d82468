"""The addresses of OAuth. The toolkit finds its own by these names."""

from django.urls import path
from oauth2_provider.views import OAuthServerMetadataView

from kbsite.oauth import audience, clients, consent, endpoints

app_name = "oauth2_provider"
_METADATA = audience.METADATA.removeprefix("/")
urlpatterns = [
    path(
        ".well-known/oauth-authorization-server",
        OAuthServerMetadataView.as_view(),
        name="oauth-server-metadata",
    ),
    path(_METADATA, endpoints.ResourceMetadata.as_view(), name="oauth-resource-metadata"),
    *(
        path(f"{_METADATA}{part}", endpoints.ResourceMetadata.as_view())
        for part in audience.RESOURCES
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
