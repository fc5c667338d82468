"""Puts `kb` together: its commands, its version, and what becomes of an error."""

from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from kbsite.cli import terminal
from kbsite.cli.commands import (
    access,
    adding,
    asking,
    checking,
    database,
    evaluating,
    jobs,
    lecturing,
    levelling,
    models,
    reading,
    searching,
    serving,
    state,
)


class ReportingGroup(TyperGroup):
    """A group that ends with message, hint and exit code where a command raises an expected error. Unexpected ones rise."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        try:
            return super().invoke(ctx)
        except Exception as error:
            known = terminal.known_error(error)
            if known is None:
                raise
            raise typer.Exit(terminal.report(known)) from None


app = typer.Typer(
    cls=ReportingGroup,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Cuebase: add, read, search and cite videos' transcripts and documents.",
    epilog="Where things are kept and how the program behaves: `kb config`. What is wrong: `kb doctor`.",
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"kb {version('cuebase')}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and end."
        ),
    ] = False,
) -> None:
    """Take what comes before the command."""


for _module in (
    serving,
    adding,
    reading,
    searching,
    asking,
    checking,
    lecturing,
    levelling,
    evaluating,
    jobs,
    database,
    models,
    state,
    access,
):
    _module.register(app)
