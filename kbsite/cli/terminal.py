"""Terminal input and output: print, confirm, show progress, report errors."""

import json
import os
import shlex
import shutil
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, is_dataclass
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any, Final

import typer
from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

from kbsite.library import TaskProgress
from kbsite.postgres.errors import unreachable
from transcripts.core import errors
from transcripts.core.errors import InvalidInput, KnowledgeBaseError, Unavailable

PIPE_WIDTH = 200  # columns of a table outside a terminal, so that no cell is cut
LABEL_WIDTH = 100  # characters of what a task is doing
PIPE_COLUMN = 40  # characters to which a column is padded there
# The first class that fits counts.
EXIT_CODES: tuple[tuple[type[KnowledgeBaseError], int], ...] = (
    (errors.NotSignedIn, 4),
    (errors.Forbidden, 4),
    (errors.NotFound, 3),
    (errors.Conflict, 5),
    (errors.TooLarge, 2),
    (InvalidInput, 2),
    (errors.Throttled, 6),
    (errors.YouTubeError, 7),
    (Unavailable, 8),
    (KnowledgeBaseError, 1),
)
# By module and name, for help must not import Django.
_DATABASE_LOST = {  # or it restarts, or is full
    *("django.db.utils.OperationalError", "django.db.utils.InterfaceError"),
    *("psycopg.OperationalError", "psycopg.InterfaceError"),
}
_SETTING_ERRORS = {"django.core.exceptions.ImproperlyConfigured"}
GAP: Final = 2  # between two columns
CELL: Final = 7  # characters that a column keeps before another one is left out
MAIN: Final = 20  # the same of the column by which people know a row
ID: Final = 36  # the same of an id, such as a UUID: it is copied


def exit_code_of(error: KnowledgeBaseError) -> int:
    """Return the exit code of `kb` for an expected error."""
    return next(code for family, code in EXIT_CODES if isinstance(error, family))


def expected_error(error: Exception) -> KnowledgeBaseError | None:
    """Return an exception as an expected error, or None for an unexpected one."""
    if isinstance(error, KnowledgeBaseError):
        return error
    families = {f"{family.__module__}.{family.__qualname__}" for family in type(error).__mro__}
    if families & _DATABASE_LOST:
        return unreachable(error)
    if families & _SETTING_ERRORS:
        return InvalidInput(
            f"Invalid setting: {error}",
            hint="Check the environment and the .env file; the README lists all settings.",
        )
    return None


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Report a file that cannot be written. Raises ``InvalidInput``."""
    try:
        yield
    except OSError as error:
        hint = "Name a file in a folder that is there."
        if path.parent.is_dir() and not path.is_dir():
            hint = "Choose another folder, or free disk space."
        raise InvalidInput(f"{path} cannot be written: {error.strerror}.", hint=hint) from None


def report(error: KnowledgeBaseError, *, as_json: bool = False) -> int:
    """Print message and hint, or a problem as JSON, to the error output; return the exit code."""
    if as_json:
        typer.echo(json.dumps(error.problem(), ensure_ascii=False), err=True)
    else:
        message = typed(printable(error.message))
        err().print(Text("Error: ", style="bold red") + Text(message), soft_wrap=True)
        if error.hint:
            note(error.hint)
    return exit_code_of(error)


def print_json(value: Any) -> None:
    """Print a value, which may contain pydantic models and dataclasses, as indented JSON."""
    typer.echo(json.dumps(value, ensure_ascii=False, indent=2, default=_plain))


def print_result(text: str, value: Any, *, as_json: bool) -> None:
    """Print a result as a line, or as JSON."""
    print_json(value) if as_json else say(text)


def say(text: str, style: str = "") -> None:
    """Print a line of the result; markup in it is not interpreted."""
    out().print(Text(printable(text), style=style), soft_wrap=not out().is_terminal)


def note(text: str, style: str = "dim") -> None:
    """Print a line to the error output."""
    err().print(Text(typed(printable(text)), style=style), soft_wrap=True)


def typed(advice: str) -> str:
    """Name this program in a text's commands, such as “`kb list`”, so that they can be typed."""
    return advice.replace("`kb ", f"`{_program()} ")


def minute(moment: datetime | None) -> str:
    """Write a time for a table; "" where there is none."""
    return f"{moment.astimezone():%Y-%m-%d %H:%M}" if moment else ""


def note_next_page(total: int, following: int | None) -> None:
    """Say how a list goes on, if it does."""
    if following is not None:
        note(f"{total} in all; next page: --offset {following}")


def table(
    columns: Sequence[str],
    rows: Iterable[Sequence[object]],
    *,
    title: str = "",
    empty: str = "No entries.",
    main: str = "",
) -> None:
    """Print a table whose rows are one line each in a terminal.

    Cells are cut, and columns at the right left out, as its width demands (``columns.fitted``), of
    ``main``, by which people know a row, least; by default that is the widest column. A pipe gets
    everything, and columns are aligned there only up to ``PIPE_COLUMN``: long cells push aside what
    follows them, in their own row alone.
    """
    flat = [[" ".join(printable(str(cell)).split()) for cell in row] for row in rows]
    if not flat:
        say(typed(empty), "dim")
        return
    if title:
        say(title, "italic")
    natural = [max(map(cell_len, column)) for column in zip(columns, *flat, strict=True)]
    widest = columns.index(main) if main else natural.index(max(natural))
    widths = {index: min(width, PIPE_COLUMN) for index, width in enumerate(natural)}
    if out().is_terminal:
        widths = fitted(natural, out().width, main=widest)
    for number, row in enumerate((columns, *flat)):
        line = (" " * GAP).join(_cell(row[index], width) for index, width in widths.items())
        out().print(Text(line.rstrip(), style="" if number else "bold"), soft_wrap=True)


def _cell(text: str, width: int) -> str:
    """Return a cell as wide as its column: cut in a terminal, whole in a pipe."""
    if cell_len(text) <= width:
        return set_cell_size(text, width)
    return f"{set_cell_size(text, width - 1)}…" if out().is_terminal else text


def table_of_sentences(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table whose cells wrap, as sentences in them are to be read whole.

    Names in the first column do so only if they would take more than half of the width: the other
    columns would get no room beside a long path.
    """
    lines = [[printable(str(cell)) for cell in row] for row in rows]
    names_fit = max((cell_len(line[0]) for line in lines), default=0) <= out().width // 2
    grid = Table(header_style="bold", box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for number, name in enumerate(columns):
        grid.add_column(name, overflow="fold", no_wrap=number == 0 and names_fit)
    for line in lines:
        grid.add_row(*line)
    out().print(grid)


def progress_bar(
    *, quiet: bool = False, columns: Sequence[ProgressColumn] = (MofNCompleteColumn(),)
) -> Progress:
    """Return a progress bar on the error output; ``columns`` stand right of the bar."""
    layout = (TextColumn("{task.description}"), BarColumn(), *columns, TimeRemainingColumn())
    return Progress(*layout, console=err(), transient=True, disable=quiet)


class _Bar(TaskProgress):
    def __init__(self, bars: Progress) -> None:
        self._bars = bars
        self._task: TaskID | None = None

    def show(self, label: str, done: int = 0, total: int | None = None) -> None:
        described = bar_label(label, LABEL_WIDTH)
        if self._task is None:
            self._task = self._bars.add_task(described, total=total)
        self._bars.update(self._task, description=described, completed=done, total=total)

    def note(self, text: str) -> None:
        note(text, "yellow")


@contextmanager
def progress(*, quiet: bool) -> Iterator[TaskProgress]:
    """Show how far a task has come while the block runs, unless ``quiet``."""
    if quiet:
        yield TaskProgress()
        return
    with progress_bar() as bars:
        yield _Bar(bars)


def bar_label(text: str, width: int = 60) -> str:
    """Return text as a bar's description: shortened and free of markup."""
    return printable(text)[:width].replace("[", "(")


def confirm(question: str, *, yes: bool) -> None:
    """Ask unless ``yes``. A no, or a missing terminal, ends the command with exit code 1."""
    if not yes:
        typer.confirm(printable(question), abort=True, err=True)


def printable(text: str) -> str:
    """Return text without control characters, except line breaks and tabs."""
    if text.isprintable():
        return text
    return "".join(mark for mark in text if mark.isprintable() or mark in "\n\t")


def out() -> Console:
    """Return the console of results."""
    return _console(stderr=False)


def err() -> Console:
    """Return the console of errors, notes and progress."""
    return _console(stderr=True)


@cache
def _program() -> str:
    """Return `kb`, or the path by which it was called where `PATH` has no, or another, `kb`."""
    called, on_path = Path(sys.argv[0]), shutil.which("kb")
    is_on_path = on_path is not None and Path(on_path).resolve() == called.resolve()
    return "kb" if called.name != "kb" or is_on_path else shlex.quote(sys.argv[0])


@cache
def _console(*, stderr: bool) -> Console:
    console = Console(stderr=stderr, markup=False, emoji=False, highlight=False)
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = PIPE_WIDTH
    return console


def _plain(value: Any) -> Any:
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json")
    return asdict(value) if is_dataclass(value) and not isinstance(value, type) else str(value)


def fitted(natural: Sequence[int], room: int, *, main: int) -> dict[int, int]:
    """Return the width of each column that is shown, by its index.

    ``natural`` are the widths that cut nothing. The first column, an id that is copied, keeps
    ``ID`` characters unless it is ``main``, which keeps ``MAIN``. What does not fit is cut, the
    widest first; where too little would be left of a column, the last ones are left out.
    """
    least = [min(width, MAIN if index == main else CELL) for index, width in enumerate(natural)]
    if main:
        least[0] = min(natural[0], ID)
    columns = list(range(len(natural)))
    others = [index for index in columns if index not in (0, main)]
    room += GAP  # a gap follows each column, that of the last one beyond the edge
    while others and sum(least[index] + GAP for index in columns) > room:
        columns.remove(others.pop())
    widths = {index: least[index] for index in columns}
    spare = room - sum(width + GAP for width in widths.values())
    while spare > 0 and (cut := [index for index in columns if widths[index] < natural[index]]):
        narrowest = min(cut, key=lambda index: widths[index] / (3 if index == main else 1))
        widths[narrowest] += 1
        spare -= 1
    return widths
