"""The root of `kb`: its commands, each imported when it is called, and how errors are reported."""

import getpass
import os
from importlib import import_module
from importlib.metadata import version
from typing import Annotated, Any, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup

from kbsite import garbage
from kbsite.cli import terminal
from transcripts.core.actors import Actor, acting


class CommandEntry(NamedTuple):
    """A command: ``module:attribute`` of its function or its `typer.Typer`, and its help."""

    target: str
    help: str


SERVICES = (
    "mcp",
    "serve",
    "worker",
)  # their logs carry time and logger, except on a terminal; those of others never do
ON_SERVERS = (
    "add",
    "ask",
    "config",
    "search",
    "tui",
    "verify",
)  # others use the library of this machine only
# The order of `kb --help`.
COMMANDS = {
    "serve": CommandEntry(
        "serve:serve",
        "Start Cuebase: database, web, API, MCP and a worker. Ctrl-C stops everything.",
    ),
    "worker": CommandEntry(
        "worker:worker",
        "Start a separate worker, for a team's server; `kb serve` already starts one.",
    ),
    "add": CommandEntry(
        "add:add", "Add YouTube videos, web pages, caption files, documents or folders."
    ),
    "list": CommandEntry("library:list_videos", "List the recordings, newest first."),
    "show": CommandEntry("library:show", "Read a transcript: whole, a time chunk or a range."),
    "export": CommandEntry(
        "export:export",
        "Export a transcript, highlights for other programs, or everything in one ZIP.",
    ),
    "highlights": CommandEntry("highlights:app", "List highlights, or import annotations."),
    "delete": CommandEntry(
        "collections:delete_content", "Delete a recording or a document and all its data."
    ),
    "demo": CommandEntry("demo:demo", "Show reading, paging and searching with a sample library."),
    "collections": CommandEntry("collections:app", "List, add or delete collections."),
    "search": CommandEntry("search:search", "Search the library for passages."),
    "sources": CommandEntry("library:list_sources", "List the sources and their indexing state."),
    "ask": CommandEntry("ask:ask", "Answer a question from the library, with citations."),
    "tui": CommandEntry("tui:tui", "Open the terminal interface; F1 lists its keys."),
    "verify": CommandEntry("verify:verify", "Check whether quotes are verbatim in the library."),
    "live": CommandEntry(
        "lectures:live", "Replay a recording as a lecture and show its citations."
    ),
    "lectures": CommandEntry("lectures:app", "List, measure, export, keep or delete lectures."),
    "outline": CommandEntry("outline:outline", "Show a source's outline, or the library's topics."),
    "eval": CommandEntry("eval:evaluate", "Measure search quality or answer quality."),
    "sync": CommandEntry("jobs:sync", "Fetch new videos from the added playlists and channels."),
    "jobs": CommandEntry("jobs:app", "List jobs, retry one, or reopen the YouTube gate."),
    "db": CommandEntry(
        "db:app", "Show the database's status, migrate embeddings, back up and restore."
    ),
    "models": CommandEntry(
        "models:app", "List the configured models, try the language model, or fetch missing ones."
    ),
    "config": CommandEntry("config:config", "Show all settings with value, origin and meaning."),
    "audit": CommandEntry(
        "audit:audit",
        "Show the audit trail: who added, deleted, exported, shared or signed in, oldest first.",
    ),
    "doctor": CommandEntry("doctor:doctor", "Check the installation and suggest fixes."),
    "user": CommandEntry("users:app", "Add and list users, or create a sign-in link."),
    "token": CommandEntry("tokens:app", "Create, list and revoke tokens for REST and MCP."),
    "webhook": CommandEntry("webhooks:app", "Create, list, test and delete webhooks."),
    "mcp": CommandEntry(
        "mcp:mcp", "Serve MCP over standard input and output, for clients that start programs."
    ),
    "mcp-config": CommandEntry("tokens:mcp_config", "Print the configuration of MCP clients."),
}


class RootGroup(TyperGroup):
    """Imports a command's module when the command is called, and reports expected errors.

    Help and completion read ``COMMANDS`` alone. Unexpected errors rise.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.commands = {
            name: TyperCommand(name, help=entry.help) for name, entry in COMMANDS.items()
        }

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        name, command, rest = super().resolve_command(ctx, args)
        if name is None:
            return name, command, rest
        command = load(name)
        is_called = not (ctx.resilient_parsing or {"-h", "--help"} & {*rest})
        if is_called and name not in ON_SERVERS:
            import_module("kbsite.cli.server").refuse(name)
        return name, command, rest

    def invoke(self, ctx: Any) -> Any:
        as_json = "--json" in (*ctx._protected_args, *ctx.args)
        try:
            with acting(Actor(door="kb", name=_account())):
                return super().invoke(ctx)
        except Exception as error:
            expected = terminal.expected_error(error)
            if expected is None:
                raise
            raise typer.Exit(terminal.report(expected, as_json=as_json)) from None


def _account() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container's user without a name
        return str(os.getuid())


def load(name: str) -> Any:
    """Set Django up, which needs no database, and import a command of ``COMMANDS``."""
    module, _, attribute = COMMANDS[name].target.partition(":")
    garbage.pause()
    import_module("kbsite.boot").set_up(plain_log=name not in SERVICES)
    target = getattr(import_module(f"kbsite.cli.{module}"), attribute)
    garbage.resume()
    if not isinstance(target, typer.Typer):
        function, target = target, typer.Typer(add_completion=False)
        target.command()(function)
    command = typer.main.get_command(target)
    command.name = name
    return command


app = typer.Typer(
    cls=RootGroup,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Cuebase: add, read, search and cite recordings and documents.",
    epilog="`kb config` shows paths and settings. `kb doctor` finds problems.",
)


def _print_version(is_requested: bool) -> None:
    if is_requested:
        typer.echo(f"kb {version('cuebase')}")
        raise typer.Exit


def _choose_server(url: str | None) -> None:
    if url is not None:  # before the settings are read, and for processes that a command starts
        os.environ["CUEBASE_SERVER"] = url


@app.callback()
def _main(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
    server: Annotated[
        str | None,
        typer.Option(
            "--server",
            callback=_choose_server,
            metavar="URL",
            show_default=False,
            help="Use the library of this server (CUEBASE_SERVER), with the token CUEBASE_TOKEN; "
            '"": the library of this machine.',
        ),
    ] = None,
) -> None:
    pass
