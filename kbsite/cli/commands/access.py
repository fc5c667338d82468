"""Who may come in: user, token, mcp-config."""

import sys
from enum import StrEnum
from typing import Annotated

import typer

from kbsite.cli import completion
from kbsite.cli.options import InCollection, Json
from kbsite.cli.terminal import note, open_library, print_json, say, table
from transcripts.errors import InvalidInput

USERS = typer.Typer(no_args_is_help=True, help="People: add, list, make a sign-in link.")
TOKENS = typer.Typer(no_args_is_help=True, help="Tokens for REST and MCP: create, list, revoke.")

UserName = Annotated[
    str, typer.Argument(metavar="NAME", help="The user's name.", autocompletion=completion.users)
]


class RoleName(StrEnum):
    """What a member of a collection may do."""

    VIEWER = "viewer"
    EDITOR = "editor"
    OWNER = "owner"


class Client(StrEnum):
    """Programs that speak MCP."""

    CLAUDE_DESKTOP = "claude-desktop"
    CLAUDE_CODE = "claude-code"
    CURSOR = "cursor"
    VSCODE = "vscode"


def register(app: typer.Typer) -> None:
    """Add these commands."""
    app.add_typer(USERS, name="user")
    app.add_typer(TOKENS, name="token")
    app.command("mcp-config")(mcp_config)


@USERS.command("add")
def add_user(
    name: Annotated[str, typer.Argument(help="The name to sign in with.")],
    admin: Annotated[
        bool,
        typer.Option("--admin", help="May see and change everything, the admin pages included."),
    ] = False,
    role: Annotated[
        RoleName, typer.Option(help="What the user may do in the collection.")
    ] = RoleName.EDITOR,
    collection: InCollection = "",
    password_stdin: Annotated[
        bool,
        typer.Option(
            "--password-stdin", help="Read the password from the standard input instead of asking."
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Add a person, as a member of a collection (by default the one named library)."""
    password = (
        sys.stdin.readline().rstrip("\r\n")
        if password_stdin
        else typer.prompt("Password", hide_input=True, confirmation_prompt=True, err=True)
    )
    scope = open_library()
    from kbsite.cli import users as cli_users

    made = cli_users.add(
        scope, name, password=password, admin=admin, role=role, collection=collection
    )
    if as_json:
        print_json(made.as_json())
    else:
        say(f"Added {made.name}: {made.what}.")


@USERS.command("list")
def list_users(as_json: Json = False) -> None:
    """List the people, and what they may do where."""
    open_library()
    from kbsite.cli import users as cli_users

    found = cli_users.everyone()
    if as_json:
        print_json([person.as_json() for person in found])
    else:
        table(
            ("Name", "May", "Last sign-in"),
            ((person.name, person.what, person.last_login or "never") for person in found),
            empty="There are no users yet.",
        )


@USERS.command("link")
def link(
    name: Annotated[
        str,
        typer.Argument(
            metavar="[NAME]",
            help="The user's name; none: the owner.",
            autocompletion=completion.users,
            show_default=False,
        ),
    ] = "",
    as_json: Json = False,
) -> None:
    """Make a link that signs a user in, once, within a day."""
    open_library()
    from kbsite.cli import first_start, server_lock

    user = first_start.find_user(name)
    address = first_start.sign_in_link(user, base=server_lock.public_url())
    if as_json:
        print_json({"user": user.get_username(), "link": address})
    else:
        say(address)


@TOKENS.command("create")
def create_token(
    name: Annotated[str, typer.Argument(help="What it is for.")],
    user: Annotated[
        str,
        typer.Option(
            "--user",
            "-u",
            help="Whom it acts for; unset: the owner.",
            autocompletion=completion.users,
            show_default=False,
        ),
    ] = "",
    write: Annotated[
        bool, typer.Option("--write", help="May also add and change; without it, only read.")
    ] = False,
    collection: Annotated[
        list[str] | None,
        typer.Option(
            "--collection",
            "-c",
            help="Only this collection; can be repeated.",
            autocompletion=completion.collections,
            show_default=False,
        ),
    ] = None,
    days: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=36_500,
            help="Valid for so many days; unset: until it is revoked.",
            show_default=False,
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Make a token. It is shown here, once."""
    scope = open_library()
    from kbsite.cli import users as cli_users

    made = cli_users.create_token(
        scope, name, user=user, write=write, collections=collection or (), days=days
    )
    if as_json:
        print_json(made.as_json())
    else:
        say(made.text)
        note("Keep it: it is not shown again. Send it as “Authorization: Bearer …”.")


@TOKENS.command("list")
def list_tokens(as_json: Json = False) -> None:
    """List the tokens, without their secrets."""
    open_library()
    from kbsite.cli import users as cli_users

    found = cli_users.tokens()
    if as_json:
        print_json([token.as_json() for token in found])
        return
    rows = (
        (
            one.id,
            one.name,
            f"{one.hint}…",
            one.user,
            "read and write" if one.can_write else "read",
            one.state,
            one.last_used_at or "never",
        )
        for one in found
    )
    table(
        ("Nr", "Name", "Begins", "User", "May", "State", "Last used"),
        rows,
        empty="There are no tokens.",
    )


@TOKENS.command("revoke")
def revoke_token(
    which: Annotated[
        str, typer.Argument(metavar="NR|NAME", help="Its number, its name, or how it begins.")
    ],
    as_json: Json = False,
) -> None:
    """Make a token useless."""
    open_library()
    from kbsite.cli import users as cli_users

    revoked = cli_users.revoke(which)
    if as_json:
        print_json(revoked.as_json())
    else:
        say(f"Revoked {revoked.name} ({revoked.hint}…).")


def mcp_config(
    client: Annotated[
        Client | None, typer.Option(help="The program; unset: all four.", show_default=False)
    ] = None,
    token: Annotated[
        str,
        typer.Option(
            help="A token to put in; unset: a new one is made, which may only read.",
            show_default=False,
        ),
    ] = "",
    as_json: Json = False,
) -> None:
    """Print the JSON that Claude Desktop, Claude Code, Cursor and VS Code want, to connect to this library over MCP."""
    if token and not token.startswith("kb_"):
        raise InvalidInput(
            "This is not a token: tokens begin with kb_.", hint="`kb token create NAME` makes one."
        )
    scope = open_library()
    from kbsite.cli import mcp_config as cli_mcp_config
    from kbsite.cli import users as cli_users

    text = (
        token
        or cli_users.create_token(
            scope, f"MCP {client or 'clients'}", user="", write=False, collections=(), days=None
        ).text
    )
    wanted = [client] if client else list(Client)
    made = {
        str(one): cli_mcp_config.config(one, url=cli_mcp_config.mcp_url(), token=text)
        for one in wanted
    }
    if as_json:
        print_json(made[client] if client else made)
        return
    for name, config in made.items():
        note(cli_mcp_config.PLACES[name], "bold")
        print_json(config)
