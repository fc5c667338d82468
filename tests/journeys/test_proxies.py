"""The configurations of docs/deployment.md, behind nginx and Caddy with HTTPS."""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
import requests

from kbsite.cli import proxy_checks
from tests.browser.site import Site
from tests.instance import free_port
from tests.makers import SENTENCES
from tests.proxy import caddy, certificate, documented, nginx

USER = """
from django.contrib.auth.models import User
from kbsite.models import ApiToken
from transcripts import samples
from transcripts.core.access import AccessLevel
from transcripts.models import Collection, Membership
ada = User.objects.create_superuser("ada", password="correct horse battery")
library = Collection.objects.default()
Membership.objects.create(collection=library, user=ada, role="owner")
samples.load(library)
print(json.dumps(ApiToken.issue(ada, name="all", access=AccessLevel.MANAGE)[1]))
"""
TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="([^"]+)"')
LARGE = 20_000_000  # bytes


class SecureSite(Site):
    """A site that is known by the address of a proxy with HTTPS before it."""

    def __init__(self, home: Path, path: str) -> None:
        self.proxy = free_port()
        origin = f"https://localhost:{self.proxy}"
        more = {"CSRF_TRUSTED_ORIGINS": origin, "TRUSTED_PROXIES": "127.0.0.1", "SECURE": "true"}
        super().__init__(home, ALLOWED_HOSTS="localhost,127.0.0.1", LLM_PROVIDER="none", **more)
        self.path, self.public = path, origin + path
        self.token = ""
        self.environment["PUBLIC_URL"] = self.public

    def filled(self, example: str) -> str:
        """Return a documented example with the addresses of this site."""
        return example.replace("127.0.0.1:8000", f"127.0.0.1:{self.port}")


@pytest.fixture(scope="module")
def tls(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return certificate(tmp_path_factory.mktemp("tls"))


@pytest.fixture(scope="module", params=["", "/kb"])
def site(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[SecureSite]:
    home = tmp_path_factory.mktemp("site") / "home"
    with SecureSite(home, request.param) as site, site.server():
        site.token = site.json(USER)
        yield site


def by_caddy(site: SecureSite, tls: tuple[Path, Path]) -> AbstractContextManager[Path | None]:
    example = documented("example.org {" if site.path else "kb.example.org {")
    routes = site.filled(example).partition("{")[2].partition("\n")[2].rpartition("}")[0]
    return caddy(site.home, site.proxy, routes, secure=True)


def by_nginx(site: SecureSite, tls: tuple[Path, Path]) -> AbstractContextManager[Path | None]:
    server = documented("server {")
    if site.path:
        below = documented("# nginx, in place of")
        server, count = re.subn(r" +location / \{.*", lambda _: below, server)
        assert count == 1
    listens = f"listen 127.0.0.1:{site.proxy} ssl; ssl_certificate {tls[0]};"
    named = f"{listens} ssl_certificate_key {tls[1]}; server_name localhost;"
    return nginx(
        site.home, site.proxy, site.filled(server.replace("server_name kb.example.org;", named))
    )


@pytest.fixture(params=[by_caddy, by_nginx])
def session(
    request: pytest.FixtureRequest,
    site: SecureSite,
    tls: tuple[Path, Path],
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[requests.Session]:
    """A browser that trusts the certificate."""
    run: Callable[..., AbstractContextManager[Path | None]] = request.param
    with run(site, tls) as authority, requests.Session() as session:
        session.verify, session.trust_env = str(authority or tls[0]), False
        monkeypatch.setenv("SSL_CERT_FILE", session.verify)
        yield session


def posted(session: requests.Session, address: str, form: str = "", **values: Any) -> Any:
    """Send a form with its token, as a browser does."""
    shown = session.get(form or address, timeout=60)
    match = TOKEN.search(shown.text)
    assert match, shown.text[:2_000]
    data = {"csrfmiddlewaretoken": match[1], **values}
    return session.post(address, data=data, headers={"Referer": shown.url}, timeout=60)


def test_pages_forms_uploads_streams_and_programs_work(
    session: requests.Session, site: SecureSite
) -> None:
    checks = proxy_checks.check(site.public)
    assert len(checks) == 9
    assert [check for check in checks if not check.ok] == []

    signed = posted(
        session, f"{site.public}/sign-in/", username="ada", password="correct horse battery"
    )
    assert signed.ok
    assert "sessionid" in "".join(session.cookies.keys())
    assert all(cookie.secure for cookie in session.cookies)
    assert all(cookie.path.startswith(f"{site.path}/") for cookie in session.cookies)
    conversation = posted(session, f"{site.public}/ask/", q="What is exponential backoff?")
    assert re.match(f"{site.public}/ask/[0-9a-f-]{{36}}/", conversation.url), conversation.url

    bearer = {"Authorization": f"Bearer {site.token}"}
    text = " ".join(SENTENCES) + "\n"
    files = {"files": ("large.txt", text * (LARGE // len(text)), "text/plain")}
    added = session.post(
        f"{site.public}/api/v1/sources/files", files=files, headers=bearer, timeout=120
    )
    assert added.status_code in (202, 413), added.text
    assert added.headers["Content-Type"].startswith("application/json")

    question = {"question": "What is exponential backoff?"}
    with session.post(
        f"{site.public}/api/v1/ask", json=question, headers=bearer, stream=True, timeout=60
    ) as stream:
        lines = [line for line in stream.iter_lines() if line.startswith(b"event:")]
    assert lines[0] != lines[-1]

    refused = session.post(f"{site.public}/mcp", json={}, timeout=60)
    assert refused.status_code == 401
    metadata = re.search(r'resource_metadata="([^"]+)"', refused.headers["WWW-Authenticate"])
    assert metadata
    resource = session.get(metadata[1], timeout=60).json()
    assert resource["resource"] == f"{site.public}/mcp"
    (issuer,) = resource["authorization_servers"]
    server = session.get(
        f"https://localhost:{site.proxy}/.well-known/oauth-authorization-server{site.path}",
        timeout=60,
    ).json()
    assert server["issuer"] == issuer
    assert server["token_endpoint"].startswith(f"{site.public}/")
    first: dict[str, Any] = {"protocolVersion": "2025-11-25", "capabilities": {}}
    first["clientInfo"] = {"name": "x", "version": "1"}
    call = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": first}
    accepts = {**bearer, "Accept": "application/json, text/event-stream"}
    begun = session.post(f"{site.public}/mcp", json=call, headers=accepts, timeout=60)
    assert begun.ok
    assert "protocolVersion" in json.dumps(begun.text)
