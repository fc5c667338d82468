"""The tokens of OAuth: their scopes, their texts, and the connection and server they belong to.

Only hashes of texts are stored. What follows a refresh token is derived from it, so it can be given
again: of two programs that refresh with one token at once, the second is answered with what the
first got, for ``REFRESH_TOKEN_GRACE_PERIOD_SECONDS``; nobody without this server's key can derive
it.
"""

from typing import Any

from django.http import HttpRequest
from django.utils.crypto import salted_hmac
from oauth2_provider.models import Grant
from oauth2_provider.oauth2_validators import OAuth2Validator
from oauth2_provider.scopes import SettingsScopes
from oauthlib.common import Request, generate_token
from oauthlib.oauth2.rfc6749.errors import CustomOAuth2Error

from kbsite.oauth import audience, connections
from transcripts.core.access import AccessLevel


class Scopes(SettingsScopes):
    """Leaves managing out of the metadata: clients ask for whatever these name."""

    def get_available_scopes(
        self, application: Any = None, request: HttpRequest | None = None, *args: Any, **kwargs: Any
    ) -> list[str]:
        """Return what an application may ask for; without one, what the metadata name."""
        return list((AccessLevel.MANAGE if application else AccessLevel.WRITE).scopes)


def access_token(request: Request) -> str:
    """Return the text of the access token that answers a request."""
    return _text("kbsite.oauth.access", request)


def refresh_token(request: Request) -> str:
    """Return the text of the refresh token that answers a request."""
    return _text("kbsite.oauth.refresh", request)


def _text(salt: str, request: Request) -> str:
    if request.grant_type != "refresh_token":
        return str(generate_token())
    return salted_hmac(salt, request.refresh_token, algorithm="sha256").hexdigest()


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
