"""HTTP client for model servers: JSON requests with retries, and errors that a person understands.

Keys are set in a header at the last moment, so that no message, log line or repr contains them.
Answers are limited in size, time and depth.
"""

import json
import logging
import re
import secrets
import ssl
import time
import weakref
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from http import HTTPStatus
from ipaddress import ip_address
from typing import Any, Final, TypeVar
from urllib.parse import urlsplit

import httpx
from pydantic import BaseModel, ValidationError
from tenacity import (
    RetryCallState,
    Retrying,
    retry_if_exception_type,
    stop_after_attempt,
    stop_before_delay,
    wait_random_exponential,
)

from citations.conf import Remote
from citations.errors import InvalidProvider, ModelServerError
from citations.providers import json_events
from citations.providers.connections import EndableTransport
from citations.providers.server_errors import (
    Refusal,
    ServerFailure,
    ServerNames,
    is_permanent,
    parse_error,
    quoted,
    retry_after,
)
from transcripts.core import cancellation

MAX_BYTES: Final = 32_000_000
_MAX_LINE: Final = 1_000_000  # of a stream
_MAX_TIMEOUTS: Final = 3  # for a whole answer, so that a slow trickle cannot block a worker
_MAX_STREAM_TIMEOUTS: Final = 20
_MOST_SECONDS: Final = 600.0  # the same, whatever the timeout
_MAX_ERROR_BYTES: Final = 100_000
_CONNECT_SECONDS: Final = 10.0
_LINE_END: Final = re.compile(rb"\r\n|\n|\r(?=[^\n])")  # at the end, \r may be half of one
# 529: Anthropic is overloaded.
_TRANSIENT_STATUSES: Final = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
# OpenAI's reasons of a 429 that is not transient.
_PERMANENT_429: Final = frozenset(
    {"insufficient_quota", "billing_hard_limit_reached", "billing_not_active"}
)

# What web servers say of a path that they do not have; one for models names the model.
_NO_SUCH_PATH: Final = re.compile(
    r"|(?:404\W{0,3})?(?:(?:page|path|url|route|resource|file)\s)?not found\W?(?:\W?404)?",
    re.IGNORECASE,
)

M = TypeVar("M", bound=BaseModel)
T = TypeVar("T")
_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpRetryPolicy:
    """At most ``tries`` attempts in ``total`` seconds, with pauses of up to ``pause``."""

    tries: int = 5
    first: float = 0.5
    pause: float = 30.0
    total: float = 120.0


RETRY_POLICY = HttpRetryPolicy()  # tests shorten the pauses


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """The fields of a form, and a file in its field ``file``."""

    fields: dict[str, Any]
    name: str
    media_type: str
    data: bytes


Body = dict[str, Any] | Form


class ModelServer:
    """A model server. Thread safe; its connections close when it is no longer referenced."""

    def __init__(
        self,
        names: ServerNames,
        remote: Remote,
        *,
        header: str = "Authorization",
        scheme: str = "Bearer ",
        extra: dict[str, str] | None = None,
    ) -> None:
        """Prepare the connection; ``header`` contains ``scheme`` and the key.

        Raises ``InvalidProvider`` for an address that is not HTTP or contains a user name, and for
        a key that is not printable ASCII.
        """
        self.names = names
        self.timeout = remote.timeout
        self.origin, self.host = _check_address(remote.base_url, names)
        self._secret = remote.key.strip()
        if not (self._secret.isascii() and self._secret.isprintable()):  # httpx would quote it
            raise InvalidProvider(
                f"The key of {names.server} is not valid: it is not printable ASCII.",
                hint=f"Check {names.key}.",
            )
        self._client = httpx.Client(
            base_url=remote.base_url,
            auth=_KeyAuth(header, scheme, self._secret),
            headers={
                "Accept-Encoding": "identity",
                "Content-Type": "application/json",
                "User-Agent": "cuebase",
                **(extra or {}),
            },
            timeout=httpx.Timeout(remote.timeout, connect=min(remote.timeout, _CONNECT_SECONDS)),
            follow_redirects=False,  # the key is meant for this address only
            verify=_ssl_context(),
            transport=EndableTransport(verify=_ssl_context()),
            trust_env=not _is_local(self.host),  # no proxy for this machine itself
        )
        weakref.finalize(self, self._client.close)

    def __repr__(self) -> str:
        return f"<Server {self.names.server} at {self.origin}>"

    def post(self, path: str, body: Body, answer: type[M], *, tries: int = 0) -> M:
        """Send ``body`` to ``path`` and return the answer after at most ``tries`` attempts.

        0 means as many as ``RETRY_POLICY`` allows. Raises ``ModelServerError`` without a usable
        answer, ``Refusal`` if the server refuses.
        """
        return self._retry(lambda: self._exchange(path, body, answer), tries)

    def get(self, path: str, answer: type[M], *, tries: int = 0) -> M:
        """Get ``path``. Raises as ``post`` does."""
        return self._retry(lambda: self._exchange(path, None, answer), tries)

    def stream(
        self, path: str, body: dict[str, Any], event: type[M], *, tries: int = 0
    ) -> Iterator[M]:
        """Send ``body`` and yield the server-sent events, or JSON lines, of the answer.

        Retries only before the first event. Raises as ``post`` does, also between events. The
        caller must check whether the last event is the end.
        """
        first, rest = self._retry(lambda: self._open_stream(path, body, event), tries)
        try:
            yield first
            yield from rest
        except _TransientError as failure:
            raise failure.error from None
        finally:
            rest.close()

    def _retry(self, attempt: Callable[[], T], tries: int) -> T:
        policy = RETRY_POLICY
        retrying = Retrying(
            retry=retry_if_exception_type(_TransientError),
            stop=stop_after_attempt(tries or policy.tries) | stop_before_delay(policy.total),
            wait=_wait(policy),
            before_sleep=_log_retry,
            reraise=True,
            sleep=time.sleep,
        )
        try:
            return retrying(attempt)
        except _TransientError as failure:
            raise failure.error from None

    def _exchange(self, path: str, body: Body | None, answer: type[M]) -> M:
        with self._send(path, body, _MAX_TIMEOUTS) as pieces:
            return self._parsed(b"".join(pieces), answer)

    def _open_stream(
        self, path: str, body: dict[str, Any], event: type[M]
    ) -> tuple[M, Generator[M, None, None]]:
        events = self._events(path, body, event)
        for first in events:
            return first, events
        raise _TransientError(self._error("ended its answer before it began."))

    def _events(self, path: str, body: dict[str, Any], event: type[M]) -> Generator[M, None, None]:
        """Yield the objects of an answer; its end, too, if these have a field ``done``."""
        timeouts = _MAX_STREAM_TIMEOUTS if body.get("stream") else _MAX_TIMEOUTS
        with self._send(path, body, timeouts) as pieces:
            for data in json_events.objects(self._lines(pieces)):
                if data != json_events.DONE:
                    yield self._parsed(data, event)
                elif "done" in event.model_fields:
                    yield event.model_validate({"done": True})

    def _lines(self, pieces: Iterator[bytes]) -> Iterator[bytes]:
        rest = b""
        for piece in pieces:
            *lines, rest = _LINE_END.split(rest + piece)
            yield from lines
            if len(rest) > _MAX_LINE:
                raise self._error("sent a line that is too long.")
        yield rest

    def _parsed(self, data: bytes, model: type[M]) -> M:
        try:
            return model.model_validate_json(data)
        except ValidationError:  # its text would quote the answer
            words = "" if data.startswith((b"{", b"[[")) else self._words(data)[0]
            fault = f"gave an answer that cannot be understood{quoted(words)}"
            raise _TransientError(self._error(fault, hint=self._address_hint())) from None

    def _words(self, body: bytes) -> tuple[str, str]:
        """Return the message of an error, without the key, and its reason code."""
        message, reason = parse_error(body)
        return message.replace(self._secret, "…") if self._secret else message, reason

    @contextmanager
    def _send(self, path: str, body: Body | None, timeouts: int) -> Iterator[Iterator[bytes]]:
        """Send a request and return its answer in pieces; translate errors of httpx."""
        cancellation.check()
        method = "GET" if body is None else "POST"
        try:
            with self._client.stream(method, path, **_content(body)) as response:
                seconds = max(self.timeout, min(timeouts * self.timeout, _MOST_SECONDS))
                pieces = self._limited(response, time.monotonic() + seconds)
                if not response.is_success:
                    raise self._failure(response, _start(pieces))
                yield pieces
        except httpx.ConnectError:
            why = "Is it running?" if _is_local(self.host) else "Is there a network?"
            fault, hint = f"does not answer at {self.origin}.", f"{why} {self._address_hint()}"
            raise _TransientError(self._error(fault, hint=hint)) from None
        except httpx.TimeoutException:
            raise _TransientError(self._timeout_error()) from None
        except httpx.HTTPError as error:
            raise _TransientError(self._error(f"broke off ({type(error).__name__}).")) from None

    def _limited(self, response: httpx.Response, deadline: float) -> Iterator[bytes]:
        size = 0
        for piece in response.iter_bytes():
            size += len(piece)
            if size > MAX_BYTES:
                raise self._error(
                    f"gave an answer of more than {MAX_BYTES / 1_000_000:g} MB; it was not read."
                )
            if time.monotonic() > deadline:
                raise _TransientError(self._timeout_error())
            yield piece

    def _failure(self, response: httpx.Response, body: bytes) -> Exception:
        status = response.status_code
        message, reason = self._words(body)
        is_refused = status == HTTPStatus.INTERNAL_SERVER_ERROR and is_permanent(message)
        if status not in _TRANSIENT_STATUSES or reason in _PERMANENT_429 or is_refused:
            return self._refusal(status, message)
        if status == HTTPStatus.TOO_MANY_REQUESTS:
            error = self._error(
                f"gets too many requests (429){quoted(message)}",
                hint="Wait a little; the service's website shows the limits of the key.",
            )
        else:
            fault = f"{self.names.server} has a problem ({status}){quoted(message)}"
            hint = "Try again later."
            error = ServerFailure(fault, hint=hint, status=status, reason=message)
        return _TransientError(error, after=retry_after(response.headers, body.decode("latin-1")))

    def _refusal(self, status: int, message: str) -> Refusal:
        name, key = self.names.server, self.names.key
        if status in {401, 403}:  # such answers often quote (part of) the key
            hint = f"Check {key}; `kb config` shows where its value comes from." if key else None
            fault = "did not accept the key" if self._secret else "requires a key"
            return Refusal(f"{name} {fault} ({status}).", hint=hint, status=status)
        if status == HTTPStatus.NOT_FOUND and _NO_SUCH_PATH.fullmatch(message):
            fault = f"{name} is not what answers at {self.origin} (404)."
            return Refusal(fault, hint=self._address_hint(), status=status)
        if 300 <= status < 400:
            fault = f"{name} is not at {self.origin}: it redirects elsewhere ({status})."
            return Refusal(fault, hint=self._address_hint(), status=status)
        fault = f"{name} refused ({status}){quoted(message)}"
        return Refusal(fault, status=status, reason=message)

    def _timeout_error(self) -> ModelServerError:
        return self._error(
            f"did not answer within {self.timeout:g} s.",
            hint="Try again later, or raise MODEL_TIMEOUT_SECONDS.",
        )

    def _error(self, fault: str, *, hint: str = "Try again later.") -> ModelServerError:
        return ModelServerError(f"{self.names.server} {fault}", hint=hint)

    def _address_hint(self) -> str:
        return f"Check the address in {self.names.address}."


class _TransientError(Exception):
    """A failure worth another attempt after ``after`` seconds."""

    def __init__(self, error: ModelServerError, *, after: float = 0.0) -> None:
        super().__init__(error.message)
        self.error = error
        self.after = after


class _KeyAuth(httpx.Auth):
    """Adds the key to a request as it is sent, so that no client shows it in its headers."""

    def __init__(self, header: str, scheme: str, key: str) -> None:
        self._header, self._scheme, self._key = header, scheme, key

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        if self._key:
            request.headers[self._header] = f"{self._scheme}{self._key}"
        yield request


def _content(body: Body | None) -> dict[str, Any]:
    """Return the arguments of httpx that send a body."""
    if isinstance(body, Form):
        boundary = secrets.token_hex(16)
        return {
            "data": body.fields,
            "files": {"file": (body.name, body.data, body.media_type)},
            "headers": {"Content-Type": f"multipart/form-data; boundary={boundary}"},
        }
    # Of a lone surrogate, a question mark is sent.
    return {"content": body and json.dumps(body, ensure_ascii=False).encode(errors="replace")}


def _log_retry(state: RetryCallState) -> None:
    failure = state.outcome.exception() if state.outcome else None
    pause = state.next_action.sleep if state.next_action else 0.0
    _logger.info("%s Trying again in %.1f s.", failure, pause)


def _wait(policy: HttpRetryPolicy) -> Callable[[RetryCallState], float]:
    exponential = wait_random_exponential(multiplier=policy.first, max=policy.pause)

    def pause(state: RetryCallState) -> float:
        failure = state.outcome.exception() if state.outcome else None
        after = failure.after if isinstance(failure, _TransientError) else 0.0
        return max(exponential(state), after)

    return pause


def _check_address(address: str, names: ServerNames) -> tuple[str, str]:
    """Return the origin (scheme, host, port) and the host of an address."""
    try:
        parts = urlsplit(address)
        origin, host = f"{parts.scheme}://{parts.netloc}", (parts.hostname or "").lower()
        has_port = parts.port is None or parts.port
        is_valid = parts.scheme in {"http", "https"} and host and has_port and httpx.URL(address)
    except (ValueError, httpx.InvalidURL):
        is_valid = False
    if not is_valid or "@" in parts.netloc:
        raise InvalidProvider(
            f"The address of {names.server} is not valid.",
            hint=f"Set {names.address} to one like http://host:port, without name or password.",
        )
    return origin, host


@cache
def _ssl_context() -> ssl.SSLContext:
    """Read the trusted certificates once, as that takes longer than most answers."""
    return httpx.create_ssl_context()


def _is_local(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _start(pieces: Iterator[bytes]) -> bytes:
    body = b""
    for piece in pieces:
        body += piece
        if len(body) > _MAX_ERROR_BYTES:
            break
    return body
