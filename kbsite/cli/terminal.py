"""What every command does with a terminal: open the library, print, confirm, and turn an expected error into a message and an exit code."""

import json
import os
import sys
from collections.abc import Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import typer

from transcripts.errors import InvalidInput, KnowledgeBaseError, Unavailable
from transcripts.scope import Scope

if TYPE_CHECKING:
    from rich.console import Console

CONNECT_SECONDS = 5
PIPE_WIDTH = (
    200  # columns of a table that is not shown in a terminal: wide enough that nothing is cut
)


def open_library() -> Scope:
    """Start or join the database and return the scope of whoever holds it. Models can be imported from here on."""
    from kbsite import settings

    settings.LOGGING["formatters"]["line"]["format"] = (
        "{message}"  # to a person: what happens, not when and where
    )
    open_database()
    from kbsite.auth import everything

    return everything()


def open_database() -> None:
    """Start or join the database and set Django up. Raises ``Unavailable`` at once where an external one cannot be reached."""
    from kbsite import boot, settings
    from kbsite.cli import server_lock

    settings.PUBLIC_URL = (
        server_lock.public_url()
    )  # links lead to the server that runs, on whichever port that is
    if settings.DATABASE_URL:
        _try_connection(settings.DATABASES["default"])
    boot.boot()


def known_error(error: Exception) -> KnowledgeBaseError | None:
    """Return what an exception means to a person, or None for an unexpected one."""
    if isinstance(error, KnowledgeBaseError):
        return error
    # Whoever raised one of these has imported them; looking them up must not import Django for the others.
    if _is_a(error, "django.db.utils", "OperationalError"):
        return _unreachable(error)
    if _is_a(error, "django.core.exceptions", "ImproperlyConfigured") or _is_a(
        error, "environ.compat", "ImproperlyConfigured"
    ):
        return InvalidInput(
            f"A setting cannot be used: {error}",
            hint="Check the environment and the .env file; the README lists all settings.",
        )
    return None


def report(error: KnowledgeBaseError) -> int:
    """Print message and hint of an expected error to the error output; return the exit code."""
    from kbsite.errors import exit_code_of

    err().print(_styled("Error: ", "bold red") + _styled(printable(error.message)), soft_wrap=True)
    if error.hint:
        err().print(_styled(printable(error.hint), "dim"), soft_wrap=True)
    return exit_code_of(error)


def print_json(value: Any) -> None:
    """Print a value as JSON."""
    typer.echo(json.dumps(value, ensure_ascii=False, indent=2, default=str))


def say(text: str, style: str = "") -> None:
    """Print a line; its text is never taken for markup."""
    out().print(_styled(printable(text), style), soft_wrap=not out().is_terminal)


def note(text: str, style: str = "dim") -> None:
    """Print a line beside the result, to the error output."""
    err().print(_styled(printable(text), style), soft_wrap=True)


def table(
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    title: str = "",
    empty: str = "Nothing is here.",
) -> None:
    """Print a table; nothing in it is cut, and the first column, which names the thing, stays on one line where it fits."""
    from rich.table import Table

    made = Table(
        title=title or None,
        title_justify="left",
        header_style="bold",
        box=None,
        pad_edge=False,
        padding=(0, 2, 0, 0),
    )
    for number, name in enumerate(columns):
        made.add_column(name, overflow="fold", no_wrap=number == 0)
    for row in rows:
        made.add_row(*(printable(str(value)) for value in row))
    if made.row_count:
        out().print(made)
    else:
        say(empty, "dim")


def confirm(question: str, *, yes: bool) -> None:
    """Ask, unless the answer was given with the command; a no, or nobody there to answer, ends the command with exit code 1."""
    if not yes:
        typer.confirm(printable(question), abort=True, err=True)


def check_terminal() -> None:
    """Raise ``InvalidInput`` where nobody could see a screen, or type on it."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise InvalidInput(
            "This needs a terminal.",
            hint="Run it in one, without redirections; `kb ask` answers anywhere.",
        )


def printable(text: str) -> str:
    """Return text without what a terminal would obey; line breaks and tabs stay."""
    return (
        text
        if text.isprintable()
        else "".join(mark for mark in text if mark.isprintable() or mark in "\n\t")
    )


def out() -> "Console":
    """Return the console of results."""
    return _console(stderr=False)


def err() -> "Console":
    """Return the console of everything else: errors, notes, progress."""
    return _console(stderr=True)


@cache
def _console(*, stderr: bool) -> "Console":
    from rich.console import Console

    console = Console(stderr=stderr, markup=False, emoji=False, highlight=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = PIPE_WIDTH
    return console


def _try_connection(database: dict[str, Any]) -> None:
    # The pool would try for as long as its timeout, and then not say why.
    import psycopg

    names = {
        "host": "HOST",
        "port": "PORT",
        "user": "USER",
        "password": "PASSWORD",
        "dbname": "NAME",
    }
    given = {name: database[key] for name, key in names.items() if database.get(key)}
    options = {name: value for name, value in database["OPTIONS"].items() if name != "pool"}
    try:
        psycopg.connect(**given, connect_timeout=CONNECT_SECONDS, **options).close()
    except psycopg.OperationalError as error:
        raise _unreachable(error) from None


def _unreachable(error: Exception) -> Unavailable:
    told = " ".join(str(error).split())[:300]
    return Unavailable(
        f"The database does not answer: {told}",
        hint="Check DATABASE_URL, and that the server runs.",
    )


def _styled(text: str, style: str = "") -> Any:
    from rich.text import Text

    return Text(text, style=style)


def _is_a(error: Exception, module: str, name: str) -> bool:
    kind = getattr(sys.modules.get(module), name, None)
    return isinstance(kind, type) and isinstance(error, kind)
