"""The toolkit's rules for tokens, and ours: tokens belong to a connection and to this server."""

from typing import Any

from oauth2_provider.oauth2_validators import OAuth2Validator
from oauthlib.oauth2.rfc6749.errors import CustomOAuth2Error

from kbsite.oauth import audience, connections


class Validator(OAuth2Validator):
    """Binds a new family of tokens to its connection; refuses resources of other servers."""

    def _save_bearer_token(self, token: Any, request: Any, *args: Any, **kwargs: Any) -> None:
        texts = {name: token[name] for name in ("access_token", "refresh_token")}
        super()._save_bearer_token(token, request, *args, **kwargs)
        token.update(texts)  # of tokens that were given before, the toolkit has no texts
        if request.grant_type == "authorization_code":
            connections.redeem(request.code, token["refresh_token"])

    def _validate_resource_uris(self, request: Any, resources: Any) -> None:
        own = audience.origin_of_oauthlib(request)
        for resource in resources:
            if not audience.is_own(resource, own):
                raise CustomOAuth2Error(
                    error="invalid_target",
                    description=f"Tokens of this server are for {own} only.",
                    request=request,
                )
