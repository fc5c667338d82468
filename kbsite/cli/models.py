"""`kb models`: list the configured models, try one, or download missing ones."""

from typing import Annotated

import typer
from rich.progress import DownloadColumn, TransferSpeedColumn

from citations.errors import ModelMissing
from citations.providers import downloads, inventory, registry, trial, weights
from citations.providers.llm import RemoteLlm
from kbsite.cli.options import Json, ListGroup, Many, argument
from kbsite.cli.terminal import err, note, print_json, printable, progress_bar, say, table
from transcripts.core.errors import Unavailable

MEGABYTE, GIGABYTE = 1_000_000, 1_000_000_000

app = typer.Typer(cls=ListGroup, add_completion=False)


@app.callback(invoke_without_command=True)
def list_models(context: typer.Context, as_json: Json = False) -> None:
    """List the configured models, try the language model, or fetch missing ones."""
    if context.invoked_subcommand:
        return
    entries = inventory.configured_models()
    if as_json:
        print_json(entries)
        return
    rows = []
    for entry in entries:
        about = "" if entry.present else "about "
        size = "" if entry.size is None else f"{about}{_size(entry.size)}"
        here = "yes" if entry.present else "no"
        if entry.present is None:
            here = "unknown" if entry.note else "at its server"
        uses = ", ".join(entry.uses)
        rows.append((entry.model or "?", entry.provider, uses, here, size, entry.licence))
    table(("Model", "Provider", "Used for", "Here", "Size", "Licence"), rows)
    for entry in entries:
        if entry.note:
            note(f"{entry.model or entry.provider}: {entry.note}")
    if any(entry.is_local and entry.present is False for entry in entries):
        note("`kb models fetch` gets the missing models; without them, nothing is reranked.")


@app.command()
def fetch(
    names: Annotated[
        Many,
        argument(
            "NAME…",
            "local, e5-small, bge, bge-base, reranker, live-reranker, or a model of the Hugging"
            " Face hub; unset: all missing ones.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Download models from the Hugging Face hub, resuming interrupted downloads.

    No other command downloads a model.
    """
    fetched = [_fetch(name) for name in inventory.models_to_fetch(names or [])]
    if as_json:
        print_json(fetched)
    elif not fetched:
        say("Nothing is missing.")
    else:
        for model in fetched:
            result = "fetched" if model["fetched"] else "already here"
            say(f"{model['model']}: {result}, {_size(int(model['size']))}, in {model['folder']}")


@app.command("try")
def try_model(as_json: Json = False) -> None:
    """Ask the language model a question, and print what it and its server can do."""
    llm = registry.llm()
    if not isinstance(llm, RemoteLlm):
        raise Unavailable(
            "No language model is configured.",
            hint="Set LLM_PROVIDER, or choose one on the page Ask; docs/models.md names servers.",
        )
    result = trial.try_model(llm)
    if as_json:
        print_json(result)
    elif result.answers:
        words = {True: "yes", False: "no"}
        rows = (
            ("Answers", result.answer),
            ("Names its passage", words[result.cites]),
            ("Streams", words[result.streams]),
            ("Takes a system role", words[result.system_role]),
            ("Thoughts", result.thoughts),
            ("Writes JSON", words[result.json]),
            ("Speed", f"{result.speed:g} words a second, after {result.wait:g} s"),
        )
        table((result.model, result.server), rows)
    if result.advice and not as_json:
        note(result.advice)
    if not result.answers:
        raise typer.Exit(1)


def _fetch(name: str) -> dict[str, str | int | bool]:
    try:
        folder, is_new = weights.find(name), False
    except ModelMissing:
        columns = (DownloadColumn(), TransferSpeedColumn())
        with progress_bar(quiet=not err().is_terminal, columns=columns) as progress:
            bar = progress.add_task(printable(name), total=None)
            folder = downloads.fetch(
                name, lambda done, total: progress.update(bar, completed=done, total=total)
            )
        is_new = True
    return {"model": name, "fetched": is_new, "size": weights.size(folder), "folder": str(folder)}


def _size(count: int) -> str:
    if count >= GIGABYTE:
        return f"{count / GIGABYTE:.1f} GB"
    return f"{max(1, round(count / MEGABYTE))} MB"
