"""What each MCP client reads to connect: files, links and a command."""

import base64
import json
import shlex
from enum import StrEnum
from typing import Any
from urllib.parse import quote, urlencode

NAME = "cuebase"


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
