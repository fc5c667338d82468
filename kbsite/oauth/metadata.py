"""What programs ask first: who issues tokens for which part of this server (RFC 8414, 9728)."""

from django.http import HttpRequest
from oauth2_provider.views import OAuthProtectedResourceMetadataView

from kbsite.oauth import audience


class ResourceMetadata(OAuthProtectedResourceMetadataView):
    """The metadata of the server, or of one of its parts."""

    def get_resource(self, request: HttpRequest) -> str:
        return audience.origin_of(request) + request.path.removeprefix(audience.METADATA)
