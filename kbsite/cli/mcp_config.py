"""`kb mcp-config`: the configuration that MCP clients need."""

from enum import StrEnum
from typing import Annotated, Any

from kbsite.cli import server_lock, tokens
from kbsite.cli.database import open_library
from kbsite.cli.options import Json, option
from kbsite.cli.terminal import note, print_json
from transcripts.errors import InvalidInput

NAME = "cuebase"


class McpClient(StrEnum):
    """Programs that speak MCP."""

    CLAUDE_DESKTOP = "claude-desktop"
    CLAUDE_CODE = "claude-code"
    CURSOR = "cursor"
    VSCODE = "vscode"


_FILES = {
    McpClient.CLAUDE_DESKTOP: "Claude Desktop: claude_desktop_config.json"
    " (Settings → Developer → Edit Config). It starts mcp-remote, which needs Node.",
    McpClient.CLAUDE_CODE: "Claude Code: .mcp.json in the project's folder.",
    McpClient.CURSOR: "Cursor: ~/.cursor/mcp.json, or .cursor/mcp.json in the project's folder.",
    McpClient.VSCODE: "VS Code: .vscode/mcp.json in the project's folder.",
}


def mcp_config(
    client: Annotated[McpClient | None, option(help="The program; unset: all four.")] = None,
    token: Annotated[
        str, option(help="The token to use; unset: a new one that may only read.")
    ] = "",
    as_json: Json = False,
) -> None:
    """Print the configuration of MCP clients.

    It connects Claude Desktop, Claude Code, Cursor or VS Code to this library.
    """
    if token and not token.startswith("kb_"):
        raise InvalidInput(
            "This is not a token: tokens start with kb_.", hint="`kb token create NAME` makes one."
        )
    scope = open_library()
    token = token or tokens.issue(scope, f"MCP {client or 'clients'}").text
    clients = [client] if client else list(McpClient)
    configurations = {client: configuration(client, mcp_url(), token) for client in clients}
    if as_json:
        print_json(configurations[client] if client else configurations)
        return
    for name, content in configurations.items():
        note(_FILES[name], "bold")
        print_json(content)


def mcp_url() -> str:
    """Return the address of the MCP endpoint."""
    return f"{server_lock.public_url()}/mcp"


def configuration(client: str, url: str, token: str) -> dict[str, Any]:
    """Return the configuration of one client."""
    headers = {"Authorization": f"Bearer {token}"}
    match client:
        case McpClient.CLAUDE_DESKTOP:
            return {"mcpServers": {NAME: _bridge(url, token)}}
        case McpClient.CLAUDE_CODE:
            return {"mcpServers": {NAME: {"type": "http", "url": url, "headers": headers}}}
        case McpClient.CURSOR:
            return {"mcpServers": {NAME: {"url": url, "headers": headers}}}
        case _:
            return {"servers": {NAME: {"type": "http", "url": url, "headers": headers}}}


def _bridge(url: str, token: str) -> dict[str, Any]:
    # Claude Desktop can only start programs. The token is passed in the environment because
    # Windows splits arguments at spaces.
    plain = ["--allow-http"] if url.startswith("http://") else []
    args = ["-y", "mcp-remote", url, *plain, "--header", "Authorization:${CUEBASE_AUTH}"]
    return {"command": "npx", "args": args, "env": {"CUEBASE_AUTH": f"Bearer {token}"}}
