"""Identifies callers by the bearer token of the HTTP request."""

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


class Verifier:
    """Verifies bearer tokens: API tokens of this server, without an audience to check."""

    async def verify_token(self, token: str) -> AccessToken | None:
        """Return the access token; None if it is unknown, expired or revoked."""
        try:
            found = await in_thread(caller_of_token, token)
        except NotSignedIn:
            return None
        return _access(found)


def caller() -> Caller:
    """Return the caller of the current call. Raises ``NotSignedIn`` outside of one."""
    token = get_access_token()
    if not isinstance(token, CallerToken):
        raise NotSignedIn("No token came with this call.")
    found: Caller = token.caller
    return found


def _access(found: Caller) -> CallerToken:
    if found.token is None:
        raise NotSignedIn("Only a token may call over MCP.")
    scopes = ["read", "write"] if found.token.can_write else ["read"]
    return CallerToken(
        token=found.token.hint,
        client_id=f"token-{found.token.pk}",
        scopes=scopes,
        subject=str(found.user.pk),
        caller=found,
    )
