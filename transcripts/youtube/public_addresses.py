"""Connections to public addresses only: no name may lead into this machine or its network.

A name is looked up once, and the connection goes to the address that was checked: a name that
answers differently the second time (DNS rebinding) gains nothing. A proxy may stand anywhere.
"""

import socket
from collections.abc import Iterator
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from typing import Final

from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.exceptions import ConnectTimeoutError, NameResolutionError, NewConnectionError

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
