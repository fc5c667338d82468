"""Authenticate MCP requests by bearer token."""

from typing import Any

from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.provider import AccessToken
from pydantic import Field

from kbsite.auth import Caller, caller_of_token
from kbsite.mcp.threads import in_thread
from transcripts.errors import NotSignedIn


class CallerToken(AccessToken):
    """An access token with its caller."""

    caller: Any = Field(exclude=True, repr=False)


class ApiTokenVerifier:
    """Verifies bearer tokens: API tokens of this server, without an audience to check."""

    async def verify_token(self, token: str) -> AccessToken | None:
        """Return the access token; None if it is unknown, expired or revoked."""
        try:
            identity = await in_thread(caller_of_token, token)
        except NotSignedIn:
            return None
        return _access_token(identity)


def caller() -> Caller:
    """Return the caller of the current call. Raises ``NotSignedIn`` outside of one."""
    token = get_access_token()
    if not isinstance(token, CallerToken):
        raise NotSignedIn("No token came with this call.")
    identity: Caller = token.caller
    return identity


def _access_token(identity: Caller) -> CallerToken:
    if identity.token is None:
        raise NotSignedIn("Only a token may call over MCP.")
    scopes = ["read", "write"] if identity.token.can_write else ["read"]
    return CallerToken(
        token=identity.token.hint,
        client_id=f"token-{identity.token.pk}",
        scopes=scopes,
        subject=str(identity.user.pk),
        caller=identity,
    )
