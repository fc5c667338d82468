"""Reads from a replica. What it does not answer in full, the primary answers as if it had been
asked first: a replica that ends meanwhile, is late, or is asked to write costs time, not an error.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final, TypeVar, cast

from django.core.exceptions import MiddlewareNotUsed
from django.db import connection
from django.http import HttpRequest, HttpResponse

from kbsite.callers import AnyRequest, caller_or_none
from kbsite.database import replicas
from kbsite.database.base import DatabaseWrapper
from transcripts.core.views.requests import SAFE

T = TypeVar("T")
# Whoever signs in, connects an application or administers reads what they are about to change.
AT_PRIMARY: Final = ("/accounts/", "/admin/", "/metrics", "/oauth/", "/sign-in/", "/readyz")


class ReplicaReadsMiddleware:
    """Answers requests that only read from a replica, and remembers who has written, and when.

    Who asks is asked of the primary: what is revoked is so at once. While the primary is away, a
    replica tells that, too. It comes last, so that the view is all that is done again.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        if not replicas.names():
            raise MiddlewareNotUsed
        self._get_response = get_response

    def __call__(self, request: AnyRequest) -> HttpResponse:
        if request.method in SAFE:
            with spared():
                return self._get_response(request)
        response = self._get_response(request)
        user = _user_of(request)
        if user is not None:
            remember_write(user)
        return response

    def process_view(
        self, request: AnyRequest, view_func: Any, view_args: Any, view_kwargs: Any
    ) -> HttpResponse | None:
        if request.method not in SAFE or request.path_info.startswith(AT_PRIMARY):
            return None

        def view() -> Any:
            response = view_func(request, *view_args, **view_kwargs)
            if not getattr(response, "is_rendered", True):
                response.render()
            return response

        return attempt(view, _user_of(request), is_whole=lambda result: result.status_code < 400)


@contextmanager
def spared() -> Iterator[None]:
    """Let a replica answer during the block where the primary does not."""
    own = cast(DatabaseWrapper, connection)
    own.spare = replicas.borrow_any if replicas.names() else None
    try:
        yield
    finally:
        own.spare = None


def read(user: int, work: Callable[[], T]) -> T:
    """Return what reading gives, from a replica if one may answer."""
    if not replicas.names():
        return work()
    with spared():
        result = attempt(work, user)
    return work() if result is None else result


def remember_write(user: int) -> None:
    """Let replicas answer a user only once they have what was written until now."""
    if replicas.names() and not connection.in_atomic_block:
        replicas.remember(user)


def attempt(
    work: Callable[[], T], user: int | None, *, is_whole: Callable[[T], bool] = bool
) -> T | None:
    """Return what a replica gives to a user; None where the primary has to do all of it."""
    own = cast(DatabaseWrapper, connection)
    if own.in_atomic_block:
        return None
    needed = replicas.needed_by(user)
    if needed is not None:  # else this connection is a replica's already
        lent = replicas.borrow(needed)
        if lent is None:
            replicas.count_read("primary")
            return None
        own.close()
        own.lent = lent
    own.errors_occurred = False  # until now
    try:
        # Whatever it raises, the primary may know better, and else it raises the same.
        with suppress(Exception):
            result = work()
            if is_whole(result) and not own.errors_occurred:
                replicas.count_read("replica")
                return result
    finally:
        own.close()
        own.spare = None
        if own.lent is not None:  # nothing was asked
            own.lent._pool.putconn(own.lent)
            own.lent = None
    replicas.count_read("primary")
    return None


def _user_of(request: AnyRequest) -> int | None:
    caller = caller_or_none(request)
    user = caller.user if caller else getattr(request, "user", None)  # who has just signed in
    return user.pk if user else None
