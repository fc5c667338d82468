"""A call: its caller, by bearer token, and the threads in which its database code runs."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar, copy_context
from functools import cache, partial
from typing import ParamSpec, TypeVar

from django.conf import settings
from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.provider import AccessToken
from pydantic import Field, InstanceOf

from kbsite.accounts.auth import caller_of_token
from kbsite.callers import SignedInCaller
from kbsite.errors import DATABASE_ERRORS
from kbsite.mcp import response
from transcripts.core.access import AccessLevel
from transcripts.core.audit import Actor, acting
from transcripts.core.errors import DatabaseLost, NotSignedIn
from transcripts.core.locks import release_connection

ADDRESS: ContextVar[str | None] = ContextVar("address", default=None)  # of the client
LOCAL_CALLER: ContextVar[SignedInCaller | None] = ContextVar(
    "local_caller", default=None
)  # by stdio
P = ParamSpec("P")
T = TypeVar("T")


class CallerToken(AccessToken):
    """An access token with its caller."""

    caller: InstanceOf[SignedInCaller] = Field(exclude=True, repr=False)


class ApiTokenVerifier:
    """Verifies bearer tokens: personal ones, and those of OAuth for this endpoint."""

    async def verify_token(self, token: str) -> AccessToken | None:
        """Return the access token; None if it is unknown, expired or revoked."""
        try:
            identity = await in_thread(caller_of_token, token, resource=response.resource())
        except NotSignedIn:
            return None
        if identity.token is None:
            raise NotSignedIn("Only a token may call over MCP.")
        return CallerToken(
            token=identity.token.hint,
            client_id=f"token-{identity.token.pk}",
            scopes=list(AccessLevel(identity.token.access).scopes),
            subject=str(identity.user.pk),
            caller=identity,
        )


def caller() -> SignedInCaller:
    """Return the caller of the current call. Raises ``NotSignedIn`` outside of one."""
    if local := LOCAL_CALLER.get():
        return local
    token = get_access_token()
    if not isinstance(token, CallerToken):
        raise NotSignedIn("No token came with this call.")
    identity: SignedInCaller = token.caller
    return identity


async def in_thread(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run code that uses the database in one of the threads; its exceptions rise here."""
    call = partial(_and_release, work, *args, **kwargs)
    return await asyncio.get_running_loop().run_in_executor(_threads(), copy_context().run, call)


def _actor() -> Actor:
    token, address = get_access_token(), ADDRESS.get()
    if not isinstance(token, CallerToken):
        local = LOCAL_CALLER.get()
        return Actor(door="mcp", name=local.user.get_username() if local else "", address=address)
    name = token.caller.user.get_username()
    return Actor(door="mcp", name=name, token=token.token, address=address)


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=max_threads(), thread_name_prefix="mcp")


def max_threads() -> int:
    """Return how many calls use the database at once: the pages need connections, too."""
    return max(1, min(8, int(settings.DB_POOL_SIZE) // 2))


def _and_release(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    try:
        with acting(_actor()):
            return work(*args, **kwargs)
    except DATABASE_ERRORS as error:
        raise DatabaseLost from error
    finally:
        release_connection()  # Django does it after a request, and here there is none
