"""Connections to model servers: whoever gives up a request need not wait for its next byte."""

import time
from typing import Any, Final

import httpcore
import httpx

from transcripts.core import cancellation

_LOOK_SECONDS: Final = 0.5  # between two looks at whether somebody still waits


class EndableTransport(httpx.HTTPTransport):
    """Raises ``Cancelled`` while it waits for an answer that its caller has given up."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        # The class has no option for it, unlike the pool that it makes.
        self._pool._network_backend = _Backend()


class _Backend(httpcore.SyncBackend):
    def connect_tcp(self, *arguments: Any, **options: Any) -> httpcore.NetworkStream:
        return _Stream(super().connect_tcp(*arguments, **options))


class _Stream(httpcore.NetworkStream):
    def __init__(self, stream: httpcore.NetworkStream) -> None:
        self._stream = stream

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, timeout)

    def close(self) -> None:
        self._stream.close()

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        deadline = time.monotonic() + (timeout or float("inf"))
        while True:
            cancellation.check()
            rest = deadline - time.monotonic()
            try:
                return self._stream.read(max_bytes, max(0.001, min(rest, _LOOK_SECONDS)))
            except httpcore.ReadTimeout:
                if rest <= _LOOK_SECONDS:
                    raise

    def start_tls(self, *arguments: Any, **options: Any) -> httpcore.NetworkStream:
        return _Stream(self._stream.start_tls(*arguments, **options))
