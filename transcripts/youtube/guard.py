"""The guard of all requests to YouTube: hosts, addresses, time and size, also on redirects."""

import os
import re
import socket
import time
from collections.abc import Iterator
from io import BytesIO
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import Any, Final
from urllib.parse import urlsplit
from urllib.request import getproxies

import requests
import urllib3
from requests.adapters import BaseAdapter, HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.exceptions import ConnectTimeoutError, NameResolutionError, NewConnectionError

from transcripts.core.errors import HostRefused, NetworkProblem, ResponseTooLarge
from transcripts.youtube.values import PLAYER_PATH, Options, RequestTrace, read_playability

LOOPBACK_VARIABLE = "CUEBASE_YOUTUBE_LOOPBACK"
_HOSTS = re.compile(
    r"(?:(?:[a-z0-9-]+\.)?youtube\.com|youtu\.be|youtubei\.googleapis\.com|i\.ytimg\.com"
    r"|(?:[a-z0-9-]+\.)+googlevideo\.com)"
)
_PIECE = 65_536
_SLOWEST = 3  # timeouts that a whole answer may take: a slow trickle must not hold a worker


class Guard(BaseAdapter):
    """An adapter around the one that sends. It records what happens in ``trace``.

    Raises ``requests.ConnectionError`` for what it refuses, which both libraries handle; our own
    errors would be swallowed by one and leak through the other. ``trace.refusal`` has the error.
    """

    def __init__(self, inner: BaseAdapter, options: Options, trace: RequestTrace) -> None:
        super().__init__()
        self.inner, self.options, self.trace = inner, options, trace

    def send(self, request: requests.PreparedRequest, *_: Any, **options: Any) -> requests.Response:
        """Send a request to YouTube and read the whole answer within the limits."""
        self._check(request.url or "")
        deadline = time.monotonic() + _SLOWEST * self.options.timeout
        try:
            limited = {**options, "stream": True, "timeout": self.options.timeout}
            response = self.inner.send(request, **limited)
            body = self._read(response, deadline)
        except OSError as error:  # the base of all errors of requests
            self.trace.failed = True
            if isinstance(getattr(next(iter(error.args), None), "reason", None), NotPublic):
                name = urlsplit(request.url or "").hostname
                self.trace.refusal = NetworkProblem(
                    f"The name {name} leads to no public address here; nothing was sent.",
                    hint="Check this server's name resolution (DNS), or set PROXY_URL.",
                )
            raise
        except urllib3.exceptions.HTTPError as error:
            self.trace.failed = True
            message = f"The answer broke off ({type(error).__name__})."
            raise requests.ConnectionError(message) from None
        path = urlsplit(request.url or "").path
        self.trace.statuses.append((path, response.status_code))
        if path == PLAYER_PATH and (player := read_playability(body)):
            self.trace.players.append(player)
        self.trace.captcha = self.trace.captcha or b'class="g-recaptcha"' in body
        return _with_body(response, body)

    def close(self) -> None:
        self.inner.close()

    def _check(self, url: str) -> None:
        parts = urlsplit(url)
        host = (parts.hostname or "").lower()
        if host in {"google.com", "www.google.com"} and parts.path.startswith("/sorry"):
            self.trace.captcha = True
        if self.trace.captcha or self.trace.saw(429):  # further requests would only make it worse
            raise requests.ConnectionError(
                "YouTube refuses this server; no further request is sent."
            )
        if parts.scheme != "https" or not _HOSTS.fullmatch(host) or parts.port not in {None, 443}:
            where = f"{parts.scheme}://{host}"[:100]
            self.trace.refusal = HostRefused(
                f"YouTube's answer pointed to {where}, which is not YouTube; it was not followed."
            )
            raise requests.ConnectionError("refused by the allow-list")

    def _read(self, response: requests.Response, deadline: float) -> bytes:
        pieces: list[bytes] = []
        size = 0
        # read() would wait for a whole block, however slowly it arrives.
        while piece := response.raw.read1(_PIECE, decode_content=True):
            size += len(piece)
            if size > self.options.max_bytes:
                response.close()
                limit = self.options.max_bytes / 1_000_000
                self.trace.refusal = ResponseTooLarge(
                    f"YouTube's answer is larger than {limit:g} MB and was cut off."
                )
                raise requests.ConnectionError("refused by the size cap")
            if time.monotonic() > deadline:
                response.close()
                raise requests.ReadTimeout("The answer came too slowly.")
            pieces.append(piece)
        return b"".join(pieces)


class Loopback(HTTPAdapter):
    """Send every request to a stand-in on this machine, with its original Host header."""

    def __init__(self, url: str) -> None:
        if not _is_loopback(url):
            raise HostRefused(
                f"{LOOPBACK_VARIABLE} must be an http:// address of this machine,"
                " such as http://127.0.0.1:8000."
            )
        super().__init__()
        self.url = url.rstrip("/")

    def send(self, request: requests.PreparedRequest, *_: Any, **options: Any) -> requests.Response:
        target = urlsplit(request.url or "")
        turned = request.copy()
        turned.headers["Host"] = target.netloc
        turned.url = f"{self.url}{target.path or '/'}{'?' if target.query else ''}{target.query}"
        response = super().send(turned, **{**options, "proxies": {}})
        response.request, response.url = request, request.url or ""
        return response


def loopback_from_environment() -> BaseAdapter | None:
    """Return the stand-in's adapter if the environment names one.

    Raises ``HostRefused`` if it is not on this machine.
    """
    url = os.environ.get(LOOPBACK_VARIABLE, "")
    return Loopback(url) if url else None


def session(options: Options, trace: RequestTrace, inner: BaseAdapter | None) -> requests.Session:
    """Return a session that can reach only YouTube."""
    http = requests.Session()
    http.trust_env = False  # otherwise a password from ~/.netrc would be sent
    http.proxies.update(proxies(options))
    guard = Guard(inner or connect_publicly(HTTPAdapter()), options, trace)
    http.mount("https://", guard)
    http.mount("http://", guard)
    return http


def proxies(options: Options) -> dict[str, str]:
    """Return the proxies by scheme: the configured one, or those of the environment."""
    url = options.proxy_url
    return {"http": url, "https": url} if url else getproxies()


def _with_body(response: requests.Response, body: bytes) -> requests.Response:
    """Replace the stream by the body, for libraries that read ``raw``."""
    headers = response.raw.headers.copy()
    for name in ("Content-Encoding", "Content-Length", "Transfer-Encoding"):
        headers.pop(name, None)
        response.headers.pop(name, None)
    # requests looks for cookies in the original response
    original = getattr(response.raw, "_original_response", None)
    response.raw = urllib3.HTTPResponse(
        BytesIO(body),
        headers=headers,
        status=response.status_code,
        reason=response.reason,
        preload_content=False,
        original_response=original,
    )
    return response


def _is_loopback(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return (
            parts.scheme == "http"
            and "@" not in parts.netloc
            and ip_address(parts.hostname or "").is_loopback
        )
    except ValueError:
        return False


_UNICAST: Final = IPv6Network("2000::/3")  # all IPv6 addresses of the internet (RFC 4291)
_TRANSLATED: Final = IPv6Network("64:ff9b::/96")  # its last 32 bits are an IPv4 address (RFC 6052)


class NotPublic(NewConnectionError):
    """A name leads to no public address; nothing was sent."""


def connect_publicly(adapter: HTTPAdapter) -> HTTPAdapter:
    """Restrict an adapter's direct connections to public addresses."""
    adapter.poolmanager.pool_classes_by_scheme = {"http": _Pool, "https": _SecurePool}
    return adapter


def is_public(address: str) -> bool:
    """Tell whether an IP address is public, also the IPv4 address that an IPv6 address carries."""
    ip = ip_address(address.partition("%")[0])
    if isinstance(ip, IPv6Address):
        inner = _carried(ip)
        return is_public(str(inner)) if inner else ip in _UNICAST and ip.is_global
    return ip.is_global and not ip.is_multicast


def _carried(ip: IPv6Address) -> IPv4Address | None:
    translated = IPv4Address(int(ip) & 0xFFFFFFFF) if ip in _TRANSLATED else None
    return ip.ipv4_mapped or ip.sixtofour or translated


class _Public(HTTPConnection):
    def _new_conn(self) -> socket.socket:
        name = self._dns_host
        failure: ConnectTimeoutError | None = None
        try:
            for address in self._public_addresses(name):
                self._dns_host = address  # TLS goes on to check the certificate of ``host``
                try:
                    return super()._new_conn()
                except ConnectTimeoutError as error:  # the base of both kinds of failure
                    failure = error
        finally:
            self._dns_host = name
        raise failure or NotPublic(self, f"{name} leads to no public address.")

    def _public_addresses(self, name: str) -> Iterator[str]:
        try:
            answers = socket.getaddrinfo(name, self.port, type=socket.SOCK_STREAM)
        except socket.gaierror as error:
            raise NameResolutionError(name, self, error) from error
        addresses = dict.fromkeys(str(entry[4][0]) for entry in answers)
        return filter(is_public, addresses)


class _SecurePublic(_Public, HTTPSConnection):
    """The same with TLS."""


class _Pool(HTTPConnectionPool):
    ConnectionCls = _Public


class _SecurePool(HTTPSConnectionPool):
    ConnectionCls = _SecurePublic
