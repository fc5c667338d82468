"""The door to model servers: one POST of JSON, tried again while that makes sense; every failure becomes a sentence that a person understands.

Keys travel in a header that is set at the last moment: they are in no message, log line or repr. Answers are bounded in size, time and depth.
"""

import json
import logging
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
from citations.providers.server_errors import Refusal, ServerNames, parse_error, quoted, retry_after

MAX_BYTES: Final = 32_000_000
_MAX_LINE: Final = 1_000_000  # of a stream
_SLOWEST: Final = 3  # an answer may take this many timeouts in all: a byte now and then must not hold a worker for ever
_SLOWEST_STREAM: Final = 20
_MAX_COMPLAINT: Final = 100_000
_CONNECT_SECONDS: Final = 10.0
_PASSING: Final = frozenset(
    {408, 409, 425, 429, 500, 502, 503, 504, 529}
)  # 529: Anthropic is overloaded
_DEAD_QUOTAS: Final = frozenset(
    {"insufficient_quota", "billing_hard_limit_reached", "billing_not_active"}
)  # 429s of OpenAI that no waiting mends

A = TypeVar("A", bound=BaseModel)
T = TypeVar("T")
_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpRetryPolicy:
    """How long a failing server is asked again: ``tries`` in all, growing random pauses of up to ``pause`` seconds, none that ends after ``total`` seconds."""

    tries: int = 5
    first: float = 0.5
    pause: float = 30.0
    total: float = 120.0


RETRY_POLICY = HttpRetryPolicy()
"""The patience with every server; tests put one with tiny pauses in its place."""


class ModelServer:
    """A model server that is reached over HTTP. Safe to share between threads; its connections close when it is no longer used."""

    def __init__(
        self,
        names: ServerNames,
        remote: Remote,
        *,
        header: str = "Authorization",
        scheme: str = "Bearer ",
        extra: dict[str, str] | None = None,
    ) -> None:
        """Prepare the connection; ``header`` carries ``scheme`` and the key, ``extra`` are further headers.

        Raises ``InvalidProvider`` where the address is not one of http or https, or holds a name or password, or the key cannot be one.
        """
        self.names = names
        self.timeout = remote.timeout
        self.place, self.host = _checked(remote.base_url, names)
        self._secret = _printable(remote.key.strip(), names)
        self._client = httpx.Client(
            base_url=remote.base_url,
            auth=_Key(header, scheme, self._secret),
            headers={
                "Accept-Encoding": "identity",
                "Content-Type": "application/json",
                "User-Agent": "cuebase",
                **(extra or {}),
            },
            timeout=httpx.Timeout(remote.timeout, connect=min(remote.timeout, _CONNECT_SECONDS)),
            follow_redirects=False,  # the key is for this address only
            verify=_authorities(),
            trust_env=not _is_local(self.host),  # no proxy stands between this machine and itself
        )
        weakref.finalize(self, self._client.close)

    def __repr__(self) -> str:
        """Show where it is."""
        return f"<Server {self.names.server} at {self.place}>"

    def post(self, path: str, body: dict[str, Any], answer: type[A], *, tries: int = 0) -> A:
        """Send ``body`` to ``path`` and return the answer as an ``answer``; ask at most ``tries`` times (0: as ``RETRY_POLICY`` says).

        Raises ``ModelServerError`` where no usable answer came, ``Refusal`` where the server refused.
        """
        return self._insist(lambda: self._whole(path, body, answer), tries)

    def get(self, path: str, answer: type[A], *, tries: int = 0) -> A:
        """Ask for ``path`` and return the answer. Raises as ``post`` does."""
        return self._insist(lambda: self._whole(path, None, answer), tries)

    def stream(
        self, path: str, body: dict[str, Any], event: type[A], *, tries: int = 0
    ) -> Iterator[A]:
        """Send ``body`` and yield what comes (server-sent events, or a JSON object a line), each as an ``event``.

        Nothing is asked again once something came. Raises as ``post`` does, also on the way; whether the end was the end the caller has to see.
        """
        first, rest = self._insist(lambda: self._begun(path, body, event), tries)
        try:
            yield first
            while (item := self._told(rest)) is not None:
                yield item
        finally:
            rest.close()

    def _insist(self, ask: Callable[[], T], tries: int) -> T:
        patience = RETRY_POLICY
        again = Retrying(
            retry=retry_if_exception_type(_TransientError),
            stop=stop_after_attempt(tries or patience.tries) | stop_before_delay(patience.total),
            wait=_pauses(patience),
            before_sleep=self._note,
            reraise=True,
            sleep=time.sleep,
        )
        try:
            return again(ask)
        except _TransientError as failure:
            raise failure.error from None

    def _note(self, state: RetryCallState) -> None:
        failure = state.outcome.exception() if state.outcome else None
        pause = state.next_action.sleep if state.next_action else 0.0
        _logger.info("%s Asking again in %.1f s.", failure, pause)

    def _whole(self, path: str, body: dict[str, Any] | None, answer: type[A]) -> A:
        with self._exchange(path, body, _SLOWEST) as pieces:
            return self._parsed(b"".join(pieces), answer)

    def _begun(
        self, path: str, body: dict[str, Any], event: type[A]
    ) -> tuple[A, Generator[A, None, None]]:
        events = self._events(path, body, event)
        for first in events:
            return first, events
        raise _TransientError(self._error("ended its answer before it began."))

    def _told(self, events: Iterator[A]) -> A | None:
        try:
            return next(events, None)
        except _TransientError as failure:
            raise failure.error from None

    def _events(self, path: str, body: dict[str, Any], event: type[A]) -> Generator[A, None, None]:
        with self._exchange(path, body, _SLOWEST_STREAM) as pieces:
            for line in self._lines(pieces):
                data = line.removeprefix(b"data:").strip()
                if data == b"[DONE]":
                    return
                if data.startswith(b"{"):  # not the name of an event, a comment, a blank line
                    yield self._parsed(data, event)

    def _lines(self, pieces: Iterator[bytes]) -> Iterator[bytes]:
        rest = b""
        for piece in pieces:
            *lines, rest = (rest + piece).split(b"\n")
            yield from lines
            if len(rest) > _MAX_LINE:
                raise self._error("sent a line without an end.")
        yield rest

    def _parsed(self, data: bytes, model: type[A]) -> A:
        try:
            return model.model_validate_json(data)
        except ValidationError:  # its text would quote the answer
            raise _TransientError(
                self._error("gave an answer that cannot be understood.", hint=self._check_address())
            ) from None

    @contextmanager
    def _exchange(
        self, path: str, body: dict[str, Any] | None, slowest: int
    ) -> Iterator[Iterator[bytes]]:
        """Send it and give the pieces of a good answer; what httpx raises becomes one of our errors."""
        try:
            with self._client.stream(
                "GET" if body is None else "POST", path, content=_encoded(body)
            ) as response:
                pieces = self._bounded(response, time.monotonic() + slowest * self.timeout)
                if not response.is_success:
                    raise self._failure(response, _start(pieces))
                yield pieces
        except httpx.ConnectError:
            raise _TransientError(
                self._error(
                    f"does not answer at {self.place}.",
                    hint=f"Is it running? {self._check_address()}",
                )
            ) from None
        except httpx.TimeoutException:
            raise _TransientError(self._late()) from None
        except httpx.HTTPError as error:
            raise _TransientError(self._error(f"broke off ({type(error).__name__}).")) from None

    def _bounded(self, response: httpx.Response, deadline: float) -> Iterator[bytes]:
        size = 0
        for piece in response.iter_bytes():
            size += len(piece)
            if size > MAX_BYTES:
                raise self._error(
                    f"gave an answer of more than {MAX_BYTES / 1_000_000:g} MB; it was not read."
                )
            if time.monotonic() > deadline:
                raise _TransientError(self._late())
            yield piece

    def _failure(self, response: httpx.Response, body: bytes) -> Exception:
        words, kind = parse_error(body)
        words = words.replace(self._secret, "…") if self._secret else words
        if response.status_code in _PASSING and kind not in _DEAD_QUOTAS:
            return _TransientError(
                self._trouble(response.status_code, words),
                after=retry_after(response.headers.get("retry-after", "")),
            )
        return self._refused(response.status_code, words)

    def _trouble(self, status: int, words: str) -> ModelServerError:
        if status == HTTPStatus.TOO_MANY_REQUESTS:
            return self._error(
                f"is asked too often (429){quoted(words)}",
                hint="Wait a little; the service's own pages show the limits of the key.",
            )
        return self._error(f"has trouble ({status}){quoted(words)}")

    def _refused(self, status: int, words: str) -> Refusal:
        name, key = self.names.server, self.names.key
        if status in {401, 403}:  # such answers often quote (part of) the key
            hint = f"Check {key}; `kb config` shows where its value comes from." if key else None
            return Refusal(
                f"{name} did not accept the key ({status})."
                if self._secret
                else f"{name} wants a key ({status}).",
                hint=hint,
                status=status,
            )
        if status == HTTPStatus.NOT_FOUND and not words:
            return Refusal(
                f"{name} is not what answers at {self.place} (404).",
                hint=self._check_address(),
                status=status,
            )
        if 300 <= status < 400:
            return Refusal(
                f"{name} is not at {self.place}: it points elsewhere ({status}).",
                hint=self._check_address(),
                status=status,
            )
        return Refusal(f"{name} refused ({status}){quoted(words)}", status=status, words=words)

    def _late(self) -> ModelServerError:
        return self._error(
            f"did not answer within {self.timeout:g} s.",
            hint="Try again later, or give it more time with MODEL_TIMEOUT_SECONDS.",
        )

    def _error(self, what: str, *, hint: str = "Try again later.") -> ModelServerError:
        return ModelServerError(f"{self.names.server} {what}", hint=hint)

    def _check_address(self) -> str:
        return f"Check the address in {self.names.address}."


class _TransientError(Exception):
    """A failure after which asking again makes sense, not before ``after`` seconds."""

    def __init__(self, error: ModelServerError, *, after: float = 0.0) -> None:
        super().__init__(error.message)
        self.error = error
        self.after = after


class _Key(httpx.Auth):
    """Puts the key into the request when it is sent, so that no client shows it in its headers."""

    def __init__(self, header: str, scheme: str, key: str) -> None:
        self._header, self._scheme, self._key = header, scheme, key

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        if self._key:
            request.headers[self._header] = f"{self._scheme}{self._key}"
        yield request


def _pauses(patience: HttpRetryPolicy) -> Callable[[RetryCallState], float]:
    usual = wait_random_exponential(multiplier=patience.first, max=patience.pause)

    def pause(state: RetryCallState) -> float:
        failure = state.outcome.exception() if state.outcome else None
        return max(usual(state), failure.after if isinstance(failure, _TransientError) else 0.0)

    return pause


def _checked(address: str, names: ServerNames) -> tuple[str, str]:
    """Return the place (scheme, host, port) and the host of an address."""
    try:
        parts = urlsplit(address)
        place, host = f"{parts.scheme}://{parts.netloc}", (parts.hostname or "").lower()
        known = (
            parts.scheme in {"http", "https"}
            and host
            and (parts.port is None or parts.port)
            and httpx.URL(address)
        )
    except (ValueError, httpx.InvalidURL):
        known = False
    if not known or "@" in parts.netloc:
        raise InvalidProvider(
            f"The address of {names.server} cannot be used.",
            hint=f"Put one like http://host:port, without name or password, into {names.address}.",
        )
    return place, host


def _printable(key: str, names: ServerNames) -> str:
    if not (key.isascii() and key.isprintable()):  # it could not be sent, and httpx would quote it
        raise InvalidProvider(
            f"The key of {names.server} cannot be one: it holds more than printable ASCII.",
            hint=f"Check {names.key}.",
        )
    return key


def _encoded(body: dict[str, Any] | None) -> bytes | None:
    """Write JSON; half a surrogate pair, which has no bytes, becomes a question mark."""
    return None if body is None else json.dumps(body, ensure_ascii=False).encode(errors="replace")


@cache
def _authorities() -> ssl.SSLContext:
    """The certificates that are trusted; reading them takes longer than most answers."""
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
        if len(body) > _MAX_COMPLAINT:
            break
    return body
