"""`kb token` and `kb mcp-config`: tokens, and the configuration that MCP clients need."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from django.conf import settings
from django.db.models import Q

from kbsite.cli.options import InCollections, Json, of_user, option
from kbsite.cli.terminal import minute, note, print_json, print_result, say, table
from kbsite.cli.users import find_user
from kbsite.library import server_lock
from kbsite.library.database import open_library
from kbsite.mcp_clients import McpClient, build_bundle, configuration
from kbsite.models import ApiToken
from kbsite.schemas import TokenOut, TokenSecretOut
from transcripts.core.access import AccessLevel
from transcripts.core.errors import Conflict, InvalidInput, NotFound
from transcripts.core.sanitize import clean
from transcripts.core.scope import Scope
from transcripts.library import reading as library

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    help="Create, list and revoke tokens for REST and MCP.",
)


_FILES = {
    McpClient.CLAUDE_DESKTOP: "Claude Desktop: claude_desktop_config.json"
    " (Settings → Developer → Edit Config). It starts `kb mcp`, without a server or a token.",
    McpClient.CLAUDE_CODE: "Claude Code: .mcp.json in the project's folder.",
    McpClient.CURSOR: "Cursor: ~/.cursor/mcp.json, or .cursor/mcp.json in the project's folder.",
    McpClient.VSCODE: "VS Code: .vscode/mcp.json in the project's folder.",
}


@app.command("create")
def create_token(
    name: Annotated[str, typer.Argument(help="Its purpose.")],
    user: Annotated[str, of_user("The user for whom the token acts; unset: the owner.")] = "",
    write: Annotated[
        bool,
        typer.Option(
            "--write", help="Allow adding and changing; otherwise the token is read-only."
        ),
    ] = False,
    manage: Annotated[
        bool,
        typer.Option(
            "--manage",
            help="Allow adding and changing, and managing members, shared links and webhooks.",
        ),
    ] = False,
    collection: InCollections = None,
    days: Annotated[
        int | None, option(min=1, max=36_500, help="Days of validity; unset: until revoked.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Create a token. Its secret is shown only once."""
    access = AccessLevel.WRITE if write else AccessLevel.READ
    token, text = _issue(
        open_library(),
        name,
        user=user,
        access=AccessLevel.MANAGE if manage else access,
        collections=collection or (),
        days=days,
    )
    if as_json:
        print_json(TokenSecretOut.read(token, text))
    else:
        say(text)
        note("Store it: it is not shown again. Send it as “Authorization: Bearer …”.")


@app.command("list")
def list_tokens(as_json: Json = False) -> None:
    """List the tokens, without their secrets."""
    open_library()
    rows = ApiToken.objects.select_related("user").prefetch_related("collections")
    tokens = [TokenOut.model_validate(token) for token in rows]
    if as_json:
        print_json(tokens)
        return
    lines = []
    for token in tokens:
        scopes, used = ", ".join(token.access.scopes), minute(token.last_used_at) or "never"
        about = (token.id, token.name, f"{token.hint}…", token.user)
        lines.append((*about, scopes, token.state, used))
    columns = ("No.", "Name", "Begins", "User", "May", "State", "Last used")
    table(columns, lines, empty="There are no tokens.", main="Name")


@app.command("revoke")
def revoke_token(
    reference: Annotated[
        str, typer.Argument(metavar="NO|NAME", help="The token's number, name or beginning.")
    ],
    as_json: Json = False,
) -> None:
    """Revoke a token."""
    open_library()
    token = _find(reference)
    token.revoke()
    summary = TokenOut.model_validate(token)
    print_result(f"Revoked {summary.name} ({summary.hint}…).", summary, as_json=as_json)


def mcp_config(
    client: Annotated[McpClient | None, option(help="The program; unset: all four.")] = None,
    token: Annotated[str, option(help="The token to use; unset: a new read-only token.")] = "",
    bundle: Annotated[
        Path | None, option(help="Write the bundle for Claude Desktop to this file instead.")
    ] = None,
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
    if bundle:
        bundle.write_bytes(build_bundle(server_lock.public_url()))
        return
    if not token and client != McpClient.CLAUDE_DESKTOP:
        _, token = _issue(scope, f"MCP {client or 'clients'}")
    url = f"{server_lock.public_url()}/mcp"
    clients = [client] if client else list(McpClient)
    beside = Path(sys.executable).with_name("kb")
    program = str(beside) if beside.exists() else "kb"
    is_chosen = settings.OPTIONS["YOUTUBE_KB_DATA_DIR"].is_set
    data_dir = str(settings.DATA_DIR) if is_chosen else ""
    configurations = {
        client: configuration(client, url, token, program=program, data_dir=data_dir)
        for client in clients
    }
    if as_json:
        print_json(configurations[client] if client else configurations)
        return
    for name, content in configurations.items():
        note(_FILES[name], "bold")
        print_json(content)


def _issue(
    scope: Scope,
    name: str,
    *,
    user: str = "",
    access: AccessLevel = AccessLevel.READ,
    collections: Sequence[str] = (),
    days: int | None = None,
) -> tuple[ApiToken, str]:
    """Issue a token; return it with its secret. Raises ``InvalidInput`` without a name."""
    name = clean(name, 80)
    if not name:
        raise InvalidInput(
            "The token has no name.",
            hint="Name it after its purpose, such as “Claude on my laptop”.",
        )
    limits = tuple(library.find_collection(scope, collection) for collection in collections)
    return ApiToken.issue(find_user(user), name=name, access=access, collections=limits, days=days)


def _find(reference: str) -> ApiToken:
    condition = Q(name=reference)
    if len(reference) >= 9:
        condition |= Q(hint=reference[:9])
    if reference.isdecimal():
        condition |= Q(pk=int(reference))
    tokens = list(ApiToken.objects.filter(condition, revoked_at=None).select_related("user")[:2])
    beginning = reference[:9]  # a whole token is a secret
    if not tokens:
        raise NotFound(
            f"There is no valid token “{beginning}”.", hint="`kb token list` lists them."
        )
    if len(tokens) > 1:
        raise Conflict(
            f"Several tokens match “{beginning}”.",
            hint="Give the number that `kb token list` shows.",
        )
    return tokens[0]
