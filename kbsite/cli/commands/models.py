"""The models that the settings name: which are here, and getting those that are not."""

from typing import Annotated

import typer

from kbsite.cli.options import Json

MODELS = typer.Typer(
    help="The models that the settings name: which are on this machine, and fetching them.",
    invoke_without_command=True,
)


def register(app: typer.Typer) -> None:
    """Add these commands."""
    app.add_typer(MODELS, name="models")


@MODELS.callback()
def models(context: typer.Context, as_json: Json = False) -> None:
    """Show the models that the settings name: what for, whether they are here, their size and licence. `kb models fetch` gets what is missing."""
    if context.invoked_subcommand:
        return
    from kbsite.cli import models as cli_models

    cli_models.show(as_json=as_json)


@MODELS.command("fetch")
def fetch(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="NAME…",
            help="local, bge, bge-base, reranker, live-reranker, or a model of the Hugging Face hub; none: all that are missing.",
            show_default=False,
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Fetch models from the Hugging Face hub. Nothing else ever downloads one; what broke off goes on where it was."""
    from kbsite.cli import models as cli_models

    cli_models.fetch(names or [], as_json=as_json)
