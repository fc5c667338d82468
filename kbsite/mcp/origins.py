"""Checks Host and Origin headers by Django's own settings, before anything else."""

from urllib.parse import SplitResult, urlsplit

from django.conf import settings
from django.http.request import split_domain_port, validate_host
from django.utils.http import is_same_domain

_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


def host_is_ours(host: str) -> bool:
    """Return whether a Host header names this server: protection against DNS rebinding."""
    domain, _ = split_domain_port(host)
    return bool(domain) and validate_host(
        domain, [*settings.ALLOWED_HOSTS, _split(settings.PUBLIC_URL).hostname or ""]
    )


def origin_may_call(origin: str, *, host: str) -> bool:
    """Return whether a page of this origin may call; programs send no origin.

    Allowed are this server's own pages, PUBLIC_URL, CSRF_TRUSTED_ORIGINS, and any port of this
    machine if the server is called on this machine.
    """
    parts = _split(origin)
    if not origin:
        return True
    if parts.scheme not in ("http", "https") or not parts.netloc:
        return False
    if parts.netloc == host or origin == _origin(_split(settings.PUBLIC_URL)):
        return True
    if parts.hostname in _LOOPBACK and split_domain_port(host)[0].strip("[]") in _LOOPBACK:
        return True
    return any(_is_trusted(parts, _split(trusted)) for trusted in settings.CSRF_TRUSTED_ORIGINS)


def _is_trusted(origin: SplitResult, trusted: SplitResult) -> bool:
    return origin.scheme == trusted.scheme and is_same_domain(
        origin.netloc, trusted.netloc.removeprefix("*")
    )


def _origin(parts: SplitResult) -> str:
    return f"{parts.scheme}://{parts.netloc}"


def _split(address: str) -> SplitResult:
    try:
        return urlsplit(address)
    except ValueError:
        return urlsplit("")
