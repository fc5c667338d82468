"""The toolkit's rules for tokens, and ours: tokens belong to a connection and to this server."""

from typing import Any

from oauth2_provider.models import Grant
from oauth2_provider.oauth2_validators import OAuth2Validator
from oauthlib.common import Request
from oauthlib.oauth2.rfc6749.errors import CustomOAuth2Error

from kbsite.oauth import audience, connections


class Validator(OAuth2Validator):
    """Binds a new family of tokens to its connection; refuses resources of other servers."""

    def validate_code(
        self, client_id: str, code: str, client: Any, request: Request, *args: Any, **kwargs: Any
    ) -> bool:
        """Check a code, and end the connection of one that was used before (OAuth 2.1, 4.1.3)."""
        Grant.objects.select_for_update().filter(code=code, application=client).first()
        is_valid: bool = super().validate_code(client_id, code, client, request, *args, **kwargs)
        if not is_valid:
            connections.end_of_code(code, client)
        return is_valid

    def _save_bearer_token(self, token: Any, request: Request, *args: Any, **kwargs: Any) -> None:
        texts = {name: token[name] for name in ("access_token", "refresh_token")}
        super()._save_bearer_token(token, request, *args, **kwargs)
        token.update(texts)  # of tokens that were given before, the toolkit has no texts
        if request.grant_type == "authorization_code":
            connections.redeem(request.code, token["refresh_token"])

    def _validate_resource_uris(self, request: Request, resources: Any) -> None:
        own = audience.origin_of_oauthlib(request)
        for resource in resources:
            if not audience.is_own(resource, own):
                raise CustomOAuth2Error(
                    error="invalid_target",
                    description=f"Tokens of this server are for {own} only.",
                    request=request,
                )
