"""One POST to an address that a user chose: bounded in time and size, and not led anywhere else."""

import socket
from contextlib import suppress
from ipaddress import ip_address
from threading import Timer
from typing import Any, Final
from urllib.parse import urlsplit

import requests
from django.conf import settings
from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection
from urllib3.exceptions import HTTPError

from transcripts.core.errors import Retry, Unavailable
from transcripts.youtube.guard import NotPublic, connect_publicly, is_public

MAX_ADDRESS: Final = 2000  # characters
STEP_SECONDS: Final = 5.0  # for each step of the network
ALL_SECONDS: Final = 10.0  # from connecting to the end of the answer's headers
AGENT: Final = "Cuebase-Webhooks/1"
NO_ADDRESS_NOTE: Final = "This is no address."
HTTPS_NOTE: Final = "The address has to begin with https://, such as https://example.org/hooks."
HTTP_NOTE: Final = "The address has to begin with https:// or http://."
PARTS_NOTE: Final = "Leave the user's name, the password and what follows # out of the address."
PRIVATE_NOTE: Final = "This is no public address. Name one that other servers reach."


class ReceiverFailed(Unavailable):
    """The receiver of a webhook did not accept a message."""

    code = "receiver_failed"
    default_hint = "Its address has to answer 2xx within ten seconds, without a redirect."
    retry = Retry.RECEIVER

    def __init__(self, message: str, *, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


def flaw_of(address: str) -> str:
    """Say why messages cannot go to an address, in a sentence that pages translate, or ""."""
    try:
        parts = urlsplit(address)
        host, port = parts.hostname, parts.port
    except ValueError:
        return NO_ADDRESS_NOTE
    schemes = ("https", "http") if settings.WEBHOOK_PRIVATE_ADDRESSES else ("https",)
    if parts.scheme not in schemes or not host or port == 0 or not address.isprintable():
        return HTTP_NOTE if settings.WEBHOOK_PRIVATE_ADDRESSES else HTTPS_NOTE
    if parts.username is not None or parts.fragment:
        return PARTS_NOTE
    if not settings.WEBHOOK_PRIVATE_ADDRESSES and _is_private(host):
        return PRIVATE_NOTE
    return ""


def _is_private(host: str) -> bool:
    try:
        return not is_public(str(ip_address(host)))
    except ValueError:
        return host == "localhost"  # other names are looked up when they are needed


def post(address: str, body: str, headers: dict[str, str]) -> int:
    """Send a message; return the status of the answer, whose body is not read.

    Raises ``ReceiverFailed`` unless that is 2xx.
    """
    if flaw := flaw_of(address):  # it was allowed when it was given
        raise ReceiverFailed(f"The address cannot be used: {flaw}")
    about = {"Content-Type": "application/json", "User-Agent": AGENT, "Accept-Encoding": "identity"}
    with requests.Session() as session:
        session.trust_env = False  # no proxy, and no password from ~/.netrc
        session.mount("https://", _adapter())
        session.mount("http://", _adapter())
        try:
            with session.post(
                address,
                data=body.encode(),
                headers={**about, **headers},
                timeout=STEP_SECONDS,
                allow_redirects=False,
                stream=True,
            ) as response:
                status = response.status_code
        except (OSError, HTTPError, ValueError) as error:
            raise ReceiverFailed(_explanation(error)) from error
    if not 200 <= status < 300:
        raise ReceiverFailed(f"The receiver answered {status}.", status=status)
    return status


def _explanation(error: Exception) -> str:
    if isinstance(getattr(next(iter(error.args), None), "reason", None), NotPublic):
        return "The address leads to no public address."
    if isinstance(error, requests.Timeout):
        return "The receiver did not answer in time."
    if isinstance(error, requests.exceptions.SSLError):
        return "The receiver's certificate is not accepted."
    return "The receiver cannot be reached, or broke off."


class _Deadline(HTTPConnection):
    """A connection that is shut down after a time: a slow trickle must not hold a worker."""

    _timer: Timer | None = None

    def connect(self) -> None:
        self._timer = Timer(ALL_SECONDS, self._shut)
        self._timer.daemon = True
        self._timer.start()
        super().connect()

    def close(self) -> None:
        if self._timer:
            self._timer.cancel()
        super().close()

    def _shut(self) -> None:
        sock: Any = self.sock
        with suppress(OSError, TypeError):  # TypeError: there is no connection yet
            socket.socket.shutdown(sock, socket.SHUT_RDWR)  # without a farewell of TLS


def _adapter() -> HTTPAdapter:
    adapter = HTTPAdapter()
    if not settings.WEBHOOK_PRIVATE_ADDRESSES:
        connect_publicly(adapter)
    pools: dict[str, Any] = dict(adapter.poolmanager.pool_classes_by_scheme)
    adapter.poolmanager.pool_classes_by_scheme = {
        scheme: type(
            "_Pool", (pool,), {"ConnectionCls": type("_", (_Deadline, pool.ConnectionCls), {})}
        )
        for scheme, pool in pools.items()
    }
    return adapter
