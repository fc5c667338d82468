"""Cuebase from Python: ``import cuebase``.

``open`` the library of this machine, or ``connect`` to a server; both are a ``Library``.
"""

import os
from pathlib import Path
from typing import TYPE_CHECKING

from django.conf import settings
from django.utils.module_loading import import_string

from kbsite import boot
from transcripts.core.errors import Conflict
from transcripts.core.errors import KnowledgeBaseError as Error

if TYPE_CHECKING:
    from kbsite.library.base import Library

__all__ = ["Error", "connect", "open"]


def open(data_dir: str | os.PathLike[str] = "") -> "Library":
    """Open a library on this machine: a data directory, by default that of the settings.

    Starts the embedded database if it does not run, and computes in this process. One process has
    one library: the first call decides which, and another one is refused. Raises ``Error``.
    """
    if data_dir:
        folder = Path(data_dir).expanduser().resolve()
        os.environ["YOUTUBE_KB_DATA_DIR"] = str(folder)
        boot.set_up(plain_log=True)
        if Path(settings.DATA_DIR).resolve() != folder:
            raise Conflict(
                f"This process has opened {settings.DATA_DIR} already.",
                hint="Open another library in a process of its own.",
            )
    return _library("kbsite.library.local.LocalLibrary")


def connect(url: str, token: str) -> "Library":
    """Return the library of a server, for a token of *Tokens* or `kb token create`."""
    return _library("kbsite.library.remote.RemoteLibrary", url, token)


def _library(name: str, *arguments: str) -> "Library":
    """Make a library; its modules can be imported once Django is set up."""
    boot.set_up(plain_log=True)
    library: Library = import_string(name)(*arguments)
    return library
