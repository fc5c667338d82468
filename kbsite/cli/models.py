"""Shows which models are here, and fetches others with a bar. Needs the settings, but no database."""

import os
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)

from citations.errors import ModelMissing
from citations.providers import downloads, inventory, weights
from citations.providers.inventory import ModelEntry
from kbsite.cli.terminal import err, note, print_json, printable, say, table

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "kbsite.settings")
MEGABYTE, GIGABYTE = 1_000_000, 1_000_000_000


def show(*, as_json: bool) -> None:
    """List the models that the settings name."""
    entries = inventory.configured_models()
    if as_json:
        print_json([asdict(entry) for entry in entries])
        return
    table(
        ("Model", "Provider", "For", "Here", "Size", "Licence"), [_row(entry) for entry in entries]
    )
    for entry in entries:
        if entry.note:
            note(f"{entry.model or entry.provider}: {entry.note}")
    if any(entry.is_local and entry.present is False for entry in entries):
        note(
            "`kb models fetch` gets what is missing; searches and lectures go without their rerankers until then."
        )


def fetch(names: Sequence[str], *, as_json: bool) -> None:
    """Fetch models one after the other, with a bar in a terminal. Raises what ``fetching.fetch`` raises."""
    done = [_fetched(name) for name in inventory.to_fetch(names)]
    if as_json:
        print_json(done)
    elif not done:
        say("Nothing is missing.")
    else:
        for one in done:
            say(
                f"{one['model']}: {'fetched' if one['fetched'] else 'was here'}, {_size(int(one['size']))}, in {one['folder']}"
            )


def _fetched(name: str) -> dict[str, str | int | bool]:
    try:
        folder, fresh = weights.find(name), False
    except ModelMissing:
        folder, fresh = _with_bar(name), True
    return {"model": name, "fetched": fresh, "size": weights.size(folder), "folder": str(folder)}


def _with_bar(name: str) -> Path:
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(
        *columns, console=err(), transient=True, disable=not err().is_terminal
    ) as progress:
        bar = progress.add_task(printable(name), total=None)
        return downloads.fetch(
            name, lambda here, total: progress.update(bar, completed=here, total=total)
        )


def _row(entry: ModelEntry) -> tuple[str, ...]:
    size = "" if entry.size is None else f"{'' if entry.present else 'about '}{_size(entry.size)}"
    return (
        entry.model or "?",
        entry.provider,
        ", ".join(entry.uses),
        _presence(entry),
        size,
        entry.licence,
    )


def _presence(entry: ModelEntry) -> str:
    if entry.present is None:
        return "unknown" if entry.note else "at its server"
    return "yes" if entry.present else "no"


def _size(count: int) -> str:
    return (
        f"{count / GIGABYTE:.1f} GB"
        if count >= GIGABYTE
        else f"{max(1, round(count / MEGABYTE))} MB"
    )
