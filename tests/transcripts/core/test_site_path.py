"""The path below which the site is served: in front of its own, once, or not at all."""

import os
from pathlib import Path
from typing import Any

import pytest

from tests.programs import run_python
from transcripts.conf import absolute
from transcripts.core.site_path import own_path, site_path


@pytest.mark.parametrize(
    ("path", "own"),
    [
        ("/kb", "/"),
        ("/kb/", "/"),
        ("/kb/videos/1/", "/videos/1/"),
        ("/videos/1/", "/videos/1/"),
        ("/kbx/", "/kbx/"),
        ("/", "/"),
    ],
)
def test_a_path_is_known_with_and_without_what_is_in_front(
    settings: Any, path: str, own: str
) -> None:
    settings.PUBLIC_PATH = "/kb"
    settings.PUBLIC_URL = "https://example.org/kb/"
    assert own_path(path) == own
    assert absolute(path) == f"https://example.org/kb{own}"
    assert site_path("/x") == "/kb/x"
    settings.PUBLIC_PATH = ""
    assert own_path(path) == path


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("https://example.org/a b", "PUBLIC_URL cannot be"),
        ("https://example.org/a//b", "PUBLIC_URL cannot be"),
        ("https://example.org/sources", "has one of that name"),
        ("https://example.org/mcp/x", "has one of that name"),
    ],
)
def test_a_path_that_cannot_be_served_is_refused(tmp_path: Path, url: str, message: str) -> None:
    code = "from kbsite import boot; boot.set_up(); import kbsite.urls"
    own = {"DJANGO_SETTINGS_MODULE": "kbsite.settings.django", "PUBLIC_URL": url}
    own["YOUTUBE_KB_DATA_DIR"] = str(tmp_path)
    result = run_python("-c", code, code=1, environment={**os.environ, **own})
    assert message in result.stderr
