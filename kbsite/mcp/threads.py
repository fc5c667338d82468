"""Runs database code of the event loop in a bounded number of threads."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import cache, partial
from typing import ParamSpec, TypeVar

from django.conf import settings
from django.db import connections

P = ParamSpec("P")
T = TypeVar("T")


async def in_thread(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run code that uses the database in one of the threads; its exceptions rise here."""
    call = partial(_and_release, work, *args, **kwargs)
    return await asyncio.get_running_loop().run_in_executor(_threads(), copy_context().run, call)


@cache
def _threads() -> ThreadPoolExecutor:
    # At most half of the connections: the pages need theirs, however many models call at once.
    return ThreadPoolExecutor(
        max_workers=max(1, min(8, settings.DB_POOL_SIZE // 2)), thread_name_prefix="mcp"
    )


def _and_release(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    try:
        return work(*args, **kwargs)
    finally:
        # Django returns connections to the pool after a request, and here there is none.
        for connection in connections.all(initialized_only=True):
            if not connection.in_atomic_block:
                connection.close()
