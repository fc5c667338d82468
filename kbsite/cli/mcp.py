"""`kb mcp`: what MCP clients start to reach this library, or one on a server."""

from typing import Annotated
from urllib.parse import urlsplit

import anyio
import typer
from django.utils.module_loading import import_string

from kbsite.mcp.relay import Relay
from transcripts.core.errors import InvalidInput


def mcp(
    url: Annotated[
        str, typer.Option(help="Address of a server; unset: the library of this machine.")
    ] = "",
    token: Annotated[
        str, typer.Option(envvar="CUEBASE_TOKEN", help="The token for that server.")
    ] = "",
) -> None:
    """Serve MCP over standard input and output, for clients that start programs."""
    if not url:
        import_string("kbsite.cli.mcp_local.serve")()  # a relay starts without what it loads
        return
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise InvalidInput(
            f"“{url[:100]}” is no address of a server.", hint="For example: https://host"
        )
    is_endpoint = parts.path.rstrip("/").endswith("/mcp")
    anyio.run(Relay(url if is_endpoint else f"{url.rstrip('/')}/mcp", token).run)
