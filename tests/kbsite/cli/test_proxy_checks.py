"""A server through its proxy, a real one: what is wrong is told with the line to change."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kbsite.cli import proxy_checks
from kbsite.health import HealthCheck
from tests.browser.site import Site
from tests.instance import free_port
from tests.kbsite.cli.conftest import Kb
from tests.proxy import caddy
from transcripts.core.errors import InvalidInput

TOO_LARGE = "@large header_regexp Content-Length [0-9]{8}\nrespond @large 413"  # as nginx does


class Proxied(Site):
    """A site that is known by the address of the proxy before it."""

    def __init__(self, home: Path) -> None:
        super().__init__(home)
        self.proxy = free_port()
        self.environment["PUBLIC_URL"] = f"http://127.0.0.1:{self.proxy}"

    @contextmanager
    def proxied(self, routes: str) -> Iterator[str]:
        """Run Caddy with these routes, and yield the public address."""
        with caddy(self.home, self.proxy, routes.replace("UPSTREAM", f"127.0.0.1:{self.port}")):
            yield self.environment["PUBLIC_URL"]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxied]:
    with Proxied(tmp_path_factory.mktemp("site") / "home") as site, site.server():
        yield site


def findings(address: str) -> dict[str, HealthCheck]:
    return {check.name: check for check in proxy_checks.check(address)}


def test_a_proxy_that_passes_all_on_is_fine(site: Proxied, kb: Kb) -> None:
    with site.proxied("reverse_proxy UPSTREAM") as address:
        assert [check for check in findings(address).values() if not check.ok] == []
        ran = kb("doctor", "--url", f"{address}/", "--json")
        assert ran.json["ok"]
        assert len(ran.json["checks"]) == 9
    with site.proxied("handle_path /kb/* {\nreverse_proxy UPSTREAM\n}") as address:
        assert f"PUBLIC_URL={address}/kb" in findings(f"{address}/kb")["Address"].hint


@pytest.mark.parametrize(
    ("routes", "name", "hint"),
    [
        ("header_up Host localhost", "Address", "proxy_set_header Host"),
        ("header_up X-Forwarded-Proto https", "Address", "X-Forwarded-Proto"),
        ("header_up Host kb.example.org", "Reachable", "ALLOWED_HOSTS=127.0.0.1"),
        ("header_up Origin https://other.example.org", "Forms", "CSRF_TRUSTED_ORIGINS=http://127"),
        ("header_down -WWW-Authenticate", "MCP", "PUBLIC_URL"),
    ],
)
def test_what_a_proxy_changes_is_told_with_the_line_to_write(
    site: Proxied, routes: str, name: str, hint: str
) -> None:
    with site.proxied(f"reverse_proxy UPSTREAM {{\n{routes}\n}}") as address:
        check = findings(address)[name]
        assert check.ok is False, check
        assert hint in check.hint


@pytest.mark.parametrize(
    ("first", "name", "hint"),
    [
        (TOO_LARGE, "Uploads", "client_max_body_size"),
        ("respond /static/* 404", "Static files", "/static/"),
        ("respond /mcp 404", "MCP", "POST /mcp"),
        ("respond /.well-known/* 404", "OAuth", "/.well-known/"),
    ],
)
def test_what_a_proxy_does_not_let_through_is_told(
    site: Proxied, first: str, name: str, hint: str
) -> None:
    with site.proxied(f"route {{\n{first}\nreverse_proxy UPSTREAM\n}}") as address:
        check = findings(address)[name]
        assert check.ok is False, check
        assert hint in check.hint


def test_without_a_server_or_with_another_one_only_that_is_told(site: Proxied) -> None:
    with site.proxied(f"reverse_proxy 127.0.0.1:{free_port()}") as address:
        (check,) = findings(address).values()
        assert "kb serve" in check.hint
    (check,) = findings(address).values()
    assert "no answer" in check.detail
    with site.proxied("redir https://other.example.org{uri}") as address:
        assert "leads to https://other.example.org" in findings(address)["Reachable"].detail
    with site.proxied("respond hello") as address:
        assert "something else answers" in findings(address)["Reachable"].detail


@pytest.mark.parametrize("address", ["", "kb.example.org", "ftp://x", "http://", "http://a:b@c"])
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(InvalidInput):
        proxy_checks.check(address)
