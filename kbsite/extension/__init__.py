"""The browser extension: it takes the captions of the video that somebody watches.

It is a file to download that knows the address of its library, so nothing is typed.
"""

import json
import re
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from django.contrib.staticfiles import finders

from transcripts.core.archives import archive

FILE: Final = "cuebase-extension.zip"
YOUTUBE: Final = "https://www.youtube.com"
_FILES: Final = Path(__file__).with_name("files")


@lru_cache(maxsize=8)
def build(address: str, *, site: str = YOUTUBE) -> bytes:
    """Return the extension for the library at an address, and the site of the videos.

    Equal calls give equal bytes.
    """
    icon = finders.find("cuebase/icon.png")
    assert isinstance(icon, str), "a file of the package"
    manifest = json.dumps(manifest_of(address, site=site), indent=2).encode()
    scripts = {file.name: file.read_bytes() for file in sorted(_FILES.iterdir())}
    return archive({"manifest.json": manifest, "icon.png": Path(icon).read_bytes(), **scripts})


def manifest_of(address: str, *, site: str = YOUTUBE) -> dict[str, Any]:
    """Return the manifest, of version 3, for Chrome, Edge and Firefox."""
    pages = [f"{_without_port(site)}/*"]
    content = {"matches": pages, "run_at": "document_start"}
    released = re.match(r"\d+(\.\d+){0,3}", version("cuebase"))
    return {
        "manifest_version": 3,
        "name": "Cuebase",
        "version": released[0] if released else "0",
        "description": "Add the video that you watch to your library, with the captions that its"
        " player has loaded; search in it, and see what else is about it.",
        "homepage_url": address,  # the library: account.js reads it
        "icons": {"512": "icon.png"},
        "action": {"default_title": "Cuebase", "default_icon": "icon.png"},
        "background": {
            "service_worker": "background.js",
            "scripts": ["background.js"],  # of Firefox, which has no service workers here
            "type": "module",
        },
        "content_scripts": [
            {**content, "js": ["player.js"], "world": "MAIN"},
            {**content, "js": ["content.js"]},
        ],
        "side_panel": {"default_path": "panel.html"},
        "sidebar_action": {"default_panel": "panel.html", "default_icon": "icon.png"},
        "permissions": ["identity", "sidePanel", "storage"],
        "host_permissions": [*pages, f"{_without_port(address)}/*"],
        "content_security_policy": {
            "extension_pages": "default-src 'none'; script-src 'self'; style-src 'self';"
            f" img-src 'self'; connect-src {_below(address)}; base-uri 'none'; form-action 'none'"
        },
        "minimum_chrome_version": "121",
        "browser_specific_settings": {
            "gecko": {"id": "extension@cuebase", "strict_min_version": "128.0"}
        },
    }


def _below(address: str) -> str:
    """Return the source of all that is below an address, as a policy has it."""
    return f"{address}/" if urlsplit(address).path else address


def _without_port(origin: str) -> str:
    """Return an origin as a pattern of hosts: Firefox knows no ports in them."""
    parts = urlsplit(origin)
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    return f"{parts.scheme}://{host}"
