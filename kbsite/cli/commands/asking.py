"""Asking: ask, and the terminal interface."""

import typer

from kbsite.cli.options import InCollection
from kbsite.cli.terminal import open_library


def register(app: typer.Typer) -> None:
    """Add these commands."""
    app.command("tui")(tui)


def tui(collection: InCollection = "") -> None:
    """Open the terminal interface: sources, conversation, and what is cited; by keyboard alone, over SSH too. F1 lists its keys."""
    scope = open_library()
    import logging

    from kbsite.cli.desk import LibraryNotebook
    from kbsite.tui.app import CuebaseApp

    notebook = LibraryNotebook(scope, collection=collection)
    logging.disable(logging.CRITICAL)  # a line of the log would be written across the screen
    CuebaseApp(notebook).run()
