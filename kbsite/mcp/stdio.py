"""MCP over standard input and output, with the library of this machine."""

from typing import Any

import anyio
from django.contrib.auth.models import User
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext

from kbsite.callers import SignedInCaller, everything
from kbsite.mcp.calls import LOCAL_CALLER, in_thread
from kbsite.mcp.server import build_server


def serve(owner: User) -> None:
    """Serve the library with its owner's rights until the input ends.

    The SDK keeps the standard output for messages: what else is printed goes to the error output.
    """
    server = build_server()

    async def as_owner(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        LOCAL_CALLER.set(await in_thread(lambda: SignedInCaller(user=owner, scope=everything())))
        return await call_next(ctx)

    server.middleware.insert(0, as_owner)
    anyio.run(server.run_stdio_async)
