"""The extension as a file: what it may do, and where it belongs."""

import io
import json
import re
import zipfile
from typing import Any

import pytest
from django.test import Client
from django.urls import resolve

from kbsite import extension

ADDRESS = "https://kb.example.org"


def files(address: str = ADDRESS) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(extension.build(address))) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def manifest(address: str = ADDRESS) -> Any:
    return json.loads(files(address)["manifest.json"])


def test_it_may_see_the_pages_of_videos_and_the_library_and_nothing_else() -> None:
    made = manifest()
    assert made["manifest_version"] == 3
    assert made["permissions"] == ["identity", "sidePanel", "storage"]
    assert made["host_permissions"] == ["https://www.youtube.com/*", f"{ADDRESS}/*"]
    scripts = made["content_scripts"]
    assert {page for script in scripts for page in script["matches"]} == {
        "https://www.youtube.com/*"
    }
    policy = made["content_security_policy"]["extension_pages"]
    assert "default-src 'none'" in policy
    assert f"connect-src {ADDRESS};" in policy
    assert "web_accessible_resources" not in made
    assert "externally_connectable" not in made


@pytest.mark.parametrize(
    ("address", "pattern"),
    [
        ("http://127.0.0.1:8000", "http://127.0.0.1/*"),
        ("https://kb.example.org:8443", "https://kb.example.org/*"),
        ("http://[::1]:8000", "http://[::1]/*"),
    ],
)
def test_the_library_is_named_without_its_port_as_firefox_knows_none(
    address: str, pattern: str
) -> None:
    assert manifest(address)["host_permissions"][1] == pattern
    assert manifest(address)["homepage_url"] == address


def test_every_file_that_is_named_is_there_and_equal_calls_give_equal_bytes() -> None:
    made, content = manifest(), files()
    named = {
        made["background"]["service_worker"],
        made["side_panel"]["default_path"],
        made["sidebar_action"]["default_panel"],
        *made["icons"].values(),
        *(name for script in made["content_scripts"] for name in script["js"]),
    }
    assert named <= content.keys()
    first = extension.build(ADDRESS)
    extension.build.cache_clear()
    assert extension.build(ADDRESS) == first


def test_nothing_is_put_into_a_page_as_markup() -> None:
    markup = re.compile(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|\beval\b|new Function"
    )
    for name, content in files().items():
        if name.endswith((".js", ".html")):
            assert not markup.search(content.decode()), name


@pytest.mark.django_db
def test_it_is_downloaded_with_the_address_of_its_server(admin_client: Client) -> None:
    response = admin_client.get("/tokens/cuebase-extension.zip", headers={"host": "localhost:8123"})
    assert response["Content-Type"] == "application/zip"
    assert response["Content-Disposition"] == 'attachment; filename="cuebase-extension.zip"'
    assert response.content == extension.build("http://localhost:8123")
    stranger = Client().get("/tokens/cuebase-extension.zip")
    assert stranger.status_code == 302


def test_the_pages_of_the_library_that_its_scripts_open_are_there() -> None:
    scripts = "".join(code.decode() for name, code in files().items() if name.endswith(".js"))
    paths = re.findall(r"\$\{ADDRESS\}(/[\w/]+/)", scripts)
    assert {resolve(path).view_name for path in paths} >= {"find-video"}
