"""Running it: serve and worker."""

import os
from typing import Annotated

import typer

from kbsite.cli.terminal import open_database


def register(app: typer.Typer) -> None:
    """Add these commands."""
    app.command("serve")(serve)
    app.command("worker")(worker)


def serve(
    host: Annotated[
        str,
        typer.Option(
            help="The address to listen on; unset: HOST, which only this machine reaches.",
            show_default=False,
        ),
    ] = "",
    port: Annotated[
        int | None,
        typer.Option(
            "--port",
            "-p",
            min=0,
            max=65_535,
            help="The port; 0: any that is free; unset: PORT.",
            show_default=False,
        ),
    ] = None,
    sample: Annotated[
        bool, typer.Option("--sample", help="On the first start, load the sample library.")
    ] = False,
    no_worker: Annotated[
        bool,
        typer.Option("--no-worker", help="Start no worker beside it: `kb worker` runs elsewhere."),
    ] = False,
    open_browser: Annotated[
        bool, typer.Option("--open", help="Open the browser, signed in.")
    ] = False,
) -> None:
    """Start Cuebase: database, web, API, MCP and a worker. Ctrl-C stops all of it.

    Prints the address with a link that signs you in once. One server runs on a data directory; a second one says where the first is.
    """
    # Before the settings are read: the web server, its worker and the links all go by them.
    if host:
        os.environ["HOST"] = host
    if port is not None:
        os.environ["PORT"] = str(port)
    from kbsite.cli import serve as cli_serve

    cli_serve.run(sample=sample, with_worker=not no_worker, open_browser=open_browser)


def worker(
    concurrency: Annotated[
        int | None,
        typer.Option(
            "--concurrency",
            min=1,
            max=64,
            help="Jobs at once (WORKER_CONCURRENCY).",
            show_default=False,
        ),
    ] = None,
    no_beat: Annotated[
        bool,
        typer.Option(
            "--no-beat", help="Leave the clock that looks for due and lost jobs to another worker."
        ),
    ] = False,
    with_parent: Annotated[
        bool, typer.Option("--with-parent", hidden=True, help="End when the standard input ends.")
    ] = False,
) -> None:
    """Start a worker alone, for a team's server; `kb serve` starts one by itself."""
    open_database()
    from kbsite.cli import worker as cli_worker

    raise typer.Exit(
        cli_worker.run(concurrency=concurrency, beat=not no_beat, with_parent=with_parent)
    )
