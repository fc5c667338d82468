"""A site below a path, behind a real proxy, whether that takes the path off or passes it on."""

import json
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import requests
from playwright.sync_api import Browser, Page, expect

from tests.browser.site import Site
from tests.browser.test_pages import PAGES
from tests.instance import free_port
from tests.proxy import caddy

pytestmark = pytest.mark.browser

ROUTES = """
%(handle)s /kb/* {
	reverse_proxy 127.0.0.1:%(upstream)s
}
@metadata path /.well-known/oauth-authorization-server/kb \\
	/.well-known/openid-configuration/kb /.well-known/oauth-protected-resource/kb/*
handle @metadata {
	reverse_proxy 127.0.0.1:%(upstream)s
}
respond "outside" 404
"""
ADDRESSES = """() => [...document.querySelectorAll("*")].flatMap(element =>
    [...element.attributes]
        .filter(({ name }) => /^(href|src|action|formaction|poster|hx-\\w+|data-.*)$/.test(name))
        .map(({ value }) => value).filter(value => /^\\/(?!\\/)/.test(value)))"""
TOKEN = """
from django.contrib.auth.models import User
from kbsite.models import ApiToken
from transcripts.core.access import AccessLevel
user = User.objects.get(username="ada")
print(json.dumps(ApiToken.issue(user, name="all", access=AccessLevel.MANAGE)[1]))
"""


class ProxiedSite(Site):
    """A site that is known by the address of the proxy before it."""

    def __init__(self, home: Path) -> None:
        super().__init__(home, RERANKER="none", LLM_PROVIDER="none")
        self.proxy = free_port()
        self.origin = f"http://127.0.0.1:{self.proxy}"
        self.url = self.environment["PUBLIC_URL"] = f"{self.origin}/kb"


@pytest.fixture(scope="module", params=["handle_path", "handle"])
def site(request: pytest.FixtureRequest) -> Iterator[ProxiedSite]:
    home = Path(tempfile.mkdtemp(prefix="cuebase-below-"))
    with ProxiedSite(home) as site:
        site.seed()
        # "handle_path" takes the path off, "handle" passes it on.
        routes = ROUTES % {"handle": request.param, "upstream": site.port}
        with caddy(home, site.proxy, routes), site.server():
            yield site
    shutil.rmtree(home, ignore_errors=True)


@pytest.fixture(scope="module")
def page(browser: Browser, site: ProxiedSite) -> Iterator[Page]:
    """A signed-in page that remembers which requests left the path or found nothing."""
    context = browser.new_context()
    context.set_default_timeout(30_000)
    page = context.new_page()
    lost: list[str] = []
    page.lost = lost  # type: ignore[attr-defined]
    context.on(
        "request", lambda sent: None if _is_inside(sent.url, site) else lost.append(sent.url)
    )
    context.on(
        "response",
        lambda got: lost.append(f"{got.status} {got.url}") if got.status in (404, 502) else None,
    )
    page.goto(site.sign_in_link())
    expect(page).to_have_url(re.compile("/kb/library/"))
    yield page
    context.close()


def _is_inside(url: str, site: ProxiedSite) -> bool:
    return url.startswith((f"{site.url}/", "about:", "data:", "blob:", "https://www.youtube"))


HERE = {name: path for name, path in PAGES.items() if name != "not found"}
BELOW = {**HERE, "lecture": "/lectures/new/", "reference": "/api/v1/docs/search", "go": "/"}


@pytest.mark.parametrize("name", BELOW)
def test_every_page_and_all_that_it_names_is_below_the_path(
    page: Page, site: ProxiedSite, name: str
) -> None:
    page.goto(site.url + BELOW[name].format(**site.seeded))
    page.wait_for_load_state("networkidle")
    outside = [address for address in page.evaluate(ADDRESSES) if not address.startswith("/kb/")]
    assert outside == []
    assert page.lost == []  # type: ignore[attr-defined]


def test_searching_forms_and_signing_out_stay_below_the_path(page: Page, site: ProxiedSite) -> None:
    page.goto(f"{site.url}/search/?q=network+error")
    hit = page.locator("#results a[href*='/kb/']").first
    hit.click()
    page.wait_for_load_state("networkidle")
    assert urlsplit(page.url).path.startswith("/kb/")
    page.goto(f"{site.url}/ask/")
    page.locator("textarea[name=q]").first.fill("What runs backwards through the network?")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/kb/ask/[0-9a-f-]{36}/$"))
    page.wait_for_load_state("networkidle")
    assert page.lost == []  # type: ignore[attr-defined]
    paths = {cookie.get("name"): cookie.get("path") for cookie in page.context.cookies()}
    assert {paths[name] for name in ("sessionid", "csrftoken") if name in paths} == {"/kb/"}


def test_programs_find_their_way_below_the_path(site: ProxiedSite) -> None:
    bearer = {"Authorization": f"Bearer {site.json(TOKEN)}"}
    assert requests.get(site.url, timeout=9, allow_redirects=False).status_code in (302, 404)
    document = requests.get(f"{site.url}/api/v1/openapi.json", headers=bearer, timeout=30).json()
    assert document["servers"] == [{"url": site.url}]
    made = requests.post(
        f"{site.url}/api/v1/conversations", json={"question": "x"}, headers=bearer, timeout=30
    )
    location = made.headers.get("Location", "/kb/")
    assert location.startswith(("/kb/", site.url))
    listed = requests.get(f"{site.url}/api/v1/search?q=network", headers=bearer, timeout=30).json()
    assert all(passage["link"].startswith(f"{site.url}/") for passage in listed["passages"])
    assert "/kb/kb" not in json.dumps(listed)
    manifest = requests.get(f"{site.url}/manifest.webmanifest", timeout=9).json()
    assert {manifest["id"], manifest["scope"]} == {"/kb/"}
    assert manifest["start_url"] == "/kb/library/"
    archive = requests.get(f"{site.url}/tokens/cuebase-extension.zip", timeout=9)
    assert urlsplit(archive.url).path.startswith("/kb/sign-in/")


def test_the_endpoint_and_its_metadata_name_the_address_with_the_path(site: ProxiedSite) -> None:
    call: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    refused = requests.post(f"{site.url}/mcp", json=call, timeout=9)
    assert refused.status_code == 401
    address = refused.headers["WWW-Authenticate"].partition('resource_metadata="')[2].split('"')[0]
    assert address == f"{site.url}/.well-known/oauth-protected-resource/mcp"
    rooted = f"{site.origin}/.well-known/oauth-protected-resource/kb/mcp"
    for found_at in (address, rooted):
        resource = requests.get(found_at, timeout=9).json()
        assert resource["resource"] == f"{site.url}/mcp"
        assert resource["authorization_servers"] == [site.url]
    for found_at in (
        f"{site.origin}/.well-known/oauth-authorization-server/kb",
        f"{site.origin}/.well-known/openid-configuration/kb",
        f"{site.url}/.well-known/oauth-authorization-server",
        f"{site.url}/.well-known/openid-configuration",
    ):
        server = requests.get(found_at, timeout=9).json()
        assert server["issuer"] == site.url
        assert server["token_endpoint"] == f"{site.url}/oauth/token/"
        assert server["authorization_endpoint"] == f"{site.url}/oauth/authorize/"
    bearer = {"Authorization": f"Bearer {site.json(TOKEN)}"}
    assert requests.post(f"{site.url}/mcp", json=call, headers=bearer, timeout=9).ok
