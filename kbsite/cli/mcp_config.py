"""What the programs that speak MCP want in their configuration files."""

from typing import Any

from kbsite.cli import server_lock

NAME = "cuebase"
PLACES = {
    "claude-desktop": "Claude Desktop: claude_desktop_config.json (Settings → Developer → Edit Config). It starts mcp-remote, which needs Node.",
    "claude-code": "Claude Code: .mcp.json in the project's folder.",
    "cursor": "Cursor: ~/.cursor/mcp.json, or .cursor/mcp.json in the project's folder.",
    "vscode": "VS Code: .vscode/mcp.json in the project's folder.",
}


def mcp_url() -> str:
    """Return the address of the MCP endpoint."""
    return f"{server_lock.public_url()}/mcp"


def config(client: str, *, url: str, token: str) -> dict[str, Any]:
    """Return the configuration of one client: ``claude-desktop``, ``claude-code``, ``cursor`` or ``vscode``."""
    headers = {"Authorization": f"Bearer {token}"}
    match client:
        case "claude-desktop":
            return {"mcpServers": {NAME: _bridge(url, token)}}
        case "claude-code":
            return {"mcpServers": {NAME: {"type": "http", "url": url, "headers": headers}}}
        case "cursor":
            return {"mcpServers": {NAME: {"url": url, "headers": headers}}}
        case _:
            return {"servers": {NAME: {"type": "http", "url": url, "headers": headers}}}


def _bridge(url: str, token: str) -> dict[str, Any]:
    # Its configuration file knows only programs to start. The token is passed by the environment, as Windows breaks arguments with blanks.
    plain = ["--allow-http"] if url.startswith("http://") else []
    args = ["-y", "mcp-remote", url, *plain, "--header", "Authorization:${CUEBASE_AUTH}"]
    return {"command": "npx", "args": args, "env": {"CUEBASE_AUTH": f"Bearer {token}"}}
