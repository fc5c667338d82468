"""The bundle for Claude Desktop (MCPB): a relay to this server that needs nothing installed."""

import json
from importlib.metadata import version
from pathlib import Path
from typing import Any

from django.contrib.staticfiles import finders

from transcripts.core.archives import archive

RELAY = Path(__file__).with_name("relay.mjs")
FILE = "cuebase.mcpb"
_ENTRY = "server/relay.mjs"


def build(address: str) -> bytes:
    """Return a bundle that proposes the address of a server; equal calls give equal bytes."""
    icon = finders.find("cuebase/icon.png")
    assert isinstance(icon, str), "a file of the package"
    manifest = json.dumps(_manifest(address), indent=2).encode()
    files = {
        "manifest.json": manifest,
        "icon.png": Path(icon).read_bytes(),
        _ENTRY: RELAY.read_bytes(),
    }
    return archive(files)


def _manifest(address: str) -> dict[str, Any]:
    """Return the manifest, of version 0.3 of the specification."""
    return {
        "manifest_version": "0.3",
        "name": "cuebase",
        "display_name": "Cuebase",
        "version": version("cuebase"),
        "description": "Search, read and cite your library of transcripts and documents.",
        "author": {"name": "Cuebase"},
        "license": "MIT",
        "icon": "icon.png",
        "keywords": ["youtube", "transcripts", "search", "citations"],
        "server": {
            "type": "node",
            "entry_point": _ENTRY,
            "mcp_config": {
                "command": "node",
                "args": [f"${{__dirname}}/{_ENTRY}"],
                "env": {
                    "CUEBASE_URL": "${user_config.address}",
                    "CUEBASE_TOKEN": "${user_config.token}",
                },
            },
        },
        "tools_generated": True,
        "prompts_generated": True,
        "user_config": {
            "address": {
                "type": "string",
                "title": "Address",
                "description": "The address of your Cuebase server.",
                "default": address,
                "required": True,
            },
            "token": {
                "type": "string",
                "title": "Token",
                "description": "Made on the server's Tokens page, or by: kb token create",
                "sensitive": True,
                "required": True,
            },
        },
        "compatibility": {
            "platforms": ["darwin", "win32", "linux"],
            "runtimes": {"node": ">=18.0.0"},
        },
    }
