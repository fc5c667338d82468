"""Programs that speak MCP, and what each reads to connect: files, links, a command, a bundle."""

import base64
import json
import shlex
from enum import StrEnum
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from django.contrib.staticfiles import finders

from transcripts.core.archives import archive

NAME = "cuebase"
BUNDLE = "cuebase.mcpb"
_ENTRY = "server/relay.mjs"


class McpClient(StrEnum):
    """Programs that speak MCP."""

    CLAUDE_DESKTOP = "claude-desktop"
    CLAUDE_CODE = "claude-code"
    CURSOR = "cursor"
    VSCODE = "vscode"


def configuration(
    client: str, url: str, token: str, *, program: str = "kb", data_dir: str = ""
) -> dict[str, Any]:
    """Return the configuration of one MCP client: the endpoint, or the program to start.

    ``data_dir`` is that of the program, where it is not the default one.
    """
    server = _server(url, token)
    match client:
        case McpClient.CLAUDE_DESKTOP:  # it can only start programs
            server = {"command": program, "args": ["mcp"]}
            if data_dir:
                server["env"] = {"YOUTUBE_KB_DATA_DIR": data_dir}
        case McpClient.CLAUDE_CODE | McpClient.VSCODE:
            server = {"type": "http", **server}
    return {"servers" if client == McpClient.VSCODE else "mcpServers": {NAME: server}}


def claude_link(url: str) -> str:
    """Return the page of Claude that adds a connector, filled in."""
    query = {"modal": "add-custom-connector", "connectorName": "Cuebase", "connectorUrl": url}
    return f"https://claude.ai/customize/connectors?{urlencode(query)}"


def claude_code_command(url: str, token: str = "") -> str:
    """Return the command that adds the endpoint to Claude Code."""
    header = ["--header", f"Authorization: Bearer {token}"] if token else []
    return shlex.join(["claude", "mcp", "add", "--transport", "http", NAME, url, *header])


def cursor_link(url: str, token: str = "") -> str:
    """Return the address by which Cursor offers to add the endpoint."""
    config = base64.b64encode(json.dumps(_server(url, token)).encode()).decode()
    query = urlencode({"name": NAME, "config": config})
    return f"cursor://anysphere.cursor-deeplink/mcp/install?{query}"


def vscode_link(url: str, token: str = "") -> str:
    """Return the address by which VS Code offers to add the endpoint."""
    server = {"name": NAME, "type": "http", **_server(url, token)}
    return f"vscode:mcp/install?{quote(json.dumps(server), safe='')}"


def _server(url: str, token: str) -> dict[str, Any]:
    headers = {"headers": {"Authorization": f"Bearer {token}"}} if token else {}
    return {"url": url, **headers}


def build_bundle(address: str) -> bytes:
    """Return the bundle for Claude Desktop (MCPB): a relay that needs nothing installed.

    It proposes the address of a server. Equal calls give equal bytes.
    """
    icon = finders.find("cuebase/icon.png")
    assert isinstance(icon, str), "a file of the package"
    manifest = json.dumps(_manifest(address), indent=2).encode()
    relay = {_ENTRY: Path(__file__).with_name("relay.mjs").read_bytes()}
    return archive({"manifest.json": manifest, "icon.png": Path(icon).read_bytes(), **relay})


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
