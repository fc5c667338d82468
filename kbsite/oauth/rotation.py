"""The texts of tokens. What follows a refresh token is derived from it, so it can be given again.

Only hashes are stored. Of two programs that refresh with one token at once, the second is answered
with what the first got, for ``REFRESH_TOKEN_GRACE_PERIOD_SECONDS``; nobody without this server's
key can derive it.
"""

from django.utils.crypto import salted_hmac
from oauthlib.common import Request, generate_token


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
