"""Long work: jobs, retry, reopen; and sync."""

from typing import Annotated

import typer

from kbsite.cli.options import InCollection, Json
from kbsite.cli.terminal import note, open_library, print_json, say

JOBS = typer.Typer(help="Jobs: list them, retry one, open the gate to YouTube.")


def register(app: typer.Typer) -> None:
    """Add these commands."""
    app.command("sync")(sync)
    app.add_typer(JOBS, name="jobs")


def sync(
    feed: Annotated[
        str,
        typer.Argument(
            metavar="[FEED]",
            help="A playlist or channel: its id, title or address; none: all of them.",
            show_default=False,
        ),
    ] = "",
    collection: InCollection = "",
    wait: Annotated[bool, typer.Option("--wait", "-w", help="Wait until it is done.")] = False,
    as_json: Json = False,
) -> None:
    """Fetch what is new in the playlists and channels that were added."""
    scope = open_library()
    from kbsite.cli import jobs as cli_jobs

    jobs = cli_jobs.sync(scope, feed, collection=collection, wait=wait, quiet=as_json)
    cli_jobs.print_jobs(jobs, as_json=as_json)
    raise typer.Exit(cli_jobs.exit_code(jobs) if wait else 0)


@JOBS.callback(invoke_without_command=True)
def list_jobs(
    context: typer.Context,
    everything: Annotated[bool, typer.Option("--all", "-a", help="The finished ones too.")] = False,
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=1, max=10_000, help="How many at most.")
    ] = 50,
    as_json: Json = False,
) -> None:
    """List the jobs that are not finished and those that failed lately, and whether YouTube answers."""
    if context.invoked_subcommand:
        return
    scope = open_library()
    from kbsite.cli import jobs as cli_jobs

    found = cli_jobs.overview(scope, everything=everything, limit=limit)
    if as_json:
        print_json(found.as_json())
        return
    say(f"YouTube: {found.gate_text}", "green" if found.gate == "open" else "yellow")
    if not found.worker:
        note("No worker is running: `kb serve` starts one.", "yellow")
    cli_jobs.print_jobs(found.jobs, as_json=False)


@JOBS.command("retry")
def retry(
    number: Annotated[int, typer.Argument(metavar="N", help="The job's number.")],
    wait: Annotated[bool, typer.Option("--wait", "-w", help="Wait until it is done.")] = False,
    as_json: Json = False,
) -> None:
    """Do a finished or failed job again."""
    scope = open_library()
    from kbsite.cli import jobs as cli_jobs

    jobs = cli_jobs.retry(scope, number, wait=wait, quiet=as_json)
    cli_jobs.print_jobs(jobs, as_json=as_json)
    raise typer.Exit(cli_jobs.exit_code(jobs) if wait else 0)


@JOBS.command("reopen")
def reopen(as_json: Json = False) -> None:
    """Ask YouTube again at once, after a proxy was set or a refusal is over."""
    open_library()
    from kbsite.cli import jobs as cli_jobs

    found = cli_jobs.reopen()
    if as_json:
        print_json({"youtube": found})
    else:
        say(f"YouTube: {found['text']}")
